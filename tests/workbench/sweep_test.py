# SPDX-License-Identifier: MIT
# tests/workbench/sweep_test.py: nereid sweep as a person meets it.
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MISBEHAVING = sys.argv[1], sys.argv[2]
QUICK = ["--rounds", "2", "--slice-ms", "1", "--most-mb", "1", "--most-gflop", "0.01"]


def run(*arguments, env=None):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_")}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env={**settings, **(env or {})},
                          timeout=300, stdin=subprocess.DEVNULL)


def sweep(*arguments):
    out = run("sweep", *arguments, *QUICK, "--json")
    return out, json.loads(out.stdout)


class Sweeps(unittest.TestCase):
    def test_rows_points_and_worst(self):
        out, document = sweep("silu", "--count", "12", "--seed", "5", "--backend", "cpu,scalar")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("--seed 5", out.stderr)
        self.assertEqual(document["environment"]["seed"], 5)
        self.assertTrue(document["complete"])
        self.assertEqual(len(document["results"]), 24)
        told = document["sweep"]
        self.assertEqual((told["op"], told["seed"], told["drawn"]), ("silu", 5, 12))
        self.assertEqual(len(told["points"]), 12)
        self.assertEqual(told["peers"]["count"], 12)
        self.assertEqual({p["against"] for p in told["points"]}, {"scalar"})
        ratios = sorted(p["ratio"] for p in told["points"])
        self.assertAlmostEqual(told["peers"]["worst"], ratios[0])
        worst = told["worst"]
        self.assertEqual([w["ratio"] for w in worst], ratios[:10])
        for one in worst:
            self.assertTrue(one["kernel"] and one["numerics"] and one["why"], one)

    def test_a_case_runs_again_by_its_line(self):
        _, document = sweep("gemm", "--count", "6", "--seed", "9", "--backend", "cpu")
        for one in document["sweep"]["worst"]:
            words = shlex.split(one["command"])
            self.assertEqual(words[:3], ["nereid", "bench", "gemm"])
            again = run(*words[1:], *QUICK[:4], "--json")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(json.loads(again.stdout)["results"][0]["case"], one["case"])

    def test_two_sweeps_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, count in (("a", "4"), ("b", "5")):
                file = os.path.join(folder, name)
                out = run("sweep", "relu", "--count", count, "--seed", "3", "--backend", "cpu", *QUICK, "--json", file,
                          "--html", file + ".html", "--csv", file + ".csv", "--md", file + ".md")
                self.assertEqual(out.returncode, 0, out.stderr)
                for end in (".html", ".csv", ".md"):
                    with open(file + end) as report:
                        self.assertIn("relu", report.read())
            out = run("compare", os.path.join(folder, "a"), os.path.join(folder, "b"), "--tolerance", "1000")
            self.assertEqual(out.stdout.count("\n"), 5, out.stdout)
            self.assertEqual(out.stdout.count("new"), 1, out.stdout)

    def test_the_end_says_how_they_are_spread(self):
        out = run("sweep", "all", "--count", "48", "--seed", "2", "--backend", "cpu,scalar", *QUICK)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        for word in ("1/48 ", "48/48 ", "worst beside the best peer", "nereid bench", "10th", "median", "geomean",
                     "softmax", "seed 2"):
            self.assertIn(word, out.stdout)

    def test_a_wrong_result_ends_with_1(self):
        out = run("--plugin", MISBEHAVING, "sweep", "softmax", "--count", "4", "--seed", "1", "--backend",
                  "cpu,misbehaving", "--dtype", "f32", "--shape", "cols=5..500", *QUICK)
        self.assertEqual(out.returncode, 1, out.stdout)
        self.assertIn("fail misbehaving: softmax", out.stdout)
        self.assertIn("--backend misbehaving", out.stdout)

    def test_time_ends_it(self):
        start = time.monotonic()
        out, document = sweep("relu", "--seconds", "3", "--seed", "6", "--backend", "cpu")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertTrue(document["complete"])
        self.assertTrue(0 < len(document["results"]) < document["sweep"]["drawn"])
        self.assertLess(time.monotonic() - start, 120)  # a case that has begun ends

    def test_an_interrupt_keeps_what_there_is(self):
        process = subprocess.Popen([PROGRAM, "sweep", "relu", "--count", "5000", "--backend", "cpu", *QUICK],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("1/5000", first[0])
        self.assertIn("interrupted after", errors)
        self.assertIn("of 5000 cases", rest)

    def test_seeds_are_drawn_and_said(self):
        seeds = {sweep("relu", "--count", "1", "--backend", "cpu")[1]["sweep"]["seed"] for _ in range(2)}
        self.assertEqual(len(seeds), 2)


class Mistakes(unittest.TestCase):
    def refused(self, *arguments, words=()):
        out = run("sweep", *arguments)
        self.assertEqual(out.returncode, 2, f"{arguments}: {out.stdout}{out.stderr}")
        self.assertEqual(out.stdout, "")
        for word in words:
            self.assertIn(word, out.stderr, arguments)

    def test_what_cannot_be(self):
        self.refused(words=["operator"])
        self.refused("sillu", words=["sillu", "silu"])
        self.refused("silu", "--backend", "cpuu", words=["cpuu", "did you mean 'cpu'"])
        self.refused("silu", "--shape", "m=1..4", words=["'m'", "nereid ops silu"])
        self.refused("silu", "--shape", "n=4..1", words=["4..1"])
        self.refused("silu", "--shape", "n=1;n=2", words=["once"])
        self.refused("silu", "--shape", "n=1", "--shape", "n=2", words=["once"])
        self.refused("silu", "--dtype", "f99", words=["f99"])
        self.refused("silu", "--opt", "pad=-1", words=["pad"])
        self.refused("silu", "--device", "tpu", words=["tpu"])
        self.refused("gemm", "--shape", "m=9000;n=9000;k=9000", words=["--most-gflop"])
        for flag in ("--count", "--minutes", "--seconds", "--most-mb", "--most-gflop"):
            for value in ("0", "-1", "nan", "x", ""):
                self.refused("silu", f"{flag}={value}", words=[flag])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
