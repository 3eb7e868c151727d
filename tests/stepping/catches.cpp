// What C cannot do for calls.c.
#include <cstddef>

extern "C" void* new_or_nothing(void* (*operator_new)(std::size_t), std::size_t size, int* has_thrown) {
  try {
    return operator_new(size);
  } catch (...) {
    *has_thrown = 1;
    return nullptr;
  }
}
