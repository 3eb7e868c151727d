#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tests/unwinding/stack_dump.h"
#include "tests/unwinding/unwound_stack.h"

namespace hawk {

/// elfutils' unwinder over dumps of one process. It derives its modules from the text of /proc/PID/maps; memory is only
/// the dump's stack.
///
/// It starts at the allocator's first instruction rather than in the caller, because it takes the first address for
/// that of an interrupted instruction. Two of its peculiarities are corrected. Where a file says nothing about an
/// address, it goes on along rbp as if that were known: the stack ends there. And it takes a return address of zero for
/// a proper end.
class LibdwUnwinder {
 public:
  static constexpr const char* kEntryPoint = "(entry point)";

  /// `maps`: must outlive this.
  explicit LibdwUnwinder(std::string_view maps);
  ~LibdwUnwinder();
  LibdwUnwinder(const LibdwUnwinder&) = delete;
  LibdwUnwinder& operator=(const LibdwUnwinder&) = delete;

  /// At most `max_frames` frames.
  UnwoundStack unwind(const StackDump& dump, std::size_t max_frames);
  /// "libc.so.6 malloc+0x10", for messages.
  std::string name_of(std::uint64_t address) const;
  /// The nearest symbol before a return address, of those that are there; kEntryPoint in code without function that
  /// begins where the kernel enters the file; empty: none.
  std::string symbol_of(std::uint64_t address);
  /// File name of the code at an address; empty: there is none.
  std::string module_of(std::uint64_t address) const;

 private:
  /// What the unwind table says about an address.
  struct Facts {
    bool is_covered = false;
    bool is_signal_frame = false;
    bool is_outermost = false;  ///< the return address is undefined
  };
  struct Walk;

  static pid_t next_thread(Dwfl* dwfl, void* self, void** thread);
  static bool get_thread(Dwfl* dwfl, pid_t tid, void* self, void** thread);
  static bool read_memory(Dwfl* dwfl, Dwarf_Addr address, Dwarf_Word* word, void* self);
  static bool set_registers(Dwfl_Thread* thread, void* self);
  static int take_frame(Dwfl_Frame* frame, void* self);
  static int find_elf(Dwfl_Module* module, void** user_data, const char* name, Dwarf_Addr base, char** file_name,
                      Elf** elf);

  void report_modules(std::string_view maps);
  const Facts& facts_of(std::uint64_t address);
  Facts find_facts(std::uint64_t address) const;
  /// Whether an address without function lies where one ends that could be followed by padding up to there.
  bool is_padding(std::uint64_t address);
  /// Whether an address without function is in the code that begins at the file's entry point.
  bool is_entry(std::uint64_t address);

  struct Freer {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  std::unique_ptr<Dwfl, Freer> dwfl_;
  std::unordered_map<std::uint64_t, Facts> facts_;
  Walk* walk_ = nullptr;  ///< the one under way
};

}  // namespace hawk
