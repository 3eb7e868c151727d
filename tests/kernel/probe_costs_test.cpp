// What the report says a call pays for its traps.
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// Traces a ledger program that does nothing, and returns the functions of its allocators as the report lists them.
std::vector<nlohmann::json> probed_functions(Way way, const std::vector<std::string>& options) {
  LedgerProgram program({.program = "every_function"});
  std::vector<std::string> command = {
      HAWKTRACE_PATH, "-p",  std::to_string(program.pid()), "--attach-via", attach_via(way), "--duration", "50ms",
      "--format",     "json"};
  command.insert(command.end(), options.begin(), options.end());
  ChildProcess tracer({.argv = command});
  const nlohmann::json report = nlohmann::json::parse(tracer.read_to_end());
  EXPECT_EQ(tracer.wait(), 0) << tracer.errors();
  std::vector<nlohmann::json> functions;
  for (const nlohmann::json& allocator : report["target"]["allocators"]) {
    functions.insert(functions.end(), allocator["functions"].begin(), allocator["functions"].end());
  }
  return functions;
}

/// Single-stepping costs a multiple, whatever the machine, and a return probe costs something.
void expect_plausible(const std::vector<nlohmann::json>& functions, Way way) {
  std::map<std::string, std::uint64_t> costs;
  std::map<std::string, bool> stepped;
  for (const nlohmann::json& function : functions) {
    ASSERT_TRUE(function["cost_ns"].is_number_unsigned()) << function;
    costs[function["name"]] = function["cost_ns"];
    stepped[function["name"]] = function["single_stepped"];
  }
  ASSERT_TRUE(costs.contains("malloc") && costs.contains("free") && costs.contains("reallocarray"));
  ASSERT_FALSE(stepped["malloc"] || stepped["free"]);
  ASSERT_TRUE(stepped["reallocarray"]) << "choose another single-stepped function";
  EXPECT_GT(costs["free"], 50u) << "no trap is as cheap";
  if (way == Way::kPointsArena) {
    EXPECT_EQ(costs["malloc"], costs["free"]) << "one trap each";
  } else {
    EXPECT_GT(costs["malloc"], costs["free"]);
  }
  EXPECT_GT(costs["reallocarray"], costs["malloc"]);
}

KERNEL_TEST_OF_CALLS(probe_costs, are_measured_here) {
  if (way == Way::kPerfHash) {
    for (const nlohmann::json& function : probed_functions(way, {})) {
      EXPECT_TRUE(function["cost_ns"].is_null()) << "measuring would make detaching take twice as long";
    }
  }
  const std::vector<std::string> options =
      way == Way::kPerfHash ? std::vector<std::string>{"--verbose"} : std::vector<std::string>{};
  expect_plausible(probed_functions(way, options), way);
}

}  // namespace
}  // namespace hawk
