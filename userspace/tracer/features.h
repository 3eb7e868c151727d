#pragma once

#include <optional>

#include "userspace/base/result.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/kernel_types.h"

namespace hawk {

/// What this kernel can do, found out by trying.
struct KernelFeatures {
  bool uprobe_multi = false;
  bool uprobe_session = false;
  /// The multi link's pid means a process. Up to 6.6.34 and 6.9.4 it meant one thread (kernel commit 46ba0e49b642):
  /// there links are made for all processes, and the programs sort out whose hit it was.
  bool pid_filter = false;
  /// BPF programs can be on functions of the kernel (fentry). It has to be compiled for that, and some forbid it.
  bool programs_on_functions = false;
  /// Threads can be held on their way back to user mode (bpf/holds.bpf.h): 6.18. Where interrupts are threads
  /// (PREEMPT_RT) it might be there before.
  bool holds = false;
  /// As kernel_preempts_itself has it.
  bool preempts_itself = true;
};

/// Tries each feature with a program that is never hit; `types`: the running kernel's. kPrivilege when not even the
/// simplest program can be loaded.
Result<KernelFeatures> probe_kernel_features(const KernelTypes& types);

/// Fails if processes cannot pass their probes on to those that they make, as InheritedProbes has it.
Result<void> require_inheritance(const KernelFeatures& features);

/// The best way that the kernel has, or `forced` if it has that; kPrivilege otherwise. `several`: processes may be
/// traced, for which multi links need their filter.
Result<AttachWay> choose_attach_way(const KernelFeatures& features, std::optional<AttachWay> forced,
                                    bool several = false);

/// Whether points are the better choice for functions that have a plan, if the others are attached in this way. Perf
/// events of one process are one for each probe, and a plan has several: the kernel takes each of them on and off at
/// every switch of threads, and tens of milliseconds to remove it. Inherited ones are one for each file and program.
bool should_follow_plans(AttachWay way, bool is_inherited);

}  // namespace hawk
