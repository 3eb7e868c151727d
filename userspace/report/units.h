#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hawk {

/// How numbers are written for people. The locale never matters.
enum class NumberStyle {
  kReadable,  ///< IEC units with two decimals, counts in groups of three: "1.50 MiB", "1,234"
  kRaw,  ///< --bytes: every digit and nothing else, so that numbers can be compared and pasted: "1572864 B", "1234"
};

/// "512 B", "1.50 MiB". Rounded to the nearest hundredth, computed in integers.
std::string format_bytes(std::uint64_t bytes, NumberStyle style);

/// "1,234,567".
std::string format_count(std::uint64_t count, NumberStyle style);

/// "1 block", "1,234 blocks".
std::string format_blocks(std::uint64_t count, NumberStyle style);

/// "1 stack", "1,234 stacks".
std::string format_stacks(std::uint64_t count, NumberStyle style);

/// `text` with one of each "{singular|plural}", as `count` wants it: "stack{|s} that {was|were} cut".
std::string worded_for(std::uint64_t count, std::string_view text);

/// How far a number of bytes moved: "+1.50 MiB", "-512 B", "0 B".
std::string format_bytes_change(std::uint64_t before, std::uint64_t after, NumberStyle style);

/// "250 ms", "10.0 s", "2 m 05 s", "3 h 07 m", "4 d 02 h".
std::string format_duration(std::uint64_t duration_ns);

/// "14.2 %". A part that rounds to nothing but is not is "<0.1 %", one that rounds to all but is not ">99.9 %";
/// "0.0 %" of an empty whole.
std::string format_share(std::uint64_t part, std::uint64_t whole);

/// bytes / blocks, rounded to the nearest; 0 without blocks.
std::uint64_t average_bytes(std::uint64_t bytes, std::uint64_t blocks);

/// How many per second: `amount` within `elapsed_ns`, rounded to the nearest; 0 when no time has passed.
std::uint64_t per_second(std::uint64_t amount, std::uint64_t elapsed_ns);

}  // namespace hawk
