#include "userspace/attach/region_kinds.h"

#include <string_view>

namespace hawk {
namespace {

/// Memory whose file only the kernel knows: its name is that of a file which has been deleted.
RegionKind kind_of_deleted(const Mapping& mapping) {
  const std::string_view path = mapping.path;
  if (path.starts_with("/SYSV")) return RegionKind::kShm;
  if (path == "/dev/zero" || path.starts_with("/memfd:")) return RegionKind::kShared;
  if (path == "/anon_hugepage") return mapping.shared ? RegionKind::kShared : RegionKind::kAnonymous;
  return RegionKind::kFile;
}

}  // namespace

RegionKind region_kind_of(const Mapping& mapping) {
  const std::string_view path = mapping.path;
  if (path.empty() || path.starts_with("[anon:")) return RegionKind::kAnonymous;
  if (path.starts_with("[anon_shmem:")) return RegionKind::kShared;
  if (path == "[heap]") return RegionKind::kBrk;
  if (path == "[stack]") return RegionKind::kStack;
  if (path.starts_with('[')) return RegionKind::kKernel;
  return mapping.deleted ? kind_of_deleted(mapping) : RegionKind::kFile;
}

}  // namespace hawk
