#include "userspace/target/elf_dynamic.h"

#include <algorithm>
#include <cstring>

namespace hawk {
namespace {

template <class T>
std::vector<T> as_array(const std::vector<std::uint8_t>& bytes) {
  std::vector<T> array(bytes.size() / sizeof(T));
  if (!array.empty()) std::memcpy(array.data(), bytes.data(), array.size() * sizeof(T));
  return array;
}

template <class T>
std::vector<T> read_array(const ElfSegments& segments, std::uint64_t vaddr, std::uint64_t count) {
  if (vaddr == 0 || count > UINT64_MAX / sizeof(T)) return {};
  return as_array<T>(segments.read(vaddr, count * sizeof(T)));
}

}  // namespace

std::optional<std::string_view> SymbolTable::name_of(const Elf64_Sym& symbol) const {
  if (symbol.st_name >= strings.size()) return std::nullopt;
  const char* start = strings.data() + symbol.st_name;
  const std::size_t room_bytes = strings.size() - symbol.st_name;
  const std::size_t length = ::strnlen(start, room_bytes);
  if (length == room_bytes) return std::nullopt;
  return std::string_view(start, length);
}

ElfDynamic::ElfDynamic(const ElfSegments& segments, const std::vector<std::uint8_t>& table) : segments_(segments) {
  for (const Elf64_Dyn& entry : as_array<Elf64_Dyn>(table)) {
    if (entry.d_tag == DT_NULL) break;
    entries_.try_emplace(entry.d_tag, entry.d_un.d_val);
  }
}

std::uint64_t ElfDynamic::value_of(Elf64_Sxword tag) const {
  const auto found = entries_.find(tag);
  return found == entries_.end() ? 0 : found->second;
}

/// The table itself has no count: it ends where the last chain of the hash table ends.
std::uint64_t ElfDynamic::gnu_hash_symbol_count(std::uint64_t hash_vaddr) const {
  const std::vector<std::uint32_t> header = read_array<std::uint32_t>(segments_, hash_vaddr, 4);
  if (header.size() < 4) return 0;
  const std::uint64_t bucket_count = header[0];
  const std::uint64_t first_hashed = header[1];
  const std::uint64_t buckets_vaddr = hash_vaddr + 16 + std::uint64_t{header[2]} * 8;
  const std::vector<std::uint32_t> buckets = read_array<std::uint32_t>(segments_, buckets_vaddr, bucket_count);
  std::uint64_t last = 0;
  for (const std::uint32_t bucket : buckets) last = std::max<std::uint64_t>(last, bucket);
  if (last < first_hashed) return first_hashed;
  const std::uint64_t chains_vaddr = buckets_vaddr + bucket_count * 4;
  constexpr std::uint64_t kAtOnce = 1024;
  for (;;) {
    const std::vector<std::uint32_t> chain =
        read_array<std::uint32_t>(segments_, chains_vaddr + (last - first_hashed) * 4, kAtOnce);
    for (const std::uint32_t hash : chain) {
      ++last;
      if ((hash & 1) != 0) return last;
    }
    if (chain.size() < kAtOnce) return last;
  }
}

std::uint64_t ElfDynamic::symbol_count() const {
  if (const std::uint64_t gnu_hash = value_of(DT_GNU_HASH); gnu_hash != 0) return gnu_hash_symbol_count(gnu_hash);
  const std::vector<std::uint32_t> header = read_array<std::uint32_t>(segments_, value_of(DT_HASH), 2);
  return header.size() == 2 ? header[1] : 0;
}

SymbolTable ElfDynamic::read_symbols(std::uint64_t count) const {
  SymbolTable table;
  table.symbols = read_array<Elf64_Sym>(segments_, value_of(DT_SYMTAB), count);
  const std::vector<std::uint8_t> strings = segments_.read(value_of(DT_STRTAB), value_of(DT_STRSZ));
  table.strings.assign(strings.begin(), strings.end());
  return table;
}

SymbolTable ElfDynamic::symbols() const { return read_symbols(symbol_count()); }

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
    return type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT;
  });
  // Undefined symbols are in no hash table; how many symbols there are is what the relocations refer to.
  std::uint64_t count = 0;
  for (const Elf64_Rela& slot : slots) count = std::max<std::uint64_t>(count, ELF64_R_SYM(slot.r_info) + 1);
  const SymbolTable table = read_symbols(count);
  std::map<std::uint64_t, std::string> names;
  for (const Elf64_Rela& slot : slots) {
    const std::uint64_t index = ELF64_R_SYM(slot.r_info);
    if (index == 0 || index >= table.symbols.size()) continue;
    const std::optional<std::string_view> name = table.name_of(table.symbols[index]);
    if (name && !name->empty()) names.try_emplace(slot.r_offset, *name);
  }
  return names;
}

bool ElfDynamic::has_soname() const { return entries_.contains(DT_SONAME); }

std::optional<std::uint64_t> ElfDynamic::init_vaddr() const {
  if (const std::uint64_t init = value_of(DT_INIT); segments_.is_executable(init)) return init;
  const std::uint64_t slot = value_of(DT_INIT_ARRAY);
  if (slot == 0 || value_of(DT_INIT_ARRAYSZ) < 8) return std::nullopt;
  for (const Elf64_Rela& relocation : relocations()) {
    if (relocation.r_offset != slot || ELF64_R_TYPE(relocation.r_info) != R_X86_64_RELATIVE) continue;
    const std::uint64_t function = static_cast<std::uint64_t>(relocation.r_addend);
    return segments_.is_executable(function) ? std::optional(function) : std::nullopt;
  }
  // No relocation: a position-dependent file, or DT_RELR, whose addends stand in the slots.
  const std::vector<std::uint64_t> content = read_array<std::uint64_t>(segments_, slot, 1);
  if (content.size() == 1 && segments_.is_executable(content[0])) return content[0];
  return std::nullopt;
}

}  // namespace hawk
