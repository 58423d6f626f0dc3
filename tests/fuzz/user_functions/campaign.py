# SPDX-License-Identifier: MIT
# tests/fuzz/user_functions/campaign.py: users' functions, written and generated, as operators.
#
#   campaign.py JUDGE [--written 380] [--generated 20000] [--seed N] [--cases 24] [--jobs 2]
#               [--kinds usual,plain] [--only NAME] [--build 'gcc -O1'] [--json FILE] [--all-compilers]
#
# Every function is right or refused: JUDGE (main.cpp says how it judges) answers for each. Printed
# are the outcomes, the share that is refused by reason and by kind, and each fault with the command
# that shows it again. The exit status is 1 if there is any, or if one of the most usual shapes of code
# (corpus/usual.c) is refused. Without a seed it is NEREID_TEST_SEED, or drawn and printed.
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import generate

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 100
FAULTS = ["wrong", "outside", "crash", "hang", "lost"]
BUILDS = ["gcc -O1", "gcc -O2 -fno-tree-vectorize", "clang-14 -O1 -fno-vectorize -fno-slp-vectorize",
          "clang-16 -O2 -fno-vectorize -fno-slp-vectorize", "clang-19 -O1 -fno-vectorize -fno-slp-vectorize",
          "clang-19 -O2 -fno-vectorize -fno-slp-vectorize", "gcc -O0"]
# With what vector code may make of sums of products; gcc contracts over statements.
CONTRACTING = "gcc -O2 -fno-tree-vectorize"
DEFINITION = re.compile(r"^((?:void|float|double|int))\s+(\w+)(\([^)]*\))\s*\{", re.MULTILINE)


def written():
    """The corpus: (name, type in C) of each function, read off the definitions."""
    found = []
    for source in sorted((HERE / "corpus").glob("*.c")):
        for result, name, parameters in DEFINITION.findall(source.read_text()):
            found.append((name, result + re.sub(r"\s+", " ", parameters)))
    return found


def contracts():
    return "fma" in pathlib.Path("/proc/cpuinfo").read_text().split()


def compile_library(build, sources, library, contract="off"):
    words = build.split()
    if sources[0].suffix == ".cpp":
        words[0] = words[0].replace("gcc", "g++").replace("clang", "clang++")
        words.append("-std=c++17")
    if contract == "fast":
        words.append("-mfma")
    command = [*words, "-w", f"-ffp-contract={contract}", "-fPIC", "-shared", *map(str, sources), "-o",
               str(library), "-lm"]
    subprocess.run(command, check=True)


def installed(builds):
    return [b for b in builds if shutil.which(b.split()[0])]


class Batch:
    """Functions that are compiled alike."""

    def __init__(self, label, build, listing, source=None):
        self.label, self.build, self.listing, self.source = label, build, listing, source

    def judge(self, args, folder):
        stem = folder / self.label
        sources = sorted((HERE / "corpus").glob("*.c"))
        if time.monotonic() > args.end:
            return self, []
        if self.source:
            stem.with_suffix(".cpp").write_text(self.source)
            sources = [stem.with_suffix(".cpp")]
        compile_library(self.build, sources, stem.with_suffix(".so"))
        contracted = []
        if contracts():
            contracted = ["--contracted", stem.with_suffix(".fma.so")]
            compile_library(CONTRACTING, sources, contracted[1], "fast")
        stem.with_suffix(".txt").write_text("".join(f"{n} | {t}\n" for n, t in self.listing))
        command = [args.judge, stem.with_suffix(".so"), stem.with_suffix(".txt"), "--seed",
                   str(args.seed), "--cases", str(args.cases), "--timeout", str(args.timeout),
                   *contracted]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env=dict(os.environ, NEREID_THREADS="2"))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode != 0:
            rows.append({"name": self.label, "outcome": "lost", "detail": done.stderr[-300:]})
        return self, rows

    def of(self, args, name):
        again = f"{sys.executable} {__file__} {args.judge} --seed {args.seed} --cases {args.cases}"
        return f"{again} --only {name} --build '{self.build}'"


def kind_of(name):
    generated = re.match(r"(.*)_\d+_\d+$", name)
    return generated[1] if generated else name.split("_")[0]


def wanted(args, listing):
    if args.only:
        return [f for f in listing if fnmatch.fnmatch(f[0], args.only)]
    return [f for f in listing if not args.kinds or kind_of(f[0]) in args.kinds.split(",")]


def written_batches(args, choice):
    listing = wanted(args, written())
    if args.written < len(listing):
        listing = choice.sample(listing, args.written)
    builds = [args.build] if args.build else choice.sample(installed(BUILDS), args.builds)
    parts = [listing[i:i + BATCH] for i in range(0, len(listing), BATCH)]
    return [Batch(f"written{b}_{p}", build, part)
            for b, build in enumerate(builds) for p, part in enumerate(parts)]


def generated_batches(args):
    builds, left, seed = installed(BUILDS), args.generated, args.seed
    known = re.search(r"_(\d+)_\d+$", args.only or "")  # kind_seed_number
    if args.only:
        seed, left = (int(known[1]), 1) if known else (0, 0)
    while left > 0:
        listing = wanted(args, generate.listing(seed, BATCH))[:left]
        source = generate.source(seed, BATCH, {name for name, _ in listing})
        yield Batch(f"generated{seed}", args.build or random.Random(seed).choice(builds), listing, source)
        left, seed = left - len(listing), seed + 1


def plain_reason(text):
    """A refusal without what is particular to one function."""
    text = text.split(": ", 1)[-1]
    text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]?\d+)?", "#", text)
    text = re.sub(r"\b(void|float|double|int)\(.*?\)", "(...)", text)
    text = re.sub(r"^(\(\.\.\.\)|signature|function|\w+): ", "", text)
    return re.sub(r"(# ){2,}#?", "# ", text)[:110]


class Report:
    def __init__(self):
        self.outcomes, self.reasons = collections.Counter(), collections.Counter()
        self.call_reasons, self.kinds = collections.Counter(), collections.defaultdict(collections.Counter)
        self.faults, self.functions, self.calls, self.rows = [], 0, 0, []

    def add(self, batch, rows, args):
        by_name = collections.defaultdict(list)
        for row in rows:
            by_name[row["name"]].append(row)
        for name, attempts in by_name.items():
            self.add_function(batch, name, attempts, args)

    def add_function(self, batch, name, attempts, args):
        self.functions += 1
        words = [a["outcome"] for a in attempts]
        bad = next((a for a in attempts if a["outcome"] in FAULTS), None)
        if bad:
            word = bad["outcome"]
            self.faults.append({"name": name, "outcome": word, "detail": bad["detail"],
                                "signature": bad.get("signature", ""), "given": bad.get("given", ""),
                                "build": batch.build, "again": batch.of(args, name)})
        elif words[0] in ("right", "idle"):
            word = {"right": "right", "idle": "no call accepted"}[words[0]]
        else:
            word = "right as given" if "right" in words or "unproved" in words else "refused"
        if words[0] in ("refused", "idle"):
            self.reasons[plain_reason(attempts[0]["detail"])] += 1
        self.outcomes[word] += 1
        self.kinds[kind_of(name)][word] += 1
        self.kinds[kind_of(name)]["inferred"] += words[0] == "right"
        for a in attempts:
            self.calls += a.get("accepted", 0)
            for reason, count in a.get("call_reasons", {}).items():
                self.call_reasons[plain_reason(reason)] += count
        self.rows.append({"name": name, "build": batch.build, "outcome": word, "attempts": attempts})

    def refused_usual(self):
        usual = [row for row in self.rows if row["name"].startswith("usual_")]
        refused = [row["name"] for row in usual if row["attempts"][0]["outcome"] in ("refused", "idle")]
        return usual, refused

    def text(self):
        share = lambda count: f"{count:6d}  {100 * count / max(1, self.functions):5.1f} %"
        lines = [f"{self.functions} functions, {self.calls} calls accepted"]
        lines += [f"  {share(c)}  {word}" for word, c in self.outcomes.most_common()]
        lines.append("refused without a signature, by reason:")
        lines += [f"  {share(c)}  {reason}" for reason, c in self.reasons.most_common(25)]
        lines.append("calls refused, by reason:")
        lines += [f"  {c:6d}  {reason}" for reason, c in self.call_reasons.most_common(12)]
        lines.append("kinds:")
        for kind, counts in sorted(self.kinds.items()):
            total = sum(c for word, c in counts.items() if word != "inferred")
            rest = ", ".join(f"{word} {c}" for word, c in counts.most_common() if word != "inferred" and c)
            lines.append(f"  {kind:10} {total:6d}: inferred and right {counts['inferred']}; {rest}")
        usual, refused = self.refused_usual()
        if usual:
            lines.append(f"of the most usual shapes of code, {len(refused)} of {len(usual)} are refused "
                         f"without a signature: {' '.join(refused) or 'none'}")
        return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("judge", type=pathlib.Path)
    parser.add_argument("--written", type=int, default=10**6, help="how many of the corpus")
    parser.add_argument("--generated", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed if not given")
    parser.add_argument("--cases", type=int, default=24, help="calls of a function")
    parser.add_argument("--builds", type=int, default=1, help="compilers for the corpus")
    parser.add_argument("--build", help="the one to use, such as 'gcc -O1'")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=30, help="seconds of a function")
    parser.add_argument("--minutes", type=float, default=10**6, help="begin no batch after these")
    parser.add_argument("--only", help="a function, or written ones by a pattern: 'pre_*'")
    parser.add_argument("--kinds", help="those alone: usual,extent,plain")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--all-compilers", action="store_true", help="fail where one is not here")
    parser.add_argument("--most-faults", type=int, default=40, help="how many are printed")
    args = parser.parse_args()
    args.judge = args.judge.resolve()
    args.end = time.monotonic() + 60 * args.minutes
    if args.seed is None:
        drawn = random.SystemRandom().randrange(10**6)
        args.seed = int(os.environ.get("NEREID_TEST_SEED", drawn))
    return args


def missing_compilers(args):
    words = [] if args.build else [build.split()[0] for build in BUILDS]
    missing = sorted({word for word in words if not shutil.which(word)})
    for word in missing:
        print(f"{word}: not here; ./run setup test installs it")
    return missing


def main():
    args = arguments()
    print(f"again with: {' '.join(sys.argv)} --seed {args.seed}", flush=True)
    missing = missing_compilers(args)
    choice = random.Random(args.seed)
    report = Report()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        batches = written_batches(args, choice)
        batches += generated_batches(args)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for batch, rows in pool.map(lambda b: b.judge(args, folder), batches):
                report.add(batch, rows, args)
    print(report.text())
    for fault in report.faults[:args.most_faults]:
        print(f"\n{fault['outcome']}: {fault['name']} ({fault['build']}) {fault['signature']}\n"
              f"  {fault['detail']}\n  {fault['again']}")
    if len(report.faults) > args.most_faults:
        print(f"\n{len(report.faults) - args.most_faults} further faults")
    if args.json:
        args.json.write_text(json.dumps({"seed": args.seed, "outcomes": report.outcomes,
                                         "reasons": report.reasons, "faults": report.faults,
                                         "rows": report.rows}, indent=1))
    failed = report.faults or report.functions == 0 or report.refused_usual()[1]
    return 1 if failed or (missing and args.all_compilers) else 0


if __name__ == "__main__":
    sys.exit(main())
