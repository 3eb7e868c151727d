#include "oracle.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "symbolizer/demangle.h"

namespace hawk {
namespace {

/// "/a/b.c:12 (discriminator 3)", "??:0", "b.c:?".
void read_location(const std::string& text, SourceFrame* frame) {
  const std::string location = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = location.rfind(':');
  ASSERT_NE(colon, std::string::npos) << text;
  frame->file = location.substr(0, colon);
  if (frame->file == "??") frame->file.clear();
  frame->line = static_cast<std::uint32_t>(std::strtoul(location.c_str() + colon + 1, nullptr, 10));
}

}  // namespace

std::string fixture(const std::string& name) { return std::string(HAWK_FIXTURES) + "/" + name; }

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return {};
  }
  std::string output;
  std::array<char, 65536> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

namespace {

/// Asks `command` about the byte before each return address, and reads the answers in the format of addr2line -a -f -i.
std::vector<std::vector<SourceFrame>> ask(const std::string& command,
                                          const std::vector<std::uint64_t>& return_addresses) {
  const std::string questions = ::testing::TempDir() + fmt::format("hawk_addr2line_{}", ::getpid());
  std::FILE* out = std::fopen(questions.c_str(), "w");
  for (const std::uint64_t address : return_addresses) fmt::print(out, "{:#x}\n", address - 1);
  std::fclose(out);
  std::istringstream lines(output_of(fmt::format("{} < '{}'", command, questions)));
  std::remove(questions.c_str());
  std::vector<std::vector<SourceFrame>> answers;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      answers.emplace_back();
      continue;
    }
    SourceFrame frame;
    if (line != "??") frame.function = line;
    std::getline(lines, line);
    read_location(line, &frame);
    if (!answers.back().empty()) answers.back().back().inlined = true;
    answers.back().push_back(frame);
  }
  EXPECT_EQ(answers.size(), return_addresses.size());
  answers.resize(return_addresses.size());
  return answers;
}

}  // namespace

std::vector<std::uint64_t> call_sites(const std::string& file) {
  std::istringstream lines(output_of(fmt::format("{} -d --no-show-raw-insn -j .text '{}'", HAWK_OBJDUMP, file)));
  std::vector<std::uint64_t> sites;
  bool after_call = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find(":\t");
    if (tab == std::string::npos) continue;
    if (after_call) sites.push_back(std::strtoull(line.c_str(), nullptr, 16));
    after_call = line.substr(tab + 2).starts_with("call");
  }
  return sites;
}

std::vector<std::vector<SourceFrame>> ask_addr2line(const std::string& file,
                                                    const std::vector<std::uint64_t>& return_addresses) {
  return ask(fmt::format("{} -a -f -i -C -e '{}'", HAWK_ADDR2LINE, file), return_addresses);
}

std::vector<std::vector<SourceFrame>> ask_llvm_symbolizer(const std::string& file,
                                                          const std::vector<std::uint64_t>& return_addresses) {
  // It would demangle in its own style, so it hands out linkage names and ours is applied.
  std::vector<std::vector<SourceFrame>> answers =
      ask(fmt::format("{} --output-style=GNU --no-demangle -a -f -i -e '{}'", HAWK_LLVM_SYMBOLIZER, file),
          return_addresses);
  for (std::vector<SourceFrame>& frames : answers) {
    for (SourceFrame& frame : frames) frame.function = demangle(frame.function);
  }
  return answers;
}
std::map<std::uint64_t, std::set<std::string>> names_by_address(const std::string& file, bool dynamic) {
  std::istringstream lines(output_of(
      fmt::format("{} -C --defined-only --without-symbol-versions {} '{}'", HAWK_NM, dynamic ? "-D" : "", file)));
  std::map<std::uint64_t, std::set<std::string>> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 20) continue;
    names[std::strtoull(line.c_str(), nullptr, 16)].insert(line.substr(19));
  }
  return names;
}

std::unique_ptr<LibdwSymbolizer> symbolizer_for(const std::string& file, const std::string& path,
                                                const std::string& root) {
  std::unique_ptr<LibdwSymbolizer> symbolizer = LibdwSymbolizer::make();
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << file;
  symbolizer->add_module(ModuleId{0}, {path.empty() ? file : path, std::move(fd), root, false});
  return symbolizer;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string to_text(const std::vector<SourceFrame>& frames) {
  std::string text;
  for (const SourceFrame& frame : frames) {
    text += fmt::format("{}{} {}:{}", text.empty() ? "" : ", ", frame.function, base_name(frame.file), frame.line);
    if (frame.inlined) text += " (inlined)";
  }
  return text;
}

}  // namespace hawk
