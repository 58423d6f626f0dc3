#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# tests/cuda/mutation_run.py: drops every barrier, wait, fence and parity of the kernels in turn and
# counts how many of these faults the emulated tests notice.
"""usage: tests/cuda/mutation_run.py BUILD [--sample N] [--seed S] [--only TEXT] [--list]

BUILD is a build with CUDA (build/cuda). A place is switched off at run time, by
NEREID_EMULATOR_DROP (tests/cuda/emulator/sites.h): nothing is rebuilt. First the tests of each
family run as they are and say which places they reach; then each place is dropped, and the tests
that reach it run until one fails. --sample takes so many places of each family by chance. The exit
code is 0 when nothing survives but what is known to (KNOWN says why). Two minutes on two cores."""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Family -> binary, filter, generated cases. The first tests take seconds; others are for what those
# do not reach or notice.
FAMILIES = {
    "fp8": [("generated", "*Generated.Fp8/emulated", 24)],
    "glue": [("generated", "*Generated.Glue/emulated", 12)],
    "rows": [("generated", "*Generated.Rows/emulated:*Generated.Statistics/emulated", 24)],
    "rows_backward": [("generated", "*Generated.RowsBackward/emulated", 4)],
    "traffic": [("traffic", "*/emulated", 1)],
    "portable products": [("generated", "*Generated.Products/emulated_sm80", 40)],
    "products": [("fp8_gemm", "*GeneratedShapes/emulated", 80)],
}

# What is not noticed, and why: (file, kind, what the line in front or the line itself says, why).
CONVERGES = "whether the lanes of a warp have converged is not modelled"
KNOWN = [
    ("byte_tile.cuh", "__syncwarp", "read as another type", "equivalent: a thread reads the words that it wrote itself"),
    ("fp8_gemm.cuh", "__syncwarp", "some lanes come from work that one of them did", CONVERGES),
    ("fp8_gemm.cuh", "__syncwarp", "if (elect_one()) TileProducer", CONVERGES),
    ("fp8_gemm_parts.cuh", "named_barrier_sync", "store(sums);", "a race in global memory shows by what comes out alone"),
    ("fp8_gemm_parts.cuh", "named_barrier_sync", "told = *word", "equivalent: other barriers lie between two words"),
    ("fp8_gemm_sums.cuh", "wgmma_wait", "if (last == 0) {", "equivalent: end() and end_by_parts() wait again"),
    ("fp8_portable_tile.cuh", "cp_async_wait", "} cp_async_wait<0>();", "equivalent: the groups behind it are empty"),
    ("fp8_tiles.cuh", "__syncthreads", "top = fmaxf(top, tops[w * kTile", "equivalent: thread i alone reads and writes word i"),
    ("norm_rope_backward.cu", "__syncthreads", "parts[i] = 0;", "equivalent: the barriers of a row's sums lie in between"),
]


def run(binary, tests, environment, limit):
    """None when all tests passed, else what was seen first."""
    command = [str(binary), f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit,
                              env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        return f"no end within {limit:.0f} s"
    if done.returncode == 0:
        return None
    found = re.search(r"a data race|deadlock|before wait_for_previous_kernel|mbarrier[^\n]{0,60}|wrote (?:in front|behind)"
                      r"|differs? [^\n]{0,40}|is not a multiple|the largest error[^\n]{0,40}", done.stdout)
    return found.group(0) if found else f"exit code {done.returncode}"


class Run:
    def __init__(self, build, seed):
        self.binaries = {p.name.removeprefix("test_cuda_"): p for p in pathlib.Path(build).rglob("test_cuda_*")
                         if p.is_file() and os.access(p, os.X_OK) and "." not in p.name}
        self.environment = {"NEREID_TEST_SEED": str(seed)}
        self.reached = {}  # place -> [(family, binary, tests, cases, seconds)]

    def run(self, name, tests, cases, environment, limit):
        return run(self.binaries[name], tests,
                   {**self.environment, "NEREID_GENERATED_CASES": str(cases), **environment}, limit)

    def collect(self):
        for family, tests in FAMILIES.items():
            for name, filter_, cases in tests:
                if name not in self.binaries:
                    sys.exit(f"no test_cuda_{name} in the build")
                with tempfile.NamedTemporaryFile("r") as sites:
                    start = time.monotonic()
                    failed = self.run(name, filter_, cases, {"NEREID_EMULATOR_SITES": sites.name}, 900)
                    seconds = time.monotonic() - start
                    if failed:
                        sys.exit(f"{family}: test_cuda_{name} {filter_} fails without a fault: {failed}")
                    places = sites.read().splitlines()
                print(f"{family}: test_cuda_{name} {filter_}: {len(places)} places, {seconds:.1f} s", flush=True)
                for place in places:
                    self.reached.setdefault(place, []).append((family, name, filter_, cases, seconds))

    def drop(self, place):
        """How the fault was noticed, or None."""
        for _, name, filter_, cases, seconds in self.reached[place]:
            seen = self.run(name, filter_, cases, {"NEREID_EMULATOR_DROP": place}, 30 + 20 * seconds)
            if seen:
                return f"{seen} ({name})"
        return None


def source_of(place):
    """The line of a place and the one in front of it."""
    file, line = place.split(" ")[0].split(":")[:2]
    for path in (ROOT / "src" / "cuda").rglob(file):
        lines = [""] + path.read_text().splitlines()
        number = int(line)
        return " ".join(text.strip() for text in lines[max(0, number - 1):number + 1])
    return ""


def known(place):
    file, kind = place.split(":")[0], place.split(" ")[1]
    for of_file, of_kind, text, why in KNOWN:
        if of_file == file and of_kind == kind and text in source_of(place):
            return why
    return None


CALL = re.compile(r"\b(__syncthreads|__syncwarp|named_barrier_sync|cluster_sync|grid_barrier|mbarrier_wait|"
                  r"mbarrier_init_fence|mbarrier_arrive\w*|fence_async_shared|wgmma_fence|wgmma_wait|cp_async_wait|"
                  r"tma_store_wait\w*|wait_for_previous_kernel)(?:<[^;()]*>)?\(")


def never_reached(reached):
    """Calls in the kernels that no test came by."""
    lines = {tuple(place.split(" ")[0].split(":")[:2]) for place in reached}
    for folder in ("kernels", "device"):
        for path in sorted((ROOT / "src" / "cuda" / folder).iterdir()):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if CALL.search(text.split("//")[0]) and (path.name, str(number)) not in lines:
                    yield f"{path.name}:{number} {text.strip()}"


def chosen(reached, sample, seed):
    if not sample:
        return sorted(reached)
    dice = random.Random(seed)
    families = {}
    for place, tests in sorted(reached.items()):
        families.setdefault(tests[0][0], []).append(place)
    return sorted(p for places in families.values() for p in dice.sample(places, min(sample, len(places))))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("--only", default="", help="places whose name contains this")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    print(f"seed {args.seed}")
    mutants = Run(args.build, args.seed)
    mutants.collect()
    places = [p for p in chosen(mutants.reached, args.sample, args.seed) if args.only in p]
    if args.list:
        print("\n".join(places))
        return 0
    killed, same, survivors = 0, [], []
    for place in places:
        start = time.monotonic()
        seen = mutants.drop(place)
        why = None if seen else known(place)
        killed += seen is not None
        if not seen:
            (same if why else survivors).append((place, why))
        outcome = seen or (f"not noticed, {why}" if why else "SURVIVES")
        print(f"[{time.monotonic() - start:5.1f} s] {place}: {outcome}", flush=True)
    print(f"noticed {killed} of {len(places)}; {len(same)} known not to be, {len(survivors)} survive"
          f" (of {len(mutants.reached)} places, seed {args.seed})")
    for place, why in same + survivors:
        print(f"  {place}: {why or 'SURVIVES'}")
    for call in never_reached(mutants.reached) if not args.sample and not args.only else []:
        print(f"  never reached: {call}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
