#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace hawk {

/// Compares `actual` byte for byte with the file `name` of tests/golden. HAWK_UPDATE_GOLDEN=1 writes the file instead:
/// read the difference before you commit it.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(HAWK_GOLDEN_DIR) + "/" + name;
  if (std::getenv("HAWK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(path, std::ios::binary);
    file << actual;
    ASSERT_TRUE(file.good()) << path;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path << " is missing; HAWK_UPDATE_GOLDEN=1 writes it";
  const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(actual, expected);
}

}  // namespace hawk
