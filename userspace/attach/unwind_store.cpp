#include "userspace/attach/unwind_store.h"

#include <fmt/core.h>

#include "userspace/attach/read_ahead.h"
#include "userspace/base/log.h"

namespace hawk {

UnwindStore::UnwindStore(Engine& engine) : engine_(engine) {
  publish_rules();  // the step along a frame pointer is one
}

UnwindTable UnwindStore::number(FileTable read) {
  if (rows_in_sum_ < kMaxRowsInSum) return std::move(read).numbered_by(rules_);
  UnwindTable none;
  none.unsupported["no room for more rows"] = 1;
  return none;
}

void UnwindStore::reserve(std::uint64_t rows) {
  const Result<void> reserved = engine_.reserve_unwind_rows(rows);
  if (!reserved) log_verbose(reserved.error().what);  // some may still find room
}

StoredTable UnwindStore::store(const std::string& path, const UnwindTable& table) {
  const Result<std::optional<AddedRows>> added = engine_.add_unwind_rows(table.rows);
  if (!added || !*added) {
    log_warning(fmt::format("{}: its unwind table is not used: {}", path,
                            added ? "there is no room for more rows" : added.error().what));
    return {};
  }
  if ((*added)->is_new) rows_in_sum_ += table.rows.size();
  return {.base_vaddr = table.base_vaddr,
          .first_row = (*added)->first,
          .row_count = static_cast<std::uint32_t>(table.rows.size())};
}

void UnwindStore::publish_rules() {
  if (rules_.rules().size() == published_rules_) return;
  engine_.set_unwind_rules(rules_.rules());
  published_rules_ = rules_.rules().size();
}

void UnwindStore::add_part(const FilePart& part) {
  ++part_users_[{part.part.inode, part.part.device, part.part.number}];
  engine_.add_file_part(part.part, part.code);
}

void UnwindStore::remove_part(const hawk_file_part& part) {
  const auto users = part_users_.find({part.inode, part.device, part.number});
  if (users == part_users_.end() || --users->second != 0) return;
  part_users_.erase(users);
  engine_.remove_file_part(part);
}

}  // namespace hawk
