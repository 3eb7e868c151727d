#include "userspace/study/file_checks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace hawk {
namespace {

class CodeLayout {
 public:
  explicit CodeLayout(const ElfLayout& file) : code_(file.code()) {}

  bool has_code_at(std::uint64_t file_offset) const {
    return std::any_of(code_.begin(), code_.end(), [&](const LoadSegment& segment) {
      return file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_bytes;
    });
  }
  /// A call that is the last instruction of its segment returns to the address after the segment's last byte.
  bool has_code_before(std::uint64_t vaddr) const {
    return std::any_of(code_.begin(), code_.end(), [&](const LoadSegment& segment) {
      return vaddr > segment.vaddr && vaddr - segment.vaddr <= segment.file_bytes;
    });
  }

 private:
  std::vector<LoadSegment> code_;
};

bool is_about(const AllocatorFunction& function, const CodeLayout& layout) {
  const auto has_code = [&](std::uint64_t offset) { return layout.has_code_at(offset); };
  return has_code(function.entry_offset) && has_code(function.probe_offset) &&
         function.probe_offset - function.entry_offset <= kMaxProbeDistance &&
         std::all_of(function.return_offsets.begin(), function.return_offsets.end(), has_code) &&
         std::all_of(function.return_points.begin(), function.return_points.end(),
                     [&](const ReturnPointAt& at) { return has_code(at.file_offset); }) &&
         std::all_of(function.yields.points.begin(), function.yields.points.end(),
                     [&](const YieldPoint& point) { return has_code(point.file_offset); }) &&
         std::all_of(function.yields.code.begin(), function.yields.code.end(),
                     [&](const CodePiece& piece) { return piece.bytes > 0 && has_code(piece.file_offset); });
}

bool is_about(const OperatorFrames& frames, const CodeLayout& layout) {
  const std::vector<CallSiteRule>& sites = frames.call_sites;
  const auto comes_first = [](const CallSiteRule& a, const CallSiteRule& b) { return a.return_vaddr < b.return_vaddr; };
  return !sites.empty() && std::is_sorted(sites.begin(), sites.end(), comes_first) &&
         layout.has_code_before(sites.front().return_vaddr) && layout.has_code_before(sites.back().return_vaddr) &&
         (!frames.init_offset || layout.has_code_at(*frames.init_offset));
}

}  // namespace

bool is_about(const FileCode& code, const ElfLayout& file) {
  const CodeLayout layout(file);
  const auto is_function = [&](const AllocatorFunction& function) { return is_about(function, layout); };
  const AllocatorFile& allocator = code.allocator;
  return std::all_of(allocator.functions.begin(), allocator.functions.end(), is_function) &&
         std::all_of(allocator.unfollowed.begin(), allocator.unfollowed.end(), is_function) &&
         (!code.operator_frames || is_about(*code.operator_frames, layout));
}

}  // namespace hawk
