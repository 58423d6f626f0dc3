#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public headers: each compiles by itself, and all of them together stay cheap to include.

usage: check_headers.py COMPILER INCLUDE_FOLDER...

Cheap means: of the standard library's headers only those of ALLOWED, and altogether little more
text than these. (A time would depend on the machine.)
"""
import pathlib
import re
import subprocess
import sys

# <string> and <vector> are part of the interface. What is not here costs as much as those, or more:
# <memory>, <functional>, <ranges>, <algorithm>, <mutex>, streams.
ALLOWED = """array cstddef cstdint cstdio cstring initializer_list optional span stdexcept string
             string_view type_traits utility vector""".split()
MOST = 1.2  # times the text of ALLOWED


def compile_text(compiler, folders, text, *options):
    command = [compiler, "-std=c++20", "-x", "c++", *(f"-I{f}" for f in folders), *options, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def lines_of(compiler, folders, headers):
    text = "".join(f"#include <{h}>\n" for h in headers)
    done = compile_text(compiler, folders, text, "-E", "-P")
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.count("\n")


def findings_of(path, compiler, folders):
    for name in re.findall(r"^#include <([^>]+)>", path.read_text(encoding="utf-8"), re.M):
        if not (name in ALLOWED or name.startswith("nereid/")
                or path.name in ("c.h", "plugin.h") and name.endswith(".h")):
            yield f"{path.name}: includes <{name}>, which is not in ALLOWED"
    done = compile_text(compiler, folders, f"#include <nereid/{path.name}>\n", "-fsyntax-only",
                        "-Wall", "-Wextra", "-Werror")
    if done.returncode:
        yield f"{path.name}: does not compile by itself:\n{done.stderr}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    compiler, folders = sys.argv[1], sys.argv[2:]
    headers = sorted(p for f in folders for p in pathlib.Path(f, "nereid").glob("*.h"))
    findings = [one for path in headers for one in findings_of(path, compiler, folders)]
    ours = lines_of(compiler, folders, ["nereid/nereid.h"])
    theirs = lines_of(compiler, folders, ALLOWED)
    if ours > MOST * theirs:
        findings.append(f"nereid/nereid.h is {ours} lines, more than {MOST} times the {theirs} of "
                        "the standard headers it may use")
    print("\n".join(findings) if findings else
          f"{len(headers)} headers; nereid/nereid.h is {ours} lines, of which {theirs} are not ours")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
