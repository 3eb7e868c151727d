// What is found in this kernel's BTF, beside what libbpf finds there.
#include "userspace/tracer/kernel_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "userspace/base/owned.h"

namespace hawk {
namespace {

using OwnedBtf = std::unique_ptr<btf, Freer<btf__free>>;

/// Of tens of thousands, so many.
constexpr __u32 kEvery = 1000;

TEST(KernelTypes, AreThoseThatLibbpfFinds) {
  const OwnedBtf known(btf__load_vmlinux_btf());
  ASSERT_NE(known, nullptr);
  const KernelTypes types;
  int functions = 0;
  for (__u32 number = 1; number < btf__type_cnt(known.get()); number += kEvery) {
    __u32 next = number;
    while (next < btf__type_cnt(known.get()) && !btf_is_func(btf__type_by_id(known.get(), next))) ++next;
    if (next == btf__type_cnt(known.get())) break;
    const std::string name = btf__name_by_offset(known.get(), btf__type_by_id(known.get(), next)->name_off);
    const int first = btf__find_by_name_kind(known.get(), name.c_str(), BTF_KIND_FUNC);
    EXPECT_EQ(types.function(name), static_cast<unsigned>(first)) << name;
    ++functions;
  }
  EXPECT_GT(functions, 10);
  const int tracepoint = btf__find_by_name_kind(known.get(), "btf_trace_sched_process_exec", BTF_KIND_TYPEDEF);
  ASSERT_GT(tracepoint, 0);
  EXPECT_EQ(types.tracepoint("sched_process_exec"), static_cast<unsigned>(tracepoint));
  EXPECT_EQ(types.function("no_function_of_any_kernel"), 0U);
  EXPECT_EQ(types.tracepoint("no_function_of_any_kernel"), 0U);
}

}  // namespace
}  // namespace hawk
