#!/usr/bin/env python3
"""Builds a shared library with full debug information, as large as asked: symbolize_fixture.py OUTPUT --megabytes 300

Large C++ projects are large because every file instantiates templates over types of its own and carries the types of all
headers. So some translation units full of container, algorithm and visitor instances are compiled for real (-g -O2), and
each object file is multiplied by replacing the name of its namespace with one of the same length, in its symbols and its
debug information: the library has as many distinct functions, inlined calls, line tables and types as one that was
compiled from as many sources, in little more than the time to link it.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

# As long as every name that replaces it, for mangled names carry their length.
PLACEHOLDER = b'unitQQQQ'
MOST_CLASSES = 6
VARIANTS = 6

PREAMBLE = '''\
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
namespace unitQQQQ {
inline std::size_t mixed(std::size_t left, std::size_t right) { return (left ^ (right << 7)) * 0x9e3779b97f4a7c15u; }
'''

CLASS = '''\
struct Item{n} {{
  std::string name;
  std::vector<{field}> parts;
  std::optional<{field}> first;
  bool operator<(const Item{n}& other) const {{ return name < other.name; }}
  std::size_t weight() const {{ return std::accumulate(parts.begin(), parts.end(), std::size_t{{{n}}},
                                                      [](std::size_t sum, {field} part) {{ return mixed(sum, static_cast<std::size_t>(part)); }}); }}
}};
template <typename Key, int kShards>
class Shelf{n} {{
 public:
  void put(const Key& key, Item{n} item) {{
    std::map<Key, std::vector<Item{n}>>& shard = shards_[std::hash<Key>{{}}(key) % kShards];
    shard[key].push_back(std::move(item));
    for (const auto& watcher : watchers_) watcher(shard[key].back());
  }}
  std::vector<Item{n}> sorted() const {{
    std::vector<Item{n}> all;
    for (const auto& shard : shards_)
      for (const auto& [key, items] : shard) all.insert(all.end(), items.begin(), items.end());
    std::{sort}(all.begin(), all.end(), [](const Item{n}& l, const Item{n}& r) {{ return l.weight() < r.weight(); }});
    return all;
  }}
  void watch(std::function<void(const Item{n}&)> watcher) {{ watchers_.push_back(std::move(watcher)); }}
 private:
  std::map<Key, std::vector<Item{n}>> shards_[kShards];
  std::vector<std::function<void(const Item{n}&)>> watchers_;
}};
using Value{n} = std::variant<std::monostate, {field}, std::string, std::vector<Item{n}>, std::shared_ptr<Item{n}>>;
struct Measure{n} {{
  std::size_t operator()(std::monostate) const {{ return 0; }}
  std::size_t operator()({field} value) const {{ return static_cast<std::size_t>(value); }}
  std::size_t operator()(const std::string& value) const {{ return value.size(); }}
  std::size_t operator()(const std::vector<Item{n}>& value) const {{ return value.empty() ? 0 : value.front().weight(); }}
  std::size_t operator()(const std::shared_ptr<Item{n}>& value) const {{ return value ? value->weight() : 1; }}
}};
namespace {{
std::size_t count_locally{n}(const std::unordered_map<std::string, Value{n}>& values) {{
  std::size_t sum = 0;
  for (const auto& [name, value] : values) sum = mixed(sum, std::visit(Measure{n}{{}}, value) + name.size());
  return sum;
}}
}}
std::size_t run{n}(const std::vector<std::string>& words) {{
  Shelf{n}<std::string, {shards}> shelf;
  Shelf{n}<{field}, {shards}> numbered;
  std::unordered_map<std::string, Value{n}> values;
  std::set<Item{n}> distinct;
  std::size_t seen = 0;
  shelf.watch([&seen](const Item{n}& item) {{ seen += item.weight(); }});
  for (const std::string& word : words) {{
    Item{n} item{{word, std::vector<{field}>(word.begin(), word.end()), std::nullopt}};
    values.emplace(word, std::make_shared<Item{n}>(item));
    values[word + "{n}"] = std::vector<Item{n}>{{item, item}};
    distinct.insert(item);
    numbered.put(static_cast<{field}>(word.size()), item);
    shelf.put(word, std::move(item));
  }}
  const std::vector<Item{n}> sorted = shelf.sorted();
  return seen + sorted.size() + numbered.sorted().size() + distinct.size() + count_locally{n}(values);
}}
'''


def source(variant):
    """One translation unit; the same for the same number."""
    dice = random.Random(variant)
    text = PREAMBLE
    for number in range(variant % MOST_CLASSES + 1):
        text += CLASS.format(n=number, field=dice.choice(['int', 'long', 'char', 'unsigned', 'short', 'float']),
                             sort=dice.choice(['sort', 'stable_sort']), shards=dice.choice([3, 4, 8, 16]))
    return text + '}\n'


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


class Builder:
    def __init__(self, directory, compiler, flags, jobs):
        self.directory = pathlib.Path(directory)
        self.compiler = compiler
        self.flags = flags
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def compile(self, variant):
        """The object file of one variant, as bytes. What replaces the name must find it: nothing may be compressed."""
        text = self.directory / f'variant{variant}.cpp'
        text.write_text(source(variant))
        compiled = text.with_suffix('.o')
        run(self.compiler, '-std=c++20', '-O2', '-g', '-gz=none', '-fPIC', *self.flags, '-c', text, '-o', compiled)
        return compiled.read_bytes()

    def multiply(self, compiled, number):
        """An object file that differs in its namespace alone."""
        copy = self.directory / f'unit{number:04d}.o'
        copy.write_bytes(compiled.replace(PLACEHOLDER, copy.stem.encode()))
        return copy

    def build(self, output, wanted_bytes):
        variants = list(self.pool.map(self.compile, range(VARIANTS)))
        objects = [self.multiply(compiled, number) for number, compiled in enumerate(variants)]
        # Objects shrink when they are linked (relocations go, strings are merged): the first round shows by how much.
        self.link(output, objects)
        count = max(VARIANTS, round(wanted_bytes / os.path.getsize(output) * VARIANTS))
        numbers = range(VARIANTS, count)
        objects += [self.multiply(variants[number % VARIANTS], number) for number in numbers]
        self.link(output, objects)

    def link(self, output, objects):
        response = self.directory / 'objects'
        response.write_text('\n'.join(str(path) for path in objects))
        run(self.compiler, '-shared', '-Wl,--build-id=sha1', *[flag for flag in self.flags if flag.startswith('-Wl,')],
            f'@{response}', '-o', output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('output')
    parser.add_argument('--megabytes', type=int, default=300)
    parser.add_argument('--compiler', default='g++')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--flag', action='append', default=[], help='for the compiler; repeatable')
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        sys.exit(f'{arguments.compiler} is not installed')
    with tempfile.TemporaryDirectory(prefix='hawktrace-symbolize-') as directory:
        builder = Builder(directory, arguments.compiler, arguments.flag, arguments.jobs)
        builder.build(arguments.output, arguments.megabytes << 20)
    print(f'{arguments.output}: {os.path.getsize(arguments.output) >> 20} MiB')


if __name__ == '__main__':
    main()
