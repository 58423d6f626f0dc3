# SPDX-License-Identifier: MIT
# tests/workbench/gpu_gate_test.py: how scripts/gpu_gate judges results, and what the Python worker
# would run. Needs neither a GPU nor torch.
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


def load(path, name):
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
gate = load(ROOT / "scripts" / "gpu_gate", "gpu_gate")
worker = load(ROOT / "benchmarks" / "gpu_worker.py", "gpu_worker")


def row(op, shape, backend, us, options="", dtype="bf16", regime="back_to_back", **more):
    return {"op": op, "shape": shape, "dtype": dtype, "options": options, "backend": backend, "isa": "",
            "threads": 1, "cache": "cold", "regime": regime, "ok": us is not None,
            "verdict": "pass" if us else "error", "reason": "" if us else "it broke", "median_us": us,
            "slices_us": [us] * 10 if us else [], **more}


def bars(op, rows):
    return gate.judge({op: {"environment": {}, "results": rows, "ratios": []}})


def of(found, text):
    chosen = [bar for bar in found if text in bar.what]
    assert len(chosen) == 1, [bar.what for bar in found]
    return chosen[0]


PRODUCT = "m=4096,n=4096,k=4096"


class Bars(unittest.TestCase):
    def test_a_product_beside_cublaslt(self):
        found = bars("fp8_gemm", [row("fp8_gemm", PRODUCT, "cuda", 100, "accumulate=fast"),
                                  row("fp8_gemm", PRODUCT, "cublaslt", 105, "accumulate=fast"),
                                  row("fp8_gemm", PRODUCT, "cuda", 100),
                                  row("fp8_gemm", PRODUCT, "cublaslt", 102)])
        fast, precise = of(found, "accumulate=fast"), of(found, "bf16 back_to_back")
        self.assertTrue(fast.passed)
        self.assertTrue(fast.reaches(fast.goal))
        self.assertIn("PASS", fast.text())
        self.assertFalse(precise.passed, "precise must be 1.03 times as fast")
        self.assertIn("FAIL", precise.text())

    def test_regimes_are_judged_apart(self):
        rows = [row("fp8_gemm", PRODUCT, "cuda", 100, "accumulate=fast"),
                row("fp8_gemm", PRODUCT, "cublaslt", 101, "accumulate=fast"),
                row("fp8_gemm", PRODUCT, "cuda", 100, "accumulate=fast", regime="gapped"),
                row("fp8_gemm", PRODUCT, "cublaslt", 90, "accumulate=fast", regime="gapped")]
        found = bars("fp8_gemm", rows)
        self.assertTrue(of(found, "back_to_back vs").passed)
        self.assertFalse(of(found, "gapped vs").passed)

    def test_few_rows_stream_their_weights(self):
        shape, mode = "m=16,n=11264,k=4096", "accumulate=fast,scales=row_column"
        precise = "scales=row_column"
        rows = [row("fp8_gemm", shape, "cuda", 11, mode), row("fp8_gemm", shape, "read", 10.2, mode),
                row("fp8_gemm", shape, "cublaslt", 11.1, mode),
                row("fp8_gemm", shape, "cuda", 11, precise), row("fp8_gemm", shape, "read", 9.9, precise),
                row("fp8_gemm", shape, "cublaslt", 13, precise)]
        found = bars("fp8_gemm", rows)
        self.assertTrue(of(found, f"{mode} back_to_back over a read").passed)
        self.assertTrue(of(found, f"{mode} back_to_back vs cublaslt").passed)
        self.assertFalse(of(found, f"bf16 {precise} back_to_back over a read").passed, "1.11 times the read")
        self.assertFalse(of(found, f"bf16 {precise} back_to_back vs cublaslt").passed, "1.18 and not 1.2")

    def test_block_scales_beside_one_scale(self):
        rows = [row("fp8_gemm", PRODUCT, "one_scale", 100, "scales=block"),
                row("fp8_gemm", PRODUCT, "cuda", 108, "scales=block")]
        bar = of(bars("fp8_gemm", rows), "ours with one scale")
        self.assertAlmostEqual(bar.value, 100 / 108)
        self.assertTrue(bar.passed)
        self.assertFalse(bar.reaches(bar.goal))

    def test_rows_beside_a_copy_and_triton(self):
        long, short = "batch=8,seq=2048,hidden=4096,head_dim=64", "batch=1,seq=8192,hidden=2048,head_dim=64"
        rows = [row("rmsnorm_rope", long, "cuda", 70), row("rmsnorm_rope", long, "copy", 64),
                row("rmsnorm_rope", short, "cuda", 20), row("rmsnorm_rope", short, "copy", 18),
                row("rmsnorm_rope", long, "cuda_ctypes", 70), row("rmsnorm_rope", long, "triton", 72)]
        found = bars("rmsnorm_rope", rows)
        self.assertFalse(of(found, f"{long} bf16 back_to_back vs copy").passed, "0.914 and not 0.93")
        self.assertTrue(of(found, f"{short} bf16 back_to_back vs copy").passed, "0.9 where 0.88 is asked")
        self.assertTrue(of(found, "vs triton").passed)

    def test_decode_may_cost_a_microsecond(self):
        shape = "batch=1,seq=1,hidden=4096,head_dim=64"
        found = bars("decode", [row("rmsnorm_rope", shape, "cuda", 4.6), row("rmsnorm_rope", shape, "copy", 3.7)])
        bar = of(found, "over copy")
        self.assertTrue(bar.passed)
        self.assertFalse(bar.reaches(bar.goal))

    def test_quantising(self):
        large, small = "rows=65536,cols=4096", "rows=4096,cols=4096"
        rows = [row("fp8_quantize", large, "cuda", 200, "granularity=row"),
                row("fp8_quantize", large, "copy", 190, "granularity=row"),
                row("fp8_quantize", large, "cuda_ctypes", 300), row("fp8_quantize", large, "torch_compile", 690),
                row("fp8_quantize", small, "cuda_ctypes", 20), row("fp8_quantize", small, "torch_compile", 46)]
        found = bars("fp8_quantize", rows)
        self.assertTrue(of(found, "granularity=row back_to_back vs copy").passed)
        self.assertTrue(of(found, f"{large} bf16 back_to_back vs torch_compile").passed)
        self.assertFalse(of(found, f"{small} bf16 back_to_back vs torch_compile").passed, "2.3 and not 2.5")

    def test_what_is_missing_fails_with_its_reason(self):
        for bar in gate.judge({}):
            self.assertFalse(bar.passed)
            self.assertIn("no results", bar.text())
        found = bars("fp8_gemm", [row("fp8_gemm", PRODUCT, "cuda", None, "accumulate=fast")])
        self.assertFalse(found[1].passed and found[0].passed)
        self.assertIn("it broke", of(found, "vs cublaslt").text())


class Files(unittest.TestCase):
    def test_merge_replaces_rows_of_the_same_identity(self):
        first = {"environment": {"cpu": "x"}, "results": [row("relu", "n=1", "cuda", 1)],
                 "ratios": [{"case": "c", "backend": "cuda", "against": "copy", "median": 1}]}
        second = {"environment": {"torch": "2"}, "results": [row("relu", "n=1", "cuda", 2)],
                  "ratios": [{"case": "c", "backend": "cuda", "against": "copy", "median": 2}]}
        document = gate.merge(gate.merge({}, first, "program"), second, "python")
        self.assertEqual([r["median_us"] for r in document["results"]], [2])
        self.assertEqual([r["median"] for r in document["ratios"]], [2])
        self.assertEqual(document["environment"], {"cpu": "x", "python": {"torch": "2"}})

    def test_results_are_named_by_the_device(self):
        named = {"environment": {"devices": {"cuda:0": {"name": "NVIDIA H200"}}}}
        self.assertEqual(gate.device_word({"x": named}), "h200")
        self.assertEqual(gate.device_word({"x": {"environment": {}}}), "gpu")

    def test_it_runs_without_a_gpu_and_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            out = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_gate", "--build", folder, "--out", folder,
                                  "--stages", "tests,bars"], capture_output=True, text=True, timeout=60)
            self.assertEqual(out.returncode, 1, out.stderr)
            self.assertIn("no test_cuda_*", out.stdout)
            self.assertIn("FAIL  fp8_gemm: not measured: no results", out.stdout)

    def test_binaries_without_a_build_folder_are_run(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = pathlib.Path(folder) / "bin" / "test_cuda_fake"
            binary.parent.mkdir()
            binary.write_text("#!/bin/sh\nexit 0\n")
            os.chmod(binary, 0o755)
            out = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_gate", "--build", folder, "--out", folder,
                                  "--stages", "tests"], capture_output=True, text=True, timeout=60)
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
            self.assertIn("test_cuda_fake: ok", out.stdout)


    def test_what_the_sanitizer_was_not_run_over_is_not_clean(self):
        with tempfile.TemporaryDirectory() as folder:
            tools = pathlib.Path(folder) / "bin"
            tools.mkdir()

            def program(path, text):
                path.write_text("#!/bin/sh\n" + text)
                os.chmod(path, 0o755)
            # Runs the binary behind its own options; racecheck finds something in glue.
            program(tools / "compute-sanitizer",
                    'tool=$2; shift 4\ncase "$tool $1" in "racecheck "*glue) exit 99;; esac\nexec "$@"\n')
            for tests in gate.FAMILIES.values():
                for name in tests:
                    program(tools / f"test_cuda_{name}", 'echo "[  PASSED  ] 3 tests."\n')
            program(tools / "test_cuda_traffic", 'echo "[  PASSED  ] 0 tests."\n')
            (tools / "test_cuda_elements").unlink()
            out = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_gate", "--build", folder, "--out", folder,
                                  "--stages", "sanitizer"], capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
            self.assertEqual(out.returncode, 1, out.stdout + out.stderr)
            families = len(gate.FAMILIES)
            self.assertIn(f"memcheck: {families - 2} of {families} families clean; elements left out", out.stdout)
            self.assertIn(f"racecheck: {families - 3} of {families} families clean", out.stdout)
            self.assertIn("glue failed", out.stdout)
            self.assertIn("left out: synccheck traffic: no test of test_cuda_traffic ran", out.stdout)
            program(tools / "compute-sanitizer", "exit 0\n")
            out = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_gate", "--build", folder, "--out", folder,
                                  "--stages", "sanitizer"], capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
            self.assertEqual(out.returncode, 2, "nothing failed, and nothing ran\n" + out.stdout)

    def test_what_travels_is_packed(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tests/test_cuda_fake", "tests/test_cuda_emulator", "nereid"):
                binary = pathlib.Path(folder) / name
                binary.parent.mkdir(exist_ok=True)
                binary.write_bytes(pathlib.Path("/bin/true").read_bytes())
                os.chmod(binary, 0o755)
            archive = pathlib.Path(folder) / "gate.tar.xz"
            out = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_gate", "--build", folder, "--out", folder,
                                  "--pack", archive], capture_output=True, text=True, timeout=60)
            self.assertEqual(out.returncode, 0, out.stderr)
            with tarfile.open(archive) as packed:
                names = packed.getnames()
            self.assertIn("nereid", names)
            self.assertIn("test_cuda_fake", names)
            self.assertNotIn("test_cuda_emulator", names)
            self.assertFalse([n for n in names if n.startswith("libc.so")])


class Cases(unittest.TestCase):
    def test_the_files_hold_the_table(self):
        def shapes(name, op):
            return {c["shape"] for c in worker.read_cases(ROOT / "benchmarks" / "cases" / name) if c["op"] == op}
        self.assertEqual(len(shapes("gpu_rmsnorm_rope.txt", "rmsnorm_rope")), 4)
        products = shapes("gpu_fp8_gemm.txt", "fp8_gemm")
        self.assertEqual(products, shapes("gpu_fp8_gemm_block.txt", "fp8_gemm"))
        self.assertIn("m=2048,n=5120,k=2880", products)
        self.assertEqual(len(worker.read_cases(ROOT / "benchmarks" / "cases" / "gpu_fp8_gemm.txt")), 24)
        self.assertEqual(shapes("gpu_fp8_gemm_rows.txt", "fp8_gemm"),
                         {f"m={m},n=11264,k=4096" for m in (1, 16, 64, 128)})

    def test_a_dry_run_needs_no_torch(self):
        out = subprocess.run([sys.executable, ROOT / "benchmarks" / "gpu_worker.py", "--dry-run"],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("rmsnorm_rope batch=8,seq=2048,hidden=4096,head_dim=64 bf16", out.stdout)
        self.assertIn("268967936 bytes, 4 sets", out.stdout)

    def test_ratios_are_medians_of_pairs(self):
        found = worker.ratio([1.0] * 9, [2.0] * 9)
        self.assertEqual(found, {"median": 2.0, "low": 2.0, "high": 2.0})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
