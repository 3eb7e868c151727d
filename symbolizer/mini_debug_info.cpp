#include "symbolizer/mini_debug_info.h"

#include <lzma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hawk {
namespace {

/// The whole of a .symtab that has a million functions takes a fifth of it.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
/// What the decoder may take: xz at its highest level needs 65 MiB.
constexpr std::uint64_t kDecoderBytes = std::uint64_t{128} << 20;

/// Owns what a decoder has allocated.
struct Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;

  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { ::lzma_end(&stream); }
};

/// Empty when `compressed` is damaged, or stands for too much.
std::vector<char> inflated(Bytes compressed) {
  Decoder decoder;
  if (::lzma_stream_decoder(&decoder.stream, kDecoderBytes, 0) != LZMA_OK) return {};
  decoder.stream.next_in = compressed.data();
  decoder.stream.avail_in = compressed.size();
  std::vector<char> bytes;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && bytes.size() < kMostBytes) {
    const std::size_t before = bytes.size();
    bytes.resize(std::clamp(2 * before, kFirstBytes, kMostBytes));
    decoder.stream.next_out = reinterpret_cast<std::uint8_t*>(bytes.data() + before);
    decoder.stream.avail_out = bytes.size() - before;
    result = ::lzma_code(&decoder.stream, LZMA_FINISH);
    bytes.resize(bytes.size() - decoder.stream.avail_out);
  }
  if (result != LZMA_STREAM_END) return {};
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

std::optional<ElfFile> find_mini_debug_info(const ElfFile& file) {
  const Bytes section = file.section(".gnu_debugdata");
  if (section.empty()) return std::nullopt;
  std::vector<char> bytes = inflated(section);
  if (bytes.empty()) return std::nullopt;
  return ElfFile::of_bytes(std::move(bytes));
}

}  // namespace hawk
