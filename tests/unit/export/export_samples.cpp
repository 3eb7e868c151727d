// Writes samples in every format, for readers_test.py: export_samples DIRECTORY.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/export/export_sample.h"
#include "userspace/export/format.h"

namespace hawk {
namespace {

struct NamedSample {
  const char* name;
  Sample (*make)();
};

constexpr NamedSample kSamples[] = {
    {"export", export_sample},       {"service", service_sample}, {"unsymbolized", unsymbolized_sample},
    {"lossy", lossy_sample},         {"deep", deep_sample},       {"hostile", hostile_sample},
    {"unwinding", unwinding_sample}, {"empty", empty_sample},
};

bool write_file(const std::string& path, const NamedSample& named, const Format& format, SortKey sort) {
  Sample sample = named.make();
  std::ofstream file(path, std::ios::binary);
  const ReportRequest request = {.snapshot = sample.snapshot,
                                 .symbolizer = sample.symbolizer,
                                 .selection = {.sort = sort, .top = 0},
                                 .role_of = sample_role_of};
  format.write(request, [&](std::string_view piece) { return static_cast<bool>(file << piece); });
  return static_cast<bool>(file.flush());
}

bool write_all(const std::string& directory) {
  for (const NamedSample& sample : kSamples) {
    for (const Format& format : formats()) {
      const std::string path = directory + "/" + sample.name + "." + format.name;
      if (!write_file(path, sample, format, SortKey::kLive)) return false;
      for (const SortKey sort :
           {SortKey::kLiveCount, SortKey::kAllocated, SortKey::kAllocatedCount, SortKey::kFreedCount}) {
        if (std::string_view(format.name) != "folded") continue;
        if (!write_file(path + "." + std::string(sort_key_name(sort)), sample, format, sort)) return false;
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  if (argc == 2 && hawk::write_all(argv[1])) return 0;
  std::fprintf(stderr, "export_samples: could not write to the directory\n");
  return 1;
}
