#include "tests/unwinding/libdw_unwinder.h"

#include <elfutils/libdw.h>
#include <fmt/core.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bpf/unwind/ends.h"
#include "userspace/base/check.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

constexpr const char* kVdso = "[vdso]";
/// Between functions that are aligned to 16 bytes.
constexpr std::uint64_t kMaxPadding = 15;
/// Of the code at a dynamic linker's entry point, which has some 60.
constexpr std::uint64_t kMaxEntryBytes = 128;
// DWARF's numbers of the registers that functions preserve (System V ABI, AMD64 supplement, figure 3.36).
constexpr int kRbx = 3, kRbp = 6, kR12 = 12, kReturnAddress = 16;

int no_debug_files(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

/// Bytes of this process' vdso: the kernel gives every process the same.
Elf* open_vdso(std::uint64_t bytes) {
  char* image = reinterpret_cast<char*>(::getauxval(AT_SYSINFO_EHDR));
  return image ? ::elf_memory(image, bytes) : nullptr;
}

}  // namespace

struct LibdwUnwinder::Walk {
  const StackDump& dump;
  std::size_t max_frames;
  UnwoundStack stack;
  std::size_t seen = 0;        ///< frames, that of the allocator included
  std::uint64_t last = 0;      ///< where facts about the last frame are found
  bool is_unreadable = false;  ///< some word was asked for that is not in the dump
};

LibdwUnwinder::LibdwUnwinder(std::string_view maps) {
  static const Dwfl_Callbacks callbacks = {
      .find_elf = find_elf, .find_debuginfo = no_debug_files, .section_address = nullptr, .debuginfo_path = nullptr};
  static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                         .get_thread = get_thread,
                                                         .memory_read = read_memory,
                                                         .set_initial_registers = set_registers,
                                                         .detach = nullptr,
                                                         .thread_detach = nullptr};
  dwfl_.reset(::dwfl_begin(&callbacks));
  HAWK_CHECK(dwfl_ != nullptr, "libdw begins");
  report_modules(maps);
  HAWK_CHECK(::dwfl_attach_state(dwfl_.get(), nullptr, 1, &thread_callbacks, this), ::dwfl_errmsg(-1));
}

LibdwUnwinder::~LibdwUnwinder() = default;

void LibdwUnwinder::report_modules(std::string_view maps) {
  ::dwfl_report_begin(dwfl_.get());
  std::FILE* text = ::fmemopen(const_cast<char*>(maps.data()), maps.size(), "r");
  HAWK_CHECK(text && ::dwfl_linux_proc_maps_report(dwfl_.get(), text) == 0, "libdw reads the mappings");
  std::fclose(text);
  for (const Mapping& mapping : parse_mappings(maps)) {
    if (mapping.path == kVdso) ::dwfl_report_module(dwfl_.get(), kVdso, mapping.start, mapping.end);
  }
  ::dwfl_report_end(dwfl_.get(), nullptr, nullptr);
}

int LibdwUnwinder::find_elf(Dwfl_Module* module, void** user_data, const char* name, Dwarf_Addr base, char** file_name,
                            Elf** elf) {
  if (std::strcmp(name, kVdso) != 0) return ::dwfl_linux_proc_find_elf(module, user_data, name, base, file_name, elf);
  Dwarf_Addr start = 0, end = 0;
  ::dwfl_module_info(module, nullptr, &start, &end, nullptr, nullptr, nullptr, nullptr);
  *elf = open_vdso(end - start);
  return -1;
}

pid_t LibdwUnwinder::next_thread(Dwfl*, void* self, void** thread) {
  if (*thread) return 0;
  *thread = self;
  return 1;
}

bool LibdwUnwinder::get_thread(Dwfl*, pid_t, void* self, void** thread) {
  *thread = self;
  return true;
}

bool LibdwUnwinder::read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* self) {
  Walk& walk = *static_cast<LibdwUnwinder*>(self)->walk_;
  const std::optional<std::uint64_t> found = walk.dump.memory.word(address);
  if (found) *word = *found;
  walk.is_unreadable |= !found;
  return found.has_value();
}

bool LibdwUnwinder::set_registers(Dwfl_Thread* thread, void* self) {
  const hawk_dump_stack& registers = static_cast<LibdwUnwinder*>(self)->walk_->dump.registers;
  const Dwarf_Word r12_to_r15[] = {registers.r12, registers.r13, registers.r14, registers.r15};
  const Dwarf_Word rbx = registers.rbx;
  const Dwarf_Word rbp_and_rsp[] = {registers.rbp, registers.stack_pointer};
  const Dwarf_Word pc = registers.pc;
  ::dwfl_thread_state_register_pc(thread, pc);
  return ::dwfl_thread_state_registers(thread, kRbx, 1, &rbx) &&
         ::dwfl_thread_state_registers(thread, kRbp, 2, rbp_and_rsp) &&
         ::dwfl_thread_state_registers(thread, kR12, 4, r12_to_r15) &&
         ::dwfl_thread_state_registers(thread, kReturnAddress, 1, &pc);
}

int LibdwUnwinder::take_frame(Dwfl_Frame* frame, void* self_pointer) {
  LibdwUnwinder& self = *static_cast<LibdwUnwinder*>(self_pointer);
  Walk& walk = *self.walk_;
  Dwarf_Addr pc = 0;
  if (!::dwfl_frame_pc(frame, &pc, nullptr)) return DWARF_CB_ABORT;
  const bool is_allocator = walk.seen++ == 0;
  const bool is_interrupted = !is_allocator && self.facts_of(walk.last).is_signal_frame;
  if (!is_allocator && !self.facts_of(walk.last).is_covered) {
    walk.stack.end = "not covered";
    return DWARF_CB_ABORT;
  }
  if (walk.stack.frames.size() == walk.max_frames) {
    walk.stack.end = "depth";
    return DWARF_CB_ABORT;
  }
  walk.last = is_allocator || is_interrupted ? pc : pc - 1;
  if (!is_allocator) walk.stack.frames.push_back(pc | (is_interrupted ? HAWK_FRAME_INTERRUPTED : 0));
  return DWARF_CB_OK;
}

UnwoundStack LibdwUnwinder::unwind(const StackDump& dump, std::size_t max_frames) {
  Walk walk{.dump = dump, .max_frames = max_frames, .stack = {}};
  walk_ = &walk;
  const int result = ::dwfl_getthread_frames(dwfl_.get(), 1, take_frame, this);
  walk_ = nullptr;
  const Facts& last = facts_of(walk.last);
  walk.stack.is_complete = result == 0 && last.is_outermost;
  if (walk.stack.is_complete) {
    walk.stack.end = "outermost";
  } else if (result == 0) {
    walk.stack.end = "return address of zero";
  } else if (walk.stack.end.empty() && !last.is_covered) {
    walk.stack.end = "not covered";
  } else if (walk.stack.end.empty()) {
    walk.stack.end = walk.is_unreadable ? "unreadable" : "libdw: " + std::string(::dwfl_errmsg(-1));
  }
  walk.stack.ends_at_entry = !last.is_covered && is_entry(walk.last);
  walk.stack.ends_in_padding = !last.is_covered && !walk.stack.ends_at_entry && is_padding(walk.last);
  return std::move(walk.stack);
}

const LibdwUnwinder::Facts& LibdwUnwinder::facts_of(std::uint64_t address) {
  const auto known = facts_.find(address);
  return known != facts_.end() ? known->second : facts_.emplace(address, find_facts(address)).first->second;
}

bool LibdwUnwinder::is_padding(std::uint64_t address) {
  for (std::uint64_t before = 1; before <= kMaxPadding; ++before) {
    if (facts_of(address - before).is_covered) return true;
  }
  return false;
}

bool LibdwUnwinder::is_entry(std::uint64_t address) {
  Dwfl_Module* module = ::dwfl_addrmodule(dwfl_.get(), address);
  GElf_Addr bias = 0;
  GElf_Ehdr header;
  if (!module || !::gelf_getehdr(::dwfl_module_getelf(module, &bias), &header) || !header.e_entry) return false;
  const std::uint64_t offset = address - (header.e_entry + bias);
  if (offset >= kMaxEntryBytes) return false;
  for (std::uint64_t before = 0; before <= offset; ++before) {
    if (facts_of(address - before).is_covered) return false;
  }
  return true;
}

LibdwUnwinder::Facts LibdwUnwinder::find_facts(std::uint64_t address) const {
  Dwfl_Module* module = ::dwfl_addrmodule(dwfl_.get(), address);
  Dwarf_Addr bias = 0;
  Dwarf_CFI* table = module ? ::dwfl_module_eh_cfi(module, &bias) : nullptr;
  Dwarf_Frame* frame = nullptr;
  if (!table || ::dwarf_cfi_addrframe(table, address - bias, &frame) != 0) return {};
  Facts facts{.is_covered = true};
  Dwarf_Addr start = 0, end = 0;
  ::dwarf_frame_info(frame, &start, &end, &facts.is_signal_frame);
  Dwarf_Op memory[3];
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  const bool has_rule = ::dwarf_frame_register(frame, kReturnAddress, memory, &operations, &count) == 0;
  facts.is_outermost = has_rule && count == 0 && operations == memory;
  std::free(frame);
  return facts;
}

std::string LibdwUnwinder::module_of(std::uint64_t address) const {
  Dwfl_Module* module = ::dwfl_addrmodule(dwfl_.get(), address);
  if (!module) return {};
  return std::filesystem::path(
             ::dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
      .filename();
}

std::string LibdwUnwinder::symbol_of(std::uint64_t address) {
  if (is_entry(address - 1)) return kEntryPoint;
  Dwfl_Module* module = ::dwfl_addrmodule(dwfl_.get(), address);
  const char* name = module ? ::dwfl_module_addrname(module, address) : nullptr;
  return name ? name : "";
}

std::string LibdwUnwinder::name_of(std::uint64_t address) const {
  Dwfl_Module* module = ::dwfl_addrmodule(dwfl_.get(), address);
  if (!module) return "no code";
  Dwarf_Addr start = 0;
  ::dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* name = ::dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  return fmt::format("{} {}+{:#x}", module_of(address), name ? name : "", name ? offset : address - start);
}

}  // namespace hawk
