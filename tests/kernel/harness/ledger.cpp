#include "tests/kernel/harness/ledger.h"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace hawk {
namespace {

std::string ledger_directory = HAWK_LEDGER_DIR;

Numbers read_numbers(std::istringstream& from) {
  Numbers numbers;
  from >> numbers.allocated_bytes >> numbers.allocated_count >> numbers.freed_bytes >> numbers.freed_count;
  return numbers;
}

std::uint64_t read_number(std::istringstream& from) {
  std::uint64_t number = 0;
  from >> number;
  return number;
}

std::vector<std::uint64_t> read_addresses(std::istringstream& from) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; from >> address;) addresses.push_back(address);
  from.clear();
  return addresses;
}

ChildProcess::Setup process_of(const LedgerProgram::Setup& setup) {
  ChildProcess::Setup process{.argv = {ledger_path(setup.program)}, .environment = setup.environment};
  process.argv.insert(process.argv.end(), setup.arguments.begin(), setup.arguments.end());
  return process;
}

const ChildProcess::Setup& prepared(const Twin& twin) {
  twin.prepare();
  return twin.setup;
}

}  // namespace

Numbers& Numbers::operator+=(const Numbers& other) {
  allocated_bytes += other.allocated_bytes;
  allocated_count += other.allocated_count;
  freed_bytes += other.freed_bytes;
  freed_count += other.freed_count;
  return *this;
}

std::ostream& operator<<(std::ostream& to, const Numbers& numbers) {
  return to << "allocated " << numbers.allocated_bytes << " B in " << numbers.allocated_count << ", freed "
            << numbers.freed_bytes << " B in " << numbers.freed_count;
}

LedgerProgram::LedgerProgram(const Setup& setup)
    : LedgerProgram(Twin{.setup = process_of(setup), .prepare = setup.prepare, .mask = mask_ledger}) {}

LedgerProgram::LedgerProgram(Twin twin) : ChildProcess(prepared(twin)), twin_(std::move(twin)) {
  const std::string greeting = read_line();
  if (greeting != "ready") throw std::runtime_error(twin_.setup.argv[0] + " says " + greeting + " instead of ready");
}

LedgerProgram::~LedgerProgram() { expect_same_untraced(*this, twin_); }

Ledger LedgerProgram::run() {
  send_byte();
  return read_ledger(*this);
}

void read_ledger_entry(const std::string& line, Ledger& into) {
  std::istringstream words(line);
  std::string kind, name;
  words >> kind >> name;
  if (kind == "site") {
    into.sites[name] += read_numbers(words);
  } else if (kind == "total") {
    into.totals = read_numbers(words);
  } else if (kind == "loss") {
    into.losses[name] = read_number(words);
  } else if (kind == "value") {
    into.values[name] = read_number(words);
  } else if (kind == "stack") {
    into.stacks.emplace(name, read_addresses(words));
  } else if (kind == "foreign") {
    into.foreign[name] = read_number(words);
  } else if (kind != "varies" && kind != "holds") {
    throw std::runtime_error("the ledger program says: " + line);
  }
  if (words.fail()) throw std::runtime_error("malformed line of a ledger: " + line);
}

Ledger read_ledger(ChildProcess& from) {
  Ledger ledger;
  for (std::string line = from.read_line(); line != "done"; line = from.read_line()) read_ledger_entry(line, ledger);
  return ledger;
}

std::string ledger_path(const std::string& name) {
  return name.starts_with("/") ? name : ledger_directory + "/" + name;
}

void set_ledger_directory(std::string directory) { ledger_directory = std::move(directory); }

}  // namespace hawk
