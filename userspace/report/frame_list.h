#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Whether a function (demangled) is allocator or standard library plumbing that tells a reader nothing. Injected, so
/// that reports depend on no catalogue; an empty one folds nothing.
using PlumbingPredicate = std::function<bool(const std::string& function)>;

/// One source-level call of a stack: where it is, and what is known of it.
struct ListedFrame {
  Frame place;
  SourceFrame source;     ///< members empty or zero: unknown
  bool plumbing = false;  ///< PlumbingPredicate's answer; never of a call without a name
  bool operator==(const ListedFrame&) const = default;
};

/// The calls of a stack, from the caller of the allocator outwards. Stacks share the calls (CallTable).
using FrameList = std::vector<const ListedFrame*>;

/// Why calls are left out of a stack as shown.
enum class LeftOut {
  kPlumbing,  ///< they tell nothing
  kRepeated,  ///< they are the call shown before, again: recursion
  kTooMany,   ///< the stack is too long
};

/// A line of a stack as shown: a call, or so many calls left out.
struct ShownFrame {
  const ListedFrame* frame = nullptr;  ///< nullptr: calls were left out here
  std::size_t left_out_count = 0;
  LeftOut why = LeftOut::kPlumbing;
};

/// `frames` from the first that is not plumbing on; later runs of plumbing, and of one and the same call more than
/// twice, are counted. A stack that is all plumbing is shown whole. Of more than `max_frames` lines (0: any number) the
/// middle is left out, as callers near the allocator and near main tell most.
std::vector<ShownFrame> fold_frames(const FrameList& frames, std::size_t max_frames);

/// As fold_frames, but nothing is left out.
std::vector<ShownFrame> unfolded_frames(const FrameList& frames);

/// "… 3 frames folded": what a line says that leaves calls out.
std::string left_out_text(const ShownFrame& line);

/// What to call a frame: its function, else "libfoo.so+0x1234", else "0x7f0012345678".
std::string frame_name(const ListedFrame& frame, const Snapshot& snapshot);

/// "libfoo.so+0x1234" (with `full_path` the module's whole path); "" without a module.
std::string module_place(const Frame& place, const Snapshot& snapshot, bool full_path);

/// "server/session.cpp:42": the last `components` parts of the path (0: all of it); without ":42" where the line is
/// unknown, "" where the file is.
std::string source_place(const SourceFrame& source, std::size_t components);

/// The function without its parameters: "Cache::put(int) const" gives "Cache::put". For where space is short.
std::string function_without_parameters(const std::string& function);

/// The part behind the last '/'.
std::string file_name(const std::string& path);

/// The module that `id` names; nullptr when the snapshot has none such (a damaged recording).
const Module* find_module(const Snapshot& snapshot, ModuleId id);

/// What is shown in place of the frames of a stack that has none.
const char* no_frames_text(StackId id);

}  // namespace hawk
