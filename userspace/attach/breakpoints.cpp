#include "userspace/attach/breakpoints.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iterator>
#include <span>
#include <thread>
#include <utility>

#include "userspace/process/process.h"

namespace hawk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
/// The name in /proc/PID/maps of the memory that the calls of call_over_nop lead to.
constexpr std::string_view kTrampoline = "[uprobes-trampoline]";

const Mapping* mapping_at(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto found =
      std::partition_point(mappings.begin(), mappings.end(), [&](const Mapping& m) { return m.end <= address; });
  return found != mappings.end() && found->start <= address ? &*found : nullptr;
}

/// A byte's mark in a mask of hawk_probe_point.
constexpr std::uint8_t kMarked = 0x80;

/// The identity of the module's file for the BPF programs: that of its mappings or, before it has any, that of stat,
/// which is the same on most file systems.
void name_file(const MappedModule& module, hawk_probe_point& point) {
  constexpr unsigned kMinorBits = 20;  // include/linux/kdev_t.h
  const bool was_mapped = module.inode != 0;
  const std::uint64_t major_number = was_mapped ? module.device >> 32 : major(module.file.file.device);
  const std::uint64_t minor_number = was_mapped ? module.device & 0xffffffff : minor(module.file.file.device);
  point.inode = was_mapped ? module.inode : module.file.file.inode;
  point.device = static_cast<__u32>(major_number << kMinorBits | minor_number);
}

/// The last bytes up to the probed instruction, as many as the programs look at; of planned code the first ones.
/// `address` 0: it is not mapped.
hawk_probe_point as_programs_have_it(const ProbedCode& code, std::uint64_t address) {
  const bool is_probed = code.role == CodeRole::kProbed;
  const std::size_t length = is_probed ? code.probe_at + 1 : std::min<std::size_t>(code.bytes.size(), HAWK_POINT_BYTES);
  const std::size_t left_out = length - std::min<std::size_t>(length, HAWK_POINT_BYTES);
  const std::size_t bytes = length - left_out;
  std::array<std::uint8_t, HAWK_POINT_BYTES> file = {}, before = {}, probed = {};
  std::copy_n(code.bytes.begin() + static_cast<std::ptrdiff_t>(left_out), bytes, file.begin());
  std::fill_n(before.begin(), is_probed ? bytes - 1 : bytes, kMarked);
  if (is_probed) probed[bytes - 1] = kMarked;
  hawk_probe_point point = {};
  std::memcpy(point.code, file.data(), file.size());
  std::memcpy(point.before, before.data(), before.size());
  std::memcpy(point.probed, probed.data(), probed.size());
  point.address = address == 0 ? 0 : address + left_out;
  point.file_offset = code.file_offset + left_out;
  point.bytes = static_cast<__u32>(bytes);
  point.may_be_call = is_probed && is_long_nop(std::span(code.bytes).subspan(code.probe_at)) ? 1 : 0;
  return point;
}

std::optional<std::uint64_t> address_in(const MappedCode& range, const ProbedCode& code) {
  if (code.file_offset < range.file_offset || code.file_offset - range.file_offset >= range.end - range.start) {
    return std::nullopt;
  }
  return range.start + (code.file_offset - range.file_offset);
}

}  // namespace

bool is_anonymous_code(const Mapping& mapping) {
  const bool has_no_name = mapping.path.empty() || mapping.path.starts_with("[anon");
  return mapping.executable && mapping.inode == 0 && has_no_name;
}

std::optional<std::uint64_t> load_base_by(const ElfLayout& image, const Mapping& mapping) {
  // The last byte of a page: the first one may still belong to the segment before.
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(mapping.file_offset + kPageBytes - 1);
  if (!vaddr) return std::nullopt;
  return mapping.start + kPageBytes - 1 - *vaddr;
}

std::vector<Mapping> replaced_code(const std::vector<Mapping>& mappings, const ElfLayout& image, const Mapping& file) {
  std::vector<Mapping> replaced;
  const std::optional<std::uint64_t> base = load_base_by(image, file);
  if (!base) return replaced;
  for (const LoadSegment& segment : image.code()) {
    const std::uint64_t start = *base + segment.vaddr;
    for (const Mapping& mapping : mappings) {
      const std::uint64_t low = std::max(start, mapping.start),
                          high = std::min(start + segment.file_bytes, mapping.end);
      if (!is_anonymous_code(mapping) || low >= high) continue;
      Mapping code = file;
      code.start = low;
      code.end = high;
      code.file_offset = segment.file_offset + (low - start);
      code.executable = true;
      replaced.push_back(std::move(code));
    }
  }
  return replaced;
}

Breakpoints::Breakpoints(int proc_pid, const ModuleMap& modules, LastLook last_look)
    : proc_pid_(proc_pid), modules_(modules), last_look_(std::move(last_look)), memory_(proc_pid) {}

Breakpoints::Breakpoints(const Breakpoints& maker, int proc_pid, const ModuleMap& modules, LastLook last_look)
    : Breakpoints(proc_pid, modules, std::move(last_look)) {
  watched_ = maker.watched_;
  points_changed_ = true;
}

/// Also if the file has been mapped, but not yet announced.
std::vector<MappedCode> Breakpoints::points_of(ModuleId id) const {
  std::vector<MappedCode> points;
  std::copy_if(modules_.code().begin(), modules_.code().end(), std::back_inserter(points),
               [&](const MappedCode& range) { return range.module == id; });
  const Result<std::vector<Mapping>> mappings = read_mappings(proc_pid_);
  if (!mappings) return points;
  const MappedModule& module = modules_.module(id);
  for (const Mapping& mapping : *mappings) {
    if (!mapping.executable || mapping.inode != module.inode || mapping.device != module.device) continue;
    points.push_back({.start = mapping.start,
                      .end = mapping.end,
                      .file_offset = mapping.file_offset,
                      .device = mapping.device,
                      .inode = mapping.inode,
                      .module = id,
                      .bias = {}});
  }
  return points;
}

bool Breakpoints::is_changed(const ProbedCode& code, const std::vector<MappedCode>& points) {
  std::vector<std::uint8_t> bytes(code.bytes.size());
  return std::any_of(points.begin(), points.end(), [&](const MappedCode& point) {
    const std::optional<std::uint64_t> address = address_in(point, code);
    return address && memory_.read(*address, bytes) && is_other_code(code, bytes);
  });
}

bool Breakpoints::is_changed(const AllocatorFunction& function, ModuleId id, const std::vector<MappedCode>& points) {
  const std::vector<ProbedCode> all = probed_code_of(*modules_.module(id).image, function);
  return std::any_of(all.begin(), all.end(), [&](const ProbedCode& code) { return is_changed(code, points); });
}

std::vector<std::string> Breakpoints::take_changed_plans(ModuleId id, AllocatorFile& file) {
  std::vector<std::string> changed;
  const std::vector<MappedCode> points = points_of(id);
  for (AllocatorFunction& function : file.functions) {
    if (function.yields.points.empty() || !is_changed(function, id, points)) continue;
    function.yields = no_plan("the process has changed its code");
    changed.push_back(function.names.front());
  }
  return changed;
}

std::vector<std::string> Breakpoints::take_out_changed(ModuleId id, AllocatorFile& file) {
  std::vector<std::string> changed;
  const std::vector<MappedCode> points = points_of(id);
  std::erase_if(file.functions, [&](const AllocatorFunction& function) {
    const bool is_other = is_changed(function, id, points);
    if (is_other) changed.push_back(function.names.front());
    return is_other;
  });
  return changed;
}

void Breakpoints::watch(ModuleId id, const AllocatorFile& file) {
  Watched watched = {.module = id, .code = {}};
  for (const AllocatorFunction& function : file.functions) {
    for (ProbedCode& code : probed_code_of(*modules_.module(id).image, function)) {
      watched.code.push_back(std::move(code));
    }
  }
  watched_.push_back(std::move(watched));
  note_all_mappings();
}

const Breakpoints::Watched* Breakpoints::watched(ModuleId id) const {
  const auto found =
      std::find_if(watched_.begin(), watched_.end(), [&](const Watched& each) { return each.module == id; });
  return found != watched_.end() ? &*found : nullptr;
}

void Breakpoints::note_mapping(const Mapping& mapping) {
  const std::optional<ModuleAddress> point = modules_.resolve(mapping.start);
  const bool is_over_points = std::any_of(hulls_.begin(), hulls_.end(), [&](const AddressRange& hull) {
    return mapping.start < hull.end && hull.start < mapping.end;
  });
  if (is_over_points || (point && watched(point->module) != nullptr)) note_all_mappings();
}

void Breakpoints::find_points() {
  if (!std::exchange(points_changed_, false)) return;
  is_published_ = false;
  points_.clear();
  for (const MappedCode& range : modules_.code()) {
    const Watched* const module = watched(range.module);
    if (module == nullptr) continue;
    for (const ProbedCode& code : module->code) {
      const std::optional<std::uint64_t> address = address_in(range, code);
      if (!address) continue;
      points_.push_back({.address = *address, .module = range.module, .inode = range.inode, .code = &code});
    }
  }
  hulls_ = hulls();
  std::vector<AddressRange> pieces;
  for (const Point& point : points_)
    pieces.push_back({.start = point.address, .end = point.address + point.code->bytes.size()});
  reading_ = PiecewiseReading(pieces);
}

std::vector<AddressRange> Breakpoints::hulls() const {
  std::vector<AddressRange> found;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    if (i == 0 || points_[i - 1].module != point.module)
      found.push_back({.start = point.address, .end = point.address});
    found.back().start = std::min(found.back().start, point.address);
    found.back().end = std::max(found.back().end, point.address + point.code->bytes.size());
  }
  return found;
}

/// And of files that are not mapped, each once: the programs may see them mapped. A process's program before this one
/// may have had the same file as another module.
std::vector<Breakpoints::Point> Breakpoints::all_points() const {
  std::vector<Point> all = points_;
  for (const Watched& watched : watched_) {
    const auto is_its = [&](const Point& point) {
      return point.module == watched.module ||
             modules_.module(point.module).file == modules_.module(watched.module).file;
    };
    if (std::any_of(all.begin(), all.end(), is_its)) continue;
    for (const ProbedCode& code : watched.code) all.push_back({.module = watched.module, .code = &code});
  }
  return all;
}

void Breakpoints::publish() {
  find_points();
  if (std::exchange(is_published_, true)) return;
  std::vector<Point> all = all_points();
  // The programs have no time for all of the planned code.
  std::erase_if(all, [](const Point& point) { return point.code->role == CodeRole::kPlanned; });
  const auto is_same = [](const Point& a, const Point& b) { return a.address == b.address && a.code == b.code; };
  if (std::equal(all.begin(), all.end(), published_.begin(), published_.end(), is_same)) return;
  std::vector<hawk_probe_point> points;
  points.reserve(all.size());
  for (const Point& point : all) {
    points.push_back(as_programs_have_it(*point.code, point.address));
    name_file(modules_.module(point.module), points.back());
  }
  // A check may have been made since the last ones were taken.
  const LastLook::Change change = last_look_.set(points, hulls_);
  note_last_look(change.seen);
  is_published_ = change.is_made;  // what there is no room for now there may be room for later
  if (change.is_made) published_ = std::move(all);
}

void Breakpoints::report(const Point& point, std::vector<Missing>& missing) {
  if (!reported_.insert(point.address).second) return;
  missing.push_back({.function = point.code->function, .module = point.module});
}

void Breakpoints::note_last_look(const std::vector<LastLook::Missing>& seen) {
  for (const LastLook::Missing& each : seen) {
    const Point& point = published_[each.number];
    if (each.is_in_new_code) {
      seen_last_.push_back({.function = point.code->function, .module = point.module});
      continue;
    }
    // Another mapping may have been made there that has been announced only now.
    const std::optional<ModuleAddress> now = modules_.resolve(point.address);
    if (now && now->module == point.module) report(point, seen_last_);
  }
}

std::vector<Breakpoints::Missing> Breakpoints::take_last_look() {
  note_last_look(last_look_.take_missing());
  return std::exchange(seen_last_, {});
}

std::vector<const Breakpoints::Point*> Breakpoints::find_suspects() {
  std::vector<const Point*> suspects;
  reading_.read(memory_, [&](std::size_t number, std::span<const std::uint8_t> bytes) {
    const Point& point = points_[number];
    const bool is_suspect = !reported_.contains(point.address) && !has_breakpoint(*point.code, bytes);
    if (is_suspect) suspects.push_back(&point);
    return !is_suspect;
  });
  std::sort(suspects.begin(), suspects.end());  // as the points are
  return suspects;
}

/// Whether the process can run the function's code there, all the same. It cannot if it has unmapped the file.
bool Breakpoints::is_missing(const Point& suspect, const std::vector<Mapping>& mappings) {
  const Mapping* const mapping = mapping_at(mappings, suspect.address);
  if (mapping == nullptr || !mapping->executable) return false;
  const ElfLayout& image = *modules_.module(suspect.module).image;
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(suspect.code->file_offset);
  if (!vaddr) return false;
  const bool is_still_loaded = std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& other) {
    return other.inode == suspect.inode && load_base_by(image, other) == suspect.address - *vaddr;
  });
  if (!is_still_loaded) return false;
  std::vector<std::uint8_t> bytes(suspect.code->bytes.size());
  if (!memory_.read(suspect.address, bytes) || has_breakpoint(*suspect.code, bytes)) return false;
  const std::optional<std::uint64_t> called = call_over_nop(*suspect.code, bytes, suspect.address);
  const Mapping* const trampoline = called ? mapping_at(mappings, *called) : nullptr;
  return trampoline == nullptr || trampoline->path != kTrampoline;
}

std::vector<const Breakpoints::Point*> Breakpoints::missing_among(std::vector<const Point*> suspects) {
  if (suspects.empty()) return suspects;
  const Result<std::vector<Mapping>> mappings = read_mappings_with(proc_pid_, [&](const std::vector<Mapping>& list) {
    return std::all_of(suspects.begin(), suspects.end(),
                       [&](const Point* suspect) { return mapping_at(list, suspect->address) != nullptr; });
  });
  if (!mappings) return {};
  std::erase_if(suspects, [&](const Point* suspect) { return !is_missing(*suspect, *mappings); });
  return suspects;
}

/// Probes that were there before a file is mapped are put into it right after the mapping is announced (mmap_region:
/// perf_event_mmap, then uprobe_mmap), and nothing says when: they are given a moment.
std::vector<Breakpoints::Missing> Breakpoints::find_missing(bool is_last) {
  constexpr int kLooks = 20;
  constexpr std::chrono::milliseconds kWait{1};
  std::vector<Missing> missing;
  is_look_due_ = false;
  find_points();
  std::vector<const Point*> without = missing_among(find_suspects());
  for (int i = 0; i < kLooks && !without.empty(); ++i) {
    std::this_thread::sleep_for(kWait);
    if (!is_last && is_being_killed(proc_pid_)) return missing;
    without = missing_among(std::move(without));
  }
  for (const Point* const point : without) report(*point, missing);
  return missing;
}

}  // namespace hawk
