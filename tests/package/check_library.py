#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a library asks of a system, and what it shows: a shared one needs the C and C++ runtimes and
nothing else, and of all symbols only nereid_* are visible, in a shared one as in an archive.

usage: check_library.py READELF NM LIBRARY...
"""
import re
import subprocess
import sys

RUNTIMES = re.compile(r"(libstdc\+\+|libgcc_s|libc|libm|libdl|libpthread|librt|ld-linux[-\w]*)\.so")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def findings_of(library, readelf, nm):
    archive = library.endswith(".a")
    if not archive:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(readelf, "-d", "--wide", library))
        if not needed:
            yield "needs nothing at all: is it a shared library?"
        yield from (f"needs {name}" for name in needed if not RUNTIMES.match(name))
    lines = output_of(nm, "--defined-only", "--extern-only", *([] if archive else ["-D"]), library)
    symbols = [line.split()[-1].split("@")[0] for line in lines.splitlines() if line.count(" ") >= 2]
    if "nereid_version" not in symbols:
        yield "lacks nereid_version"
    # The shared library's version is a symbol too.
    shown = [s for s in symbols if not re.match(r"nereid_|NEREID_\d+$", s)]
    yield from (f"shows {symbol}" for symbol in shown[:20])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    readelf, nm, *libraries = sys.argv[1:]
    findings = [f"{lib}: {one}" for lib in libraries for one in findings_of(lib, readelf, nm)]
    print("\n".join(findings) if findings else f"{len(libraries)} libraries, nothing to report")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
