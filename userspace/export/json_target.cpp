#include "userspace/export/json_target.h"

#include <string>
#include <utility>

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json allocator_json(const Allocator& allocator) {
  Json functions = Json::array();
  for (const ProbedFunction& function : allocator.functions) {
    Json json;
    json["name"] = function.name;
    json["aliases"] = function.aliases;
    json["file_offset"] = function.file_offset;
    json["probe_offset"] = function.probe_offset;
    json["instruction"] = text_or_null(function.instruction);
    json["single_stepped"] = function.single_stepped;
    json["cost_ns"] = function.cost_ns ? Json(*function.cost_ns) : Json(nullptr);
    functions.push_back(std::move(json));
  }
  Json json;
  json["path"] = allocator.path;
  json["build_id"] = text_or_null(allocator.build_id);
  json["functions"] = std::move(functions);
  return json;
}

Json thread_json(const NamedThread& thread) {
  Json json;
  json["tid"] = thread.tid;
  json["name"] = thread.name;
  json["first_seen_ns"] = thread.first_seen_ns;
  json["gone_ns"] = thread.gone_ns ? Json(*thread.gone_ns) : Json(nullptr);
  return json;
}

}  // namespace

nlohmann::ordered_json target_json(const TargetInfo& target) {
  Json json;
  json["pid"] = target.pid;
  json["comm"] = text_or_null(target.comm);
  json["exe"] = text_or_null(target.exe);
  json["allocators"] = Json::array();
  for (const Allocator& allocator : target.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["threads"] = Json::array();
  for (const NamedThread& thread : named_threads(target.threads)) json["threads"].push_back(thread_json(thread));
  return json;
}

}  // namespace hawk
