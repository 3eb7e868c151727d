#include "userspace/serving/openssl.h"

namespace hawk::openssl {

void* find(const char* name) { return function_in_library("libssl.so.3", "libssl3", name); }

}  // namespace hawk::openssl
