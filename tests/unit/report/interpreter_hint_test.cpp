#include "userspace/report/interpreter_hint.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

std::string hint_of(const std::string& path) {
  Snapshot snapshot;
  snapshot.modules.push_back({"/usr/lib/libc.so.6", ""});
  snapshot.modules.push_back({path, ""});
  return interpreter_hint(snapshot);
}

TEST(InterpreterHint, NamesTheOptionOfThoseThatCanTell) {
  for (const char* python : {"/usr/bin/python3.12", "/usr/lib/libpython3.13.so.1.0", "/opt/bin/python3.20"}) {
    EXPECT_NE(hint_of(python).find("-X perf"), std::string::npos) << python;
  }
  for (const char* node : {"/usr/bin/node", "/opt/node/bin/nodejs"}) {
    EXPECT_NE(hint_of(node).find("--perf-basic-prof"), std::string::npos) << node;
  }
}

TEST(InterpreterHint, OthersGetNone) {
  for (const char* other : {"/usr/bin/python3.11", "/usr/bin/python3", "/usr/bin/python3.", "/usr/bin/nodes", "",
                            "/usr/lib/libpython2.7.so", "/opt/python3.12/bin/service"}) {
    EXPECT_EQ(hint_of(other), "") << other;
  }
}

}  // namespace
}  // namespace hawk
