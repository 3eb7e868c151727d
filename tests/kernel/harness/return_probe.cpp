#include "tests/kernel/harness/return_probe.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/harness/child_process.h"

namespace hawk {
namespace {

/// Where `function` lies, as the file's own addresses have it.
std::uint64_t address_in_file(const std::string& path, const std::string& function) {
  ChildProcess list({.argv = {"nm", path}});
  std::istringstream lines(list.read_to_end());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint64_t address = 0;
    std::string kind, name;
    if (words >> std::hex >> address >> kind >> name && name == function) return address;
  }
  throw std::runtime_error(path + " has no function " + function);
}

/// The file offset of `address`, through the process's own mappings of the file.
std::uint64_t offset_in_file(pid_t pid, const std::string& path, std::uint64_t address) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::optional<std::uint64_t> bias;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t start = 0, end = 0, offset = 0;
    char dash = 0;
    std::string flags, device, inode, name;
    words >> std::hex >> start >> dash >> end >> flags >> offset >> device >> inode >> name;
    if (name != path) continue;
    // Programs that must lie at a fixed address have it in the file.
    if (!bias) bias = address >= start ? 0 : start;
    if (address + *bias >= start && address + *bias < end) return address + *bias - start + offset;
  }
  throw std::runtime_error("process " + std::to_string(pid) + " does not map that part of " + path);
}

std::uint32_t uprobe_type() {
  std::ifstream file("/sys/bus/event_source/devices/uprobe/type");
  std::uint32_t type = 0;
  if (!(file >> type)) throw std::runtime_error("the kernel has no perf events for uprobes");
  return type;
}

int open_uprobe(pid_t pid, std::uint64_t config, const std::string& path, std::uint64_t offset) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = uprobe_type();
  attributes.config = config;
  attributes.config1 = reinterpret_cast<std::uint64_t>(path.c_str());
  attributes.config2 = offset;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

ReturnProbe::ReturnProbe(pid_t pid, const std::string& function) {
  const std::string path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe");
  // /sys/bus/event_source/devices/uprobe/format/retprobe: config:0
  event_ = open_uprobe(pid, 1, path, offset_in_file(pid, path, address_in_file(path, function)));
  if (event_ < 0) throw std::runtime_error("no return probe on " + function);
}

ReturnProbe::~ReturnProbe() { close(event_); }

CountedProbe::CountedProbe(const std::string& path, std::uint64_t offset) {
  // /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset: config:32-63
  constexpr std::uint64_t kCounter = std::uint64_t{64} << 32;
  event_ = open_uprobe(getpid(), kCounter, path, offset);
  if (event_ < 0) throw std::runtime_error("no probe with a counter in " + path);
}

CountedProbe::~CountedProbe() { close(event_); }

}  // namespace hawk
