/* A library with a malloc of its own, which calls leave_allocator when asked for kMagicSize. */
#include <stddef.h>

#include "leaving_allocator.h"
