#include <array>
#include <string_view>

#include "userspace/base/check.h"
#include "userspace/serving/openssl.h"

namespace hawk::openssl {
namespace {

struct Function {
  std::string_view name;
  void* address;
};

#define HAWK_ADDRESS(name) Function{#name, reinterpret_cast<void*>(&::name)},
const std::array kFunctions = {HAWK_OPENSSL_FUNCTIONS(HAWK_ADDRESS)};
#undef HAWK_ADDRESS

}  // namespace

void* find(const char* name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return function.address;
  }
  HAWK_CHECK(false, name);
}

}  // namespace hawk::openssl
