#include "symbolizer/module_symbols.h"

#include <fcntl.h>

#include <utility>

#include "symbolizer/demangle.h"

namespace hawk {

const std::vector<SourceFrame>& ModuleSymbols::frames(std::uint64_t module_offset) {
  const auto known = answers_.find(module_offset);
  if (known != answers_.end()) return known->second;
  load();
  std::vector<SourceFrame> frames;
  // The call is before the return address; a call that never returns may be its function's last instruction.
  if (module_offset != 0) frames = look_up(module_offset - 1);
  return answers_.emplace(module_offset, std::move(frames)).first->second;
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
    if (copy) dwarf_ = DwarfLookup::make({std::move(*copy), place});
  } else if (!file_.vdso) {
    std::optional<FoundFile> found = find_debug_file(*image_, place);
    if (found && found->file.has_debug_info()) {
      dwarf_ = DwarfLookup::make(std::move(*found));
      if (dwarf_) symbols_.add(dwarf_->elf());
    } else if (found) {
      debug_symbols_ = std::move(found);
      symbols_.add(debug_symbols_->file.elf());
    }
  }
  symbols_.seal();
}

std::vector<SourceFrame> ModuleSymbols::look_up(std::uint64_t address) {
  std::vector<SourceFrame> frames;
  if (dwarf_) frames = dwarf_->frames(address, symbols_);
  const FunctionSymbol* symbol = frames.empty() ? symbols_.find(address) : nullptr;
  if (symbol != nullptr) frames.emplace_back().function = demangle(symbol->name);
  return frames;
}

}  // namespace hawk
