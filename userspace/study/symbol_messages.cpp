#include "userspace/study/symbol_messages.h"

#include <cstddef>

#include "userspace/study/wire.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNumbers32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kSources = static_cast<std::uint64_t>(SymbolSource::kDebugInfo) + 1;
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
/// Two texts, a number and a flag; an address and a count.
constexpr std::size_t kLeastFrameBytes = 4 * kNumberBytes;
constexpr std::size_t kLeastFramesBytes = 2 * kNumberBytes;

SourceFrame read_frame(WireReader& reader) {
  SourceFrame frame;
  frame.function = reader.text();
  frame.file = reader.text();
  frame.line = static_cast<std::uint32_t>(reader.number_below(kNumbers32));
  frame.inlined = reader.number_below(2) != 0;
  return frame;
}

}  // namespace

std::string to_body(const ModuleHead& head) {
  WireWriter writer;
  writer.number(head.module);
  writer.text(head.path);
  writer.text(head.root);
  writer.number(head.is_vdso ? 1 : 0);
  return writer.bytes();
}

std::string to_body(const ModuleState& state) {
  WireWriter writer;
  writer.number(static_cast<std::uint64_t>(state.source));
  writer.text(state.gap);
  return writer.bytes();
}

std::string to_body(std::uint32_t module, std::span<const std::uint64_t> module_offsets) {
  WireWriter writer;
  writer.number(module);
  writer.number(module_offsets.size());
  for (const std::uint64_t offset : module_offsets) writer.number(offset);
  return writer.bytes();
}

std::string to_body(const std::vector<FramesAt>& frames) {
  WireWriter writer;
  writer.number(frames.size());
  for (const FramesAt& at : frames) {
    writer.number(at.module_offset);
    writer.number(at.frames.size());
    for (const SourceFrame& frame : at.frames) {
      writer.text(frame.function);
      writer.text(frame.file);
      writer.number(frame.line);
      writer.number(frame.inlined ? 1 : 0);
    }
  }
  return writer.bytes();
}

std::string to_body(const FileWanted& wanted) {
  WireWriter writer;
  writer.text(wanted.root);
  writer.text(wanted.path);
  return writer.bytes();
}

bool from_body(std::string_view body, ModuleHead& head) {
  WireReader reader(body);
  head.module = static_cast<std::uint32_t>(reader.number_below(kNumbers32));
  head.path = reader.text();
  head.root = reader.text();
  head.is_vdso = reader.number_below(2) != 0;
  return reader.is_complete();
}

bool from_body(std::string_view body, ModuleState& state) {
  WireReader reader(body);
  state.source = static_cast<SymbolSource>(reader.number_below(kSources));
  state.gap = reader.text();
  return reader.is_complete();
}

bool from_body(std::string_view body, FramesQuestion& question) {
  WireReader reader(body);
  question.module = static_cast<std::uint32_t>(reader.number_below(kNumbers32));
  const std::uint64_t count = reader.count(kNumberBytes);
  for (std::uint64_t i = 0; i < count; ++i) question.module_offsets.push_back(reader.number());
  return reader.is_complete();
}

bool from_body(std::string_view body, std::vector<FramesAt>& frames) {
  WireReader reader(body);
  const std::uint64_t count = reader.count(kLeastFramesBytes);
  for (std::uint64_t i = 0; i < count && reader.is_good(); ++i) {
    FramesAt& at = frames.emplace_back();
    at.module_offset = reader.number();
    const std::uint64_t depth = reader.count(kLeastFrameBytes);
    for (std::uint64_t level = 0; level < depth && reader.is_good(); ++level) at.frames.push_back(read_frame(reader));
  }
  return reader.is_complete();
}

bool from_body(std::string_view body, FileWanted& wanted) {
  WireReader reader(body);
  wanted.root = reader.text();
  wanted.path = reader.text();
  return reader.is_complete();
}

}  // namespace hawk
