#include "userspace/export/json_escapes.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "userspace/base/printable.h"

namespace hawk {
namespace {

void append_escape(std::string& out, char32_t code) {
  constexpr char32_t kFirstOfTwo = 0x10000;  // of UTF-16
  if (code < kFirstOfTwo) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(code));
    return;
  }
  append_escape(out, 0xD800 + ((code - kFirstOfTwo) >> 10));
  append_escape(out, 0xDC00 + ((code - kFirstOfTwo) & 0x3FF));
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return without_commands(json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void append_json_text(std::string& out, std::string_view text) {
  // Nearly all text needs no escape, and is copied as it is.
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    out.append(1, '"').append(text).append(1, '"');
  } else {
    out += json_text(nlohmann::ordered_json(text), -1);
  }
}

std::string without_commands(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Character character = first_character(json);
    const std::string_view bytes = json.substr(0, character.length);
    constexpr char32_t kDelete = 0x7F;  // what is below is escaped already, or is layout
    if (character.code >= kDelete && printable_form(character, bytes) != bytes) {
      append_escape(out, character.code);
    } else {
      out += bytes;
    }
    json.remove_prefix(character.length);
  }
  return out;
}

}  // namespace hawk
