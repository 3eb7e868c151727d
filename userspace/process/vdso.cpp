#include "userspace/process/vdso.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/base/write_all.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

constexpr const char* kName = "[vdso]";

}  // namespace

Result<UniqueFd> copy_vdso() {
  const std::vector<Mapping> mappings = HAWK_TRY(read_mappings(::getpid()));
  for (const Mapping& mapping : mappings) {
    if (mapping.path != kName) continue;
    UniqueFd file(::memfd_create("vdso", MFD_CLOEXEC));
    const std::string_view bytes(reinterpret_cast<const char*>(mapping.start), mapping.end - mapping.start);
    const int error = file ? write_all(file.get(), bytes) : errno;
    if (error != 0) return system_failure(ExitCode::kPrivilege, "copy the vdso to memory", error);
    return file;
  }
  return fail(ExitCode::kPrivilege, "read the vdso: this kernel maps none");
}

Result<ElfLayout> read_vdso() { return ElfLayout::make(HAWK_TRY(copy_vdso()), kName); }

}  // namespace hawk
