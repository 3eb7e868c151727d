#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/frame_role.h"
#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The role of a function (demangled) in stacks: what is not the program's says nothing to a reader and is folded.
/// Injected, so that reports depend on no catalogue; with an empty one all is the program's.
using RoleOfFunction = std::function<FrameRole(const std::string& function)>;

/// One source-level call of a stack: where it is, and what is known of it.
struct ListedFrame {
  Location location;
  SourceFrame source;                    ///< members empty or zero: unknown
  std::string name;                      ///< as people know it: short_name() of the function, else frame_name()
  FrameRole role = FrameRole::kProgram;  ///< RoleOfFunction's answer; always kProgram of a call without a name
  std::uint32_t function_number = 0;     ///< the same for calls of one function, and for no others (FunctionNumbers)

  bool is_foldable() const { return role != FrameRole::kProgram; }
  bool operator==(const ListedFrame&) const = default;
};

/// The calls of a stack, from the caller of the allocator outwards. Stacks share the calls (CallTable).
using FrameList = std::vector<const ListedFrame*>;

/// Names longer than this are shortened in the middle even where lines may have any length.
inline constexpr std::size_t kMaxNameColumns = 200;

/// Why calls are left out of a stack as shown.
enum class LeftOut {
  kFolded,    ///< they say nothing
  kTooMany,   ///< the stack is too long
  kRepeated,  ///< they are those of the lines above once more: functions that call each other in turn
};

/// A line of a stack as shown: a call, or so many calls left out.
struct ShownFrame {
  const ListedFrame* frame = nullptr;  ///< nullptr: calls were left out here
  std::size_t index = 0;               ///< of a call, in the list
  /// Of a call, so many in a row were of the same function: recursion. This is the innermost one. Where calls are left
  /// out as kRepeated, so often the lines above stand for themselves in all.
  std::size_t times = 1;
  std::size_t left_out_count = 0;
  LeftOut why = LeftOut::kFolded;
  std::size_t lines = 0;  ///< of kRepeated: so many lines above are repeated
};

/// Finds the function that decides on what a stack allocates among frames that are looked at from the innermost on: the
/// first of the program's that is not called by the allocator.
class DecidingSearch {
 public:
  /// Returns whether no later frame matters.
  bool look_at(const ListedFrame& frame);
  /// Its index; nullopt: so far no frame of the stack decides.
  std::optional<std::size_t> found() const { return found_; }

 private:
  std::size_t looked_at_ = 0;
  std::optional<std::size_t> found_;
};

/// What a DecidingSearch finds in `frames`; 0 where there is none: of a stack whose frames can all be folded, or empty.
std::size_t deciding_frame(const FrameList& frames);

/// Whether `frame` is a function of code that an interpreter or a JIT compiler made, and a perf map named.
bool is_interpreted(const ListedFrame& frame);

/// The frame that a stack is named by: the deciding one, unless an interpreter runs there. What that does is the same
/// for all programs, so that it is the first function of the program it runs.
std::size_t naming_frame(const FrameList& frames);

/// What to call a stack of these frames: the function of naming_frame(); where that has no name, with the next caller
/// that has one: "libfoo.so+0x1234 < serve". "" of a stack without frames.
std::string stack_label(const FrameList& frames);

/// Whether a reader takes both for calls of one function, the second having called the first.
inline bool is_recursion(const ListedFrame& inner, const ListedFrame& outer) {
  return inner.function_number == outer.function_number;
}

/// `frames` from the deciding one on; later runs of foldable frames are counted, and so is recursion, of one function
/// or of several that call each other in turn. A stack whose frames can all be folded is shown whole. Of more than
/// `max_frames` lines (0: any number) the middle is left out, as callers near the allocator and near main say most.
std::vector<ShownFrame> fold_frames(const FrameList& frames, std::size_t max_frames);

/// `frames` from the deciding one on, without those that are folded; all of them where every one could be.
FrameList telling_calls(const FrameList& frames);

/// Which of `frames` fold_frames shows no line for, with `max_frames` 0.
std::vector<bool> hidden_frames(const FrameList& frames);

/// As fold_frames, but nothing is left out.
std::vector<ShownFrame> unfolded_frames(const FrameList& frames);

/// What a line says that leaves calls out: "… 3 frames folded", "… the 2 lines above ×3".
std::string left_out_text(const ShownFrame& line);

/// What a frame is called in full: its function, else "libfoo.so+0x1234", else "0x7f0012345678".
std::string frame_name(const Location& location, const SourceFrame& source, const Snapshot& snapshot);

/// "libfoo.so+0x1234" (with `full_path` the module's whole path); "" without a module.
std::string module_position(const Location& location, const Snapshot& snapshot, bool full_path);

/// "server/session.cpp:42": the last `components` parts of the path (0: all of it); without ":42" where the line is
/// unknown, "" where the file is.
std::string source_position(const SourceFrame& source, std::size_t components);

/// The part behind the last '/'.
std::string file_name(const std::string& path);

/// The module that `id` names; nullptr when the snapshot has none such (a damaged recording).
const Module* find_module(const Snapshot& snapshot, ModuleId id);

/// What is shown in place of the frames of a stack that has none.
const char* no_frames_text(StackId id);

}  // namespace hawk
