#include "userspace/study/known_symbols.h"

namespace hawk {

std::shared_ptr<FileSymbols> KnownSymbols::of(const std::string& known_as) {
  if (known_as.empty()) return std::make_shared<FileSymbols>();
  if (files_.size() >= kMost) {
    std::erase_if(files_, [](const auto& file) { return file.second.use_count() == 1; });
  }
  std::shared_ptr<FileSymbols>& file = files_[known_as];
  if (!file) file = std::make_shared<FileSymbols>();
  return file;
}

}  // namespace hawk
