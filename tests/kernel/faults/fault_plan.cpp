#include "tests/kernel/faults/fault_plan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <stdexcept>

#include "tests/kernel/harness/child_process.h"

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;

struct ObjectType {
  const char* name;
  bpf_cmd open_by_id;
};

/// By fault_object_type.
constexpr std::array kObjectTypes{ObjectType{"map", BPF_MAP_GET_FD_BY_ID}, ObjectType{"program", BPF_PROG_GET_FD_BY_ID},
                                  ObjectType{"link", BPF_LINK_GET_FD_BY_ID}, ObjectType{"BTF", BPF_BTF_GET_FD_BY_ID}};

bool is_in_kernel(const fault_object& object) {
  bpf_attr attributes = {};
  attributes.map_id = object.id;  // at the same place for all types
  const long fd = syscall(SYS_bpf, kObjectTypes.at(object.type).open_by_id, &attributes, sizeof(attributes));
  if (fd >= 0) close(static_cast<int>(fd));
  // EAGAIN: it has an id, and is being made or removed.
  return fd >= 0 || errno != ENOENT;
}

}  // namespace

FaultPlan::FaultPlan(const Fault& fault, std::uint64_t first) {
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool sized = fd >= 0 && ftruncate(fd, sizeof(fault_plan)) == 0;
  void* mapped = sized ? mmap(nullptr, sizeof(fault_plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (mapped == MAP_FAILED) throw std::runtime_error("map the plan of a fault");
  plan_ = static_cast<fault_plan*>(mapped);
  plan_->kind = static_cast<std::uint32_t>(fault.kind);
  plan_->error = fault.error;
  plan_->first = first;
  plan_->for_ever = fault.for_ever ? 1U : 0U;
}

FaultPlan::~FaultPlan() { munmap(plan_, sizeof(fault_plan)); }

std::map<std::string, std::string> FaultPlan::environment() const {
  return {{"LD_PRELOAD", HAWK_FAULTS_PATH}, {FAULT_PLAN_VARIABLE, path_}};
}

void FaultPlan::expect_no_objects() const {
  ASSERT_LE(objects(), FAULT_MAX_OBJECTS) << "more were made than there is room to note";
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  for (const fault_object& object : std::span(plan_->objects).first(objects())) {
    bool is_there = is_in_kernel(object);
    while (is_there && Clock::now() < deadline) {
      sched_yield();
      is_there = is_in_kernel(object);
    }
    EXPECT_FALSE(is_there) << kObjectTypes.at(object.type).name << " " << object.id << " is left in the kernel";
  }
}

}  // namespace hawk
