#include "userspace/tracer/oom_victims.h"

#include <bpf/libbpf.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "bpf/types.h"
#include "oom_victims.skel.h"
#include "userspace/base/owned.h"
#include "userspace/base/system_failure.h"
#include "userspace/tracer/libbpf_messages.h"

namespace hawk {

struct OomVictims::Parts {
  std::unique_ptr<oom_victims, Freer<oom_victims::destroy>> skeleton;
  std::unique_ptr<ring_buffer, Freer<ring_buffer__free>> ring;
  std::vector<int> taken;
};

namespace {

int take_record(void* context, void* record, std::size_t bytes) {
  __u32 number = 0;
  if (bytes != sizeof(number)) return 0;
  std::memcpy(&number, record, sizeof(number));
  static_cast<std::vector<int>*>(context)->push_back(static_cast<int>(number));
  return 0;
}

tl::unexpected<Error> refused(const char* what) {
  return system_failure(ExitCode::kPrivilege, what, errno,
                        "what the kernel kills for lack of memory counts as killed by SIGKILL");
}

}  // namespace

OomVictims::OomVictims(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
OomVictims::OomVictims(OomVictims&&) noexcept = default;
OomVictims& OomVictims::operator=(OomVictims&&) noexcept = default;
OomVictims::~OomVictims() = default;

Result<OomVictims> OomVictims::make() {
  show_libbpf_messages();
  auto parts = std::make_unique<Parts>();
  struct stat own_namespace = {};
  if (::stat("/proc/self/ns/pid", &own_namespace) != 0) return refused("read our pid namespace");
  parts->skeleton.reset(oom_victims::open(nullptr));
  if (!parts->skeleton) return refused("open the program that notes OOM kills");
  parts->skeleton->rodata->own_pid_namespace = static_cast<__u32>(own_namespace.st_ino);
  if (oom_victims::load(parts->skeleton.get()) != 0) return refused("load the program that notes OOM kills");
  parts->ring.reset(
      ring_buffer__new(bpf_map__fd(parts->skeleton->maps.oom_victims), take_record, &parts->taken, nullptr));
  if (!parts->ring) return refused("watch for OOM kills");
  if (oom_victims::attach(parts->skeleton.get()) != 0) return refused("attach to the tracepoint oom:mark_victim");
  return OomVictims(std::move(parts));
}

std::vector<int> OomVictims::take() {
  ring_buffer__consume(parts_->ring.get());
  return std::exchange(parts_->taken, {});
}

}  // namespace hawk
