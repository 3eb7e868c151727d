#include "userspace/recording/chunk_file.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

#include "userspace/base/check.h"

namespace hawk::recording {
namespace {

constexpr int kCompressionLevel = 3;
constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
constexpr std::size_t kChunkHeaderBytes = 20;

/// Little-endian, whatever the machine.
void put(std::string& bytes, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
}

std::uint32_t get(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

/// CRC-32 as zlib has it.
std::uint32_t checksum(std::string_view head, std::string_view payload) {
  const auto add = [](unsigned long sum, std::string_view bytes) {
    return ::crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  };
  return static_cast<std::uint32_t>(add(add(::crc32(0, nullptr, 0), head), payload));
}

constexpr unsigned kTraceShift = 16;  // in the word of a chunk's kind

std::string chunk_of(std::string_view bytes, ChunkKind kind, TraceNumber trace) {
  std::string payload(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(payload.data(), payload.size(), bytes.data(), bytes.size(), kCompressionLevel);
  HAWK_CHECK(ZSTD_isError(size) == 0, "a buffer as large as zstd asked for is too small");
  payload.resize(size);
  std::string chunk;
  put(chunk, kChunkMagic);
  put(chunk, static_cast<std::uint32_t>(kind) | std::uint32_t{trace} << kTraceShift);
  put(chunk, static_cast<std::uint32_t>(bytes.size()));
  put(chunk, static_cast<std::uint32_t>(payload.size()));
  put(chunk, checksum(chunk, payload));
  return chunk + payload;
}

}  // namespace

std::string file_header(std::uint32_t version) {
  std::string header(kMagic);
  put(header, version);
  put(header, 0);
  return header;
}

std::string chunks_of(std::string_view interval, bool is_end, TraceNumber trace) {
  std::string chunks;
  do {
    const std::string_view part = interval.substr(0, kMaxChunkBytes);
    interval.remove_prefix(part.size());
    const ChunkKind last = is_end ? ChunkKind::kEnd : ChunkKind::kInterval;
    chunks += chunk_of(part, interval.empty() ? last : ChunkKind::kPart, trace);
  } while (!interval.empty());
  return chunks;
}

bool ChunkReader::read(char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = TEMP_FAILURE_RETRY(::pread(fd_, bytes, count, static_cast<off_t>(position_)));
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
    position_ += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::optional<std::uint32_t> ChunkReader::version() {
  char header[kFileHeaderBytes];
  if (!read(header, sizeof header) || std::string_view(header, kMagic.size()) != kMagic) return std::nullopt;
  complete_ = position_;
  return get(header + kMagic.size());
}

/// Appends the chunk's bytes. nullopt: end() says why.
std::optional<ChunkKind> ChunkReader::next_chunk(Interval& interval) {
  char head[kChunkHeaderBytes];
  end_ = End::kCutOff;
  if (!read(head, sizeof head)) return std::nullopt;
  const std::uint32_t kind = get(head + 4) & ((1U << kTraceShift) - 1);
  const std::uint32_t trace = get(head + 4) >> kTraceShift;
  const std::uint32_t bytes = get(head + 8);
  const std::uint32_t stored = get(head + 12);
  end_ = End::kDamaged;
  if (get(head) != kChunkMagic || kind > static_cast<std::uint32_t>(ChunkKind::kEnd)) return std::nullopt;
  // A trace that has ended does not go on, and an interval is of one trace.
  const auto begun = has_ended_.find(static_cast<TraceNumber>(trace));
  if (begun != has_ended_.end() && begun->second) return std::nullopt;
  if (!interval.bytes.empty() && interval.trace != trace) return std::nullopt;
  interval.trace = static_cast<TraceNumber>(trace);
  if (bytes > kMaxChunkBytes || stored > ZSTD_compressBound(kMaxChunkBytes)) return std::nullopt;
  std::string payload(stored, '\0');
  end_ = End::kCutOff;
  if (!read(payload.data(), payload.size())) return std::nullopt;
  end_ = End::kDamaged;
  if (checksum({head, kChunkHeaderBytes - 4}, payload) != get(head + 16)) return std::nullopt;
  end_ = End::kTooLarge;
  const std::size_t before = interval.bytes.size();
  if (before + bytes > kMaxIntervalBytes) return std::nullopt;
  interval.bytes.resize(before + bytes);
  end_ = End::kDamaged;
  const std::size_t size = ZSTD_decompress(interval.bytes.data() + before, bytes, payload.data(), payload.size());
  if (ZSTD_isError(size) != 0 || size != bytes) return std::nullopt;
  return static_cast<ChunkKind>(kind);
}

bool ChunkReader::have_all_ended() const {
  return !has_ended_.empty() &&
         std::all_of(has_ended_.begin(), has_ended_.end(), [](const auto& trace) { return trace.second; });
}

std::optional<ChunkReader::Interval> ChunkReader::next() {
  Interval interval;
  for (;;) {
    const std::optional<ChunkKind> kind = next_chunk(interval);
    if (!kind) {
      // What follows the end, or nothing, is no part of the recording.
      if (have_all_ended()) end_ = End::kEnded;
      return std::nullopt;
    }
    if (*kind == ChunkKind::kPart) continue;
    complete_ = position_;
    interval.is_last = *kind == ChunkKind::kEnd;
    has_ended_[interval.trace] = interval.is_last;
    return interval;
  }
}

}  // namespace hawk::recording
