#include "userspace/code/branch_targets.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

constexpr auto kNoreturnNames = std::to_array<std::string_view>({
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "__fortify_fail",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_throw_bad_array_new_length",
    "_ZSt9terminatev",
    "_ZSt17__throw_bad_allocv",
    "_ZSt20__throw_system_errori",
    "_ZSt20__throw_length_errorPKc",
});

/// Of these. Not exit, which runs what the program has asked for.
constexpr auto kEndingNames = std::to_array<std::string_view>({
    "abort",
    "_exit",
    "_Exit",
    "__assert_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "__fortify_fail",
    "_ZSt9terminatev",
});

constexpr auto kCopyingNames = std::to_array<std::string_view>({"memcpy", "memmove", "memset"});

}  // namespace

const std::map<std::uint64_t, std::string>& BranchTargets::copying() {
  if (!copying_) {
    copying_.emplace();
    for (const ElfFunction& function : image_.functions(kCopyingNames))
      copying_->emplace(function.vaddr, function.name);
  }
  return *copying_;
}

bool BranchTargets::returns_first_argument(const CodeTarget& target) {
  if (std::find(kCopyingNames.begin(), kCopyingNames.end(), target.name) != kCopyingNames.end()) return true;
  return target.vaddr && copying().contains(*target.vaddr);
}

std::optional<std::string> BranchTargets::copying_chosen_by(std::uint64_t slot_vaddr) {
  const std::optional<std::uint64_t> chooser = image_.chooser_of(slot_vaddr);
  if (!chooser) return std::nullopt;
  const auto found = copying().find(*chooser);
  return found == copying().end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> BranchTargets::stub_slot(std::uint64_t vaddr) const {
  std::optional<Instruction> instruction = decode_at(image_, vaddr);
  if (instruction && instruction->decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
    instruction = decode_at(image_, instruction->next_vaddr());
  }
  if (!instruction || instruction->flow != Flow::kIndirectJump) return std::nullopt;
  return instruction->got_slot;
}

std::optional<std::uint64_t> BranchTargets::definition_of(std::string_view name) {
  const auto known = definitions_.find(name);
  if (known != definitions_.end()) return known->second;
  std::vector<ElfFunction> found = image_.functions(std::span(&name, 1));
  std::erase_if(found, [](const ElfFunction& function) { return function.is_resolver; });
  const std::optional<std::uint64_t> vaddr = found.empty() ? std::nullopt : std::optional(found.front().vaddr);
  definitions_.emplace(name, vaddr);
  return vaddr;
}

CodeTarget BranchTargets::resolve_slot(std::uint64_t slot_vaddr) {
  const std::optional<std::string_view> name = image_.got_symbol(slot_vaddr);
  if (name) return {definition_of(*name), std::string(*name)};
  return {std::nullopt, copying_chosen_by(slot_vaddr).value_or("")};
}

const CodeTarget& BranchTargets::resolve(std::uint64_t vaddr) {
  const auto known = targets_.find(vaddr);
  if (known != targets_.end()) return known->second;
  CodeTarget target{vaddr, {}};
  if (const std::optional<std::uint64_t> slot = stub_slot(vaddr)) {
    CodeTarget behind_stub = resolve_slot(*slot);
    if (!behind_stub.name.empty()) target = std::move(behind_stub);
  }
  return targets_.emplace(vaddr, std::move(target)).first->second;
}

bool BranchTargets::is_noreturn(const CodeTarget& target) {
  if (hawk::is_noreturn(target.name)) return true;
  if (!target.vaddr) return false;
  if (!noreturn_) noreturn_ = addresses_of(kNoreturnNames);
  return noreturn_->contains(*target.vaddr);
}

bool BranchTargets::ends_program(const CodeTarget& target) {
  if (std::find(kEndingNames.begin(), kEndingNames.end(), target.name) != kEndingNames.end()) return true;
  if (!target.vaddr) return false;
  if (!ending_) ending_ = addresses_of(kEndingNames);
  return ending_->contains(*target.vaddr);
}

std::set<std::uint64_t> BranchTargets::addresses_of(std::span<const std::string_view> names) const {
  std::set<std::uint64_t> addresses;
  for (const ElfFunction& function : image_.functions(names)) addresses.insert(function.vaddr);
  return addresses;
}

bool is_noreturn(std::string_view name) {
  if (std::find(kNoreturnNames.begin(), kNoreturnNames.end(), name) != kNoreturnNames.end()) return true;
  // std::__throw_bad_alloc() and its family: _ZSt<length>__throw_...
  if (!name.starts_with("_ZSt")) return false;
  name.remove_prefix(4);
  name.remove_prefix(std::min(name.find_first_not_of("0123456789"), name.size()));
  return name.starts_with("__throw_");
}

}  // namespace hawk
