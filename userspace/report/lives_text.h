#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "userspace/report/text_page.h"
#include "userspace/tables/stack_lives.h"

namespace hawk {

/// "64 B to below 128 B", "8.00 GiB and more": the sizes in a class.
std::string size_class_text(const TextPage& page, std::size_t number);
/// "64 ms to below 128 ms": the lifetimes in a class.
std::string lifetime_class_text(std::size_t number);

/// "sizes: 70.0 % from 64 B to below 128 B; lifetimes: ...": what most blocks of a stack are like. Empty: nothing was
/// counted.
std::string lives_text(const TextPage& page, std::span<const StackLives> lives);

}  // namespace hawk
