#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "symbolizer/libdw_symbolizer.h"

namespace hawk {

/// Path of a program that the build made for these tests.
std::string fixture(const std::string& name);

/// What `command` wrote to its standard output; the test fails when it cannot run or fails.
std::string output_of(const std::string& command);

/// Return addresses of all call instructions in .text of `file`, as objdump disassembles it.
std::vector<std::uint64_t> call_sites(const std::string& file);

/// What addr2line says about the byte before each of `return_addresses`, innermost first; unknown parts empty or 0.
std::vector<std::vector<SourceFrame>> ask_addr2line(const std::string& file,
                                                    const std::vector<std::uint64_t>& return_addresses);

/// The same from llvm-symbolizer.
std::vector<std::vector<SourceFrame>> ask_llvm_symbolizer(const std::string& file,
                                                          const std::vector<std::uint64_t>& return_addresses);

/// Demangled names of all symbols of `file` by address, as nm prints them without their versions.
std::map<std::uint64_t, std::set<std::string>> names_by_address(const std::string& file, bool dynamic);

/// A symbolizer that knows `file` as module 0. `path` is where the target sees it; "" stands for `file` itself.
std::unique_ptr<LibdwSymbolizer> symbolizer_for(const std::string& file, const std::string& path = "",
                                                const std::string& root = "");

/// The part of a path after its last slash.
std::string base_name(const std::string& path);

/// "function file:line, function (inlined) file:line", for messages.
std::string to_text(const std::vector<SourceFrame>& frames);

}  // namespace hawk
