#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hawk {

/// The content of a file, which must be there.
inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Makes a file of this content, or replaces the content of one.
inline void write_file(const std::filesystem::path& path, std::string_view content) {
  if (!(std::ofstream(path) << content << std::flush)) throw std::runtime_error("write " + path.string());
}

}  // namespace hawk
