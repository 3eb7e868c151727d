// A module's file again, as the symbolizer reads it: symbol tables and DWARF. Addresses are asked around the file's
// entry point and its first segments, where the seeds of the corpus have their code. A debug file that the input links
// to is looked for on this machine, as it would be for a real module.
#include <elf.h>

#include <cstring>
#include <set>
#include <span>

#include "symbolizer/libdw_symbolizer.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

constexpr hawk::ModuleId kModule{0};
constexpr std::size_t kMaxSegments = 4;
constexpr std::uint64_t kBytesBeforeEntry = 96;
constexpr std::uint64_t kAskedBytes = 256;
constexpr std::uint64_t kStepBytes = 7;  // shorter than the inlined calls of the seeds

template <class T>
bool read_at(std::span<const std::uint8_t> bytes, std::uint64_t offset, T* value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

std::set<std::uint64_t> addresses_to_ask(std::span<const std::uint8_t> bytes) {
  std::set<std::uint64_t> addresses = {0, 1, UINT64_MAX};
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, &header)) return addresses;
  const std::uint64_t start = header.e_entry - kBytesBeforeEntry;
  for (std::uint64_t distance = 0; distance < kAskedBytes; distance += kStepBytes) addresses.insert(start + distance);
  for (std::size_t i = 0; i < kMaxSegments; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes, header.e_phoff + i * sizeof segment, &segment)) break;
    addresses.insert(segment.p_vaddr + 1);
    addresses.insert(segment.p_vaddr + segment.p_filesz);
  }
  return addresses;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::unique_ptr<hawk::LibdwSymbolizer> symbolizer = hawk::LibdwSymbolizer::make();
  symbolizer->add_module(kModule, {.path = "/fuzz/module", .fd = hawk::fuzz::file_of_bytes(data, size), .root = ""});
  const bool has_symbols = symbolizer->source(kModule) != hawk::SymbolSource::kNone;
  for (const std::uint64_t address : addresses_to_ask({data, size})) {
    const std::vector<hawk::SourceFrame> frames = symbolizer->frames(kModule, address);
    HAWK_CHECK(frames.empty() || has_symbols, "frames of a module without symbols");
    HAWK_CHECK(frames.empty() || !frames.back().inlined, "the last frame is the function with the code");
  }
  return 0;
}
