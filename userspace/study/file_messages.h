#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/study/file_study.h"

namespace hawk {

/// What the two ends of a worker's channel say of code and unwind tables. Questions are answered in their order.
enum FileMessage : std::uint32_t {
  kReadFile = 0x100,  ///< to the worker, with the file: FileWants
  kFileCode,          ///< from the worker, if that was wanted: FileCode
  kTableHead,         ///< the same: TableHead
  kTableRows,         ///< and rows, one behind the other, some at a time until all are there
  kFileRead,          ///< from the worker, when that is all: why it could not be read, or nothing
};

/// A FileTable without its rows.
struct TableHead {
  FileTable table;
  std::uint64_t row_count = 0;
};

/// Each as the body of a message, and back; false: the body makes no sense. Of rules and rows nothing is believed that
/// would lead out of an array or past the layout's enumerations.
std::string to_body(const FileWants& wants);
std::string to_body(const FileCode& code);
std::string to_body(const TableHead& head);
bool from_body(std::string_view body, FileWants& wants);
bool from_body(std::string_view body, FileCode& code);
bool from_body(std::string_view body, TableHead& head);
/// Whether a text may be shown as it is, as reasons are, which are words of ours.
bool is_plain_text(std::string_view text);
/// Adds the rows in `body` to `table`, whose rules are known.
bool add_rows(std::string_view body, FileTable& table);

}  // namespace hawk
