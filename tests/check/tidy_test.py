#!/usr/bin/env python3
"""What scripts/check_tidy must find in files that it looks at together: in each of them, once.

  tidy_test.py BUILD_DIRECTORY
"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../scripts/check_tidy")
CLEAN = "namespace {\nint answer() { return 42; }\n}  // namespace\nint %s() { return answer(); }\n"
NULL = "int* %s() { return 0; }\n"

FILES = {
    "clean.cpp": CLEAN % "clean",
    "same_name.cpp": CLEAN % "same_name",
    "first.cpp": NULL % "first",
    "second.cpp": NULL % "second",
    "macro.cpp": "#include <curses.h>\nbool is_over() { return ::endwin() == OK; }\n",
    "broken_by_macro.cpp": "struct Screen {\n  int OK;\n};\nint* in_screen(Screen s) { return s.OK ? 0 : nullptr; }\n",
}
EXPECTED = {"first.cpp", "second.cpp", "broken_by_macro.cpp"}


def findings(files):
    done = subprocess.run([CHECK, sys.argv[1]] + files, stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if " error: " in line]
    return done.returncode, lines


def main():
    with tempfile.TemporaryDirectory() as directory:
        folder = os.path.join(directory, "userspace")
        os.mkdir(folder)
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        paths = {name: os.path.join(folder, name) for name in FILES}
        status, lines = findings(list(paths.values()))
        found = sorted(os.path.basename(line.split(":")[0]) for line in lines)
        if status != 1 or found != sorted(EXPECTED) or not all("modernize-use-nullptr" in line for line in lines):
            sys.exit(f"status {status}, found {found}, not {sorted(EXPECTED)}:\n" + "\n".join(lines))
        status, lines = findings([paths["clean.cpp"], paths["same_name.cpp"]])
        if status != 0 or lines:
            sys.exit(f"clean files: status {status}:\n" + "\n".join(lines))


main()
