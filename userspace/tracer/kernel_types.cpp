#include "userspace/tracer/kernel_types.h"

#include <bpf/libbpf.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "userspace/base/process_file.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

constexpr const char* kFile = "/sys/kernel/btf/vmlinux";
/// How the types are named that the kernel makes for tracepoints.
constexpr const char* kTracepointPrefix = "btf_trace_";

std::uint32_t number_by_libbpf(const std::string& name, bpf_attach_type type) {
  return static_cast<std::uint32_t>(std::max(libbpf_find_vmlinux_btf_id(name.c_str(), type), 0));
}

}  // namespace

KernelTypes::KernelTypes() {
  const UniqueFd file = open_process_file(kFile);
  struct stat about = {};
  if (!file || ::fstat(file.get(), &about) != 0 || about.st_size <= 0) return;
  const auto size = static_cast<std::size_t>(about.st_size);
  // Since 6.16. Before, a page is read at a time.
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped != MAP_FAILED) {
    mapped_ = mapped;
    btf_ = {static_cast<const std::uint8_t*>(mapped), size};
  } else {
    read_ = read_to_end(file.get()).value_or("");
    btf_ = bytes_in(read_);
  }
  table_ = TypeTable::read(btf_);
}

KernelTypes::~KernelTypes() {
  if (mapped_ != nullptr) ::munmap(mapped_, btf_.size());
}

std::optional<std::uint32_t> KernelTypes::find(unsigned kind, std::string_view name) const {
  return table_ ? std::optional(table_->find(kind, name)) : std::nullopt;
}

std::uint32_t KernelTypes::function(const std::string& name) const {
  const std::optional<std::uint32_t> number = find(BTF_KIND_FUNC, name);
  return number ? *number : number_by_libbpf(name, BPF_TRACE_FENTRY);
}

std::uint32_t KernelTypes::tracepoint(const std::string& name) const {
  const std::optional<std::uint32_t> number = find(BTF_KIND_TYPEDEF, kTracepointPrefix + name);
  return number ? *number : number_by_libbpf(name, BPF_TRACE_RAW_TP);
}

std::uint32_t KernelTypes::structure(const std::string& name) const { return find(BTF_KIND_STRUCT, name).value_or(0); }

}  // namespace hawk
