#pragma once

#include <cstddef>
#include <string_view>

namespace hawk {

/// How demangled names of C++ and Rust are spelled, as far as one must know it to find their parts.

/// The index after the bracket that closes the one at `open`; the text's end when none does. '<' and '>' inside
/// parentheses may be operators, so a closing parenthesis closes them too.
std::size_t after_group(std::string_view text, std::size_t open);

/// Whether the keyword `operator` stands at `i`: what follows belongs to the name, spaces and brackets included.
bool is_operator_at(std::string_view text, std::size_t i);

/// Whether a type stands at `i`, where a name could begin, that is not one: "(*", "(&" (the name stands inside).
bool is_declarator_at(std::string_view text, std::size_t i);

/// How compilers call the namespace without a name.
inline constexpr std::string_view kAnonymousNamespace = "(anonymous namespace)";

/// `function` without what compilers append to names of copies: " [clone .cold]".
std::string_view without_clone_mark(std::string_view function);

}  // namespace hawk
