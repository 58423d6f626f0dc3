# SPDX-License-Identifier: MIT
# tests/compiler/corpus/corpus_test.py: the corpus as several compilers make it, lifted and proved.
#
#   corpus_test.py LIFT_CORPUS LIFT_CORPUS_MODULE SOURCE_DIR [--only COMPILER] [--record]
#                  [--all-compilers] [--jobs 2]
#
# Fails when a function crashes the lifter or is lifted wrongly (its proof fails, or it has an effect
# that no trace has), when one is refused that was not when refused.json was recorded (by this version
# of the compiler: --record writes the file anew), and, for plain builds at -O0 and -O1, when a class
# is another than corpus.txt says or less than 95 % are proved. Without its symbols nothing tells the
# counters of a coverage build from the program's own: all of it must be refused. A compiler that is
# not here is left out and named; with --all-compilers, or where there is none, that is a failure.
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
import tempfile

COMPILERS = ["g++", "clang++-14", "clang++-19"]
LEVELS = ["-O0", "-O1", "-O2"]
PLAIN = "pic"
VARIANTS = {
    PLAIN: ["-fPIC"],
    "noplt": ["-fPIC", "-fno-plt"],
    "cet": ["-fPIC", "-fcf-protection=full"],
    "nopie": ["-fno-pie", "-no-pie", "-rdynamic"],  # a program of its own: in_program.cpp
    "coverage": ["-fPIC", "--coverage"],
    "profile": ["-fPIC", "-fprofile-generate"],  # clang: counters in a section of their own
    "asan": ["-fPIC", "-fsanitize=address"],
}
INSTRUMENTED = {"coverage", "profile", "asan"}
MINIMUM = 0.95
NEVER = "never"  # the proof looks at outputs only: that a global is left alone would pass
# Nothing is known to be wrong, but no memory can be given to a proof.
UNBOUNDED = "cannot be bounded"


def build(compiler, level, variant, source, folder):
    library = folder / f"{compiler}{level}{variant}.so"
    sources = [source / "corpus.cpp", source / "usual.cpp"]
    if variant == "nopie":
        sources.append(source / "in_program.cpp")
    flags = VARIANTS[variant] + ["-std=c++17", level, *sources, "-o", library]
    if variant != "nopie":
        flags.append("-shared")
    done = subprocess.run([compiler, *flags, "-lm"], capture_output=True, text=True)
    return library if done.returncode == 0 else None, done.stderr


def version(compiler):
    done = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True)
    return done.stdout.split(".")[0].strip()


# A library with the address sanitizer inside needs its runtime first.
def environment(compiler, variant):
    env = dict(os.environ, LLVM_PROFILE_FILE=os.devnull)
    if variant == "asan":
        name = "libasan.so" if compiler.startswith("g") else "libclang_rt.asan-x86_64.so"
        found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True)
        env["LD_PRELOAD"] = found.stdout.strip()
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    return env


def lift(args, library, variant, listing, env):
    command = [library, args.module] if variant == "nopie" else [args.tool, library]
    done = subprocess.run([*command, listing], capture_output=True, text=True, env=env)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [row for row in rows if len(row) == 4], done.stderr


def expected_classes(listing):
    rows = [line.split("|") for line in listing.read_text().splitlines() if line and line[0] != "#"]
    return {name.strip(): kind.strip() for name, _, kind in rows}


def judge(name, rows, expected, plain, problems):
    """The share that is proved, and the reasons of those refused by function."""
    refused, proved = {}, 0
    for function, status, kind, reason in rows:
        want = expected[function]
        if status == "unproved" and UNBOUNDED in reason:
            status = "refused"
        proved += status == "proved"
        if status in ("crashed", "error", "unproved"):
            problems.append(f"{name} {function}: {status}: {reason}")
        elif status == "refused":
            short = re.sub("0x[0-9a-f]+", "...", reason.split(": ", 1)[-1])
            refused[function] = short.removeprefix("not understood; ")
        elif want == NEVER:
            problems.append(f"{name} {function}: {status}, though it uses a global")
        elif want == "refused":
            continue  # a compiler that made it simple enough: proved is proved
        elif kind != want and plain:  # an optimiser's loops may be of another class
            problems.append(f"{name} {function}: class {kind}, expected {want}")
    if len(rows) != len(expected):
        problems.append(f"{name}: {len(rows)} of {len(expected)} functions answered")
    share = proved / sum(want != NEVER for want in expected.values())
    if plain and share < MINIMUM:
        problems.append(f"{name}: {share:.1%} proved, at least {MINIMUM:.0%} wanted")
    return share, refused


def check_stripped(name, args, library, listing, env, problems):
    copy = library.with_suffix(".stripped.so")
    subprocess.run(["strip", "--strip-all", "-o", copy, library], check=True)
    rows, errors = lift(args, copy, "coverage", listing, env)
    lifted = [row[0] for row in rows if row[1] != "refused"]
    said = sum("is stripped" in row[3] for row in rows)
    print(f"{name + ' stripped':24} {len(rows) - len(lifted)} refused, {said} since it is stripped")
    if lifted or not said:
        problems.append(f"{name} stripped: lifted {' '.join(lifted) or 'nothing'} {errors[:500]}")


def by_reason(refused):
    table = collections.defaultdict(list)
    for function, reason in sorted(refused.items()):
        table[reason].append(function)
    return {reason: " ".join(functions) for reason, functions in sorted(table.items())}


def compare_with_record(name, refused, record, problems):
    if name not in record:
        return print(f"{name}: nothing recorded for this version")
    known = {f for functions in record[name].values() for f in functions.split()}
    for function in sorted(refused.keys() - known):
        problems.append(f"{name} {function}: refused, once it was not: {refused[function]}")
    if known - refused.keys():
        print(f"{name}: better than recorded: {' '.join(sorted(known - refused.keys()))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("module")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--all-compilers", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    listing, record_file = args.source / "corpus.txt", args.source / "refused.json"
    record = json.loads(record_file.read_text()) if record_file.exists() else {}
    expected = expected_classes(listing)
    wanted = [args.only] if args.only else COMPILERS
    compilers = [c for c in wanted if shutil.which(c)]
    problems = []
    for missing in sorted(set(wanted) - set(compilers)):
        print(f"{missing}: not here, left out (./run setup test installs it)")
        if args.all_compilers or not compilers:
            problems.append(f"{missing}: not here")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        jobs = [(c, l, v) for c in compilers for l in LEVELS for v in VARIANTS]
        jobs = [job for job in jobs if job[2] != "profile" or job[0].startswith("clang")]
        environments = {(c, v): environment(c, v) for c in compilers for v in VARIANTS}
        versions = {c: version(c) for c in compilers}

        def build_and_lift(job):
            compiler, level, variant = job
            library, errors = build(*job, args.source, folder)
            if library is None:
                return None, [], errors
            return library, *lift(args, library, variant, listing, environments[compiler, variant])

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            lifted = list(pool.map(build_and_lift, jobs))
        for (compiler, level, variant), (library, rows, errors) in zip(jobs, lifted):
            name = f"{compiler.split('-')[0]}-{versions[compiler]} {level} {variant}"
            if library is None:
                problems.append(f"{name}: does not compile: {errors[:500]}")
                continue
            env = environments[compiler, variant]
            if not rows:
                problems.append(f"{name}: no answer: {errors[:500]}")
                continue
            plain = level in ("-O0", "-O1") and variant not in INSTRUMENTED
            share, refused = judge(name, rows, expected, plain, problems)
            print(f"{name:24} {share:6.1%} proved, {len(refused)} refused of {len(expected)}")
            if variant == "coverage" and level == "-O1":
                check_stripped(name, args, library, listing, env, problems)
            if args.record:
                record[name] = by_reason(refused)
            else:
                compare_with_record(name, refused, record, problems)
    if args.record:
        record_file.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n")
    if problems:
        print(f"\n{len(problems)} problems:", *problems, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
