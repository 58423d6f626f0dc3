# SPDX-License-Identifier: MIT
# tests/package/check_includes.py: the rules of the tree that no compiler checks, as a test.
"""usage: check_includes.py SOURCE_ROOT

- A file of src/STAGE includes only its own stage and those it may link.
- getenv stands in src/base/env.cpp alone.
- No unfinished-work marks, no file of src/ over 500 lines.
- Every source file names its licence (SPDX) in its first two lines.
"""
import pathlib
import re
import sys

# Must match the link order of ARCHITECTURE.md: a stage may use what stands before it. Stages of
# one row do not know each other.
LINK_ORDER = [
    ["base"], ["machine", "trace"], ["ops"], ["graph"], ["lift", "jit"], ["gemm"], ["quant"],
    ["compiler"], ["dispatch"], ["api"], ["peers"], ["workbench"], ["cli"],
]
# cuda hangs beside the order: it knows three stages. Dispatch knows it, the workbench for its events
# and streams, and peers on a device.
CUDA_MAY_USE = {"base", "machine", "ops"}
MAY_USE_CUDA = {"dispatch", "peers", "workbench"}

MAX_LINES = 500
CODE = {".c", ".h", ".cpp", ".cu", ".cuh", ".py", ".sh"}
FOLDERS = ("src", "include", "tests", "examples", "python", "scripts", "cmake")
MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b")  # marks: the pattern itself is not one
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z0-9_]+)/')
GETENV = re.compile(r"\b(secure_)?getenv\s*\(")


def allowed_stages():
    allowed, earlier = {}, set()
    for row in LINK_ORDER:
        for stage in row:
            allowed[stage] = earlier | {stage}
        earlier = earlier | set(row)
    for stage in MAY_USE_CUDA:
        allowed[stage] = allowed[stage] | {"cuda"}
    allowed["cuda"] = CUDA_MAY_USE | {"cuda"}
    return allowed


def check_file(path, name, allowed):
    """Yields (line number, finding)."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    # A #! line may come first.
    if not any("SPDX-License-Identifier: MIT" in line for line in lines[:2]):
        yield 1, "no SPDX line at the top"
    in_src = name.parts[0] == "src"
    if in_src and len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines; a file of src/ has at most {MAX_LINES}: split it"
    stage = name.parts[1] if in_src else None
    if in_src and len(name.parts) > 2 and stage not in allowed:
        yield 1, f"src/{stage} is not in the link order of this script and of ARCHITECTURE.md"
    for number, line in enumerate(lines, 1):
        if MARKS.search(line) and "# marks" not in line:
            yield number, f"unfinished work: {line.strip()}"
        if not in_src or stage not in allowed:
            continue
        include = INCLUDE.match(line)
        if include and include[1] in allowed and include[1] not in allowed[stage]:
            yield number, f"{stage} must not include {include[1]}, which is not before it"
        if GETENV.search(line) and str(name) != "src/base/env.cpp":
            yield number, "getenv outside src/base/env.cpp"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    allowed = allowed_stages()
    findings, files = [], 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in CODE or not path.is_file():
                continue
            files += 1
            name = path.relative_to(root)
            findings += [f"{name}:{line}: {what}" for line, what in check_file(path, name, allowed)]
    if files == 0:
        findings.append(f"{root}: no source files found")
    print("\n".join(findings) if findings else f"{files} files, nothing to report")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
