#include "tests/kernel/harness/target_report.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace hawk {
namespace {

using nlohmann::json;

json stacks_of_target(const json& all, std::size_t place) {
  json stacks = json::array();
  for (json stack : all.at("stacks")) {
    for (const json& share : stack.at("by_target")) {
      if (share.at("target") == place) stack.update(share);
    }
    if (stack.contains("pid")) stacks.push_back(std::move(stack));
  }
  return stacks;
}

}  // namespace

json report_of_target(const json& all, std::size_t place) {
  json own = all.at("targets").at(place);
  json part = all;
  for (const char* key : {"exact", "numbers_exact", "stacks_complete", "totals", "losses", "untraced_children"}) {
    part[key] = own[key];
  }
  part["trace"]["target_exited"] = own["target_exited"];
  part["target"] = std::move(own);
  part["stacks"] = stacks_of_target(all, place);
  return part;
}

}  // namespace hawk
