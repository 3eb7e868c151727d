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

/// What is asked for wherever hawktrace traces.
constexpr TypeName kUsual[] = {
    {BTF_KIND_FUNC, "perf_event_mmap"},
    {BTF_KIND_FUNC, "bpf_task_work_schedule_resume"},
    {BTF_KIND_FUNC, "bpf_task_work_schedule_resume_impl"},
    {BTF_KIND_FUNC, "exit_mm_release"},
    {BTF_KIND_FUNC, "exec_mm_release"},
    {BTF_KIND_TYPEDEF, "btf_trace_sched_prepare_exec"},
    {BTF_KIND_STRUCT, "timespec64"},
};

/// Whether `name`, and nothing more, is at `offset`.
bool is_name_at(Bytes names, std::uint64_t offset, std::string_view name) {
  if (offset >= names.size() || names[offset] != static_cast<std::uint8_t>(*name.data())) return false;
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

std::optional<std::vector<std::uint32_t>> find_types(Bytes btf, std::span<const TypeName> wanted) {
  ByteCursor beginning(btf);
  const auto header = beginning.number<btf_header>();
  if (!beginning.ok() || header.magic != BTF_MAGIC) return std::nullopt;
  const Bytes content = part_of(btf, header.hdr_len), names = part_of(content, header.str_off, header.str_len);
  ByteCursor types(part_of(content, header.type_off, header.type_len));
  std::vector<std::uint32_t> found(wanted.size());
  std::size_t left = wanted.size();
  // Number 0 is void, which is not written.
  for (std::uint32_t number = 1; !types.at_end(); ++number) {
    const auto type = types.number<btf_type>();
    const unsigned kind = BTF_INFO_KIND(type.info);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].kind != kind || found[i] != 0 || !is_name_at(names, type.name_off, wanted[i].name)) continue;
      found[i] = number;
      if (--left == 0) return found;
    }
    const std::optional<std::uint64_t> after = bytes_after(kind, BTF_INFO_VLEN(type.info));
    if (!after) return std::nullopt;
    types.skip(*after);
  }
  return types.ok() ? found : std::optional<std::vector<std::uint32_t>>();
}

std::optional<std::uint32_t> find_type(Bytes btf, unsigned kind, std::string_view name) {
  const TypeName wanted = {kind, name};
  const std::optional<std::vector<std::uint32_t>> found = find_types(btf, {&wanted, 1});
  return found ? std::optional(found->front()) : std::nullopt;
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
  } else {
    read_ = read_to_end(file.get()).value_or("");
    btf_ = bytes_in(read_);
  }
}

KernelTypes::~KernelTypes() {
  if (mapped_ != nullptr) ::munmap(mapped_, btf_.size());
}

std::optional<std::uint32_t> KernelTypes::find(unsigned kind, std::string_view name) const {
  // The kernel's do not change. Empty: they cannot be read.
  static const std::vector<std::uint32_t> usual = find_types(btf_, kUsual).value_or(std::vector<std::uint32_t>());
  for (std::size_t i = 0; i < usual.size(); ++i) {
    if (kUsual[i].kind == kind && kUsual[i].name == name) return usual[i];
  }
  return find_type(btf_, kind, name);
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
