#include "userspace/tables/fingerprint.h"

#include <string_view>

#include "userspace/base/fibonacci_hash.h"

namespace hawk {
namespace {

/// FNV-1a: defined by bytes, so that recordings of any machine agree. (std::hash promises nothing from run to run.)
constexpr std::uint64_t kStart = 0xcbf29ce484222325U;
constexpr std::uint64_t kPrime = 0x100000001b3U;

std::uint64_t with_byte(std::uint64_t hash, std::uint8_t byte) { return (hash ^ byte) * kPrime; }

std::uint64_t with_text(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = with_byte(hash, static_cast<std::uint8_t>(c));
  return with_byte(hash, 0);
}

/// A step of 64 bits, because stacks have many frames.
std::uint64_t with_number(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) * kGoldenRatio;
  return hash ^ hash >> 32U;
}

std::uint64_t fingerprint_of(const Location& location, const Snapshot& snapshot) {
  if (!location.module || static_cast<std::size_t>(*location.module) >= snapshot.modules.size()) return kStart;
  const Module& module = snapshot.modules[static_cast<std::size_t>(*location.module)];
  const std::uint64_t hash = with_text(kStart, module.build_id.empty() ? module.path : module.build_id);
  return with_byte(with_number(hash, location.module_offset), location.interrupted ? 1 : 0);
}

}  // namespace

Fingerprints::Fingerprints(const Snapshot& snapshot) {
  locations_.reserve(snapshot.locations.size());
  for (const Location& location : snapshot.locations) locations_.push_back(fingerprint_of(location, snapshot));
}

std::uint64_t Fingerprints::of(const StackRecord& stack) const {
  if (stack.id == kNoStack) return 0;
  std::uint64_t hash = kStart;
  for (const LocationId frame : stack.frames) hash = with_number(hash, locations_[static_cast<std::size_t>(frame)]);
  return hash;
}

}  // namespace hawk
