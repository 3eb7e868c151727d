#include "tests/kernel/harness/own_libc.h"

#include <filesystem>

namespace hawk {
namespace {

constexpr const char* kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

std::string copy_of_libc(const ScratchDirectory& directory) {
  std::string copy = directory.path("libc.so.6");
  std::filesystem::copy_file(kLibc, copy);
  return copy;
}

}  // namespace

std::map<std::string, std::string> with_own_libc(const ScratchDirectory& directory) {
  copy_of_libc(directory);
  return {{"LD_LIBRARY_PATH", directory.path("")}};
}

std::vector<std::string> beside_own_libc(const ScratchDirectory& directory, std::vector<std::string> command) {
  std::vector<std::string> words = {
      "unshare", "--mount", "sh", "-c", "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"", copy_of_libc(directory),
      kLibc};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace hawk
