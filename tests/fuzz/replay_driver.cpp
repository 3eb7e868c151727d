// Runs every file of the directories it is given through a fuzz target, in the order of their names:
//   <name>_replay DIRECTORY...
// Exit status 0 when all were run and there was at least one. Each name is printed before its input runs, so that the
// last one printed is the one that a sanitizer's report is about.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_input.h"

namespace {

std::vector<std::filesystem::path> files_of(const char* directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (error) std::fprintf(stderr, "read %s: %s\n", directory, error.message().c_str());
  std::sort(files.begin(), files.end());
  return files;
}

/// Whether the file could be read.
bool replay(const std::filesystem::path& path) {
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  // Exactly as long as the input, so that the sanitizer sees a read past its end.
  const std::vector<char> content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  return LLVMFuzzerTestOneInput(bytes.data(), bytes.size()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::filesystem::path& path : files_of(argv[i])) {
      if (!replay(path)) {
        std::fprintf(stderr, "replay %s: not run\n", path.c_str());
        return 1;
      }
      ++replayed;
    }
  }
  std::printf("%zu inputs replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}
