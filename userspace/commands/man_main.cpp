// Prints the man page: a step of the build.
#include <cstdio>

#include "userspace/commands/man_page.h"

int main() { return std::fputs(hawk::man_page().c_str(), stdout) < 0 ? 1 : 0; }
