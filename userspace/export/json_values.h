#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace hawk {

/// What is not known has no value.
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

}  // namespace hawk
