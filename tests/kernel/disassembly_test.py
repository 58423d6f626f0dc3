# SPDX-License-Identifier: MIT
# tests/kernel/disassembly_test.py: the scalar build of the definitions is plain scalar code.
"""The lifter reads the scalar build, so no compiler option, default or sanitizer may have put
vector code or instrumentation into it. Usage: disassembly_test.py OBJDUMP OBJECT...

Allowed on whole registers are copies and bit operations: that is how negation, absolute value
and selects of one float look."""
import re
import subprocess
import sys

# Arithmetic, conversions and shuffles on packed floats and integers (SSE and VEX spellings).
X86_PACKED = re.compile(
    r"^v?(add|sub|mul|div|sqrt|max|min|hadd|hsub|addsub|dp|rcp|rsqrt|round|blend|shuf|unpck[lh]"
    r"|broadcast\w*)p[sd]$"
    r"|^vf?n?m(add|sub)\w*p[sd]$"
    r"|^v?cvt\w*(ps|pd|dq)2?\w*$"
    r"|^v?p(add|sub|mul|madd|min|max|s[lr][la]|shuf|unpck|cmp|ack)\w*$"
)
# cvtss2sd and its like are scalar: one of the two words has an s in front.
X86_SCALAR_CONVERT = re.compile(r"^v?cvtt?(ss|sd|si)2\w+$")
A64_PACKED = re.compile(r"\bv\d+\.(2s|4s|2d|4h|8h|8b|16b)\b")
A64_ALLOWED = re.compile(r"^(mov|movi|mvni|fmov|orr|and|eor|bic|bit|bif|bsl|not|dup|ld\w+|st\w+)$")
INSTRUMENTED = re.compile(r"__(asan|ubsan|tsan|msan|gcov|llvm_prf|stack_chk|sanitizer)")

LINE = re.compile(r"^\s+[0-9a-f]+:\s+(\S+)\s*(.*)$")
FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")


def complaint(mnemonic, operands):
    if re.search(r"%?[yz]mm\d", operands):
        return "a wide register"
    if X86_PACKED.match(mnemonic) and not X86_SCALAR_CONVERT.match(mnemonic):
        return "packed arithmetic"
    if A64_PACKED.search(operands) and not A64_ALLOWED.match(mnemonic):
        return "packed arithmetic"
    if INSTRUMENTED.search(operands):
        return "instrumentation"
    return None


def check(objdump, path):
    text = subprocess.run([objdump, "-dr", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    functions, bad = [], []
    for line in text.splitlines():
        if FUNCTION.match(line):
            functions.append(FUNCTION.match(line).group(1))
            continue
        match = LINE.match(line)
        why = match and complaint(match.group(1), match.group(2))
        if why:
            bad.append(f"{path}: {functions[-1]}: {why}: {line.strip()}")
    return [f for f in functions if f.startswith("nrd_scalar_")], bad


def main():
    objdump, *objects = sys.argv[1:]
    functions, bad = [], []
    for path in objects:
        found, complaints = check(objdump, path)
        functions += found
        bad += complaints
    if not functions:
        bad.append("no definition found: the objects are not those of the scalar build")
    print("\n".join(bad) if bad else f"{len(functions)} definitions are plain scalar code")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
