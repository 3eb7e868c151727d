#include "tests/kernel/harness/traced_family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/tracefs.h"

namespace hawk {

std::ostream& operator<<(std::ostream& to, const OfProcess& process) {
  return to << "allocated " << process.allocated_count << " / " << process.allocated_bytes << " bytes, freed "
            << process.freed_count << " / " << process.freed_bytes << " bytes, inherited " << process.inherited;
}
std::vector<std::pair<int, OfProcess>> family_lines(const std::string& path) {
  std::vector<std::pair<int, OfProcess>> lines;
  std::ifstream file(path);
  int pid = 0;
  for (OfProcess one; file >> pid >> one.allocated_count >> one.allocated_bytes >> one.freed_count >> one.freed_bytes >>
                      one.inherited;) {
    lines.emplace_back(pid, one);
  }
  return lines;
}

Family read_family(const std::string& path) {
  Family family;
  for (const auto& [pid, process] : family_lines(path)) family[pid] = process;
  return family;
}

std::vector<OfProcess> said_by(const std::string& ledger) {
  std::vector<OfProcess> said;
  for (const auto& [pid, numbers] : family_lines(ledger)) said.push_back(numbers);
  std::sort(said.begin(), said.end());
  return said;
}

std::vector<OfProcess> traced_in(const nlohmann::json& report) {
  std::vector<OfProcess> traced;
  for (const nlohmann::json& target : report.at("targets")) traced.push_back(numbers_of(target));
  std::sort(traced.begin(), traced.end());
  return traced;
}

std::vector<std::string> command_words(Way way, const ScratchDirectory& directory,
                                       const std::vector<std::string>& command,
                                       const std::vector<std::string>& options) {
  std::vector<std::string> words = {HAWKTRACE_PATH, "--follow",
                                    "--attach-via", attach_via(way),
                                    "--live-table", live_table(way),
                                    "--format",     "json",
                                    "--top",        "0",
                                    "--verify",     "-q",
                                    "-o",           directory.path("report")};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> family_words(Way way, const ScratchDirectory& directory,
                                      const std::vector<std::string>& family, const std::vector<std::string>& options) {
  std::vector<std::string> command = {ledger_path("family")};
  command.insert(command.end(), family.begin(), family.end());
  return command_words(way, directory, command, options);
}

RecordedHawktrace::RecordedHawktrace(ChildProcess::Setup setup) : hawktrace_(with_plan(std::move(setup))) {}

ChildProcess::Setup RecordedHawktrace::with_plan(ChildProcess::Setup setup) const {
  setup.environment.merge(plan_.environment());
  return setup;
}

void RecordedHawktrace::expect_end() {
  EXPECT_EQ(hawktrace_.wait(), 0) << hawktrace_.errors();
  EXPECT_GT(plan_.objects(), 0U);
  plan_.expect_no_objects();
  expect_no_named_events(hawktrace_.pid());
}

namespace {

nlohmann::json report_of(const ChildProcess::Setup& setup, const ScratchDirectory& directory, bool may_warn = false) {
  RecordedHawktrace hawktrace(setup);
  EXPECT_EQ(hawktrace->read_to_end(), "");
  hawktrace.expect_end();
  EXPECT_TRUE(may_warn || hawktrace->errors().empty()) << hawktrace->errors();
  return nlohmann::json::parse(std::ifstream(directory.path("report")));
}

}  // namespace

nlohmann::json trace_with_warnings(Way way, const ScratchDirectory& directory, const std::vector<std::string>& command,
                                   const std::vector<std::string>& options) {
  return report_of({.argv = command_words(way, directory, command, options)}, directory, true);
}

nlohmann::json trace_command(Way way, const ScratchDirectory& directory, const std::vector<std::string>& command,
                             const std::vector<std::string>& options) {
  return report_of({.argv = command_words(way, directory, command, options)}, directory);
}

nlohmann::json trace_family(Way way, const ScratchDirectory& directory, const std::vector<std::string>& family,
                            const std::vector<std::string>& options) {
  return report_of({.argv = family_words(way, directory, family, options), .environment = with_own_libc(directory)},
                   directory);
}

OfProcess numbers_of(const nlohmann::json& target) {
  const nlohmann::json& totals = target.at("totals");
  return {.allocated_count = totals.at("allocated_count"),
          .allocated_bytes = totals.at("allocated_bytes"),
          .freed_count = totals.at("freed_count"),
          .freed_bytes = totals.at("freed_bytes"),
          .inherited = totals.at("frees_of_untraced")};
}

Family family_in(const nlohmann::json& report) {
  if (!report.at("target").is_null()) return {{report.at("target").at("pid").get<int>(), numbers_of(report)}};
  Family family;
  for (const nlohmann::json& target : report.at("targets")) family[target.at("pid").get<int>()] = numbers_of(target);
  return family;
}

void expect_same(const Family& family, const Family& traced, std::size_t processes) {
  EXPECT_EQ(family.size(), processes);
  EXPECT_EQ(traced.size(), processes);
  for (const auto& [pid, process] : family) {
    ASSERT_TRUE(traced.contains(pid)) << pid;
    EXPECT_EQ(traced.at(pid), process) << pid;
  }
}

void expect_family(Way way, const std::string& how, const std::string& count, std::size_t processes,
                   const std::vector<std::string>& options) {
  const ScratchDirectory directory;
  const nlohmann::json report = trace_family(way, directory, {how, directory.path("ledger"), count}, options);
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  expect_same(read_family(directory.path("ledger")), family_in(report), processes);
}

}  // namespace hawk
