# SPDX-License-Identifier: MIT
# scripts/lint.py: clang-tidy on what changed since a commit; ./run lint [BASE] calls it.
#
#   lint.py BASE [--seconds 150] [--jobs N]
#
# Only lines that changed are judged, those of headers by a source that includes them. Sources are
# looked at on their own, so that one that lacks an include, which a unity build hides, fails. What the
# time does not suffice for is named, and is no failure.
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/lint"
JUDGED = re.compile(r"(src|tests|examples|include)/.*\.(c|cpp|h)$")
# Kernels, their emulator and plug-ins that are wrong on purpose; generated code has no source here.
LEFT_OUT = re.compile(r"(src|tests)/cuda/|tests/error/plugins/|tests/.*/corpus/")
HUNK = re.compile(r"@@ [^+]*\+(\d+)(?:,(\d+))? @@")


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout


def changed_lines(base):
    """{path: [[first, last], ...]} of files that are still there."""
    lines, path = collections.defaultdict(list), None
    for line in git("diff", "-U0", "--diff-filter=d", base).splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif found := HUNK.match(line):
            first, count = int(found[1]), int(found[2] or 1)
            if count:
                lines[path].append([first, first + count - 1])
    for new in git("ls-files", "--others", "--exclude-standard").splitlines():
        lines[new].append([1, 10 ** 6])
    return {p: l for p, l in lines.items() if JUDGED.match(p) and not LEFT_OUT.match(p)}


def includer(header, sources):
    """A source that reads the header: its own, else the shortest that names it."""
    own = pathlib.Path(header).with_suffix(".cpp")
    if str(own) in sources:
        return str(own)
    name = re.sub(r"^(src|include|tests/[a-z]+)/", "", header)
    naming = [s for s in sources if f'"{name}"' in (ROOT / s).read_text()]
    return min(naming, key=lambda s: (ROOT / s).stat().st_size, default=None)


def configure():
    done = subprocess.run(["cmake", "--preset", "release", "-B", FOLDER, "-DCMAKE_UNITY_BUILD=OFF",
                           "-DCMAKE_CXX_COMPILER_LAUNCHER=", "-DCMAKE_C_COMPILER_LAUNCHER="],
                          cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    commands = json.loads((FOLDER / "compile_commands.json").read_text())
    for command in commands:  # those that CMake joins all the same: how is in the joined file
        joined = pathlib.Path(command["file"])
        if "Unity" not in joined.parts or not joined.exists():
            continue
        for source in re.findall(r'#include "([^"]+)"', joined.read_text()):
            commands.append({**command, "file": source,
                             "command": command["command"].replace(command["file"], source)})
    (FOLDER / "compile_commands.json").write_text(json.dumps(commands))
    return {p for c in commands if JUDGED.match(p := os.path.relpath(c["file"], ROOT))}


def tool():
    for name in ("clang-tidy-19", "clang-tidy-16", "clang-tidy"):
        if shutil.which(name):
            return name
    sys.exit("clang-tidy is not here: ./run setup dev installs it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("--seconds", type=float, default=150)  # and what was begun
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    lines = changed_lines(args.base)
    if not lines:
        print(f"nothing to lint since {args.base}")
        return 0
    known = configure()
    sources = collections.OrderedDict()
    for path in sorted(lines):
        source = path if path in known else includer(path, known) if path.endswith(".h") else None
        if source:
            sources[source] = None
    judged = [{"name": path, "lines": ranges} for path, ranges in lines.items()]
    command = [tool(), "-p", FOLDER, "--quiet", "--warnings-as-errors=*", f"--line-filter={json.dumps(judged)}",
               "--extra-arg=-Wno-unknown-warning-option", f"--extra-arg=-I{ROOT}/build/release/include"]

    def lint(source):
        if time.monotonic() > end:
            return source, None, ""
        done = subprocess.run([*command, ROOT / source], capture_output=True, text=True)
        return source, done.returncode, done.stdout + (done.stderr if done.returncode else "")

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lint, sources))
    left = [source for source, code, _ in results if code is None]
    wrong = [(source, text) for source, code, text in results if code]
    for source, text in wrong:
        print(f"{source}:\n{text}")
    print(f"{len(results) - len(left)} sources linted, {len(wrong)} with findings")
    if left:
        print(f"no time for {len(left)}: {' '.join(left)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
