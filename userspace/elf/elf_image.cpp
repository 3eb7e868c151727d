#include "userspace/elf/elf_image.h"

#include <algorithm>
#include <map>
#include <utility>

#include "userspace/elf/arch/x86_64/machine.h"
#include "userspace/elf/elf_dynamic.h"
#include "userspace/elf/elf_sections.h"
#include "userspace/elf/function_collector.h"
#include "userspace/elf/unwind_index.h"

namespace hawk {

struct ElfImage::Impl {
  std::optional<ElfDynamic> dynamic;
  mutable std::optional<const ElfSections> sections;
  mutable std::optional<std::map<std::uint64_t, std::string>> got_symbols;
  mutable std::optional<std::map<std::uint64_t, std::uint64_t>> choosers;  ///< by slot
};

ElfImage::ElfImage(ElfLayout layout) : ElfLayout(std::move(layout)), impl_(std::make_unique<Impl>()) {
  const std::optional<Elf64_Phdr>& table = dynamic_segment();
  if (table) impl_->dynamic.emplace(segments(), segments().file().read(table->p_offset, table->p_filesz));
}

ElfImage::ElfImage(ElfImage&&) noexcept = default;
ElfImage& ElfImage::operator=(ElfImage&&) noexcept = default;
ElfImage::~ElfImage() = default;

Result<ElfImage> ElfImage::make(UniqueFd fd, const std::string& name) {
  return ElfImage(HAWK_TRY(ElfLayout::make(std::move(fd), name)));
}

/// For one use: those that the image keeps, or else its own.
class ElfImage::Sections {
 public:
  explicit Sections(const ElfSections& kept) : used_(&kept) {}
  explicit Sections(ElfSections&& own) : own_(std::move(own)), used_(&*own_) {}
  Sections(const Sections&) = delete;
  Sections& operator=(const Sections&) = delete;
  ~Sections() = default;

  const ElfSections* operator->() const { return used_; }

 private:
  const std::optional<const ElfSections> own_;
  const ElfSections* used_;
};

/// Five questions are asked of every file: they are read once, unless they would take memory that what is read of the
/// file next may need. (No std::shared_ptr: UBSan makes a pipe when it checks its first, which a worker may not.)
ElfImage::Sections ElfImage::sections() const {
  constexpr std::uint64_t kMostKept = 1u << 20;
  if (impl_->sections) return Sections(*impl_->sections);
  ElfSections read(segments().file(), header());
  if (read.most_bytes() > kMostKept) return Sections(std::move(read));
  return Sections(impl_->sections.emplace(std::move(read)));
}

CallFrameSection ElfImage::call_frames(const Elf64_Shdr& section) const {
  const std::uint64_t there =
      segments().file().size_bytes() - std::min(section.sh_offset, segments().file().size_bytes());
  CallFrameSection found;
  found.vaddr = section.sh_addr;
  found.is_too_large = std::min(section.sh_size, there) > kMaxCallFrameBytes;
  if (!found.is_too_large) found.bytes = segments().file().read(section.sh_offset, section.sh_size);
  return found;
}

std::vector<ElfFunction> ElfImage::functions(const NameSet& names) const {
  FunctionCollector collector(segments(), names);
  const bool found = impl_->dynamic && impl_->dynamic->find_functions(collector);
  const Sections all = sections();
  if (!found) all->find_functions(SHT_DYNSYM, collector);
  if (!collector.settle()) all->find_functions(SHT_SYMTAB, collector);
  return collector.result();
}

std::vector<ElfFunction> ElfImage::public_functions(std::string_view prefix) const {
  std::map<std::string, ElfFunction, std::less<>> found;
  const auto take = [&](const Elf64_Sym& symbol, std::span<const char> strings) {
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL) return;
    const std::string_view name = symbol_name(symbol, strings);
    if (!name.starts_with(prefix) || !segments().is_executable(symbol.st_value)) return;
    if (std::optional<ElfFunction> function = defined_function(symbol, name)) found.emplace(name, std::move(*function));
  };
  if (impl_->dynamic) impl_->dynamic->for_each_symbol(take);
  sections()->for_each_symbol_of(SHT_SYMTAB, take);
  std::vector<ElfFunction> functions;
  functions.reserve(found.size());
  for (auto& [name, function] : found) functions.push_back(std::move(function));
  return functions;
}

bool ElfImage::has_symtab() const { return sections()->has_function(SHT_SYMTAB); }

bool ElfImage::has_sections() const { return !sections()->headers().empty(); }

std::vector<std::uint8_t> ElfImage::bytes_at(std::uint64_t vaddr, std::uint64_t wanted_bytes) const {
  return segments().read(vaddr, wanted_bytes);
}

std::size_t ElfImage::bytes_at(std::uint64_t vaddr, std::span<std::uint8_t> buffer) const {
  return segments().read(vaddr, buffer);
}

ElfSegments::CodeSearch ElfImage::search_code(std::span<const std::uint8_t> bytes) const {
  return segments().search_code(bytes);
}

bool ElfImage::handles_no_exceptions(std::uint64_t vaddr) const {
  return unwind_index_vaddr() && hawk::handles_no_exceptions(segments(), *unwind_index_vaddr(), vaddr);
}

std::optional<CallFrameSection> ElfImage::eh_frame() const {
  if (const std::optional<Elf64_Shdr> section = sections()->named(".eh_frame")) {
    CallFrameSection found = call_frames(*section);
    if (!found.bytes.empty() || found.is_too_large) return found;
  }
  if (!unwind_index_vaddr()) return std::nullopt;
  const std::optional<std::uint64_t> vaddr = eh_frame_vaddr(segments(), *unwind_index_vaddr());
  if (!vaddr) return std::nullopt;
  CallFrameSection found = {
      .bytes = segments().read(*vaddr, kMaxCallFrameBytes), .vaddr = *vaddr, .ends_at_zero = true};
  if (found.bytes.empty()) return std::nullopt;
  return found;
}

std::optional<CallFrameSection> ElfImage::debug_frame() const {
  const std::optional<Elf64_Shdr> section = sections()->named(".debug_frame");
  if (!section || (section->sh_flags & SHF_COMPRESSED) != 0) return std::nullopt;
  CallFrameSection found = call_frames(*section);
  found.is_debug_frame = true;
  if (found.bytes.empty() && !found.is_too_large) return std::nullopt;
  return found;
}

std::optional<std::string_view> ElfImage::got_symbol(std::uint64_t slot_vaddr) const {
  if (!impl_->dynamic) return std::nullopt;
  if (!impl_->got_symbols) impl_->got_symbols = impl_->dynamic->got_symbols();
  const auto found = impl_->got_symbols->find(slot_vaddr);
  if (found == impl_->got_symbols->end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> ElfImage::chooser_of(std::uint64_t slot_vaddr) const {
  if (!impl_->choosers) {
    impl_->choosers.emplace();
    const auto take = [&](const Elf64_Rela& relocation) {
      if (ELF64_R_TYPE(relocation.r_info) != arch::kChosen) return;
      impl_->choosers->emplace(relocation.r_offset, static_cast<std::uint64_t>(relocation.r_addend));
    };
    if (impl_->dynamic) {
      for (const Elf64_Rela& relocation : impl_->dynamic->relocations()) take(relocation);
    } else {
      for (const Elf64_Rela& relocation : sections()->relocations()) take(relocation);
    }
  }
  const auto found = impl_->choosers->find(slot_vaddr);
  return found == impl_->choosers->end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> ElfImage::init_vaddr() const {
  return impl_->dynamic ? impl_->dynamic->init_vaddr() : std::nullopt;
}

bool ElfImage::is_go() const { return sections()->named(".note.go.buildid") || sections()->named(".go.buildinfo"); }

bool ElfImage::is_library() const { return impl_->dynamic && impl_->dynamic->has_soname(); }

}  // namespace hawk
