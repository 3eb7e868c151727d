#include "tests/kernel/harness/kernel_test.h"

#include <utility>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"

namespace hawk {
namespace {

class KernelTest : public testing::Test {
 public:
  KernelTest(std::function<void(Way)> body, Way way) : body_(std::move(body)), way_(way) {}
  void TestBody() override {
    // The tables have to do alone with what several compilers built without frame pointers.
    set_ledger_directory(unwind(way_) == "cfi" ? HAWK_NO_FP_LEDGER_DIR : HAWK_LEDGER_DIR);
    forget_recordings();
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
