#include "tests/kernel/harness/report.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

namespace hawk {
namespace {

using nlohmann::json;

Numbers read_counters(const json& from) {
  return {from.at("allocated_bytes"), from.at("allocated_count"), from.at("freed_bytes"), from.at("freed_count")};
}

Numbers read_live(const json& from) { return {from.at("live_bytes"), from.at("live_count"), 0, 0}; }

/// "by_new(unsigned long)" is "by_new", but "operator new(unsigned long)" keeps what tells its forms apart.
std::string without_parameters(const std::string& function) {
  return function.starts_with("operator") ? function : function.substr(0, function.find('('));
}

std::string text_or_empty(const json& from) { return from.is_null() ? "" : from.get<std::string>(); }

ReportFrame read_frame(const json& from) {
  const json& function = from.at("function");
  return {function.is_null() ? "" : without_parameters(function.get<std::string>()), from.at("inlined").get<bool>(),
          std::stoull(from.at("address").get<std::string>(), nullptr, 16)};
}

ReportStack read_stack(const json& from) {
  ReportStack stack{.numbers = read_counters(from),
                    .live = read_live(from),
                    .unwound = text_or_empty(from.at("unwound")),
                    .end = text_or_empty(from.at("end")),
                    .fingerprint = text_or_empty(from.at("fingerprint"))};
  for (const json& held : from.value("generations", json::array()))
    stack.generations[held.at("generation")] = read_live(held);
  for (const json& share : from.value("by_thread", json::array())) {
    stack.threads[share.at("tid")] = {
        .name = share.at("name"), .numbers = read_counters(share), .freed_by_others = share.at("freed_by_others")};
  }
  if (from.contains("histograms")) {
    const json& histograms = from.at("histograms");
    for (const json& sized : histograms.at("sizes")) stack.sizes[sized.at("min_bytes")] = sized.at("count");
    for (const json& lived : histograms.at("lifetimes")) stack.lifetimes[lived.at("min_ms")] = lived.at("count");
    stack.temporary = histograms.at("temporary");
  }
  for (const json& frame : from.at("frames")) stack.frames.push_back(read_frame(frame));
  return stack;
}

ReportMapping read_mapping(const json& from) {
  ReportMapping mapping{.kind = from.at("kind"),
                        .origin = from.at("origin"),
                        .fingerprint = text_or_empty(from.at("fingerprint")),
                        .live_bytes = from.at("live_bytes"),
                        .regions = from.at("regions"),
                        .mapped_bytes = from.at("mapped_bytes"),
                        .mapped_count = from.at("mapped_count"),
                        .unmapped_bytes = from.at("unmapped_bytes")};
  for (const json& frame : from.at("frames")) mapping.frames.push_back(read_frame(frame));
  return mapping;
}

/// Those that are without a table, and are said to be so for a reason.
std::vector<std::string> read_unread_tables(const json& unwinding) {
  const auto without_table = unwinding.at("modules_without_table").get<std::set<std::string>>();
  std::vector<std::string> files;
  for (const json& cause : unwinding.at("unsupported_rules")) {
    if (without_table.contains(cause.at("module"))) files.push_back(cause.at("module"));
  }
  return files;
}

std::map<std::string, std::uint64_t> read_calls_at_points(const json& target) {
  std::map<std::string, std::uint64_t> calls;
  if (target.is_null()) return calls;  // several
  for (const json& allocator : target.at("allocators")) {
    for (const json& function : allocator.at("functions")) {
      for (const json& point : function.at("points")) {
        if (point.at("shows") != "size" && !point.at("calls").is_null())
          calls[function.at("name")] += point.at("calls").get<std::uint64_t>();
      }
    }
  }
  return calls;
}

std::string name_or_address(const ReportFrame& frame) {
  return frame.function.empty() ? fmt::format("{:#x}", frame.address) : frame.function;
}

}  // namespace

std::vector<const ReportFrame*> ReportStack::outer_frames() const {
  std::vector<const ReportFrame*> found;
  for (const ReportFrame& frame : frames) {
    if (frame.inlined || (found.empty() && frame.function.starts_with("operator new"))) continue;
    found.push_back(&frame);
  }
  return found;
}

std::string ReportStack::direct_caller() const {
  const std::vector<const ReportFrame*> from_caller = outer_frames();
  return from_caller.empty() ? std::string() : from_caller.front()->function;
}

std::vector<std::string> ReportStack::functions() const {
  std::vector<std::string> names;
  for (const ReportFrame* frame : outer_frames()) names.push_back(frame->function);
  return names;
}

std::vector<std::uint64_t> ReportStack::addresses_above() const {
  std::vector<std::uint64_t> addresses;
  for (const ReportFrame* frame : outer_frames()) addresses.push_back(frame->address);
  if (!addresses.empty()) addresses.erase(addresses.begin());
  return addresses;
}

std::string ReportStack::text() const {
  std::string text;
  for (const ReportFrame& frame : frames) text += (text.empty() ? "" : " < ") + name_or_address(frame);
  return text;
}

Report read_report(const std::string& path) {
  std::ifstream file(path);
  std::vector<ReportStack> stacks;
  std::vector<ReportMapping> mappings;
  // Each stack is taken as soon as it is read: all of them together, 100,000 say, would fill gigabytes as JSON values.
  const auto take_stack = [&](int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event != json::parse_event_t::object_end || !parsed.contains("frames")) return true;
    if (parsed.contains("origin")) {
      mappings.push_back(read_mapping(parsed));
    } else {
      stacks.push_back(read_stack(parsed));
    }
    return false;
  };
  const json root = json::parse(file, take_stack);
  if (root.at("schema") != "hawktrace.report/1") throw std::runtime_error(path + " has another schema");
  const json& trace = root.at("trace");
  Report report{.exact = root.at("exact"),
                .numbers_exact = root.at("numbers_exact"),
                .stacks_complete = root.at("stacks_complete"),
                .attach_via = trace.at("attach_via"),
                .live_table = trace.at("live_table"),
                .unwind = trace.at("unwind"),
                .comm = text_or_empty(root.at("target").at("comm")),
                .exe = root.at("target").at("exe"),
                .target_exited = trace.at("target_exited"),
                .exec_count = trace.at("exec_count"),
                .totals = read_counters(root.at("totals")),
                .live = read_live(root.at("totals")),
                .frees_of_untraced = root.at("totals").at("frees_of_untraced"),
                .peak_live_bytes = root.at("totals").at("peak_live_bytes"),
                .peak_live_bytes_most = root.at("totals").at("peak_live_bytes_most").is_null()
                                            ? 0
                                            : root.at("totals").at("peak_live_bytes_most").get<std::uint64_t>(),
                .losses = root.at("losses"),
                .children_without_exec = root.at("untraced_children").at("without_exec"),
                .child_programs = {},
                .unread_tables = read_unread_tables(root.at("unwinding"))};
  report.calls_at_points = read_calls_at_points(root.at("target"));
  for (const json& gap : root.at("symbol_gaps")) {
    const json& module = gap.at("module");  // null: code in no file
    report.files_with_symbol_gaps.push_back(module.is_null() ? std::string() : module.get<std::string>());
  }
  for (const json& program : root.at("untraced_children").at("programs")) {
    report.child_programs[program.at("comm")] = program.at("count");
  }
  if (!trace.at("verified").is_null()) report.verified = trace.at("verified").get<bool>();
  if (!root.at("stacks").empty()) throw std::runtime_error(path + " has a stack without frames");
  report.stacks = std::move(stacks);
  report.mappings = std::move(mappings);
  if (const auto known = root.find("mappings"); known != root.end()) {
    for (const json& kind : known->at("kinds")) report.mapped_by_kind[kind.at("kind")] = kind.at("live_bytes");
  }
  return report;
}

}  // namespace hawk
