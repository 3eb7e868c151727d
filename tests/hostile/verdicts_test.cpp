// The table of hostile targets: a row a target, with the verdict that it must have.
#include <gtest/gtest.h>

#include "tests/hostile/judge.h"

namespace hawk {
namespace {

// clang-format off: one row, one target
const HostileTarget kTargets[] = {
    // Memory that answers oddly.
    {.name = "garbage_frame_pointers"},
    {.name = "heap_on_userfault"},
    {.name = "many_mappings"},
    {.name = "stack_on_userfault", .roads = kAllRoads},
    {.name = "stack_unmapped_after_call"},
};
// clang-format on

class HostileTest : public testing::Test {
 public:
  HostileTest(const HostileTarget& target, Road road) : target_(target), road_(road) {}
  void TestBody() override { judge(target_, road_); }

 private:
  const HostileTarget& target_;
  Road road_;
};

const int kRegistered = [] {
  for (const HostileTarget& target : kTargets) {
    for (const Road road : target.roads) {
      testing::RegisterTest("hostile", (target.name + "/" + road_name(road)).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [&target, road]() -> testing::Test* { return new HostileTest(target, road); });
    }
  }
  return 0;
}();

}  // namespace
}  // namespace hawk
