#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/base/check.h"
#include "userspace/base/owned.h"
#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/numbered_paths.h"
#include "userspace/tables/merged_snapshot.h"
#include "userspace/tables/stack_ends.h"

namespace hawk {
namespace {

// Stacks are leaves of a tree of calls, which is a tenth of what their frames would be; the view `frames` has these.
constexpr const char* kSchema = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE report (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE losses (cause TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE targets (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, comm TEXT, exe TEXT, cgroup TEXT, exact INTEGER NOT NULL,
  numbers_exact INTEGER NOT NULL, stacks_complete INTEGER NOT NULL, ended INTEGER NOT NULL, live_bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL, allocated_bytes INTEGER NOT NULL, allocated_count INTEGER NOT NULL,
  freed_bytes INTEGER NOT NULL, freed_count INTEGER NOT NULL);
CREATE TABLE threads (pid INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT NOT NULL, first_seen_ns INTEGER NOT NULL, gone_ns INTEGER);
CREATE TABLE modules (id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT);
CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT);
CREATE TABLE locations (id INTEGER PRIMARY KEY, address INTEGER, module INTEGER REFERENCES modules, module_offset INTEGER);
CREATE TABLE calls (location INTEGER REFERENCES locations, position INTEGER, function INTEGER REFERENCES functions,
  line INTEGER, inlined INTEGER, PRIMARY KEY (location, position)) WITHOUT ROWID;
CREATE TABLE nodes (id INTEGER PRIMARY KEY, caller INTEGER REFERENCES nodes, location INTEGER REFERENCES locations);
CREATE TABLE stacks (id INTEGER PRIMARY KEY, live_bytes INTEGER NOT NULL, live_count INTEGER NOT NULL,
  allocated_bytes INTEGER NOT NULL, allocated_count INTEGER NOT NULL, freed_bytes INTEGER NOT NULL,
  freed_count INTEGER NOT NULL, unwound TEXT, node INTEGER REFERENCES nodes);
CREATE TABLE shares (stack INTEGER REFERENCES stacks, target INTEGER REFERENCES targets, live_bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL, allocated_bytes INTEGER NOT NULL, allocated_count INTEGER NOT NULL,
  freed_bytes INTEGER NOT NULL, freed_count INTEGER NOT NULL, PRIMARY KEY (stack, target)) WITHOUT ROWID;
CREATE VIEW frames AS WITH RECURSIVE walk (stack, depth, node) AS (
    SELECT id, 0, node FROM stacks WHERE node IS NOT NULL
    UNION ALL SELECT stack, depth + 1, caller FROM walk JOIN nodes ON nodes.id = walk.node WHERE caller IS NOT NULL)
  SELECT stack, depth, position, functions.name AS function, functions.file AS file, line, inlined, modules.path AS module,
    printf('0x%x', address) AS address
  FROM walk JOIN nodes ON nodes.id = walk.node JOIN locations ON locations.id = nodes.location
    JOIN calls ON calls.location = locations.id JOIN functions ON functions.id = calls.function
    LEFT JOIN modules ON modules.id = locations.module;
BEGIN;
)";

using Value = std::variant<std::nullptr_t, std::uint64_t, std::string_view>;

Value text_or_null(std::string_view text) { return text.empty() ? Value(nullptr) : Value(text); }

/// A database in memory.
class Database {
 public:
  Database() {
    sqlite3* database = nullptr;
    // Used by one thread: locks for each value of each row would take a tenth of the time.
    const int status = ::sqlite3_open_v2(":memory:", &database,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    check(status);
    run(kSchema);
  }

  void run(const char* sql) { check(::sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr)); }

  /// Its file, piece by piece.
  void write(const TextSink& sink) {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, Freer<::sqlite3_free>> file(
        ::sqlite3_serialize(database_.get(), "main", &size, 0));
    HAWK_CHECK(file != nullptr, "SQLite serializes the database");
    std::string_view rest(reinterpret_cast<const char*>(file.get()), static_cast<std::size_t>(size));
    while (!rest.empty() && sink(rest.substr(0, kPieceBytes))) rest.remove_prefix(std::min(rest.size(), kPieceBytes));
  }

  sqlite3* get() const { return database_.get(); }
  void check(int status) const { HAWK_CHECK(status == SQLITE_OK, ::sqlite3_errmsg(database_.get())); }

 private:
  std::unique_ptr<sqlite3, Freer<::sqlite3_close>> database_;
};

/// Adds rows to a table.
class Inserter {
 public:
  Inserter(const Database& database, const char* sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    const int status = ::sqlite3_prepare_v2(database.get(), sql, -1, &statement, nullptr);
    statement_.reset(statement);
    database.check(status);
  }

  void add(std::initializer_list<Value> values) {
    int column = 0;
    for (const Value& value : values) bind(++column, value);
    HAWK_CHECK(::sqlite3_step(statement_.get()) == SQLITE_DONE, ::sqlite3_errmsg(database_.get()));
    ::sqlite3_reset(statement_.get());
  }

 private:
  void bind(int column, const Value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) {
      database_.check(::sqlite3_bind_null(statement_.get(), column));
    } else if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      database_.check(::sqlite3_bind_int64(statement_.get(), column, static_cast<sqlite3_int64>(*number)));
    } else {
      // The text lives until the row is there.
      const auto text = std::get<std::string_view>(value);
      database_.check(
          ::sqlite3_bind_text(statement_.get(), column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
    }
  }

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Freer<::sqlite3_finalize>> statement_;
};

class SqliteFile {
 public:
  explicit SqliteFile(const ReportRequest& request)
      : request_(request), stacks_(request, ExportedStacks::Names::kWhole) {}

  void write(const TextSink& sink) {
    add_report();
    add_targets();
    add_names();
    add_stacks();
    database_.run("COMMIT");
    database_.write(sink);
  }

 private:
  void add_report() {
    const Snapshot& snapshot = request_.snapshot;
    const TraceInfo& trace = snapshot.trace;
    const std::string comm = printable_unicode(snapshot.target().comm);
    const std::string exe = printable_unicode(snapshot.target().exe);
    Inserter report(database_, "INSERT INTO report VALUES (?, ?)");
    report.add({"hawktrace_version", std::string_view(request_.hawktrace_version)});
    if (snapshot.parts.empty()) {
      report.add({"pid", static_cast<std::uint64_t>(snapshot.target().pid)});
      report.add({"comm", std::string_view(comm)});
      report.add({"exe", std::string_view(exe)});
    }
    report.add({"exact", std::uint64_t{snapshot.exact()}});
    report.add({"numbers_exact", std::uint64_t{snapshot.numbers_exact()}});
    report.add({"stacks_complete", std::uint64_t{snapshot.stacks_complete()}});
    report.add({"start_unix_ns", trace.start_unix_ns});
    report.add({"duration_ns", trace.duration_ns});
    report.add({"peak_live_bytes", snapshot.peak_live_bytes});
    report.add({"frees_of_untraced", snapshot.frees_of_untraced});
    Inserter losses(database_, "INSERT INTO losses VALUES (?, ?)");
    for (std::size_t cause = 0; cause < snapshot.losses.counts.size(); ++cause) {
      losses.add({loss_texts()[cause].json_name, snapshot.losses.counts[cause]});
    }
  }

  void add_targets() {
    const Snapshot& snapshot = request_.snapshot;
    Inserter targets(database_, "INSERT INTO targets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Inserter threads(database_, "INSERT INTO threads VALUES (?, ?, ?, ?, ?)");
    for (std::size_t index = 0; index < snapshot.targets.size(); ++index) {
      const TargetInfo& target = snapshot.targets[index];
      const TargetPart part = snapshot.parts.empty() ? part_of(snapshot) : snapshot.parts[index];
      const auto pid = static_cast<std::uint64_t>(target.pid);
      const std::string comm = printable_unicode(target.comm);
      const std::string exe = printable_unicode(target.exe);
      const std::string cgroup = printable_unicode(target.cgroup);
      const Counters& totals = part.totals;
      targets.add({std::uint64_t{index}, pid, text_or_null(comm), text_or_null(exe), text_or_null(cgroup),
                   std::uint64_t{part.exact()}, std::uint64_t{part.numbers_exact()},
                   std::uint64_t{part.stacks_complete}, std::uint64_t{part.target_exited}, totals.live_bytes(),
                   totals.live_count(), totals.allocated_bytes, totals.allocated_count, totals.freed_bytes,
                   totals.freed_count});
      for (const NamedThread& thread : named_threads(target.threads)) {
        const std::string name = printable_unicode(thread.name);
        threads.add({pid, static_cast<std::uint64_t>(thread.tid), std::string_view(name), thread.first_seen_ns,
                     thread.gone_ns ? Value(*thread.gone_ns) : Value(nullptr)});
      }
    }
  }

  void add_names() {
    const Snapshot& snapshot = request_.snapshot;
    Inserter modules(database_, "INSERT INTO modules VALUES (?, ?, ?)");
    for (std::size_t index = 0; index < snapshot.modules.size(); ++index) {
      const std::string path = printable_unicode(snapshot.modules[index].path);
      const std::string build_id = printable_unicode(snapshot.modules[index].build_id);
      modules.add({std::uint64_t{index}, std::string_view(path), text_or_null(build_id)});
    }
    Inserter functions(database_, "INSERT INTO functions VALUES (?, ?, ?)");
    for (std::size_t index = 0; index < stacks_.functions().size(); ++index) {
      const ExportedFunction& function = stacks_.functions()[index];
      functions.add({std::uint64_t{index}, std::string_view(function.name), text_or_null(function.file)});
    }
    Inserter locations(database_, "INSERT INTO locations VALUES (?, ?, ?, ?)");
    Inserter calls(database_, "INSERT INTO calls VALUES (?, ?, ?, ?, ?)");
    for (const LocationId id : stacks_.locations()) {
      const Location& location = snapshot.location(id);
      const bool has_module = location.module.has_value();
      locations.add({std::uint64_t{static_cast<std::uint32_t>(id)}, location.address,
                     has_module ? Value(std::uint64_t{static_cast<std::uint32_t>(*location.module)}) : Value(nullptr),
                     has_module ? Value(location.module_offset) : Value(nullptr)});
      std::uint64_t position = 0;
      for (const ListedFrame& call : stacks_.calls_at(id)) {
        calls.add({std::uint64_t{static_cast<std::uint32_t>(id)}, position++, std::uint64_t{stacks_.function_of(call)},
                   call.source.line != 0 ? Value(std::uint64_t{call.source.line}) : Value(nullptr),
                   std::uint64_t{call.source.inlined}});
      }
    }
  }

  /// The node at which each of records() ends; 0: it has no calls.
  std::vector<std::uint32_t> add_nodes() {
    NumberedPaths paths;
    for (const StackRecord* record : stacks_.records()) {
      stacks_.push_locations(*record, paths);
      paths.end_path();
    }
    Inserter nodes(database_, "INSERT INTO nodes VALUES (?, ?, ?)");
    return paths.number_nodes([&](std::uint32_t node, std::uint32_t caller, std::uint32_t location) {
      nodes.add({std::uint64_t{node}, node_or_null(caller), std::uint64_t{location}});
    });
  }

  void add_stacks() {
    const std::vector<std::uint32_t> nodes = add_nodes();
    Inserter stacks(database_, "INSERT INTO stacks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Inserter shares(database_, "INSERT INTO shares VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    // Rows are appended then, which fills pages, and takes no search for a place.
    for (const std::size_t index : stacks_.by_number()) {
      const StackRecord* const record = stacks_.records()[index];
      const Counters& counters = record->counters;
      stacks.add({std::uint64_t{static_cast<std::uint32_t>(record->id)}, counters.live_bytes(), counters.live_count(),
                  counters.allocated_bytes, counters.allocated_count, counters.freed_bytes, counters.freed_count,
                  record->id == kNoStack ? Value(nullptr) : Value(quality_name(record->quality())),
                  node_or_null(nodes[index])});
      for (const StackShare& share : stacks_.shares_of(*record)) {
        const Counters& own = share.counters;
        shares.add({std::uint64_t{static_cast<std::uint32_t>(record->id)},
                    std::uint64_t{static_cast<std::uint32_t>(share.target)}, own.live_bytes(), own.live_count(),
                    own.allocated_bytes, own.allocated_count, own.freed_bytes, own.freed_count});
      }
    }
  }

  static Value node_or_null(std::uint32_t node) { return node == 0 ? Value(nullptr) : Value(std::uint64_t{node}); }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  Database database_;
};

}  // namespace

void write_sqlite(const ReportRequest& request, const TextSink& sink) { SqliteFile(request).write(sink); }

}  // namespace hawk
