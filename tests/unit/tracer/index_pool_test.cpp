#include "userspace/tracer/index_pool.h"

#include <gtest/gtest.h>

#include <utility>

namespace hawk {
namespace {

TEST(IndexPool, WhatIsGivenBackCanBeTakenInOnePieceAgain) {
  IndexPool pool(100);
  const auto a = pool.take(40), b = pool.take(30), c = pool.take(30);
  ASSERT_TRUE(a && b && c);
  EXPECT_FALSE(pool.take(1));
  pool.give_back(*a, 40);
  pool.give_back(*c, 30);
  EXPECT_FALSE(pool.take(41)) << "the middle is taken";
  pool.give_back(*b, 30);
  EXPECT_EQ(pool.take(100), 0U);
}

TEST(IndexPool, OwnersNeverShareAnElement) {
  IndexPool pool(1024);
  PooledArea first(pool), second(pool);
  ASSERT_TRUE(first.require(5) && second.require(200));
  EXPECT_TRUE(first.first() + first.size() <= second.first() || second.first() + second.size() <= first.first());
}

TEST(PooledArea, KeepsItsPlaceWhileThatIsEnough) {
  IndexPool pool(1024);
  PooledArea area(pool);
  ASSERT_TRUE(area.require(10));
  const std::size_t first = area.first();
  ASSERT_TRUE(area.require(20));
  EXPECT_EQ(area.first(), first);
}

TEST(PooledArea, TakesNoMoreThanItNeedsWhereThereIsNotMore) {
  IndexPool pool(70);
  PooledArea area(pool);
  EXPECT_TRUE(area.require(66));
  EXPECT_FALSE(area.require(71));
  EXPECT_EQ(area.size(), 0U);
}

TEST(PooledArea, GivesBackAtTheEnd) {
  IndexPool pool(64);
  {
    PooledArea area(pool);
    ASSERT_TRUE(area.require(64));
    const PooledArea moved = std::move(area);
    EXPECT_FALSE(pool.take(1));
  }
  EXPECT_TRUE(pool.take(64));
}

}  // namespace
}  // namespace hawk
