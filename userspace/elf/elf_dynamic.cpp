#include "userspace/elf/elf_dynamic.h"

#include <algorithm>
#include <cstring>

#include "userspace/elf/arch/x86_64/machine.h"
#include "userspace/elf/gnu_hash_table.h"

namespace hawk {
namespace {

template <class T>
std::vector<T> read_array(const ElfSegments& segments, std::uint64_t vaddr, std::uint64_t count) {
  if (vaddr == 0 || count > UINT64_MAX / sizeof(T)) return {};
  const std::vector<std::uint8_t> bytes = segments.read(vaddr, count * sizeof(T));
  std::vector<T> array(bytes.size() / sizeof(T));
  if (!array.empty()) std::memcpy(array.data(), bytes.data(), array.size() * sizeof(T));
  return array;
}

/// The name at `offset` of a string table; empty when it does not end within.
std::string name_at(const std::vector<char>& strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const char* start = strings.data() + offset;
  const std::size_t length = ::strnlen(start, strings.size() - offset);
  return length == strings.size() - offset ? std::string() : std::string(start, length);
}

}  // namespace

ElfDynamic::ElfDynamic(const ElfSegments& segments, std::span<const std::uint8_t> table) : segments_(segments) {
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn dynamic;
    std::memcpy(&dynamic, table.data() + at, sizeof(dynamic));
    if (dynamic.d_tag == DT_NULL) break;
    entries_.emplace_back(dynamic.d_tag, dynamic.d_un.d_val);
  }
}

std::optional<std::uint64_t> ElfDynamic::entry(Elf64_Sxword tag) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [tag](const auto& item) { return item.first == tag; });
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<char> ElfDynamic::read_strings() const {
  const std::vector<std::uint8_t> bytes = segments_.read(value_of(DT_STRTAB), value_of(DT_STRSZ));
  return {bytes.begin(), bytes.end()};
}

bool ElfDynamic::find_functions(FunctionCollector& collector) const {
  return find_by_gnu_hash(collector) || find_by_table(collector);
}

/// The name is known to be `name_bytes` long if it is the right one, so that no more of the strings is read.
void ElfDynamic::take_symbol(std::uint64_t index, std::size_t name_bytes, FunctionCollector& collector) const {
  std::vector<Elf64_Sym> symbol = read_array<Elf64_Sym>(segments_, value_of(DT_SYMTAB) + index * sizeof(Elf64_Sym), 1);
  if (symbol.empty() || symbol[0].st_name >= value_of(DT_STRSZ)) return;
  const std::vector<char> name = read_array<char>(segments_, value_of(DT_STRTAB) + symbol[0].st_name, name_bytes + 1);
  symbol[0].st_name = 0;
  collector.take(symbol[0], name);
}

bool ElfDynamic::find_by_gnu_hash(FunctionCollector& collector) const {
  const std::optional<std::uint64_t> vaddr = entry(DT_GNU_HASH);
  const std::optional<GnuHashTable> table = vaddr ? GnuHashTable::read(segments_, *vaddr) : std::nullopt;
  if (!table) return false;
  for (const NameSet::Entry& wanted : collector.names().entries()) {
    if (!table->may_contain(wanted.gnu_hash)) continue;
    for (const std::uint64_t index : table->symbols(wanted.gnu_hash)) {
      take_symbol(index, wanted.name.size(), collector);
    }
  }
  return true;
}

std::uint64_t ElfDynamic::symbol_count() const {
  const std::optional<std::uint64_t> hashed = entry(DT_GNU_HASH);
  if (const auto table = hashed ? GnuHashTable::read(segments_, *hashed) : std::nullopt) return table->symbol_count();
  const std::vector<std::uint32_t> header = read_array<std::uint32_t>(segments_, value_of(DT_HASH), 2);
  return header.size() < 2 ? 0 : header[1];
}

void ElfDynamic::for_each_symbol(const std::function<void(const Elf64_Sym&, std::span<const char>)>& visit) const {
  const std::vector<Elf64_Sym> symbols = read_array<Elf64_Sym>(segments_, value_of(DT_SYMTAB), symbol_count());
  const std::vector<char> strings = read_strings();
  for (const Elf64_Sym& symbol : symbols) visit(symbol, strings);
}

bool ElfDynamic::find_by_table(FunctionCollector& collector) const {
  if (!entry(DT_HASH)) return false;
  for_each_symbol([&](const Elf64_Sym& symbol, std::span<const char> strings) { collector.take(symbol, strings); });
  return true;
}

std::vector<Elf64_Rela> ElfDynamic::relocations() const {
  std::vector<Elf64_Rela> all =
      read_array<Elf64_Rela>(segments_, value_of(DT_RELA), value_of(DT_RELASZ) / sizeof(Elf64_Rela));
  const std::vector<Elf64_Rela> plt =
      read_array<Elf64_Rela>(segments_, value_of(DT_JMPREL), value_of(DT_PLTRELSZ) / sizeof(Elf64_Rela));
  all.insert(all.end(), plt.begin(), plt.end());
  return all;
}

std::map<std::uint64_t, std::string> ElfDynamic::got_symbols() const {
  std::vector<Elf64_Rela> slots = relocations();
  std::erase_if(slots, [](const Elf64_Rela& relocation) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    return type != arch::kJumpSlot && type != arch::kGlobDat;
  });
  // Undefined symbols are in no hash table; how many symbols there are is what the relocations refer to.
  std::uint64_t count = 0;
  for (const Elf64_Rela& slot : slots) count = std::max<std::uint64_t>(count, ELF64_R_SYM(slot.r_info) + 1);
  const std::vector<Elf64_Sym> symbols = read_array<Elf64_Sym>(segments_, value_of(DT_SYMTAB), count);
  const std::vector<char> strings = read_strings();
  std::map<std::uint64_t, std::string> names;
  for (const Elf64_Rela& slot : slots) {
    const std::uint64_t index = ELF64_R_SYM(slot.r_info);
    if (index == 0 || index >= symbols.size()) continue;
    std::string name = name_at(strings, symbols[index].st_name);
    if (!name.empty()) names.try_emplace(slot.r_offset, std::move(name));
  }
  return names;
}

bool ElfDynamic::has_soname() const { return entry(DT_SONAME).has_value(); }

std::optional<std::uint64_t> ElfDynamic::init_vaddr() const {
  if (const std::uint64_t init = value_of(DT_INIT); segments_.is_executable(init)) return init;
  const std::uint64_t slot = value_of(DT_INIT_ARRAY);
  if (slot == 0 || value_of(DT_INIT_ARRAYSZ) < 8) return std::nullopt;
  for (const Elf64_Rela& relocation : relocations()) {
    if (relocation.r_offset != slot || ELF64_R_TYPE(relocation.r_info) != arch::kRelative) continue;
    const std::uint64_t function = static_cast<std::uint64_t>(relocation.r_addend);
    return segments_.is_executable(function) ? std::optional(function) : std::nullopt;
  }
  // No relocation: a position-dependent file, or DT_RELR, whose addends stand in the slots.
  const std::vector<std::uint64_t> content = read_array<std::uint64_t>(segments_, slot, 1);
  if (content.size() == 1 && segments_.is_executable(content[0])) return content[0];
  return std::nullopt;
}

}  // namespace hawk
