#include "userspace/attach/unwind_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/tracer/grace_period.h"

namespace hawk {
namespace {

/// To make room costs a grace period, so that more than is needed is made.
constexpr std::uint64_t three_quarters(std::uint64_t most) { return most / 4 * 3; }

/// The rules that need to be known for the rows, each once. Reserved ones are known in any case.
std::vector<std::uint32_t> rules_of(std::span<const hawk_row> rows) {
  std::vector<bool> is_used(HAWK_MAX_RULES);
  std::vector<std::uint32_t> rules;
  for (const hawk_row& row : rows) {
    if (row.rule < HAWK_FIRST_RULE || is_used[row.rule]) continue;
    is_used[row.rule] = true;
    rules.push_back(row.rule);
  }
  return rules;
}

}  // namespace

UnwindStore::UnwindStore(Engine& engine, const UnwindLimits& limits)
    : engine_(engine), limits_(limits), rules_(limits.rules), rule_users_(HAWK_MAX_RULES) {
  publish_rules();  // the step along a frame pointer is one
}

std::size_t UnwindStore::count_new(std::span<const hawk_rule> rules) const {
  return static_cast<std::size_t>(
      std::count_if(rules.begin(), rules.end(), [&](const hawk_rule& rule) { return !rules_.knows(rule); }));
}

void UnwindStore::reserve(std::uint64_t rows, std::size_t new_rules) {
  if (rows_in_sum_ + rows > limits_.kept_rows || rules_.count() + new_rules > limits_.rules)
    give_up_unused(rows, new_rules);
  const Result<void> reserved = engine_.reserve_unwind_rows(rows);
  if (!reserved) log_verbose(reserved.error().what);  // some may still find room
}

/// Nothing leads to what nobody uses: the ranges of those who did are gone, and so are the parts. Only a program that
/// runs at this moment may have found it before.
void UnwindStore::give_up_unused(std::uint64_t rows, std::size_t new_rules) {
  const std::vector<std::shared_ptr<const StoredRows>> unused = stored_.unused();
  if (unused.empty()) return;
  if (const Result<void> waited = wait_for_programs(); !waited) return log_verbose(waited.error().what);
  std::size_t given_up = 0;
  for (const auto& its : unused) {
    if (rows_in_sum_ + rows <= three_quarters(limits_.kept_rows) &&
        rules_.count() + new_rules <= three_quarters(limits_.rules))
      break;
    give_up(*its);
    stored_.forget(its);
    ++given_up;
  }
  log_verbose(fmt::format("unwind tables that no process uses: {} of {} given up; {} rows and {} rules are left",
                          given_up, unused.size(), rows_in_sum_, rules_.count()));
}

void UnwindStore::give_up(const StoredRows& rows) {
  engine_.remove_unwind_rows(rows.first);
  rows_in_sum_ -= rows.count;
  for (const std::uint32_t rule : rows.rules) --rule_users_[rule];
  forget_unused(rows.rules);
}

void UnwindStore::forget_unused(std::span<const std::uint32_t> rules) {
  std::vector<std::uint32_t> unused;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(unused),
               [&](std::uint32_t rule) { return rule_users_[rule] == 0; });
  if (!unused.empty()) rules_.forget(unused);
}

StoredTable UnwindStore::store(const std::string& path, FileTable read) {
  const auto refuse = [&](const std::string& reason) {
    log_warning(fmt::format("{}: its unwind table is not used: {}", path, reason));
    return StoredTable{};
  };
  constexpr const char* kFull = "there is no room for more rows";
  if (rows_in_sum_ >= limits_.rows) return refuse(kFull);
  const std::chrono::duration<double, std::milli> took = read.took;
  const std::size_t rules_before = rules_.count();
  const UnwindTable table = std::move(read).numbered_by(rules_);
  std::vector<std::uint32_t> rules = rules_of(table.rows);
  const Result<std::optional<AddedRows>> added = engine_.add_unwind_rows(table.rows);
  if (!added || !*added) {
    forget_unused(rules);
    return refuse(added ? kFull : added.error().what);
  }
  log_verbose(fmt::format("unwind table of {}: {} rows, {} new rules, {:.1f} ms", path, table.rows.size(),
                          rules_.count() - rules_before, took.count()));
  StoredTable stored = {.base_vaddr = table.base_vaddr,
                        .first_row = (*added)->first,
                        .row_count = static_cast<std::uint32_t>(table.rows.size())};
  if ((*added)->is_new) {
    rows_in_sum_ += table.rows.size();
    for (const std::uint32_t rule : rules) ++rule_users_[rule];
    stored.use = stored_.add({.first = stored.first_row, .count = stored.row_count, .rules = std::move(rules)});
  } else {
    stored.use = stored_.find([&](const StoredRows& rows) { return rows.first == stored.first_row; });
  }
  return stored;
}

std::optional<StoredTable> UnwindStore::find(const MappedModule& module) {
  const KnownTable* const known = tables_.find(module);
  const std::shared_ptr<const StoredRows> rows = known != nullptr ? known->rows.lock() : nullptr;
  if (!rows) return std::nullopt;
  return StoredTable{.base_vaddr = known->base_vaddr,
                     .first_row = rows->first,
                     .row_count = rows->count,
                     .use = stored_.find([&](const StoredRows& stored) { return &stored == rows.get(); })};
}

void UnwindStore::publish_rules() {
  if (rules_.changes() == published_changes_) return;
  engine_.set_unwind_rules(rules_.rules());
  published_changes_ = rules_.changes();
}

void UnwindStore::add_part(const FilePart& part) {
  Part& known = parts_[key_of(part.part)];
  ++known.targets;
  engine_.add_file_part(part.part, part.code);
  known.use = part.use;
}

void UnwindStore::remove_part(const hawk_file_part& part) {
  const auto known = parts_.find(key_of(part));
  if (known == parts_.end() || --known->second.targets != 0) return;
  engine_.remove_file_part(part);
  parts_.erase(known);
}

}  // namespace hawk
