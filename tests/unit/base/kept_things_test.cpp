#include "userspace/base/kept_things.h"

#include <gtest/gtest.h>

#include <vector>

namespace hawk {
namespace {

std::vector<int> unused(const KeptThings<int>& things) {
  std::vector<int> found;
  for (const auto& use : things.unused()) found.push_back(*use);
  return found;
}

TEST(KeptThings, AreKeptWhenTheirLastUserHasGone) {
  KeptThings<int> things;
  auto first = things.add(1);
  auto second = first;
  EXPECT_EQ(unused(things), std::vector<int>{});
  first.reset();
  EXPECT_EQ(unused(things), std::vector<int>{}) << "it has another user";
  second.reset();
  EXPECT_EQ(unused(things), std::vector<int>{1});
  EXPECT_EQ(*things.find([](int thing) { return thing == 1; }), 1);
}

TEST(KeptThings, TheLeastRecentlyUsedComesFirst) {
  KeptThings<int> things;
  for (const int thing : {1, 2, 3}) things.add(thing);
  EXPECT_EQ(unused(things), (std::vector{1, 2, 3}));
  things.find([](int thing) { return thing == 1; });
  EXPECT_EQ(unused(things), (std::vector{2, 3, 1}));
  EXPECT_EQ(things.find([](int thing) { return thing == 4; }), nullptr);
}

TEST(KeptThings, WhatIsForgottenStaysWithItsUser) {
  KeptThings<int> things;
  const auto use = things.add(1);
  things.forget(use);
  EXPECT_EQ(things.find([](int thing) { return thing == 1; }), nullptr);
  EXPECT_EQ(*use, 1);
}

}  // namespace
}  // namespace hawk
