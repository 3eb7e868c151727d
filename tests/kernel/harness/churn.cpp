#include "tests/kernel/harness/churn.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {

void expect_unharmed(LedgerProgram& churn) {
  churn.send_byte();
  EXPECT_EQ(churn.read_line(), "varies rounds");
  const std::string line = churn.read_line();
  EXPECT_TRUE(line.starts_with("value rounds ")) << line;
  EXPECT_EQ(churn.read_line(), "unharmed");
  EXPECT_EQ(churn.wait(), 0);
}

}  // namespace hawk
