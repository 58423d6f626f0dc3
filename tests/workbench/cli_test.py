# SPDX-License-Identifier: MIT
# tests/workbench/cli_test.py: the command line as a person meets it: output, errors, exit codes.
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MISBEHAVING = sys.argv[1], sys.argv[2]
QUICK = ["--rounds", "2", "--slice-ms", "1"]


def run(*arguments, env=None):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_")}
    settings.update(env or {})
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=settings,
                          timeout=300, stdin=subprocess.DEVNULL)


class Verbs(unittest.TestCase):
    def test_info_ops_backends(self):
        self.assertIn("isa", run("info").stdout)
        self.assertIn("rms_norm", run("ops").stdout)
        one = run("ops", "rms_norm")
        self.assertIn("cast = after_weight | before_weight", one.stdout)
        listed = run("backends")
        self.assertEqual(listed.returncode, 0)
        for name in ("cpu", "autovec", "scalar", "cuda", "openblas", "mkl", "onednn", "cublaslt",
                     "cudnn", "copy", "read", "one_scale"):
            self.assertIn(name, listed.stdout)

    def test_one_object_of_facts(self):
        """--json last or before another option is JSON alone; with a name, a file beside the text."""
        def told(*arguments):
            out = run(*arguments, "--json")
            self.assertEqual(out.returncode, 0, out.stderr)
            document = json.loads(out.stdout)
            self.assertEqual(document["schema"], 1)
            return document

        info = told("info")
        self.assertIn(info["isa_level"], run("info").stdout)
        self.assertIn("NEREID_ISA", [v["name"] for v in info["environment"]])
        ops = told("ops")["operators"]
        self.assertGreater(len(ops), 40)
        self.assertEqual(set(ops[0]) & {"name", "group", "summary", "signatures", "options", "tolerance", "example"},
                         {"name", "group", "summary", "signatures", "options", "tolerance", "example"})
        (norm,) = told("ops", "rms_norm")["operators"]
        self.assertEqual(norm["options"][0]["values"], ["after_weight", "before_weight"])
        self.assertEqual(told("ops", "fp8_gemm")["operators"][0]["tolerances"], {"accumulate=fast": 0.02})
        backends = {b["name"]: b for b in told("backends")["backends"]}
        self.assertTrue(backends["cpu"]["available"])
        self.assertEqual(backends["cpu"]["operators"], len(ops))
        (case,) = told("explain", "silu", "--shape", "n=100")["cases"]
        self.assertTrue(case["case"].startswith("silu n=100 f32"))
        chosen = [k for k in case["kernels"] if k["chosen"] and k["backend"] == "cpu"]
        self.assertEqual(len(chosen), 1)
        out = run("explain", "silu", "--json", "--shape", "n=1,2")  # before another option
        self.assertEqual(len(json.loads(out.stdout)["cases"]), 2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "info.json")
            out = run("info", "--json", path)
            self.assertIn("cores", out.stdout)
            with open(path) as file:
                self.assertEqual(json.load(file)["cpu"], info["cpu"])
        self.assertEqual(run("info", "--json", "/no/such/folder/a").returncode, 1)

    def test_explain_names_every_kernel(self):
        out = run("explain", "silu", "--shape", "n=100").stdout
        self.assertIn("* cpu", out)
        self.assertIn("autovec_baseline", out)

    def test_forced_isa_is_the_one_that_runs(self):
        out = run("bench", "silu", "--shape", "n=64", "--backend", "cpu", *QUICK, "--json",
                  env={"NEREID_ISA": "baseline"})
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(json.loads(out.stdout)["results"][0]["isa"], "baseline")

    def test_json_alone_on_standard_output(self):
        out = run("bench", "vec_add", "--shape", "n=10,20", "--backend", "cpu,scalar", *QUICK, "--json")
        document = json.loads(out.stdout)
        self.assertEqual(document["schema"], 1)
        self.assertEqual(len(document["results"]), 4)
        row = document["results"][0]
        for field in ("op shape dtype options backend isa threads ok verdict reason median_us p10_us "
                      "p90_us prepare_us gflops gbps percent_of_nominal percent_of_roofline max_abs "
                      "max_rel l2_rel workspace_bytes peak_bytes cache regime numerics "
                      "slices_us").split():
            self.assertIn(field, row)
        self.assertEqual(len(row["slices_us"]), 2)
        self.assertEqual({"case", "backend", "against", "median", "low", "high"},
                         set(document["ratios"][0]))

    def test_every_report_form_and_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            out = run("bench", "relu", "--shape", "n=1000", "--backend", "cpu", *QUICK, "--json", path("a.json"),
                      "--csv", path("a.csv"), "--md", path("a.md"), "--html", path("a.html"))
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertIn("relu", out.stdout)  # the table still comes
            for name in ("a.csv", "a.md", "a.html"):
                self.assertIn("relu", open(path(name)).read())
            same = run("compare", path("a.json"), path("a.json"))
            self.assertEqual(same.returncode, 0)
            self.assertTrue(same.stdout.startswith("same"), same.stdout)
            slow = json.load(open(path("a.json")))
            slow["results"][0]["slices_us"] = [9 * s for s in slow["results"][0]["slices_us"]]
            json.dump(slow, open(path("b.json"), "w"))
            worse = run("compare", path("a.json"), path("b.json"), "--tolerance", "3%")
            self.assertEqual(worse.returncode, 1)
            self.assertIn("slower", worse.stdout)

    def test_check_rejects_a_wrong_kernel(self):
        out = run("--plugin", MISBEHAVING, "check", "softmax", "--backend", "misbehaving,cpu", "--dtype", "f32", "--json")
        self.assertEqual(out.returncode, 1)
        verdicts = {(r["backend"], r["verdict"]) for r in json.loads(out.stdout)["results"]}
        self.assertIn(("misbehaving", "fail"), verdicts)
        self.assertIn(("cpu", "pass"), verdicts)

    def test_the_demo_fits_a_screen(self):
        with tempfile.TemporaryDirectory() as folder:
            out = run("demo", "--out", folder, "--rounds", "1", "--slice-ms", "0.01")
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
            self.assertLessEqual(out.stdout.count("\n"), 24, out.stdout)
            for word in ("operators checked on", "all right", "geometric mean of", "far from roof", "report.html"):
                self.assertIn(word, out.stdout)
            with open(os.path.join(folder, "report.json")) as file:
                self.assertTrue(json.load(file)["complete"])

    def test_json_is_written_when_rows_fail(self):
        out = run("--plugin", MISBEHAVING, "bench", "exp", "--shape", "n=8", "--backend", "misbehaving", *QUICK, "--json")
        self.assertEqual(out.returncode, 1)
        row = json.loads(out.stdout)["results"][0]
        self.assertEqual(row["verdict"], "error")
        self.assertFalse(row["ok"])
        self.assertIsNone(row["median_us"])
        self.assertIn("SIGSEGV", row["reason"])


def has_gpu():
    return "cuda:0" in run("info").stdout


class Devices(unittest.TestCase):
    """Where there is no GPU: rows that say so, and an exit code that does."""

    def setUp(self):
        if has_gpu():
            self.skipTest("there is a GPU")

    def test_rows_are_skipped_with_the_reason(self):
        for arguments in (["--device", "cuda"], []):
            out = run("bench", "relu", "--shape", "n=64", "--backend", "cuda,copy", *arguments, *QUICK, "--json")
            self.assertEqual(out.returncode, 1, out.stderr)
            rows = json.loads(out.stdout)["results"]
            self.assertEqual([r["backend"] for r in rows], ["cuda", "copy"])
            for row in rows:
                self.assertEqual(row["verdict"], "skipped", row)
                self.assertIn("cuda", row["reason"].lower())
                self.assertEqual((row["device"], row["regime"], row["cache"]), ("cuda:0", "back_to_back", "cold"))
                self.assertIsNone(row["median_us"])
                self.assertIsNone(row["sm_clock_mhz"])

    def test_both_regimes_of_a_case_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("relu n=64 f32 device=cuda:0 regime=both data=full\n")
            file.flush()
            out = run("bench", "--cases", file.name, "--backend", "cuda", *QUICK, "--json")
        rows = json.loads(out.stdout)["results"]
        self.assertEqual([r["regime"] for r in rows], ["back_to_back", "gapped"])

    def test_the_cpu_is_not_a_device_backend(self):
        out = run("bench", "relu", "--shape", "n=64", "--device", "cuda", "--backend", "cpu", *QUICK, "--json")
        self.assertEqual(out.returncode, 1)
        row = json.loads(out.stdout)["results"][0]
        self.assertEqual(row["verdict"], "skipped")
        self.assertIn("cuda:0", row["reason"])

    def test_check_and_nobody_there(self):
        out = run("check", "relu", "--shape", "n=64", "--device", "cuda", "--dtype", "f32", "--json")
        self.assertEqual(out.returncode, 1)
        self.assertEqual(json.loads(out.stdout)["results"][0]["backend"], "cuda")
        out = run("bench", "relu", "--shape", "n=64", "--device", "cuda", *QUICK)
        self.assertEqual(out.returncode, 1)
        self.assertIn("no backend here", out.stderr)


class Mistakes(unittest.TestCase):
    """Each gets one clear sentence on standard error and exit code 2."""

    def refused(self, arguments, *words, env=None, code=2):
        out = run(*arguments, env=env)
        self.assertEqual(out.returncode, code, f"{arguments}: {out.stdout}{out.stderr}")
        text = out.stderr + out.stdout
        for word in words:
            self.assertIn(word, text, arguments)

    def test_unknown_names(self):
        self.refused(["bench", "rmsnorm"], "rmsnorm", "did you mean 'rms_norm'")
        self.refused(["bench", "silu", "--backend", "cpuu"], "cpuu", "did you mean 'cpu'")
        self.refused(["frobnicate"], "frobnicate")
        self.refused(["bench", "silu", "--frobnicate"], "frobnicate")
        self.refused(["ops", "no_such"], "no_such")
        self.refused([], "subcommand")

    def test_shapes(self):
        for shape in ("n", "n=", "n=-1", "n=x", "n=1..", "n=9..3", "n=99999999999999999999", "n=1,n=2"):
            self.refused(["bench", "silu", "--shape", shape, "--backend", "cpu"])

    def row_error(self, arguments, *words):
        out = run(*arguments, "--backend", "cpu", *QUICK, "--json")
        self.assertEqual(out.returncode, 1, out.stderr)
        row = json.loads(out.stdout)["results"][0]
        self.assertEqual(row["verdict"], "error")
        for word in words:
            self.assertIn(word, row["reason"])

    def test_cases_that_cannot_be(self):
        self.row_error(["bench", "silu", "--shape", "m=4"], "silu", "m", "n")
        self.row_error(["bench", "gemm", "--shape", "m=4"], "gemm", "shape key")
        self.row_error(["bench", "silu", "--shape", "n=4", "--dtype", "f99"], "f99", "bf16")
        self.row_error(["bench", "silu", "--shape", "n=4", "--dtype", "i8"], "silu", "i8")
        self.row_error(["bench", "rms_norm", "--opt", "cast=never"], "cast", "never", "before_weight")
        self.row_error(["bench", "rms_norm", "--opt", "epz=1"], "epz")
        self.row_error(["bench", "rms_norm", "--opt", "eps=big"], "eps", "big")
        self.row_error(["bench", "rope", "--shape", "tokens=1,heads=1,head_dim=7"], "even")
        self.row_error(["bench", "vec_add", "--shape", "n=4611686018427387904"], "vec_add")

    def test_devices_and_regimes(self):
        self.refused(["bench", "silu", "--device", "tpu"], "tpu", "cuda:N")
        self.refused(["bench", "silu", "--device", "cuda", "--regime", "often"], "often")
        self.refused(["bench", "silu", "--data", "odd"], "odd", "outliers", "full")
        self.row_error(["bench", "silu", "--shape", "n=4", "--regime", "gapped"], "gapped", "back_to_back")

    def test_more_memory_than_there_is(self):
        self.row_error(["bench", "vec_add", "--shape", "n=1099511627776"], "memory")
        self.row_error(["bench", "softmax", "--shape", "rows=1,cols=1099511627776"], "memory")

    def test_environment(self):
        self.refused(["info"], "NEREID_ISA", "avx1024", env={"NEREID_ISA": "avx1024"})
        self.refused(["backends"], "nothing.so", env={"NEREID_PLUGINS": "/nothing.so"})

        self.refused(["info"], "NEREID_ON_FALLBACK", "sometimes",
                     env={"NEREID_ON_FALLBACK": "sometimes"})

    # On x86-64 the baseline has no back end: cpu is then what the compiler made of the definition.
    def test_strict_mode(self):
        strict = {"NEREID_ON_FALLBACK": "error", "NEREID_ISA": "baseline"}
        for verb in (["check"], ["bench", *QUICK]):
            case = [*verb, "silu", "--shape", "n=64", "--json", "--backend"]
            row = json.loads(run(*case, "cpu", env={"NEREID_ISA": "baseline"}).stdout)["results"][0]
            if row["kernel"].startswith("jit_"):
                self.skipTest("the baseline of this machine has a back end")
            self.assertTrue(row["ok"], row)
            out = run(*case, "cpu", env=strict)
            self.assertEqual(out.returncode, 1, out.stderr)
            row = json.loads(out.stdout)["results"][0]
            self.assertEqual(row["verdict"], "error")
            self.assertIn("a fallback", row["reason"])
            self.assertEqual(run(*case, "autovec", env=strict).returncode, 0)

    def test_plugins_that_are_none(self):
        self.refused(["--plugin", "/no/such.so", "backends"], "/no/such.so")
        self.refused(["--plugin", __file__, "backends"], "cli_test.py")

    def test_files(self):
        self.refused(["compare", "/no/such.json", "/no/such.json"], "/no/such.json")
        with tempfile.TemporaryDirectory() as folder:
            half = os.path.join(folder, "half.json")
            with open(half, "w") as file:
                file.write('{"schema": 1, "results": [')
            self.refused(["compare", half, half], "half.json", "not whole JSON")
            self.refused(["compare", half, half, "--tolerance", "lots"])
        out = run("bench", "silu", "--shape", "n=4", "--backend", "cpu", *QUICK, "--html", "/no/such/folder/a.html")
        self.assertEqual(out.returncode, 1)
        self.assertIn("/no/such/folder/a.html", out.stderr)

    def test_only_regular_files_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            self.refused(["bench", "--cases", fifo], "--cases", "a FIFO")
            self.refused(["compare", fifo, fifo], "a FIFO")
            self.refused(["--plugin", fifo, "backends"], "a FIFO")
            self.refused(["--op", fifo + ":f", "--signature", "float(float)", "ops"], "a FIFO")
        self.refused(["bench", "--cases", "/dev/zero"], "a device")

    def test_what_is_given_is_used(self):
        silu = ["bench", "silu", "--shape", "n=4", *QUICK]
        self.refused([*silu, "--backend", "cpu,cpu"], "cpu", "twice")
        self.refused([*silu, "--backend", ","], "--backend")
        self.refused([*silu, "--backend", "cpu", "--baseline", "scalar"], "--baseline", "scalar")
        self.refused([*silu, "--cases", "x"], "silu", "--cases", "one of the two")
        self.refused(["--signature", "float(float)", "ops"], "--signature", "--op")
        self.refused(["--as", "x[n] -> out[n]", "lift", "./x.so:f"], "--as", "--op")
        self.row_error(["bench", "silu", "--shape", "n=4", "--opt", "+weight"], "+weight", "no optional")
        self.row_error(["bench", "gemm", "--opt", "+weight"], "+weight")

    def test_a_backend_that_was_named_must_do_it(self):
        out = run("--plugin", MISBEHAVING, "bench", "vec_sum", "--shape", "n=8", "--backend", "misbehaving", *QUICK, "--json")
        self.assertEqual(out.returncode, 1)
        self.assertEqual(json.loads(out.stdout)["results"][0]["verdict"], "skipped")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
