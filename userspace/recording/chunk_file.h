#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hawk::recording {

/// A trace of one process in a file, which may hold several: their intervals come in any order.
using TraceNumber = std::uint16_t;
/// So many at most.
inline constexpr std::uint32_t kMaxTraces = 65536;

/// What a file begins with, before its version: "\x89HAWKREC\r\n\x1a\n", which no text file has and which a transfer as
/// text damages.
inline constexpr std::string_view kMagic = "\x89HAWKREC\r\n\x1a\n";
/// Magic, version and four bytes that are zero.
inline constexpr std::size_t kFileHeaderBytes = 12 + 4 + 4;

/// What a chunk holds. An interval is a row of parts, the last of which says that it is the last.
enum class ChunkKind : std::uint8_t {
  kPart = 0,      ///< of an interval; others follow
  kInterval = 1,  ///< the only or last part of an interval
  kEnd = 2,       ///< the same, of the last interval of a trace that was ended
};

/// The most bytes that a chunk holds before they are compressed.
inline constexpr std::uint32_t kMaxChunkBytes = 4u << 20;
/// The most that an interval has.
inline constexpr std::uint64_t kMaxIntervalBytes = std::uint64_t{1} << 29;

/// The header of a file of version `version`.
std::string file_header(std::uint32_t version);

/// Compresses an interval's bytes into chunks. `is_end`: it is the last of its trace.
std::string chunks_of(std::string_view interval, bool is_end, TraceNumber trace = 0);

/// Reads a file's intervals one after the other, from a descriptor. The file is not trusted.
class ChunkReader {
 public:
  /// `fd` must outlive this.
  explicit ChunkReader(int fd) : fd_(fd) {}

  /// The version in the header; nullopt: it is no recording.
  std::optional<std::uint32_t> version();

  /// Why there is no next interval.
  enum class End {
    kEnded,     ///< every trace was ended
    kCutOff,    ///< the file ends within an interval, or where one could follow
    kDamaged,   ///< what follows is not what was written
    kTooLarge,  ///< what follows is larger than any interval
  };
  struct Interval {
    std::string bytes = {};
    TraceNumber trace = 0;
    bool is_last = false;  ///< of its trace, which was ended
  };
  /// The next interval; nullopt: there is none, see end().
  std::optional<Interval> next();
  End end() const { return end_; }
  /// How many bytes of the file belong to complete intervals.
  std::uint64_t complete_bytes() const { return complete_; }

 private:
  std::optional<ChunkKind> next_chunk(Interval& interval);
  bool have_all_ended() const;
  /// False: the file ends before.
  bool read(char* bytes, std::size_t count);

  int fd_;
  std::uint64_t position_ = 0;
  std::uint64_t complete_ = 0;
  std::map<TraceNumber, bool> has_ended_;  ///< of each trace that has begun
  End end_ = End::kCutOff;
};

}  // namespace hawk::recording
