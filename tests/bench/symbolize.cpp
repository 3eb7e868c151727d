// Symbolizes addresses of one file as a report does: symbolize [--one-by-one] [--here] FILE < ADDRESSES
//
// Reads hexadecimal ELF addresses to look up (of an instruction, not of where a call returns to), one a line, and
// prints for each what llvm-symbolizer prints by default: function and file:line of every frame, innermost inlined call
// first, then an empty line. "??" and 0 stand for what is unknown. So time and answers can be compared with other
// symbolizers over the same input: symbolize_compare.py.
// --one-by-one asks in the order given, without preparing the symbolizer for all. --here reads the file in this
// process, and not in one without rights.
#include <fcntl.h>
#include <fmt/core.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/libdw_symbolizer.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/study/worker.h"
#include "userspace/study/worker_process.h"

namespace {

std::vector<std::uint64_t> read_addresses() {
  std::vector<std::uint64_t> addresses;
  std::uint64_t address = 0;
  while (std::scanf("%" SCNx64, &address) == 1) addresses.push_back(address);
  return addresses;
}

std::string text_of(const std::vector<hawk::SourceFrame>& frames) {
  std::string text;
  for (const hawk::SourceFrame& frame : frames) {
    text += fmt::format("{}\n{}:{}\n", frame.function.empty() ? "??" : frame.function,
                        frame.file.empty() ? "??" : frame.file, frame.line);
  }
  return frames.empty() ? "??\n??:0\n" : text;
}

/// `Kind`: what reads the file.
template <class Kind>
void symbolize(Kind& symbolizer, const char* path, hawk::UniqueFd fd, bool one_by_one) {
  const hawk::ModuleId module{0};
  symbolizer.add_module(module, {.path = path, .fd = std::move(fd), .root = ""});
  std::vector<std::uint64_t> returns;
  for (const std::uint64_t address : read_addresses()) returns.push_back(address + 1);
  if (!one_by_one) symbolizer.prepare(module, returns);
  for (const std::uint64_t address : returns) {
    const std::string text = text_of(symbolizer.frames(module, address)) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == hawk::kWorkerArgument) return hawk::run_worker(false);
  const std::set<std::string_view> words(argv + 1, argv + argc);
  const bool one_by_one = words.contains("--one-by-one");
  const bool here = words.contains("--here");
  if (argc != 2 + one_by_one + here) {
    fmt::print(stderr, "usage: {} [--one-by-one] [--here] FILE < ADDRESSES\n", argv[0]);
    return 2;
  }
  const char* path = argv[argc - 1];
  hawk::UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) {
    fmt::print(stderr, "error: open {}\n", path);
    return 6;
  }
  if (here) {
    symbolize(*hawk::LibdwSymbolizer::make(), path, std::move(fd), one_by_one);
  } else {
    hawk::ConfinedSymbolizer symbolizer;
    symbolize(symbolizer, path, std::move(fd), one_by_one);
  }
  return 0;
}
