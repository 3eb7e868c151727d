#include "symbolizer/module_symbols.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "symbolizer/demangle.h"

namespace hawk {

std::vector<SourceFrame> ModuleSymbols::frames(std::uint64_t module_offset) {
  const Answer found = answer(module_offset);
  std::vector<SourceFrame> frames;
  frames.reserve(found.count);
  for (const PooledFrame& frame : std::span(answered_frames_).subspan(found.first, found.count)) {
    frames.push_back({pool_.text(frame.function), pool_.text(frame.file), frame.line, frame.inlined});
  }
  return frames;
}

void ModuleSymbols::prepare(std::span<const std::uint64_t> module_offsets) {
  std::vector<std::uint64_t> ascending(module_offsets.begin(), module_offsets.end());
  std::sort(ascending.begin(), ascending.end());
  for (const std::uint64_t module_offset : ascending) answer(module_offset);
}

ModuleSymbols::Answer ModuleSymbols::answer(std::uint64_t module_offset) {
  const auto [known, is_new] = answers_.try_emplace(module_offset);
  if (!is_new) return known->second;
  load();
  // The call is before the return address; a call that never returns may be its function's last instruction.
  if (module_offset == 0) return known->second;
  const std::vector<PooledFrame> frames = look_up(module_offset - 1);
  known->second = {static_cast<std::uint32_t>(answered_frames_.size()), static_cast<std::uint32_t>(frames.size())};
  answered_frames_.insert(answered_frames_.end(), frames.begin(), frames.end());
  return known->second;
}

SymbolSource ModuleSymbols::source() {
  load();
  if (dwarf_) return SymbolSource::kDebugInfo;
  if (symbols_.has_symtab_functions()) return SymbolSource::kSymtab;
  return symbols_.empty() ? SymbolSource::kNone : SymbolSource::kDynamicOnly;
}

void ModuleSymbols::load() {
  if (loaded_) return;
  loaded_ = true;
  image_ = file_.vdso ? ElfFile::own_vdso() : ElfFile::open(std::move(file_.fd));
  if (!image_) return;
  symbols_.add(image_->elf());
  const RootedPath place{file_.root, file_.path};
  if (image_->has_debug_info()) {
    // The lookup owns the image it reads; this one goes on serving the symbols.
    std::optional<ElfFile> copy = ElfFile::open(UniqueFd(::fcntl(image_->fd(), F_DUPFD_CLOEXEC, 0)));
    if (copy) dwarf_ = DwarfLookup::make({std::move(*copy), place}, pool_);
  } else if (!file_.vdso) {
    std::optional<FoundFile> found = find_debug_file(*image_, place);
    if (found && found->file.has_debug_info()) {
      dwarf_ = DwarfLookup::make(std::move(*found), pool_);
      if (dwarf_) symbols_.add(dwarf_->elf());
    } else if (found) {
      debug_symbols_ = std::move(found);
      symbols_.add(debug_symbols_->file.elf());
    }
  }
}

std::vector<PooledFrame> ModuleSymbols::look_up(std::uint64_t address) {
  std::vector<PooledFrame> frames;
  if (dwarf_) frames = dwarf_->frames(address, symbols_);
  const FunctionSymbol* symbol = frames.empty() ? symbols_.find(address) : nullptr;
  if (symbol != nullptr) frames.emplace_back().function = pool_.add(demangle(symbol->name));
  return frames;
}

}  // namespace hawk
