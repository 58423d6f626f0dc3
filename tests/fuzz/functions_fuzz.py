# SPDX-License-Identifier: MIT
# tests/fuzz/functions_fuzz.py: generated functions, compiled in many ways, lifted and proved.
#
#   functions_fuzz.py LIFT_CORPUS [--count 10000] [--seed 1] [--json FILE] [--all-compilers]
#
# Each function must be proved (the trace, then the vector code) or refused. The seed that is printed
# makes the same functions again; without one it is NEREID_TEST_SEED, or drawn. A compiler that is not
# here is left out; with --all-compilers that is a failure.
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BATCH = 200
COMPILERS = ["g++", "clang++-14", "clang++-16", "clang++-19"]
FLAGS = [["-O0"], ["-O1"], ["-O1"], ["-O2", "-fno-tree-vectorize"], ["-O1", "-fno-builtin"],
         ["-O1", "-fno-math-errno", "-fno-trapping-math"], ["-O1", "-march=x86-64-v3"]]


def batch(tool, seed, count, folder):
    choice = random.Random(seed)
    compiler = choice.choice([c for c in COMPILERS if shutil.which(c)])
    flags = choice.choice(FLAGS)
    if compiler.startswith("clang"):
        flags = ["-fno-vectorize" if f == "-fno-tree-vectorize" else f for f in flags]
    source, listing, library = folder / "g.cpp", folder / "g.txt", folder / f"g{seed}.so"
    generator = pathlib.Path(__file__).with_name("generate_functions.py")
    subprocess.run([sys.executable, generator, str(seed), str(count), source, listing], check=True)
    subprocess.run([compiler, "-std=c++17", "-w", "-ffp-contract=off", *flags, "-fPIC", "-shared",
                    source, "-o", library, "-lm"], check=True)
    done = subprocess.run([tool, library, listing], capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    name = f"seed {seed}: {compiler} {' '.join(flags)}"
    return name, [row for row in rows if len(row) == 4]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int,
                        default=os.environ.get("NEREID_TEST_SEED", random.randrange(1000000)))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--all-compilers", action="store_true")
    args = parser.parse_args()
    print(f"again with: {' '.join(sys.argv)} --seed {args.seed}", flush=True)
    totals, problems, reasons = collections.Counter(), [], collections.Counter()
    for missing in [c for c in COMPILERS if not shutil.which(c)]:
        print(f"{missing}: not here, left out")
        if args.all_compilers:
            problems.append(f"{missing}: not here; ./run setup test installs it")
    with tempfile.TemporaryDirectory() as temporary:
        done = 0
        while done < args.count:
            count = min(BATCH, args.count - done)
            name, rows = batch(args.tool, args.seed + done // BATCH, count, pathlib.Path(temporary))
            for function, status, kind, reason in rows:
                totals[status] += 1
                if status == "refused":
                    reasons[re.sub("0x[0-9a-f]+", "...", reason.split(": ", 1)[-1])[:100]] += 1
                elif status != "proved":
                    problems.append(f"{name} {function} ({kind}): {status}: {reason}")
            if len(rows) != count:
                problems.append(f"{name}: {len(rows)} of {count} functions answered")
            done += count
    print(f"{args.count} functions: " + ", ".join(f"{k} {v}" for k, v in totals.most_common()))
    for reason, count in reasons.most_common(10):
        print(f"  refused {count}: {reason}")
    if args.json:
        args.json.write_text(json.dumps({"totals": totals, "reasons": reasons}, indent=1))
    if problems:
        print(f"{len(problems)} problems:", *problems[:50], sep="\n  ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
