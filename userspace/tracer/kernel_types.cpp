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

/// Whether `name`, and nothing more, is at `offset`.
bool is_name_at(Bytes names, std::uint64_t offset, std::string_view name) {
  const Bytes found = part_of(names, offset, name.size() + 1);
  return found.size() == name.size() + 1 && found.back() == 0 && text_of(found.first(name.size())) == name;
}

std::uint32_t number_by_libbpf(const std::string& name, bpf_attach_type type) {
  return static_cast<std::uint32_t>(std::max(libbpf_find_vmlinux_btf_id(name.c_str(), type), 0));
}

}  // namespace

std::optional<std::uint64_t> bytes_after(unsigned kind, std::uint64_t members) {
  switch (kind) {
    case BTF_KIND_INT:
      return sizeof(std::uint32_t);
    case BTF_KIND_ARRAY:
      return sizeof(btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      return members * sizeof(btf_member);
    case BTF_KIND_ENUM:
      return members * sizeof(btf_enum);
    case BTF_KIND_ENUM64:
      return members * sizeof(btf_enum64);
    case BTF_KIND_FUNC_PROTO:
      return members * sizeof(btf_param);
    case BTF_KIND_VAR:
      return sizeof(btf_var);
    case BTF_KIND_DATASEC:
      return members * sizeof(btf_var_secinfo);
    case BTF_KIND_DECL_TAG:
      return sizeof(btf_decl_tag);
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG:
      return 0;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> find_type(Bytes btf, unsigned kind, std::string_view name) {
  ByteCursor beginning(btf);
  const auto header = beginning.number<btf_header>();
  if (!beginning.ok() || header.magic != BTF_MAGIC) return std::nullopt;
  const Bytes content = part_of(btf, header.hdr_len), names = part_of(content, header.str_off, header.str_len);
  ByteCursor types(part_of(content, header.type_off, header.type_len));
  // Number 0 is void, which is not written.
  for (std::uint32_t number = 1; !types.at_end(); ++number) {
    const auto type = types.number<btf_type>();
    const unsigned found = BTF_INFO_KIND(type.info);
    if (found == kind && is_name_at(names, type.name_off, name)) return number;
    const std::optional<std::uint64_t> after = bytes_after(found, BTF_INFO_VLEN(type.info));
    if (!after) return std::nullopt;
    types.skip(*after);
  }
  return types.ok() ? std::optional(0U) : std::nullopt;
}

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
    return;
  }
  read_ = read_to_end(file.get()).value_or("");
  btf_ = bytes_in(read_);
}

KernelTypes::~KernelTypes() {
  if (mapped_ != nullptr) ::munmap(mapped_, btf_.size());
}

std::uint32_t KernelTypes::function(const std::string& name) const {
  const std::optional<std::uint32_t> number = find_type(btf_, BTF_KIND_FUNC, name);
  return number ? *number : number_by_libbpf(name, BPF_TRACE_FENTRY);
}

std::uint32_t KernelTypes::tracepoint(const std::string& name) const {
  const std::optional<std::uint32_t> number = find_type(btf_, BTF_KIND_TYPEDEF, kTracepointPrefix + name);
  return number ? *number : number_by_libbpf(name, BPF_TRACE_RAW_TP);
}

std::uint32_t KernelTypes::structure(const std::string& name) const {
  return find_type(btf_, BTF_KIND_STRUCT, name).value_or(0);
}

}  // namespace hawk
