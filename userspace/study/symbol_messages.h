#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/symbolizer.h"

namespace hawk {

/// The messages of a symbol worker's channel.
enum SymbolMessage : std::uint32_t {
  kAddModule,     ///< to the worker, with the file if there is one: ModuleHead
  kCloseFiles,    ///< to the worker: the module's number
  kAskForFrames,  ///< to the worker: the module's number, and return addresses
  kPerfMap,  ///< to the worker, with the file: the perf map that names code outside files, replacing the previous one
  kPerfMapGrew,  ///< to the worker: more has been written to it
  kAskInNoFile,  ///< as kAskForFrames, of such code; the module's number means nothing
  kOpenFile,     ///< from the worker, while it works: root and path of a file with debug information
  kOpenedFile,   ///< the answer, with the file if it could be opened
  kFrames,       ///< from the worker: some of the frames asked for
  kModuleState,  ///< from the worker, when that is all: ModuleState
};

/// A module without its file.
struct ModuleHead {
  std::uint32_t module = 0;
  std::string path;
  std::string root;
  bool is_vdso = false;
};

/// What was found of a module.
struct ModuleState {
  SymbolSource source = SymbolSource::kNone;
  std::string gap;  ///< see Symbolizer::gap
};

/// A question for frames.
struct FramesQuestion {
  std::uint32_t module = 0;
  std::vector<std::uint64_t> module_offsets;
};

/// The frames of one return address.
struct FramesAt {
  std::uint64_t module_offset = 0;
  std::vector<SourceFrame> frames;
};

/// A file that the worker requests, and the root below which it is searched.
struct FileWanted {
  std::string root;
  std::string path;
};

/// Each as the body of a message, and back; false: the body makes no sense.
std::string to_body(const ModuleHead& head);
std::string to_body(const ModuleState& state);
std::string to_body(std::uint32_t module, std::span<const std::uint64_t> module_offsets);
std::string to_body(const std::vector<FramesAt>& frames);
std::string to_body(const FileWanted& wanted);
bool from_body(std::string_view body, ModuleHead& head);
bool from_body(std::string_view body, ModuleState& state);
bool from_body(std::string_view body, FramesQuestion& question);
bool from_body(std::string_view body, std::vector<FramesAt>& frames);
bool from_body(std::string_view body, FileWanted& wanted);

}  // namespace hawk
