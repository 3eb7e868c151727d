#include "tests/unwinding/stack_dump.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace hawk {

std::optional<std::uint64_t> StackMemory::word(std::uint64_t address) const {
  const std::uint64_t offset = address - start;
  if (bytes.size() < sizeof(std::uint64_t) || offset > bytes.size() - sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::optional<DumpFile> DumpFile::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  DumpFile read;
  read.content_ = std::make_unique<std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  std::string_view maps;
  std::size_t at = 0;
  while (at < read.content_->size() && !read.damaged_) read.damaged_ = !read.take_record(at, maps);
  return read;
}

bool DumpFile::take_record(std::size_t& at, std::string_view& maps) {
  const std::string_view rest = std::string_view(*content_).substr(at);
  hawk_dump_record record{};
  if (rest.size() < sizeof(record)) return false;
  std::memcpy(&record, rest.data(), sizeof(record));
  if (record.magic != HAWK_DUMP_MAGIC || record.bytes > rest.size() - sizeof(record)) return false;
  const std::string_view payload = rest.substr(sizeof(record), record.bytes);
  at += sizeof(record) + record.bytes;
  if (record.kind == HAWK_DUMP_MAPS) {
    maps = payload;
    return true;
  }
  StackDump dump;
  if (record.kind != HAWK_DUMP_STACK || payload.size() < sizeof(dump.registers)) return false;
  std::memcpy(&dump.registers, payload.data(), sizeof(dump.registers));
  if (dump.registers.stack_bytes != payload.size() - sizeof(dump.registers)) return false;
  const std::string_view stack = payload.substr(sizeof(dump.registers));
  dump.memory = {dump.registers.stack_pointer, {reinterpret_cast<const std::uint8_t*>(stack.data()), stack.size()}};
  dump.maps = maps;
  dumps_.push_back(dump);
  return true;
}

}  // namespace hawk
