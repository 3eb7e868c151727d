#include "tests/kernel/harness/compressed_bomb.h"

#include <elf.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace hawk {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
/// Ends a stream: a last block, which is empty (RFC 1951).
constexpr std::string_view kLastBlock("\x03\x00", 2);

/// `text`, compressed so that the same may follow again: with no reference to what came before. `window_bits`: as zlib
/// has it; negative without a header.
std::string compressed(const std::string& text, int window_bits) {
  z_stream stream = {};
  if (deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("compress");
  }
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FULL_FLUSH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

/// Of `text` followed by zeros.
std::string bomb(const std::string& text, std::uint64_t zero_blocks) {
  const std::string zeros(kBlockBytes, '\0');
  const std::string block = compressed(zeros, -15);
  std::string stream = compressed(text, 15);
  uLong check = adler32(1, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  const uLong check_of_block = adler32(1, reinterpret_cast<const Bytef*>(zeros.data()), kBlockBytes);
  for (std::uint64_t i = 0; i < zero_blocks; ++i) {
    stream += block;
    check = adler32_combine(check, check_of_block, kBlockBytes);
  }
  stream += kLastBlock;
  for (int shift = 24; shift >= 0; shift -= 8) stream += static_cast<char>(check >> shift & 0xff);
  return stream;
}

/// Puts the bomb at the end of `file`, and leads the section there.
void compress_section(std::string& file, Elf64_Shdr& section, std::uint64_t inflated_bytes) {
  const std::string text = file.substr(section.sh_offset, section.sh_size);
  const std::uint64_t zero_blocks = (inflated_bytes - text.size()) / kBlockBytes;
  Elf64_Chdr header = {};
  header.ch_type = ELFCOMPRESS_ZLIB;
  header.ch_size = text.size() + zero_blocks * kBlockBytes;
  header.ch_addralign = 1;
  const std::string stream = bomb(text, zero_blocks);
  section.sh_offset = file.size();
  section.sh_size = sizeof(header) + stream.size();
  section.sh_flags |= SHF_COMPRESSED;
  file.append(reinterpret_cast<const char*>(&header), sizeof(header)).append(stream);
}

}  // namespace

void write_compressed_bomb(const std::string& from, const std::string& to, std::uint64_t inflated_bytes) {
  std::ifstream in(from, std::ios::binary);
  std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  if (file.size() < sizeof(header)) throw std::runtime_error("read " + from);
  std::memcpy(&header, file.data(), sizeof(header));
  const auto section_at = [&](std::size_t index) { return header.e_shoff + index * sizeof(Elf64_Shdr); };
  Elf64_Shdr names;
  std::memcpy(&names, file.data() + section_at(header.e_shstrndx), sizeof(names));
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, file.data() + section_at(i), sizeof(section));
    const std::string_view name = file.data() + names.sh_offset + section.sh_name;
    if (!name.starts_with(".debug_")) continue;
    compress_section(file, section, inflated_bytes);
    std::memcpy(file.data() + section_at(i), &section, sizeof(section));
  }
  std::ofstream(to, std::ios::binary) << file;
  std::filesystem::permissions(to, std::filesystem::perms::owner_all);
}

}  // namespace hawk
