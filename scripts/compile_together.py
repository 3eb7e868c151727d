#!/usr/bin/env python3
"""Groups of C++ files that can be compiled as one translation unit: what one of a group defines in its anonymous namespace,
no other names, as far as their text tells. Otherwise a name could mean something else than in the file alone.

  compile_together.py MOST FILE...     at most so many in a group; prints one group a line, its files separated by semicolons
"""
import functools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: :.*)?(?: \{|;|$)")
NAME = re.compile(r"(?<!:)\b(?!__attribute__|alignas)([A-Za-z_]\w*)\b(?=\s*[(={;\[]|\s*$)")
DEFINES_NO_NAME = re.compile(r"[ /}#]|using namespace |[A-Z_]*TEST\w*\(")
COMMENT = re.compile(r"//.*")
USED = re.compile(r"(?<![.:>\w])(?:k?[A-Z]\w*|[a-z_]\w*(?=\())")  # types and constants, and functions that are called
ALIAS = re.compile(r"using (?:::)?(?:\w+::)*(\w+)(?: = .*)?;$")
USING = re.compile(r"^using .*;$", re.M)
INCLUDE = re.compile(r'^#include "(.*)"', re.M)
# Macros by names such as lines; a declaration of basename() that is not string.h's; what each program has one of.
GOES_ALONE = re.compile(r"^(?:#include <(?:term|libiberty/demangle)\.h>|int main\()", re.M)


@functools.cache
def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.cache
def headers_of(path):
    """The headers of ours that a file includes, and those that these include. What has no file here is generated."""
    headers = set()
    for name in INCLUDE.findall(read(path)):
        header = next((found for found in (os.path.join(folder, name) for folder in (os.path.dirname(path), ROOT))
                       if os.path.exists(found)), None)
        if header and header not in headers:
            headers |= {header} | headers_of(header)
    return headers


def defined_in(text):
    """The names that lines of a namespace define, each with the line."""
    names = {}
    for line in text.split("\n"):
        if line and not DEFINES_NO_NAME.match(line):
            name = ALIAS.match(line) or TYPE.match(line) or NAME.search(line)
            if name:
                names[name.group(1)] = line
    return names


@functools.cache
def declared_by(header):
    return defined_in(read(header)).keys()


class Names:
    """What a file defines for itself, each name with what it is, and what it uses, or could."""

    def __init__(self, path=None):
        self.own, self.used = {}, set()
        if path is None:
            return
        text = read(path)
        self.goes_alone = GOES_ALONE.search(text) is not None
        self.own = dict.fromkeys(re.findall(r"^#define (\w+)", text, re.M), path)
        for block in [*ANONYMOUS.findall(text), "\n".join(USING.findall(text))]:
            for name, line in defined_in(block).items():
                self.own[name] = line if ALIAS.match(line) else path
        self.used = set(USED.findall(COMMENT.sub("", text))).union(*map(declared_by, headers_of(path))) - self.own.keys()

    def go_with(self, others):
        return (all(others.own.get(name, what) == what for name, what in self.own.items())
                and not others.used & self.own.keys() and not self.used & others.own.keys())

    def join(self, others):
        self.own.update(others.own)
        self.used |= others.used


def units_of(files, most):
    """The files in groups that can be compiled together."""
    units, alone = [], []
    for path in files:
        names = Names(path)
        if names.goes_alone:
            alone.append([path])
            continue
        for group, taken in units:
            if len(group) < most and names.go_with(taken):
                group.append(path)
                taken.join(names)
                break
        else:
            taken = Names()
            taken.join(names)
            units.append(([path], taken))
    return [group for group, _ in units] + alone


if __name__ == "__main__":
    print("\n".join(";".join(unit) for unit in units_of(sys.argv[2:], int(sys.argv[1]))))
