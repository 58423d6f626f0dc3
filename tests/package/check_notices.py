# SPDX-License-Identifier: MIT
# tests/package/check_notices.py: what is compiled into our binaries stands in the notices, and
# nothing else does. Archives are read off the link lines, header libraries off the names inside.
import os
import re
import subprocess
import sys

NOTICES, NM, BUILD = sys.argv[1:4]
BINARIES = sys.argv[4:]
OURS = {"nrd", "nereid"}
COMPILER = {"std", "__gnu_cxx", "__cxxabiv1", "__sanitizer", "__asan", "__tsan", "__ubsan"}
# Named, though this build may lack them: without CUDA, or without a part of the compiler.
OPTIONAL = {"asmjit", "capstone", "cudart_static"}


def namespaces(binary):
    names = subprocess.run([NM, "-C", "--defined-only", binary], capture_output=True, text=True,
                           check=True).stdout
    return set(re.findall(r"^[0-9a-f]+ \w ([A-Za-z_]\w*)::", names, re.M))


def archives(binary):
    """Names of the archives that its link takes from outside of the build."""
    with open(os.path.join(BUILD, "build.ninja")) as file:
        rules = file.read()
    output = os.path.relpath(os.path.realpath(binary), BUILD)
    link = re.search(rf"^build {re.escape(output)}[ :].*\n(?:  .*\n)*?  LINK_LIBRARIES = (.*)$", rules, re.M)
    assert link, f"{output} is not linked in build.ninja"
    found = re.findall(r"lib(\w+)\.a\b", link[1])
    assert found, f"{output} is linked from nothing: {link[1]}"
    return {name.removesuffix("_shared") for name in found if not name.startswith("nereid_")}


def main():
    with open(NOTICES) as file:
        named = set(re.findall(r"^.+ \((\w+)\)\n-+$", file.read(), re.M))
    inside = set()
    for binary in BINARIES:
        inside |= namespaces(binary) | archives(binary)
    inside = {name for name in inside if name not in COMPILER and name.split("_")[0] not in OURS}
    missing, gone = inside - named, named - inside - OPTIONAL
    print(f"compiled in: {', '.join(sorted(inside))}")
    assert not missing, f"{NOTICES} does not name {sorted(missing)}"
    assert not gone, f"{NOTICES} names {sorted(gone)}, which no binary contains"


main()
