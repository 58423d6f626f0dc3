# SPDX-License-Identifier: MIT
# benchmarks/torch_worker.py: our operators beside PyTorch's, eager and compiled, in one process.
#
#   torch_worker.py LIBNEREID.so LIBREPEAT.so [--ops a,b] [--threads 1,2] [--json FILE]
#
# Slices of at least 20 ms, ours, eager, compiled in turn, ten rounds; ratios are medians over the
# rounds of paired slices. PyTorch gets its best settings: outputs are given where it takes them
# (out=), freed memory is kept by malloc, in huge pages.
import argparse
import ctypes
import json
import os
import platform
import statistics
import sys
import time

MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "4294967296",
          "MALLOC_TOP_PAD_": "268435456", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
if any(os.environ.get(k) != v for k, v in MALLOC.items()):
    os.environ.update(MALLOC)
    os.execv(sys.executable, [sys.executable, *sys.argv])

import torch  # noqa: E402: after the environment is set
import torch.nn.functional as F  # noqa: E402

from nereid_c import DTYPES, Attribute, Call, Error, Operand, Tensor  # noqa: E402

SLICE_S = 0.02
# Threads of the slice before keep spinning for some milliseconds and would take a core from this one.
IDLE_S = 0.02
ROUNDS = 10
# Elements: L1, L2, L3, DRAM for f32 of one input and one output.
SIZES = {"L1": 2048, "L2": 65536, "L3": 1 << 20, "DRAM": 1 << 24}
COLS = 2048
CPU = 0


class Nereid:
    """A plan of our library, run through a loop in C."""

    def __init__(self, library, repeat):
        self.lib = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.lib.nereid_last_error.restype = ctypes.POINTER(Error)
        self.lib.nereid_plan_workspace.restype = ctypes.c_size_t
        self.lib.nereid_plan_workspace.argtypes = [ctypes.c_void_p]
        self.repeat = ctypes.CDLL(repeat).bench_repeat
        self.repeat.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p,
                                ctypes.c_size_t, ctypes.c_int32, ctypes.c_int64]

    def runner(self, op, operands, attributes, threads):
        tensors = []
        for value in operands.values():
            sizes = (ctypes.c_int64 * max(1, value.dim()))(*value.shape)
            dtype = DTYPES[str(value.dtype).removeprefix("torch.")]
            tensors.append(Tensor(ctypes.sizeof(Tensor), 0, value.data_ptr(), dtype, value.dim(),
                                  sizes, None, CPU, 0))
        names = [name.encode() for name in operands]
        list_ = (Operand * len(names))(*[Operand(n, ctypes.pointer(t)) for n, t in zip(names, tensors)])
        options = (Attribute * max(1, len(attributes)))(
            *[Attribute(k.encode(), None, float(v)) for k, v in attributes.items()])
        call = Call(ctypes.sizeof(Call), threads, op.encode(), list_, options, len(names),
                    len(attributes), None, None, None)
        plan = ctypes.c_void_p()
        if self.lib.nereid_prepare(None, ctypes.byref(call), ctypes.byref(plan)) != 0:
            raise RuntimeError(self.lib.nereid_last_error().contents.message.decode())
        pointers = (ctypes.c_void_p * len(names))(*[v.data_ptr() for v in operands.values()])
        bytes_ = self.lib.nereid_plan_workspace(plan)
        memory = torch.empty(bytes_ + 64, dtype=torch.uint8)
        workspace = (memory.data_ptr() + 63) // 64 * 64
        keep = (tensors, list_, options, names, memory, pointers)

        def run(times):
            status = self.repeat(plan, pointers, len(names), workspace, bytes_, threads, times)
            if status != 0:
                raise RuntimeError(self.lib.nereid_last_error().contents.message.decode())
            return keep

        return run


def repeated(function):
    def run(times):
        for _ in range(times):
            function()
    return run


def softmax_case(x, out):
    return lambda: torch.softmax(x, -1, out=out), lambda: torch.softmax(x, -1)


def cases(n):
    """op -> (operands, attributes, eager, the same as a function to compile)."""
    x, y, z = torch.randn(n), torch.randn(n), torch.randn(n)
    out = torch.empty(n)
    rows = max(1, n // COLS)
    mx, mo = torch.randn(rows, COLS), torch.empty(rows, COLS)
    w, b = torch.randn(COLS), torch.randn(COLS)
    scalar = torch.empty(())
    index = torch.empty(rows, dtype=torch.int32)
    pair = {"x": x, "y": y, "out": out}
    unary = {"x": x, "out": out}
    gated = {"gate": x, "up": y, "out": out}
    tokens, heads, dim = max(1, n // 512), 8, 64
    rx, ro = torch.randn(tokens, heads, dim), torch.empty(tokens, heads, dim)
    cos, sin = torch.randn(tokens, dim), torch.randn(tokens, dim)

    def rope():
        half = dim // 2
        turned = torch.cat((-rx[..., half:], rx[..., :half]), -1)
        return rx * cos[:, None] + turned * sin[:, None]

    def rms():
        return F.rms_norm(mx, (COLS,), w, 1e-6)

    return {
        "vec_add": (pair, {}, lambda: torch.add(x, y, out=out), lambda: x + y),
        "vec_mul": (pair, {}, lambda: torch.mul(x, y, out=out), lambda: x * y),
        "vec_scale": (unary, {"scale": 0.5}, lambda: torch.mul(x, 0.5, out=out), lambda: x * 0.5),
        "vec_axpy": (pair, {"a": 2}, lambda: torch.add(y, x, alpha=2, out=out), lambda: y + 2 * x),
        "vec_dot": ({"x": x, "y": y, "out": scalar}, {}, lambda: torch.dot(x, y), lambda: (x * y).sum()),
        "vec_sum": ({"x": x, "out": scalar}, {}, lambda: torch.sum(x), lambda: x.sum()),
        "vec_max": ({"x": x, "out": scalar}, {}, lambda: torch.max(x), lambda: x.max()),
        "exp": (unary, {}, lambda: torch.exp(x, out=out), lambda: torch.exp(x)),
        "tanh": (unary, {}, lambda: torch.tanh(x, out=out), lambda: torch.tanh(x)),
        "sigmoid": (unary, {}, lambda: torch.sigmoid(x, out=out), lambda: torch.sigmoid(x)),
        "relu": (unary, {}, lambda: torch.clamp(x, min=0, out=out), lambda: F.relu(x)),
        "silu": (unary, {}, lambda: F.silu(x), lambda: F.silu(x)),
        "gelu": (unary, {}, lambda: F.gelu(x), lambda: F.gelu(x)),
        "gelu_tanh": (unary, {}, lambda: F.gelu(x, approximate="tanh"),
                      lambda: F.gelu(x, approximate="tanh")),
        "swiglu": (gated, {}, lambda: F.silu(x) * y, lambda: F.silu(x) * y),
        "softmax": ({"x": mx, "out": mo}, {}, *softmax_case(mx, mo)),
        "rms_norm": ({"x": mx, "w": w, "out": mo}, {"eps": 1e-6}, rms, rms),
        "layer_norm": ({"x": mx, "w": w, "b": b, "out": mo}, {"eps": 1e-6},
                       lambda: F.layer_norm(mx, (COLS,), w, b, 1e-6),
                       lambda: F.layer_norm(mx, (COLS,), w, b, 1e-6)),
        "rope": ({"x": rx, "cos": cos, "sin": sin, "out": ro}, {}, rope, rope),
        "argmax": ({"x": mx, "index": index}, {}, lambda: torch.argmax(mx, -1),
                   lambda: torch.argmax(mx, -1)),
    }


def time_of(run, times):
    start = time.perf_counter()
    run(times)
    return (time.perf_counter() - start) / times


def measure(runs):
    """Median seconds a call of each, and of each round."""
    counts = {}
    for name, run in runs.items():
        run(3)
        counts[name] = max(1, int(SLICE_S / max(1e-9, time_of(run, 3))))
        counts[name] = max(1, int(SLICE_S / max(1e-9, time_of(run, counts[name]))))
    samples = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            time.sleep(IDLE_S)
            run(max(1, counts[name] // 4))
            samples[name].append(time_of(run, counts[name]))
    return samples


def check(ours, theirs, op):
    got, want = ours.double().flatten(), theirs.double().flatten()
    error = ((got - want).abs().max() / want.abs().max().clamp(min=1)).item()
    # Sums of 16 million f32 in two orders.
    if not error < 5e-3:
        raise RuntimeError(f"{op}: ours and PyTorch's differ by {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("repeat")
    parser.add_argument("--ops", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--json")
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()
    nereid = Nereid(args.library, args.repeat)
    results = []
    for size in args.sizes.split(","):
        for threads in map(int, args.threads.split(",")):
            torch.set_num_threads(threads)
            for op, (operands, attributes, eager, function) in cases(SIZES[size]).items():
                if args.ops and op not in args.ops.split(","):
                    continue
                ours = nereid.runner(op, operands, attributes, threads)
                ours(1)
                check(list(operands.values())[-1], eager(), op)
                runs = {"nereid": ours, "eager": repeated(eager)}
                if not args.no_compile:
                    runs["compiled"] = repeated(torch.compile(function))
                samples = measure(runs)
                row = {"op": op, "size": size, "threads": threads,
                       "us": {k: statistics.median(v) * 1e6 for k, v in samples.items()}}
                row["ratio"] = {k: statistics.median(t / o for t, o in zip(v, samples["nereid"]))
                                for k, v in samples.items() if k != "nereid"}
                results.append(row)
                text = "  ".join(f"{k} {v:9.2f} us" for k, v in row["us"].items())
                ratios = "  ".join(f"{k} {v:5.2f}x" for k, v in row["ratio"].items())
                print(f"{size:5} {threads}T {op:12} {text}   {ratios}", flush=True)
    if args.json:
        environment = {"torch": torch.__version__, "python": platform.python_version(),
                       "cpu": torch.backends.cpu.get_cpu_capability(), "malloc": MALLOC}
        with open(args.json, "w") as file:
            json.dump({"schema": 1, "environment": environment, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
