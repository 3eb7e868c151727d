#include "userspace/process/own_code.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "userspace/process/mappings.h"

namespace hawk {
namespace {

std::uint64_t address_of_malloc() {
  void* (*const allocate)(std::size_t) = &std::malloc;
  return reinterpret_cast<std::uint64_t>(allocate);
}

Mapping mapping_of(std::uint64_t address) {
  const Result<std::vector<Mapping>> mappings = read_mappings(::getpid());
  for (const Mapping& mapping : mappings.value()) {
    if (mapping.start <= address && address < mapping.end) return mapping;
  }
  return {};
}

std::string bytes_of(const Mapping& mapping) {
  return {reinterpret_cast<const char*>(mapping.start), mapping.end - mapping.start};
}

/// In a process of its own, for that is what is changed. Returns its status as wait(2) has it.
template <class Body>
int status_of(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(OwnCode, IsTheSameInMemoryOfAnotherFile) {
  const Mapping before = mapping_of(address_of_malloc());
  ASSERT_TRUE(before.executable);
  const std::string bytes = bytes_of(before);
  EXPECT_EQ(status_of([&] {
              move_own_code();
              const Mapping after = mapping_of(address_of_malloc());
              return own_code_is_moved() && after.executable && !after.shared && after.inode != before.inode &&
                     after.start == before.start && after.end == before.end && bytes_of(after) == bytes;
            }),
            0);
  EXPECT_FALSE(own_code_is_moved());
}

TEST(OwnCode, IsMovedWhileThreadsRunIt) {
  EXPECT_EQ(status_of([] {
              std::atomic<bool> ends = false;
              std::atomic<int> rounds = 0;
              std::vector<std::thread> threads;
              for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&] {
                  while (!ends) {
                    const auto block = std::make_unique<std::string>(100, 'x');
                    if (block->size() != 100) ends = true;
                    ++rounds;
                  }
                });
              }
              while (rounds < 100) std::this_thread::yield();
              move_own_code();
              const int then = rounds;
              while (rounds < then + 1000) std::this_thread::yield();
              const bool were_right = !ends;
              ends = true;
              for (std::thread& thread : threads) thread.join();
              return were_right;
            }),
            0);
}

/// As a debugger or another tracer changes it.
TEST(OwnCode, IsMovedWithoutItsBreakpoints) {
  constexpr unsigned char kBreakpoint = 0xcc;
  const Mapping before = mapping_of(address_of_malloc());
  const std::string bytes = bytes_of(before);
  // Behind all functions, of which this process calls some meanwhile.
  const std::uint64_t last = before.end - 1;
  const auto with_byte = [&](unsigned char byte) {
    return status_of([&] {
      void* const page = reinterpret_cast<void*>(last & ~std::uint64_t{4095});
      if (::mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
      *reinterpret_cast<unsigned char*>(last) = byte;
      if (::mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return false;
      move_own_code();
      return mapping_of(last).inode != before.inode && bytes_of(before) == bytes;
    });
  };
  EXPECT_EQ(with_byte(kBreakpoint), 0);
  EXPECT_NE(with_byte(static_cast<unsigned char>(bytes.back() ^ 1)), 0) << "somebody has changed the code";
}

}  // namespace
}  // namespace hawk
