#include "tests/kernel/harness/kernel_test.h"

#include <unistd.h>

#include <utility>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"
#include "tests/support/kernel_release.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// What hawktrace says of a way that this kernel does not have; empty: it has it.
std::string refusal_of(Way way) {
  const std::string via = attach_via(way);
  const bool has_way = via == "session" ? kernel_is_at_least(6, 13) : via != "multi" || kernel_is_at_least(6, 6);
  if (!has_way) return "attach via " + via + ": this kernel does not have it";
  return live_table(way) != "arena" || kernel_is_at_least(6, 10) ? "" : "an arena needs Linux 6.10";
}

void expect_refused(Way way, const std::string& refusal) {
  const ScratchDirectory directory;
  std::vector<std::string> words = hawktrace_command(way, directory.path("report"));
  words.insert(words.end(), {"--duration", "1s", "-p", std::to_string(::getpid())});
  ChildProcess hawktrace({.argv = words});
  EXPECT_EQ(hawktrace.wait(), 4) << hawktrace.errors();
  EXPECT_NE(hawktrace.errors().find(refusal), std::string::npos) << hawktrace.errors();
}

class KernelTest : public testing::Test {
 public:
  KernelTest(std::function<void(Way)> body, Way way) : body_(std::move(body)), way_(way) {}
  void TestBody() override {
    // The tables have to do alone with what several compilers built without frame pointers.
    set_ledger_directory(unwind(way_) == "cfi" ? HAWK_NO_FP_LEDGER_DIR : HAWK_LEDGER_DIR);
    forget_recordings();
    const std::string refusal = refusal_of(way_);
    if (!refusal.empty()) return expect_refused(way_, refusal);
    body_(way_);
  }

 private:
  std::function<void(Way)> body_;
  Way way_;
};

}  // namespace

int register_kernel_test(const std::string& suite, const std::string& name, std::function<void(Way)> body,
                         std::span<const Way> ways) {
  for (const Way way : ways) {
    testing::RegisterTest(suite.c_str(), (name + "/" + way_name(way)).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body, way]() -> testing::Test* { return new KernelTest(body, way); });
  }
  return 0;
}

}  // namespace hawk
