#include "symbolizer/module_symbols.h"

#include <fcntl.h>

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
  load();
  if (!dwarf_) return;
  std::vector<std::uint64_t> addresses;
  for (const std::uint64_t module_offset : module_offsets) {
    if (module_offset != 0) addresses.push_back(module_offset - 1);
  }
  dwarf_->arrange(addresses);
  for (const std::uint64_t address : addresses) answer(address + 1);
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
  if (has_dwarf_) return SymbolSource::kDebugInfo;
  if (symbols_.has_symtab_functions()) return SymbolSource::kSymtab;
  return symbols_.empty() ? SymbolSource::kNone : SymbolSource::kDynamicOnly;
}

void ModuleSymbols::load() {
  if (!loaded_) {
    loaded_ = true;
    image_ = file_.vdso ? ElfFile::own_vdso() : ElfFile::open(std::move(file_.fd));
    if (!image_) return;
    symbols_.add(image_->elf());
    has_dwarf_ = image_->has_debug_info();
    if (!has_dwarf_ && !file_.vdso) debug_file_ = find_debug_file(*image_, {file_.root, file_.path});
    if (debug_file_) {
      has_dwarf_ = debug_file_->file.has_debug_info();
      symbols_.add(debug_file_->file.elf());
    }
  }
  if (has_dwarf_ && !dwarf_) open_dwarf();
}

/// On an image of its own, which goes away with it; the others go on serving the symbols.
void ModuleSymbols::open_dwarf() {
  const ElfFile& file = debug_file_ ? debug_file_->file : *image_;
  std::optional<ElfFile> copy = ElfFile::open(UniqueFd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0)));
  const RootedPath place = debug_file_ ? debug_file_->place : RootedPath{file_.root, file_.path};
  if (copy) dwarf_ = DwarfLookup::make({std::move(*copy), place}, pool_);
  has_dwarf_ = dwarf_ != nullptr;
}

std::vector<PooledFrame> ModuleSymbols::look_up(std::uint64_t address) {
  std::vector<PooledFrame> frames;
  if (dwarf_) frames = dwarf_->frames(address, symbols_);
  const FunctionSymbol* symbol = frames.empty() ? symbols_.find(address) : nullptr;
  if (symbol != nullptr) frames.emplace_back().function = pool_.add(demangle(symbol->name));
  return frames;
}

}  // namespace hawk
