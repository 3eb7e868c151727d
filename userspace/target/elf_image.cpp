#include "userspace/target/elf_image.h"

#include <fmt/core.h>
#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "userspace/base/owned.h"
#include "userspace/target/elf_dynamic.h"
#include "userspace/target/elf_segments.h"

namespace hawk {
namespace {

using ElfPtr = std::unique_ptr<Elf, Freer<elf_end>>;

/// A symbol table above this is no symbol table; libelf would allocate whatever the section header claims.
constexpr std::uint64_t kMaxSectionBytes = 1u << 30;
constexpr std::uint64_t kMaxInterpreterBytes = 4096;
constexpr std::uint64_t kMaxDynamicBytes = 1u << 20;

std::vector<GElf_Phdr> program_headers(Elf* elf) {
  std::vector<GElf_Phdr> headers;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return headers;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) break;
    headers.push_back(header);
  }
  return headers;
}

/// Calls `visit(section, header)` for each section of `type` whose content is of sane size.
template <class Visit>
void for_each_section(Elf* elf, Elf64_Word type, const Visit& visit) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return;
    if (header.sh_type == type && header.sh_size <= kMaxSectionBytes) visit(section, header);
  }
}

std::string build_id_in(Elf_Data* notes) {
  std::size_t offset = 0;
  while (notes != nullptr) {
    GElf_Nhdr note;
    std::size_t name_offset = 0;
    std::size_t content_offset = 0;
    offset = gelf_getnote(notes, offset, &note, &name_offset, &content_offset);
    if (offset == 0) break;
    const auto* bytes = static_cast<const std::uint8_t*>(notes->d_buf);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name_offset, "GNU", 4) != 0) {
      continue;
    }
    std::string hex;
    for (std::size_t i = 0; i < note.n_descsz; ++i) hex += fmt::format("{:02x}", bytes[content_offset + i]);
    return hex;
  }
  return {};
}

Result<void> check_header(Elf* elf, const std::string& name) {
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) {
    return fail(ExitCode::kFile, fmt::format("read {}: not an ELF file", name));
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    return fail(ExitCode::kPrivilege, fmt::format("read {}: a 32-bit ELF file", name),
                "hawktrace traces 64-bit x86-64 programs only");
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64) {
    return fail(ExitCode::kPrivilege, fmt::format("read {}: an ELF file for another processor", name),
                "hawktrace traces 64-bit x86-64 programs only");
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return fail(ExitCode::kFile, fmt::format("read {}: neither an executable nor a shared library", name));
  }
  return {};
}

std::string_view without_version(std::string_view name) { return name.substr(0, name.find('@')); }

}  // namespace

struct ElfImage::Impl {
  explicit Impl(UniqueFd fd) : segments(std::move(fd)) {}

  ElfSegments segments;  ///< owns the descriptor that `elf` reads from: keep first
  ElfPtr elf;
  std::vector<GElf_Phdr> headers;
  std::optional<ElfDynamic> dynamic;
  std::string interpreter;
  mutable std::optional<std::map<std::uint64_t, std::string>> got_symbols;

  void read_headers();
  SymbolTable section_symbols(Elf64_Word type) const;
};

void ElfImage::Impl::read_headers() {
  headers = program_headers(elf.get());
  for (const GElf_Phdr& header : headers) {
    if (header.p_type != PT_LOAD) continue;
    segments.add({.vaddr = header.p_vaddr,
                  .file_offset = header.p_offset,
                  .file_bytes = header.p_filesz,
                  .executable = (header.p_flags & PF_X) != 0});
  }
  for (const GElf_Phdr& header : headers) {
    if (header.p_type == PT_DYNAMIC && header.p_filesz <= kMaxDynamicBytes && !dynamic) {
      dynamic.emplace(segments, segments.read_file(header.p_offset, header.p_filesz));
    }
    if (header.p_type == PT_INTERP && header.p_filesz <= kMaxInterpreterBytes) {
      const std::vector<std::uint8_t> path = segments.read_file(header.p_offset, header.p_filesz);
      interpreter.assign(path.begin(), path.end());
      interpreter.resize(std::strlen(interpreter.c_str()));
    }
  }
}

SymbolTable ElfImage::Impl::section_symbols(Elf64_Word type) const {
  SymbolTable table;
  for_each_section(elf.get(), type, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (!table.symbols.empty()) return;
    const Elf_Data* symbols = elf_rawdata(section, nullptr);
    Elf_Scn* string_section = elf_getscn(elf.get(), header.sh_link);
    GElf_Shdr string_header;
    if (symbols == nullptr || symbols->d_buf == nullptr || string_section == nullptr) return;
    if (gelf_getshdr(string_section, &string_header) == nullptr || string_header.sh_size > kMaxSectionBytes) return;
    const Elf_Data* strings = elf_rawdata(string_section, nullptr);
    if (strings == nullptr || strings->d_buf == nullptr) return;
    table.symbols.resize(symbols->d_size / sizeof(Elf64_Sym));
    std::memcpy(table.symbols.data(), symbols->d_buf, table.symbols.size() * sizeof(Elf64_Sym));
    const char* text = static_cast<const char*>(strings->d_buf);
    table.strings.assign(text, text + strings->d_size);
  });
  return table;
}

ElfImage::ElfImage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ElfImage::ElfImage(ElfImage&&) noexcept = default;
ElfImage& ElfImage::operator=(ElfImage&&) noexcept = default;
ElfImage::~ElfImage() = default;

Result<ElfImage> ElfImage::make(UniqueFd fd, const std::string& name) {
  elf_version(EV_CURRENT);
  auto impl = std::make_unique<Impl>(std::move(fd));
  // Plain reads, not a mapping: the file may shrink under our hands.
  impl->elf.reset(elf_begin(impl->segments.fd(), ELF_C_READ, nullptr));
  HAWK_TRY_VOID(check_header(impl->elf.get(), name));
  impl->read_headers();
  return ElfImage(std::move(impl));
}

std::string ElfImage::build_id() const {
  Elf* elf = impl_->elf.get();
  for (const GElf_Phdr& header : impl_->headers) {
    if (header.p_type != PT_NOTE || header.p_filesz > kMaxSectionBytes) continue;
    const Elf_Type type = header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    std::string id =
        build_id_in(elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset), header.p_filesz, type));
    if (!id.empty()) return id;
  }
  std::string id;
  for_each_section(elf, SHT_NOTE, [&](Elf_Scn* section, const GElf_Shdr&) {
    if (id.empty()) id = build_id_in(elf_getdata(section, nullptr));
  });
  return id;
}

std::vector<ElfFunction> ElfImage::functions(std::span<const std::string_view> names) const {
  const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
  std::vector<ElfFunction> found;
  std::set<std::pair<std::string, std::uint64_t>> seen;
  std::set<std::string, std::less<>> exported;
  const auto collect = [&](const SymbolTable& table) {
    for (const Elf64_Sym& symbol : table.symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      const std::optional<std::string_view> name = table.name_of(symbol);
      if (!name) continue;
      const std::string_view plain_name = without_version(*name);
      if (!wanted.contains(plain_name) || exported.contains(plain_name)) continue;
      if (!impl_->segments.is_executable(symbol.st_value)) continue;
      if (!seen.emplace(plain_name, symbol.st_value).second) continue;
      found.push_back({std::string(plain_name), symbol.st_value, symbol.st_size});
    }
  };
  SymbolTable dynamic_symbols = impl_->dynamic ? impl_->dynamic->symbols() : SymbolTable();
  if (dynamic_symbols.symbols.empty()) dynamic_symbols = impl_->section_symbols(SHT_DYNSYM);
  collect(dynamic_symbols);
  for (const ElfFunction& function : found) exported.insert(function.name);
  if (exported.size() < wanted.size()) collect(impl_->section_symbols(SHT_SYMTAB));
  return found;
}

bool ElfImage::has_symtab() const {
  for (const Elf64_Sym& symbol : impl_->section_symbols(SHT_SYMTAB).symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF) return true;
  }
  return false;
}

std::optional<std::uint64_t> ElfImage::file_offset_of(std::uint64_t vaddr) const {
  return impl_->segments.file_offset_of(vaddr);
}

std::optional<std::uint64_t> ElfImage::vaddr_of(std::uint64_t file_offset) const {
  return impl_->segments.vaddr_of(file_offset);
}

std::span<const std::uint8_t> ElfImage::code_at(std::uint64_t vaddr, std::size_t max_bytes) const {
  return impl_->segments.code_at(vaddr, max_bytes);
}

std::optional<std::string_view> ElfImage::got_symbol(std::uint64_t slot_vaddr) const {
  if (!impl_->dynamic) return std::nullopt;
  if (!impl_->got_symbols) impl_->got_symbols = impl_->dynamic->got_symbols();
  const auto found = impl_->got_symbols->find(slot_vaddr);
  if (found == impl_->got_symbols->end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> ElfImage::init_vaddr() const {
  return impl_->dynamic ? impl_->dynamic->init_vaddr() : std::nullopt;
}

bool ElfImage::is_library() const { return impl_->dynamic && impl_->dynamic->has_soname(); }

std::string ElfImage::interpreter() const { return impl_->interpreter; }

}  // namespace hawk
