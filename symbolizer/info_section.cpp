#include "symbolizer/info_section.h"

#include <algorithm>
#include <utility>

namespace hawk {
namespace {

constexpr std::uint64_t kBetweenCopiesBytes = std::uint64_t{4} << 20;
/// Longer parts are not kept: only headers are read twice.
constexpr std::size_t kShortBytes = 64;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
/// No unit is that long; a bound for damaged files, for a kilobyte can inflate to a megabyte.
constexpr std::uint64_t kLongestInflatedPartBytes = std::uint64_t{64} << 20;

}  // namespace

void InfoSection::EndInflate::operator()(z_stream* stream) const {
  ::inflateEnd(stream);
  delete stream;
}

InfoSection::InfoSection(Bytes plain) : bytes_(plain), size_bytes_(plain.size()), in_place_(true) {}

InfoSection::InfoSection(Bytes deflated, std::uint64_t size_bytes)
    : bytes_(deflated), size_bytes_(size_bytes), in_place_(false) {
  std::unique_ptr<z_stream> fresh = std::make_unique<z_stream>();
  *fresh = {};
  fresh->next_in = const_cast<Bytef*>(bytes_.data());  // zlib only reads it
  if (::inflateInit(fresh.get()) != Z_OK) return;
  State start;
  start.stream.reset(fresh.release());
  current_ = copy_of(start);
  copies_.push_back(std::move(start));
}

InfoSection::State InfoSection::copy_of(const State& state) {
  State copy;
  std::unique_ptr<z_stream> stream = std::make_unique<z_stream>();
  if (::inflateCopy(stream.get(), state.stream.get()) != Z_OK) return copy;
  copy.stream.reset(stream.release());
  copy.position = state.position;
  return copy;
}

Bytes InfoSection::part(std::uint64_t offset, std::uint64_t size_bytes, std::vector<std::uint8_t>& storage) {
  if (in_place_) return part_of(bytes_, offset, size_bytes);
  storage.clear();
  if (offset >= size_bytes_ || copies_.empty()) return {};
  const std::uint64_t wanted = std::min({size_bytes, size_bytes_ - offset, kLongestInflatedPartBytes});
  if (offset == last_offset_) storage.assign(last_.begin(), last_.begin() + std::min(wanted, last_.size()));
  if (storage.size() < wanted && go_to(offset + storage.size())) {
    while (storage.size() < wanted) {
      const std::size_t before = storage.size();
      storage.resize(std::min(before + kPieceBytes, wanted));
      const std::uint64_t count = inflate_to(storage.data() + before, storage.size() - before);
      storage.resize(before + count);
      if (count == 0) break;
    }
  }
  if (storage.size() <= kShortBytes) {
    last_offset_ = offset;
    last_ = storage;
  }
  return storage;
}

bool InfoSection::go_to(std::uint64_t offset) {
  const auto after =
      std::upper_bound(copies_.begin(), copies_.end(), offset,
                       [](std::uint64_t position, const State& copy) { return position < copy.position; });
  const State& nearest = *std::prev(after);
  const bool is_ahead = current_.stream && current_.position <= offset && current_.position >= nearest.position;
  if (!is_ahead) current_ = copy_of(nearest);
  std::vector<std::uint8_t> passed(std::min<std::uint64_t>(offset - current_.position, kPieceBytes));
  while (current_.stream && current_.position < offset) {
    if (inflate_to(passed.data(), std::min<std::uint64_t>(offset - current_.position, passed.size())) == 0)
      return false;
  }
  return current_.stream != nullptr;
}

/// Goes no further than where the next copy is due. 0: nothing more comes.
std::uint64_t InfoSection::inflate_to(std::uint8_t* to, std::uint64_t size_bytes) {
  if (!current_.stream) return 0;
  z_stream& stream = *current_.stream;
  const std::uint64_t next_copy = copies_.back().position + kBetweenCopiesBytes;
  if (current_.position < next_copy) size_bytes = std::min(size_bytes, next_copy - current_.position);
  stream.next_out = to;
  stream.avail_out = static_cast<uInt>(size_bytes);
  while (stream.avail_out > 0) {
    const std::uint64_t left = static_cast<std::uint64_t>(bytes_.data() + bytes_.size() - stream.next_in);
    stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(left, UINT32_MAX));
    if (::inflate(&stream, Z_NO_FLUSH) != Z_OK) break;
  }
  const std::uint64_t count = size_bytes - stream.avail_out;
  current_.position += count;
  if (current_.position == next_copy) {
    State copy = copy_of(current_);
    if (copy.stream) copies_.push_back(std::move(copy));
  }
  return count;
}

}  // namespace hawk
