// A mapped file, which the target can write: headers, symbols, relocations and the code of its allocator functions.
#include <algorithm>
#include <optional>

#include "tests/fuzz/fuzz_input.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/operator_frames.h"
#include "userspace/elf/elf_image.h"

namespace {

/// Probes go to these offsets: outside of the file the kernel would refuse them all.
void check_functions(const std::vector<hawk::AllocatorFunction>& functions, std::size_t file_bytes) {
  std::uint64_t previous_entry = 0;
  for (const hawk::AllocatorFunction& function : functions) {
    HAWK_CHECK(function.entry_offset >= previous_entry, "functions out of order");
    previous_entry = function.entry_offset;
    HAWK_CHECK(function.entry_offset < file_bytes, "an entry outside the file");
    HAWK_CHECK(function.probe_offset < file_bytes, "a probe outside the file");
    HAWK_CHECK(!function.names.empty(), "a function without a name");
    HAWK_CHECK(std::is_sorted(function.names.begin(), function.names.end()), "names out of order");
    for (const std::uint64_t offset : function.return_offsets) {
      HAWK_CHECK(offset < file_bytes, "a return outside the file");
    }
    for (const hawk::ReturnPointAt& at : function.return_points) {
      HAWK_CHECK(at.file_offset < file_bytes, "a point of return outside the file");
    }
    for (const hawk::YieldPoint& point : function.yields.points) {
      HAWK_CHECK(point.file_offset < file_bytes, "a point outside the file");
    }
  }
}

void check_frames(const hawk::OperatorFrames& frames) {
  HAWK_CHECK(!frames.call_sites.empty(), "frames without a call site");
  for (std::size_t i = 1; i < frames.call_sites.size(); ++i) {
    HAWK_CHECK(frames.call_sites[i - 1].return_vaddr < frames.call_sites[i].return_vaddr, "call sites out of order");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hawk::Result<hawk::ElfImage> image =
      hawk::ElfImage::make(hawk::fuzz::file_of_bytes(data, size), "the fuzzer's input");
  if (!image) {
    HAWK_CHECK(!image.error().what.empty(), "an error without a message");
    return 0;
  }
  check_functions(hawk::find_allocator_functions(*image, hawk::Plans::kMade).functions, size);
  if (const std::optional<hawk::OperatorFrames> frames = hawk::find_operator_frames(*image)) check_frames(*frames);
  HAWK_CHECK(image->build_id().find_first_not_of("0123456789abcdef") == std::string::npos, "a build id is lower hex");
  HAWK_CHECK(image->interpreter().find('\0') == std::string::npos, "a path ends at its NUL");
  (void)image->has_symtab();
  for (const auto& section : {image->eh_frame(), image->debug_frame()}) {
    HAWK_CHECK(!section || (!section->bytes.empty() && section->bytes.size() <= size),
               "a section of bytes from nowhere");
  }
  return 0;
}
