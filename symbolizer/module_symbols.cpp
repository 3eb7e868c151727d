#include "symbolizer/module_symbols.h"

#include <fcntl.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "symbolizer/demangle.h"
#include "symbolizer/memory_budget.h"
#include "symbolizer/mini_debug_info.h"

namespace hawk {
namespace {

/// Chromium's debug information, in which 300 MiB are compressed, takes half of it.
constexpr std::size_t kBudgetBytes = std::size_t{1} << 30;

}  // namespace

/// Does `work` again, with less, when it has taken too much.
template <class Work>
void ModuleSymbols::within_budget(const Work& work) {
  constexpr int kStages = 3;  // with debug information, with symbols, with nothing
  for (int stage = 0; stage < kStages; ++stage) {
    try {
      const MemoryBudget budget(kBudgetBytes);
      return work();
    } catch (const std::bad_alloc&) {
      give_up("it needs more memory than the limit for a file");
    } catch (const std::length_error&) {
      give_up("it is damaged");
    }
  }
}

void ModuleSymbols::give_up(const char* why) {
  const bool had_dwarf = std::exchange(has_dwarf_, false);
  dwarf_.reset();
  symbols_ = SymbolTable();  // whatever of it was read by then
  if (had_dwarf) {
    gap_ = std::string("its debug information is not read: ") + why;
    if (image_) symbols_.add(*image_);
    if (debug_file_) symbols_.add(debug_file_->file);
    if (mini_debug_info_) symbols_.add(*mini_debug_info_);
    return;
  }
  gap_ = std::string("its symbols are not read: ") + why;
  loaded_ = true;
  mini_debug_info_.reset();
  debug_file_.reset();
  image_.reset();
}

void ModuleSymbols::close_files() {
  gap_ = kFilesClosed;
  loaded_ = true;
  has_dwarf_ = false;
  dwarf_.reset();
  symbols_ = SymbolTable();
  mini_debug_info_.reset();
  debug_file_.reset();
  image_.reset();
  file_.fd.reset();
}

std::vector<SourceFrame> ModuleSymbols::frames(std::uint64_t module_offset) {
  if (!knows(module_offset)) within_budget([&] { answer(module_offset); });
  return answers_.frames(module_offset, pool_);
}

void ModuleSymbols::prepare(std::span<const std::uint64_t> module_offsets) {
  within_budget([&] {
    load();
    if (!dwarf_) return;
    std::vector<std::uint64_t> addresses;
    for (const std::uint64_t module_offset : module_offsets) {
      if (module_offset != 0) addresses.push_back(module_offset - 1);
    }
    dwarf_->arrange(addresses);
    for (const std::uint64_t address : addresses) answer(address + 1);
  });
}

void ModuleSymbols::answer(std::uint64_t module_offset) {
  if (knows(module_offset)) return;
  load();
  // The call is before the return address; a call that never returns may be its function's last instruction.
  std::vector<PooledFrame> frames;
  if (module_offset != 0) frames = look_up(module_offset - 1);
  answers_.keep(module_offset, frames);
}

SymbolSource ModuleSymbols::source() {
  SymbolSource source = SymbolSource::kNone;
  within_budget([&] {
    load();
    source = has_dwarf_                        ? SymbolSource::kDebugInfo
             : symbols_.has_symtab_functions() ? SymbolSource::kSymtab
             : symbols_.empty()                ? SymbolSource::kNone
                                               : SymbolSource::kDynamicOnly;
  });
  return source;
}

void ModuleSymbols::load() {
  if (!loaded_) {
    loaded_ = true;
    if (!file_.fd) gap_ = "its symbols are not read: the file has been deleted or modified";
    image_ = ElfFile::open(std::move(file_.fd));
    if (!image_) return;
    symbols_.add(*image_);
    has_dwarf_ = image_->has_debug_info();
    if (!has_dwarf_ && !file_.vdso) debug_file_ = find_debug_file(*image_, {file_.root, file_.path});
    if (debug_file_) {
      has_dwarf_ = debug_file_->file.has_debug_info();
      symbols_.add(debug_file_->file);
    } else if (!image_->has_symtab()) {
      mini_debug_info_ = find_mini_debug_info(*image_);
      if (mini_debug_info_) symbols_.add(*mini_debug_info_);
    }
  }
  if (has_dwarf_ && !dwarf_) open_dwarf();
}

/// On an image of its own, which goes away with it; the others go on serving the symbols.
void ModuleSymbols::open_dwarf() {
  const ElfFile& file = debug_file_ ? debug_file_->file : *image_;
  std::optional<ElfFile> copy = ElfFile::open(UniqueFd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0)));
  std::string gap;
  const RootedPath rooted = debug_file_ ? debug_file_->rooted : RootedPath{file_.root, file_.path};
  if (copy) dwarf_ = DwarfLookup::make({std::move(*copy), rooted}, pool_, gap);
  if (!gap.empty()) gap_ = gap;
  has_dwarf_ = dwarf_ != nullptr;
}

std::vector<PooledFrame> ModuleSymbols::look_up(std::uint64_t address) {
  std::vector<PooledFrame> frames;
  if (dwarf_) {
    frames = dwarf_->frames(address, symbols_);
    if (gap_.empty()) gap_ = dwarf_->gap();
  }
  const FunctionSymbol* symbol = frames.empty() ? symbols_.find(address) : nullptr;
  if (symbol != nullptr) frames.emplace_back().function = pool_.add(demangle(symbol->name));
  return frames;
}

}  // namespace hawk
