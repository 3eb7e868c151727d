#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/study/file_study.h"

namespace hawk {

/// The messages of a worker's channel about code and unwind tables. Requests are answered in order.
enum FileMessage : std::uint32_t {
  kReadFile = 0x100,  ///< to the worker, with the file: FileWants
  kFileCode,          ///< from the worker, if requested: FileCode
  kTableHead,         ///< the same: TableHead
  kTableRows,         ///< and rows, in order, some at a time until all have been sent
  kFileRead,          ///< from the worker, at the end: why the file could not be read, or nothing
};

/// A FileTable without its rows.
struct TableHead {
  FileTable table;
  std::uint64_t row_count = 0;
};

/// Each as the body of a message, and back; false: the body is invalid. Rules and rows with an index outside an array,
/// or a value outside the layout's enumerations, are rejected.
std::string to_body(const FileWants& wants);
std::string to_body(const FileCode& code);
std::string to_body(const TableHead& head);
bool from_body(std::string_view body, FileWants& wants);
bool from_body(std::string_view body, FileCode& code);
bool from_body(std::string_view body, TableHead& head);
/// Whether a text may be shown unchanged. Reasons are texts of hawktrace.
bool is_plain_text(std::string_view text);
/// Adds the rows in `body` to `table`, whose rules are known.
bool add_rows(std::string_view body, FileTable& table);

}  // namespace hawk
