// Symbolizes addresses of one file as a report does: symbolize [--one-by-one] FILE < ADDRESSES
//
// Reads hexadecimal ELF addresses to look up (of an instruction, not of where a call returns to), one a line, and
// prints for each what llvm-symbolizer prints by default: function and file:line of every frame, innermost inlined call
// first, then an empty line. "??" and 0 stand for what is unknown. So time and answers can be compared with other
// symbolizers over the same input: symbolize_compare.py.
// --one-by-one asks in the order given, without preparing the symbolizer for all.
#include <fcntl.h>
#include <fmt/format.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/libdw_symbolizer.h"

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

}  // namespace

int main(int argc, char** argv) {
  const bool one_by_one = argc == 3 && std::string_view(argv[1]) == "--one-by-one";
  if (argc != 2 && !one_by_one) {
    fmt::print(stderr, "usage: {} [--one-by-one] FILE < ADDRESSES\n", argv[0]);
    return 2;
  }
  hawk::UniqueFd fd(::open(argv[argc - 1], O_RDONLY | O_CLOEXEC));
  if (!fd) {
    fmt::print(stderr, "error: open {}\n", argv[argc - 1]);
    return 6;
  }
  const std::vector<std::uint64_t> addresses = read_addresses();
  const hawk::ModuleId module{0};
  std::unique_ptr<hawk::LibdwSymbolizer> symbolizer = hawk::LibdwSymbolizer::make();
  symbolizer->add_module(module, {.path = argv[argc - 1], .fd = std::move(fd), .root = ""});
  std::vector<std::uint64_t> returns;
  for (const std::uint64_t address : addresses) returns.push_back(address + 1);
  if (!one_by_one) symbolizer->prepare(module, returns);
  for (const std::uint64_t address : returns) {
    const std::string text = text_of(symbolizer->frames(module, address)) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return 0;
}
