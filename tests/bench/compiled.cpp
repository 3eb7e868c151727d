// What scripts/bench compiles, as an example of a file that takes its compiler a while. It is no part of any program.
// With SMALL it is done sooner.
#include <algorithm>
#include <string>
#include <vector>
#ifndef SMALL
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <unordered_map>
#include <variant>
#endif

namespace {

std::size_t longest(const std::vector<std::string>& names) {
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto found = std::max_element(names.begin(), names.end(), by_size);
  return found == names.end() ? 0 : found->size();
}

#ifndef SMALL
using Value = std::variant<long, double, std::string>;
using Row = std::map<std::string, Value>;

template <class Key>
std::unordered_map<Key, std::vector<Row>> group(const std::vector<Row>& rows, std::function<Key(const Row&)> key_of) {
  std::unordered_map<Key, std::vector<Row>> groups;
  for (const Row& row : rows) groups[key_of(row)].push_back(row);
  return groups;
}

template <class Key>
std::size_t largest(const std::unordered_map<Key, std::vector<Row>>& groups) {
  const auto by_size = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto found = std::max_element(groups.begin(), groups.end(), by_size);
  return found == groups.end() ? 0 : found->second.size();
}

void print_groups() {
  std::vector<Row> rows;
  for (long i = 0; i < 1000; i++) rows.push_back({{"number", i}, {"name", std::to_string(i)}, {"half", 0.5}});
  std::cout << largest(group<long>(rows, [](const Row& row) { return std::get<long>(row.at("number")) % 7; }))
            << largest(group<std::string>(rows, [](const Row& row) { return std::get<std::string>(row.at("name")); }));
}
#endif

}  // namespace

int main() {
#ifndef SMALL
  print_groups();
#endif
  return static_cast<int>(longest({"one", "three"}));
}
