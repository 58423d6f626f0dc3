# SPDX-License-Identifier: MIT
# tests/workbench/user_ops_test.py: functions of a shared library on the command line: lift, and the
# verbs with --op.
import json
import os
import subprocess
import sys
import unittest

PROGRAM, LIBRARY, TELLS_FORKS = sys.argv[1:4]
QUICK = ["--rounds", "2", "--slice-ms", "1"]
MAP = "void(const float* x, float* out, size_t n)"
GATE = "void(const float* x, const float* y, float* out, size_t n)"
WIDE = "void(const double* x, double* out, size_t n)"
SAME = "x[n] -> out[n] ; core n"


def run(*arguments, env=None):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_")}
    settings.update(env or {})
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=settings,
                          timeout=300, stdin=subprocess.DEVNULL)


def lift(symbol, signature, *more, env=None):
    return run("lift", f"{LIBRARY}:{symbol}", "--signature", signature, *more, env=env)


def with_op(symbol, signature, *arguments, env=None):
    return run(*arguments, "--op", f"{LIBRARY}:{symbol}", "--signature", signature, env=env)


class Case(unittest.TestCase):
    def check(self, out, code, *words):
        text = out.stdout + out.stderr
        self.assertEqual(out.returncode, code, text)
        for word in words:
            self.assertIn(word, text)


class Lift(Case):
    def test_json_has_these_fields_and_no_others(self):
        out = lift("user_gate", GATE, "--json")
        self.check(out, 0)
        document = json.loads(out.stdout)
        self.assertEqual(list(sorted(document)),
                         ["assumes", "class", "lift_us", "reason", "schema", "symbol", "verified"])
        self.assertEqual((document["schema"], document["symbol"], document["class"],
                          document["verified"], document["reason"]),
                         (1, "user_gate", "elementwise", True, ""))
        self.assertGreater(document["lift_us"], 0)

    def test_text(self):
        self.check(lift("user_gate", GATE), 0, "trace user_gate : elementwise",
                   "user_gate: elementwise, proved, vector code proved, lifted in")
        self.check(lift("user_sum", MAP), 0, "user_sum: reduction, proved")
        self.check(lift("user_blend", "float(float, float)"), 0, "elementwise, proved")
        self.check(lift("user_gate", GATE, "--dump", "lift"), 0, "user_gate: elementwise, proved")

    def test_assembly_comes_with_its_proof(self):
        self.check(lift("user_gate", GATE, "--dump", "asm"), 0, "vector code proved", "ret")
        # Without a back end there is no code to show, which who asked for it must learn.
        if "jit_" not in run("explain", "silu", env={"NEREID_ISA": "baseline"}).stdout:
            out = lift("user_gate", GATE, "--dump", "asm", env={"NEREID_ISA": "baseline"})
            self.check(out, 1, "user_gate: elementwise, proved, no vector code", "no back end")

    def test_proved_without_vector_code(self):
        self.check(lift("user_prefix", MAP), 0, "user_prefix: opaque, proved, no vector code")
        document = json.loads(lift("user_prefix", MAP, "--json").stdout)
        self.assertTrue(document["verified"])
        self.assertIn("vector code", document["reason"])
        self.check(lift("user_prefix", MAP, "--dump", "asm"), 1, "no vector code")

    def test_not_understood(self):
        self.check(lift("user_until", MAP), 1, "user_until: opaque, not lifted", "leaves early")
        document = json.loads(lift("user_until", MAP, "--json").stdout)
        self.assertFalse(document["verified"])
        self.assertEqual(document["class"], "opaque")
        self.assertIn("leaves early", document["reason"])

    def test_a_trap_is_seen_before_it_is_run_into(self):
        self.check(lift("user_trap", MAP), 1, "user_trap:", "not proved",
                   "a path that does not return", "no simple condition explains")
        document = json.loads(lift("user_trap", MAP, "--json").stdout)
        self.assertFalse(document["verified"])
        self.assertIn("does not return", document["reason"])

    def test_mistakes(self):
        self.check(run("lift", "/no/such.so:f", "--signature", MAP), 1, "/no/such.so")
        self.check(lift("user_nowhere", MAP), 2, "user_nowhere", "extern")
        self.check(run("lift", LIBRARY, "--signature", MAP), 2, "LIB.so:SYMBOL")
        self.check(run("lift", f"{LIBRARY}:user_gate"), 2, "--signature")
        self.check(lift("user_gate", "void(const float* x"), 2, "signature")
        self.check(lift("user_gate", GATE, "--dump", "soup"), 2, "soup")
        self.check(run("lift"), 2)


class WithOp(Case):
    def rows(self, out):
        return json.loads(out.stdout)["results"]

    def test_bench_takes_the_operator_of_op(self):
        out = with_op("user_gate", GATE, "bench", "--shape", "n=100", "--backend", "cpu,scalar",
                      *QUICK, "--json")
        self.check(out, 0)
        self.assertEqual([(r["op"], r["backend"], r["verdict"]) for r in self.rows(out)],
                         [("user_gate", "cpu", "pass"), ("user_gate", "scalar", "pass")])
        self.assertTrue(self.rows(out)[0]["kernel"].startswith("jit_"))

    def test_check_on_every_kind_of_data(self):
        for symbol, signature in (("user_gate", GATE), ("user_sum", MAP), ("user_prefix", MAP)):
            out = with_op(symbol, signature, "check", symbol, "--backend", "cpu,scalar", "--json")
            self.check(out, 0)
            self.assertEqual({r["dtype"] for r in self.rows(out)}, {"f32", "f16", "bf16"})

    def test_doubles_are_f64(self):
        out = with_op("user_wide", WIDE, "check", "user_wide", "--json")
        self.check(out, 0)
        self.assertIn("f64", {r["dtype"] for r in self.rows(out)})
        out = with_op("user_wide", WIDE, "bench", "--shape", "n=1000", "--backend", "cpu", *QUICK,
                      "--json")
        self.check(out, 0)
        self.assertEqual((self.rows(out)[0]["dtype"], self.rows(out)[0]["note"]), ("f64", ""))
        narrow = with_op("user_wide", WIDE, "bench", "--shape", "n=1000", "--backend", "cpu",
                         "--dtype", "f32", *QUICK, "--json")
        self.assertEqual(self.rows(narrow)[0]["note"], "converts whole buffers")

    def test_outputs_that_are_read_are_restored_before_each_run(self):
        for symbol in ("user_add_to", "user_where_positive"):
            out = with_op(symbol, MAP, "check", symbol, "--backend", "cpu,scalar", "--json")
            self.check(out, 0)
            self.assertEqual({r["verdict"] for r in self.rows(out)}, {"pass"})
            for cache in ("warm", "cold"):
                out = with_op(symbol, MAP, "bench", "--shape", "n=100", "--backend", "cpu,scalar", "--cache",
                              cache, *QUICK, "--json")
                self.check(out, 0)
                self.assertTrue(all(len(r["slices_us"]) == 2 for r in self.rows(out)))
        # A hundred runs on the same memory would be its end.
        for cache in ("warm", "cold"):
            out = with_op("user_count_up", MAP, "bench", "--as", "x[n] -> out&[n] ; core n", "--shape", "n=100",
                          "--backend", "cpu", "--cache", cache, "--rounds", "3", "--slice-ms", "20", "--json")
            self.check(out, 0)
            self.assertEqual(self.rows(out)[0]["verdict"], "pass", out.stdout)

    def test_ops_knows_it(self):
        self.check(with_op("user_gate", GATE, "ops", "user_gate"), 0,
                   "x[n] y[n] -> out[n] ; core n*")
        self.check(with_op("user_gate", GATE, "ops"), 0, "user\n  user_gate")
        self.check(run("ops", "user_gate"), 2, "user_gate")

    def test_explain_says_the_real_reason(self):
        self.check(with_op("user_prefix", MAP, "explain", "user_prefix"), 0,
                   "user_prefix: vector code: got a loop carries a value", "the function as it is")
        self.check(with_op("user_until", MAP, "explain", "user_until", "--as", SAME), 0,
                   "leaves early")

    def test_what_a_proof_assumed_is_said(self):
        assumed = "n % 2 == 0"
        self.check(lift("user_swap", MAP), 0, "assumes " + assumed)
        self.assertEqual(json.loads(lift("user_swap", MAP, "--json").stdout)["assumes"], assumed)
        for verb in (["explain", "user_swap", "--shape", "n=8"], ["ops", "user_swap"]):
            self.check(with_op("user_swap", MAP, *verb), 0, "  assumes    " + assumed + "\n")
            self.assertNotIn("assumes", with_op("user_gate", GATE, verb[0], "user_gate").stdout)
        self.check(with_op("user_swap", MAP, "explain", "user_swap", "--shape", "n=7"), 2, assumed)

    def test_refused_without_a_signature(self):
        self.check(with_op("user_until", MAP, "bench", *QUICK), 2, "user_until", "leaves early",
                   "give the operator's signature")
        out = with_op("user_until", MAP, "bench", "--as", SAME, "--shape", "n=100", "--backend",
                      "cpu", *QUICK, "--json")
        self.check(out, 0)
        self.assertEqual(self.rows(out)[0]["note"], "the function as it is")

    def test_a_function_that_traps_is_an_error(self):
        for verb in (["bench", *QUICK], ["check", "user_trap"], ["explain", "user_trap"],
                     ["ops", "user_trap"]):
            self.check(with_op("user_trap", MAP, *verb), 2, "nereid: user_trap: function",
                       "does not return", "give the operator's signature")

    def test_a_crash_later_is_one_failed_row(self):
        # With a signature it runs as it is, and its worker dies of it.
        out = with_op("user_trap", MAP, "bench", "--as", SAME, "--shape", "n=3,4", "--backend",
                      "cpu", *QUICK, "--json")
        self.check(out, 1)
        self.assertEqual([r["verdict"] for r in self.rows(out)], ["error", "pass"])
        self.assertIn("died of SIG", self.rows(out)[0]["reason"])
        # Proved on small sizes, but the reference of special data calls it with a large one.
        out = with_op("user_trap_late", MAP, "check", "user_trap_late", "--shape", "n=100,9000",
                      "--dtype", "f32", "--backend", "cpu,scalar", "--json")
        self.check(out, 1)
        self.assertEqual([r["verdict"] for r in self.rows(out)],
                         ["pass", "pass", "error", "error"])

    def test_mistakes(self):
        self.check(run("bench", "--op", "/no/such.so:f", "--signature", MAP), 1, "/no/such.so")
        self.check(with_op("user_nowhere", MAP, "bench"), 2, "user_nowhere")
        self.check(run("bench", "--op", LIBRARY), 2, "LIB.so:SYMBOL")
        self.check(with_op("user_gate", GATE, "bench", "--as", "x[n] -> out[n] ; core n"), 2,
                   "1 inputs, 1 outputs")
        self.check(with_op("user_gate", GATE, "bench", "--as", "soup"), 2, "signature")

    def test_dump_of_the_lifter(self):
        out = with_op("user_gate", GATE, "ops", "user_gate", env={"NEREID_DUMP": "lift"})
        self.check(out, 0, "; lift of user_gate")


class Prove(Case):
    def told(self, *arguments):
        return run(*arguments, "--signature", MAP)

    def test_in_a_child_unless_said(self):
        function = f"{TELLS_FORKS}:told_twice"
        for word, forks in ((None, 1), ("child", 1), ("here", 0), ("no", 0)):
            more = ["--prove", word] if word else []
            out = self.told(*more, "lift", function)
            self.check(out, 0, "not proved" if word == "no" else "proved, vector code proved")
            self.assertEqual(out.stderr.count("a fork"), forks, word)
            out = self.told("ops", "told_twice", "--op", function, "--as", SAME, *more)
            self.check(out, 0, "as it is" if word == "no" else "in place   yes")
            self.assertEqual(out.stderr.count("a fork"), forks, word)

    def test_unproved_it_runs_as_it_is(self):
        self.check(lift("user_gate", GATE, "--prove", "no"), 0, "not proved", "no proof was asked")
        self.check(lift("user_gate", GATE, "--prove", "no", "--dump", "asm"), 0, "not proved", "ret")
        self.check(lift("user_until", MAP, "--prove", "no"), 1, "not lifted")
        self.check(with_op("user_sum", MAP, "bench", "--prove", "no", *QUICK), 2,
                   "no proof was asked for", "give the operator's signature")
        out = with_op("user_sum", MAP, "bench", "--prove", "no", "--as", "x[n] -> out[] ; core n",
                      "--shape", "n=100", "--backend", "cpu", *QUICK, "--json")
        self.check(out, 0)
        row = json.loads(out.stdout)["results"][0]
        self.assertEqual((row["verdict"], row["note"]), ("pass", "the function as it is"))

    def test_other_words(self):
        self.check(lift("user_gate", GATE, "--prove", "maybe"), 2, "--prove", "maybe", "child")
        self.check(run("--help"), 0, "--prove")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
