#include "userspace/app/breakpoints.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hawk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
/// As /proc/PID/maps calls where the calls of call_over_nop lead.
constexpr std::string_view kTrampoline = "[uprobes-trampoline]";

const Mapping* mapping_at(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto found =
      std::partition_point(mappings.begin(), mappings.end(), [&](const Mapping& m) { return m.end <= address; });
  return found != mappings.end() && found->start <= address ? &*found : nullptr;
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

std::optional<std::uint64_t> load_base_by(const ElfImage& image, const Mapping& mapping) {
  // The last byte of a page: the first one may still belong to the segment before.
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(mapping.file_offset + kPageBytes - 1);
  if (!vaddr) return std::nullopt;
  return mapping.start + kPageBytes - 1 - *vaddr;
}

std::vector<Mapping> replaced_code(const std::vector<Mapping>& mappings, const ElfImage& image, const Mapping& file) {
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

Breakpoints::Breakpoints(int proc_pid, const ModuleMap& modules)
    : proc_pid_(proc_pid), modules_(modules), memory_(proc_pid) {}

/// Also where the file has been mapped without our knowledge yet.
std::vector<MappedCode> Breakpoints::places_of(ModuleId id) const {
  std::vector<MappedCode> places;
  std::copy_if(modules_.code().begin(), modules_.code().end(), std::back_inserter(places),
               [&](const MappedCode& range) { return range.module == id; });
  const Result<std::vector<Mapping>> mappings = read_mappings(proc_pid_);
  if (!mappings) return places;
  const MappedModule& module = modules_.module(id);
  for (const Mapping& mapping : *mappings) {
    if (!mapping.executable || mapping.inode != module.inode || mapping.device != module.device) continue;
    places.push_back({.start = mapping.start,
                      .end = mapping.end,
                      .file_offset = mapping.file_offset,
                      .device = mapping.device,
                      .inode = mapping.inode,
                      .module = id,
                      .bias = {}});
  }
  return places;
}

bool Breakpoints::is_changed(const ProbedCode& code, const std::vector<MappedCode>& places) {
  std::vector<std::uint8_t> bytes(code.bytes.size());
  return std::any_of(places.begin(), places.end(), [&](const MappedCode& place) {
    const std::optional<std::uint64_t> address = address_in(place, code);
    return address && memory_.read(*address, bytes) && is_other_code(code, bytes);
  });
}

std::vector<std::string> Breakpoints::take_out_changed(ModuleId id, AllocatorFile& file) {
  std::vector<std::string> changed;
  const std::vector<MappedCode> places = places_of(id);
  const ElfImage& image = *modules_.module(id).image;
  std::erase_if(file.functions, [&](const AllocatorFunction& function) {
    const std::vector<ProbedCode> all = probed_code_of(image, function);
    const bool is_other =
        std::any_of(all.begin(), all.end(), [&](const ProbedCode& code) { return is_changed(code, places); });
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
}

std::vector<Breakpoints::Suspect> Breakpoints::find_suspects() {
  std::vector<Suspect> suspects;
  std::vector<std::uint8_t> bytes;
  for (const MappedCode& range : modules_.code()) {
    const auto watched = std::find_if(watched_.begin(), watched_.end(),
                                      [&](const Watched& each) { return each.module == range.module; });
    if (watched == watched_.end()) continue;
    for (const ProbedCode& code : watched->code) {
      const std::optional<std::uint64_t> address = address_in(range, code);
      if (!address || told_.contains(*address)) continue;
      bytes.resize(code.bytes.size());
      if (!memory_.read(*address, bytes) || has_breakpoint(code, bytes)) continue;
      suspects.push_back({.address = *address, .range = &range, .code = &code});
    }
  }
  return suspects;
}

/// Whether the process can run the function's code there, all the same. It cannot if it has unmapped the file.
bool Breakpoints::is_missing(const Suspect& suspect, const std::vector<Mapping>& mappings) {
  const Mapping* const mapping = mapping_at(mappings, suspect.address);
  if (mapping == nullptr || !mapping->executable) return false;
  const ElfImage& image = *modules_.module(suspect.range->module).image;
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(suspect.code->file_offset);
  if (!vaddr) return false;
  const bool is_still_loaded = std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& other) {
    return other.inode == suspect.range->inode && load_base_by(image, other) == suspect.address - *vaddr;
  });
  if (!is_still_loaded) return false;
  std::vector<std::uint8_t> bytes(suspect.code->bytes.size());
  if (!memory_.read(suspect.address, bytes) || has_breakpoint(*suspect.code, bytes)) return false;
  const std::optional<std::uint64_t> called = call_over_nop(*suspect.code, bytes, suspect.address);
  const Mapping* const trampoline = called ? mapping_at(mappings, *called) : nullptr;
  return trampoline == nullptr || trampoline->path != kTrampoline;
}

std::vector<Breakpoints::Missing> Breakpoints::find_missing() {
  std::vector<Missing> missing;
  const std::vector<Suspect> suspects = find_suspects();
  if (suspects.empty()) return missing;
  const Result<std::vector<Mapping>> mappings = read_mappings(proc_pid_);
  if (!mappings) return missing;
  for (const Suspect& suspect : suspects) {
    if (!is_missing(suspect, *mappings)) continue;
    told_.insert(suspect.address);
    missing.push_back({.function = suspect.code->function, .module = suspect.range->module});
  }
  return missing;
}

}  // namespace hawk
