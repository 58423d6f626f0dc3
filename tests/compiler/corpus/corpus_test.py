# SPDX-License-Identifier: MIT
# tests/compiler/corpus/corpus_test.py: the corpus as several compilers make it, lifted and proved.
#
#   corpus_test.py LIFT_CORPUS SOURCE_DIR [--json FILE] [--only COMPILER]
#
# Fails when a function crashes the lifter or is lifted wrongly (its proof fails), and, for plain
# builds at -O0 and -O1, when a class is another than corpus.txt says or less than 95 % are proved.
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ["g++", "clang++-14", "clang++-19"]
LEVELS = ["-O0", "-O1", "-O2"]
PLAIN = "pic"
VARIANTS = {
    PLAIN: ["-fPIC"],
    "noplt": ["-fPIC", "-fno-plt"],
    "cet": ["-fPIC", "-fcf-protection=full"],
    "coverage": ["-fPIC", "--coverage"],
    "asan": ["-fPIC", "-fsanitize=address"],
}
INSTRUMENTED = {"coverage", "asan"}
MINIMUM = 0.95
# Nothing is known to be wrong, but no memory can be given to a proof.
UNBOUNDED = "cannot be bounded"


def build(compiler, level, variant, source, folder):
    library = folder / f"{compiler}{level}{variant}.so"
    flags = VARIANTS[variant] + ["-std=c++17", level, "-shared", str(source), "-o", str(library)]
    done = subprocess.run([compiler, *flags, "-lm"], capture_output=True, text=True)
    return library if done.returncode == 0 else None, done.stderr


# A library with the address sanitizer inside needs its runtime first.
def environment(compiler, variant):
    env = dict(os.environ)
    if variant == "asan":
        name = "libasan.so" if compiler.startswith("g") else "libclang_rt.asan-x86_64.so"
        found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True)
        env["LD_PRELOAD"] = found.stdout.strip()
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    return env


def lift(tool, library, listing, env):
    done = subprocess.run([tool, str(library), str(listing)], capture_output=True, text=True, env=env)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [row for row in rows if len(row) == 4], done.stderr


def expected_classes(listing):
    rows = [line.split("|") for line in listing.read_text().splitlines() if line and line[0] != "#"]
    return {name.strip(): kind.strip() for name, _, kind in rows}


def judge(name, rows, expected, level, variant, problems, refused):
    counts = collections.Counter(row[1] for row in rows)
    plain = level in ("-O0", "-O1") and variant not in INSTRUMENTED
    for function, status, kind, reason in rows:
        want = expected[function]
        if status == "unproved" and UNBOUNDED in reason:
            status = "refused"
        if status in ("crashed", "error", "unproved"):
            problems.append(f"{name} {function}: {status}: {reason}")
        elif status == "refused":
            refused.append(f"{name} {function}: {reason}")
        elif want == "refused":
            continue  # a compiler that made it simple enough: proved is proved
        elif kind != want and plain:  # an optimiser's loops may be of another class
            problems.append(f"{name} {function}: class {kind}, expected {want}")
    if len(rows) != len(expected):
        problems.append(f"{name}: {len(rows)} of {len(expected)} functions answered")
    share = counts["proved"] / len(expected)
    if plain and share < MINIMUM:
        problems.append(f"{name}: {share:.1%} proved, at least {MINIMUM:.0%} wanted")
    return dict(counts), share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    listing = args.source / "corpus.txt"
    expected = expected_classes(listing)
    compilers = [c for c in COMPILERS if shutil.which(c) and (not args.only or c == args.only)]
    for missing in set(COMPILERS) - set(compilers):
        print(f"{missing}: not here, left out")
    problems, refused, table = [], [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        jobs = [(c, l, v) for c in compilers for l in LEVELS for v in VARIANTS]
        source = args.source / "corpus.cpp"
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            built = list(pool.map(lambda job: build(*job, source, folder), jobs))
        for (compiler, level, variant), (library, errors) in zip(jobs, built):
            name = f"{compiler} {level} {variant}"
            if library is None:
                problems.append(f"{name}: does not compile: {errors[:500]}")
                continue
            rows, errors = lift(args.tool, library, listing, environment(compiler, variant))
            if not rows:
                problems.append(f"{name}: no answer: {errors[:500]}")
                continue
            counts, share = judge(name, rows, expected, level, variant, problems, refused)
            table.append({"build": name, "proved": counts.get("proved", 0), "share": share,
                          "refused": counts.get("refused", 0)})
            print(f"{name:28} proved {counts.get('proved', 0):3} of {len(expected)} ({share:.1%})")
    if not args.quiet:
        print(f"\n{len(refused)} refused:", *sorted(refused), sep="\n  ")
    if args.json:
        args.json.write_text(json.dumps({"builds": table, "refused": sorted(refused)}, indent=1))
    if problems:
        print(f"\n{len(problems)} problems:", *problems, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
