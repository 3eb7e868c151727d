#include "userspace/study/confined_symbolizer.h"

#include <elf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/regular_file.h"
#include "userspace/elf/elf_header.h"

namespace hawk {
namespace {

/// The most that is kept of names, of one file and of all. Those of 20,000 addresses in Chromium take 12 MiB.
constexpr std::size_t kMostNamesBytesOfFile = std::size_t{128} << 20;
constexpr std::size_t kMostNamesBytes = std::size_t{512} << 20;
/// Inlined calls are followed to a nesting of 256 (EntryWalk).
constexpr std::size_t kMostFrames = 512;

/// Whether a worker may be given this file. It requests names that it has read in files of the target: only files that
/// it needs may be opened for it. A core file, for example, holds the memory of a process.
bool is_code_file(int fd) {
  std::array<std::uint8_t, sizeof(Elf64_Ehdr)> head = {};
  const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
  const std::optional<Elf64_Ehdr> header =
      elf_header_in(Bytes(head).first(got > 0 ? static_cast<std::size_t>(got) : 0));
  return header && (header->e_type == ET_REL || header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/// "DIR/.build-id/61/96744a.debug" has the build id 6196744a; empty: not such a path.
std::string build_id_in(const std::string& path) {
  constexpr std::string_view kDirectory = "/.build-id/";
  constexpr std::string_view kEnd = ".debug";
  constexpr std::size_t kMostDigits = 128;
  const std::size_t directory = path.rfind(kDirectory);
  if (directory == std::string::npos || !path.ends_with(kEnd)) return {};
  std::string id = path.substr(directory + kDirectory.size());
  id.resize(id.size() - kEnd.size());
  if (id.size() < 4 || id.size() > kMostDigits || id[2] != '/') return {};
  id.erase(2, 1);
  return id.find_first_not_of("0123456789abcdef") == std::string::npos ? id : std::string();
}

}  // namespace

void ConfinedSymbolizer::add_module(ModuleId id, ModuleFile file) {
  std::shared_ptr<FileSymbols> symbols =
      known_ != nullptr ? known_->of(file.known_as) : std::make_shared<FileSymbols>();
  modules_.insert_or_assign(id, Module{.file = std::move(file), .symbols = std::move(symbols)});
}

void ConfinedSymbolizer::close_files(ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return;
  Module& module = found->second;
  if (workers_.current() != nullptr && module.known_to == workers_.number()) {
    workers_.current()->channel().send(kCloseFiles, to_body(static_cast<std::uint32_t>(id), {}));
  }
  module.is_closed = true;
  module.file.fd.reset();
  module.gap = kFilesClosed;
}

std::vector<SourceFrame> ConfinedSymbolizer::frames(ModuleId id, std::uint64_t module_offset) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return {};
  Module& module = found->second;
  if (!module.symbols->answers.has(module_offset)) ask(id, module, {&module_offset, 1});
  return module.symbols->answers.frames(module_offset, module.symbols->pool);
}

void ConfinedSymbolizer::prepare(ModuleId id, std::span<const std::uint64_t> module_offsets) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return;
  const std::vector<std::uint64_t> unknown = found->second.symbols->answers.missing(module_offsets);
  if (!unknown.empty()) ask(id, found->second, unknown);
}

void ConfinedSymbolizer::use_perf_map(UniqueFd file) {
  in_no_file_ = {.file = {.path = {}, .fd = std::move(file), .root = {}}};
  has_perf_map_grown_ = false;
}

void ConfinedSymbolizer::perf_map_grew() {
  has_perf_map_grown_ = true;
  in_no_file_.symbols = std::make_shared<FileSymbols>();
}

std::vector<SourceFrame> ConfinedSymbolizer::frames_in_no_file(std::uint64_t address) {
  if (!in_no_file_.symbols->answers.has(address)) ask_in_no_file({&address, 1});
  return in_no_file_.symbols->answers.frames(address, in_no_file_.symbols->pool);
}

void ConfinedSymbolizer::prepare_in_no_file(std::span<const std::uint64_t> addresses) {
  const std::vector<std::uint64_t> unknown = in_no_file_.symbols->answers.missing(addresses);
  if (!unknown.empty()) ask_in_no_file(unknown);
}

void ConfinedSymbolizer::ask_in_no_file(Addresses addresses) {
  if (in_no_file_.is_closed || !in_no_file_.file.fd) return;
  while (workers_.get() != nullptr && !is_answered_in_no_file(addresses)) {
    if (lose_adopted()) continue;
    lose(in_no_file_);
    return log_warning(fmt::format("names from the perf map are missing: {}", in_no_file_.gap));
  }
}

/// False: there will be no answer.
bool ConfinedSymbolizer::is_answered_in_no_file(Addresses addresses) {
  workers_.current()->begin_work();
  return introduce_perf_map() && workers_.current()->channel().send(kAskInNoFile, to_body(0, addresses)) &&
         take_answer(in_no_file_, addresses);
}

/// Announces the perf map to the worker, or that it has grown.
bool ConfinedSymbolizer::introduce_perf_map() {
  const bool is_known = in_no_file_.known_to == workers_.number();
  const bool is_grown = std::exchange(has_perf_map_grown_, false);
  in_no_file_.known_to = workers_.number();
  if (!is_known) return workers_.current()->channel().send(kPerfMap, {}, in_no_file_.file.fd.get());
  return !is_grown || workers_.current()->channel().send(kPerfMapGrew, {});
}

SymbolSource ConfinedSymbolizer::source(ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return SymbolSource::kNone;
  if (!found->second.symbols->source) ask(id, found->second, {});
  return found->second.symbols->source.value_or(SymbolSource::kNone);
}

void ConfinedSymbolizer::read(std::span<const ModuleId> modules) {
  try {
    for (const ModuleId id : modules) {
      const auto found = modules_.find(id);
      if (found == modules_.end() || workers_.current() == nullptr) continue;
      Module& module = found->second;
      if (!module.symbols->source && !module.is_closed) is_settled(id, module, {});
    }
  } catch (const std::bad_alloc&) {
    workers_.end();  // the pending answer would be mistaken for the next one
  }
}

std::string ConfinedSymbolizer::gap(ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return {};
  return found->second.gap.empty() ? found->second.symbols->gap : found->second.gap;
}

void ConfinedSymbolizer::ask(ModuleId id, Module& module, Addresses module_offsets) {
  if (module.is_closed) return;
  while (workers_.get() != nullptr) {
    if (is_settled(id, module, module_offsets)) return;
  }
  module.gap = fmt::format("its symbols are not read: {}", workers_.why_none());
}

/// The current worker has answered, or the module is lost. False: only the worker is.
bool ConfinedSymbolizer::is_settled(ModuleId id, Module& module, Addresses module_offsets) {
  if (is_answered(id, module, module_offsets)) return true;
  if (lose_adopted()) return false;
  lose(module);
  return true;
}

/// False: there will be no answer.
bool ConfinedSymbolizer::is_answered(ModuleId id, Module& module, Addresses module_offsets) {
  workers_.current()->begin_work();
  return introduce(id, module) &&
         workers_.current()->channel().send(kAskForFrames, to_body(static_cast<std::uint32_t>(id), module_offsets)) &&
         take_answer(module, module_offsets);
}

/// Passes the module to the worker, if it does not have it.
bool ConfinedSymbolizer::introduce(ModuleId id, Module& module) {
  if (module.known_to == workers_.number()) return true;
  module.known_to = workers_.number();
  const ModuleHead head = {static_cast<std::uint32_t>(id), module.file.path, module.file.root, module.file.vdso};
  return workers_.current()->channel().send(kAddModule, to_body(head), module.file.fd.get());
}

/// The answer about `asked`. False: there will be none.
bool ConfinedSymbolizer::take_answer(Module& module, Addresses asked) {
  for (;;) {
    const std::optional<Message> message = workers_.current()->receive();
    if (!message || !take_message(module, *message, asked)) return false;
    if (message->kind == kModuleState) return true;
  }
}

/// Takes what it answers off the front of `asked`. False: it is invalid.
bool ConfinedSymbolizer::take_message(Module& module, const Message& message, Addresses& asked) {
  ModuleState state;
  switch (message.kind) {
    case kOpenFile:
      return open_file(module, message.body);
    case kFrames:
      return keep_frames(module, message.body, asked);
    case kModuleState:
      if (!from_body(message.body, state)) return false;
      module.symbols->source = state.source;
      module.symbols->gap = std::move(state.gap);
      return true;
    default:
      return false;
  }
}

bool ConfinedSymbolizer::open_file(const Module& module, const std::string& body) {
  FileWanted wanted;
  if (!from_body(body, wanted)) return false;
  if (!wanted.root.empty() && wanted.root != module.file.root) return false;
  UniqueFd file = open_regular_file_below(wanted.root, wanted.path);
  // hawktrace's own file system is searched last.
  if (const std::string id = build_id_in(wanted.path); !file && finder_ && wanted.root.empty() && !id.empty()) {
    const auto began = std::chrono::steady_clock::now();
    file = finder_(id);
    workers_.current()->add_time(std::chrono::steady_clock::now() - began);
  }
  if (file && !is_code_file(file.get())) file.reset();
  return workers_.current()->channel().send(kOpenedFile, {}, file.get());
}

/// Answers come in the order in which they were asked for, each once.
bool ConfinedSymbolizer::keep_frames(Module& module, const std::string& body, Addresses& asked) {
  std::vector<FramesAt> found;
  if (!from_body(body, found)) return false;
  auto& [answers, pool, source, gap] = *module.symbols;
  for (const FramesAt& at : found) {
    if (asked.empty() || asked.front() != at.module_offset || at.frames.size() > kMostFrames) return false;
    asked = asked.subspan(1);
    if (answers.has(at.module_offset)) continue;
    const std::size_t before = pool.text_bytes();
    std::vector<PooledFrame> frames;
    frames.reserve(at.frames.size());
    for (const SourceFrame& frame : at.frames) {
      frames.push_back({pool.add(frame.function), pool.add(frame.file), frame.line, frame.inlined});
    }
    answers.keep(at.module_offset, frames);
    names_bytes_ += pool.text_bytes() - before;
    if (pool.text_bytes() <= kMostNamesBytesOfFile && names_bytes_ <= kMostNamesBytes) continue;
    workers_.current()->give_up("its names take more memory than the limit");
    return false;
  }
  return true;
}

/// A worker that has failed may be damaged by what it read before it was ours. True: it was, and is gone.
bool ConfinedSymbolizer::lose_adopted() {
  if (!workers_.is_adopted() || workers_.current()->has_hung()) return false;
  workers_.lose();
  return true;
}

/// The worker has failed on this module. Another one is started for the other modules.
void ConfinedSymbolizer::lose(Module& module) {
  module.gap =
      fmt::format("{} read: {}", module.symbols->answers.empty() ? "its symbols are not" : "not all of its symbols are",
                  workers_.lose());
  module.is_closed = true;
  module.file.fd.reset();
}

}  // namespace hawk
