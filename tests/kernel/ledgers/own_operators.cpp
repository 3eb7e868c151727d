// A library that replaces operator new, and no other function of an allocator.
#include "own_operators.h"
