# SPDX-License-Identifier: MIT
# benchmarks/gpu_worker.py: our kernels beside PyTorch's and Triton's on a GPU, in one process.
#
#   gpu_worker.py LIBNEREID.so [--cases FILE]... [--only triton,torch_compile] [--json FILE]
#   gpu_worker.py --dry-run [--cases FILE]...     lists the cases; needs neither torch nor a GPU
#
# A case file is one of benchmarks/cases/gpu_*.txt. Contenders run A B A B, ten rounds or more;
# ratios are medians over paired slices. Calls are replayed as CUDA graphs where they are short, so
# that nobody pays for Python; sets of operands rotate, so that each call finds the L2 cold. The
# result has the form of `nereid bench --json`; ours is called cuda_ctypes there, since it runs
# through nereid/c.h.
import argparse
import itertools
import json
import math
import pathlib
import platform
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_CASES = ["gpu_rmsnorm_rope.txt", "gpu_decode.txt", "gpu_fp8_quantize.txt"]
ROUNDS, SLICE_S = 10, 0.02
BATCH_US, REPLAYED_US = 1000.0, 1000.0
MOST_CALLS, MOST_SETS = 256, 8192
DTYPE_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "f8e4m3": 1}
OURS = "cuda_ctypes"
# What an operator does unless told; left out of a row's options, as the program does.
DEFAULTS = {"granularity": "tensor", "scales": "tensor", "accumulate": "precise"}


# --- Cases: text, no torch ---


def read_cases(path):
    """Each line of a case file as {op, shape, sizes, dtype, options}, every combination of sizes."""
    cases = []
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        op, shape, dtype, *rest = words
        options = {}
        for word in rest:
            for part in word.split(","):
                key, _, value = part.partition("=")
                options[key] = value
        for fixed in ("device", "regime", "data", "cache"):
            options.pop(fixed, None)
        keys = [clause.split("=") for clause in shape.split(";")]
        for values in itertools.product(*[v.split(",") for _, v in keys]):
            sizes = {k: int(v) for (k, _), v in zip(keys, values)}
            cases.append({"op": op, "sizes": sizes, "dtype": dtype, "options": options,
                          "shape": ",".join(f"{k}={v}" for k, v in sizes.items())})
    return cases


def input_word(case):
    return case["dtype"].split("->")[0].split(",")[0]


def bytes_of(case):
    """Bytes that the operator moves, each operand once: as the catalogue counts them."""
    s, width = case["sizes"], DTYPE_BYTES[input_word(case)]
    if case["op"] == "rmsnorm_rope":
        x = s["batch"] * s["seq"] * s["hidden"]
        return width * (2 * x + s["hidden"] + 2 * s["seq"] * s["head_dim"])
    if case["op"] == "fp8_quantize":
        scales = {"row": s["rows"], "tensor": 1}[case["options"]["granularity"]]
        return (width + 1) * s["rows"] * s["cols"] + 4 * scales
    raise ValueError(f"no contenders for {case['op']}")


def sets_of(case, l2_bytes):
    """Sets of operands that together lie well beyond the L2; at least four."""
    size = max(256, bytes_of(case))
    wanted = max(4, 1 + math.ceil(3 * l2_bytes / size))
    return min(wanted, max(2, int(12e9 // size)), MOST_SETS)


def options_text(case):
    return ",".join(f"{k}={v}" for k, v in sorted(case["options"].items()) if DEFAULTS.get(k) != v)


def case_text(case, regime="back_to_back"):
    return " ".join(filter(None, [case["op"], case["shape"], case["dtype"], options_text(case),
                                  f"cuda:0 cold {regime}"]))


# --- Operands and contenders ---


def operands(torch, case, device):
    """One set: the operands of the C call by their names."""
    s = case["sizes"]
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[input_word(case)]
    if case["op"] == "rmsnorm_rope":
        shape = (s["batch"], s["seq"], s["hidden"])
        angles = torch.rand(s["seq"], s["head_dim"], device=device) * 6.2831853
        return {"x": torch.randn(shape, device=device, dtype=dtype),
                "weight": torch.randn(s["hidden"], device=device, dtype=dtype),
                "cos": angles.cos().to(dtype), "sin": angles.sin().to(dtype),
                "out": torch.empty(shape, device=device, dtype=dtype)}
    rows, cols = s["rows"], s["cols"]
    scales = (rows,) if case["options"]["granularity"] == "row" else ()
    return {"x": torch.randn(rows, cols, device=device, dtype=dtype),
            "q": torch.empty(rows, cols, device=device, dtype=torch.float8_e4m3fn),
            "scale": torch.empty(scales, device=device, dtype=torch.float32)}


def contenders(torch, kernels, case, sets, plan):
    """Name -> one call without arguments for each set."""
    calls = {OURS: [plan.bind(s) for s in sets]}
    if case["op"] == "rmsnorm_rope":
        compiled = torch.compile(kernels.rmsnorm_rope, dynamic=False)
        inputs = [(s["x"], s["weight"], s["cos"], s["sin"]) for s in sets]
        calls["triton"] = [lambda i=i, s=s: kernels.triton_rmsnorm_rope(*i, s["out"])
                           for i, s in zip(inputs, sets)]
        calls["torch_compile"] = [lambda i=i: compiled(*i) for i in inputs]
        calls["torch_eager"] = [lambda i=i: kernels.rmsnorm_rope(*i) for i in inputs]
    else:
        by_row = case["options"]["granularity"] == "row"
        function = kernels.quantize_rows if by_row else kernels.quantize_tensor
        compiled = torch.compile(function, dynamic=False)
        largest = torch.zeros((), device=sets[0]["x"].device, dtype=torch.float32)
        if by_row:
            calls["triton"] = [lambda s=s: kernels.triton_quantize_rows(s["x"], s["q"], s["scale"])
                               for s in sets]
        else:
            calls["triton"] = [lambda s=s: kernels.triton_quantize_tensor(s["x"], s["q"], s["scale"],
                                                                          largest) for s in sets]
        calls["torch_compile"] = [lambda s=s: compiled(s["x"]) for s in sets]
        calls["torch_eager"] = [lambda s=s: function(s["x"]) for s in sets]
    half = max(256, bytes_of(case) // 2)
    pairs = [(torch.empty(half, device=sets[0]["x"].device, dtype=torch.uint8),
              torch.empty(half, device=sets[0]["x"].device, dtype=torch.uint8)) for _ in sets]
    calls["torch_copy"] = [lambda p=p: p[1].copy_(p[0]) for p in pairs]
    return calls


def check(torch, kernels, case, one):
    """Ours, just computed in `one`, against PyTorch in f32."""
    if case["op"] == "rmsnorm_rope":
        want = kernels.rmsnorm_rope(*[one[k].float() for k in ("x", "weight", "cos", "sin")])
        error = (one["out"].float() - want).abs().max() / want.abs().max()
        limit = 2e-2 if input_word(case) != "f32" else 1e-4
    else:
        by_row = case["options"]["granularity"] == "row"
        q, scale = (kernels.quantize_rows if by_row else kernels.quantize_tensor)(one["x"])
        # A code may differ by a step where the quotient lies on a boundary.
        differs = (one["q"].view(torch.uint8).int() - q.view(torch.uint8).int()).abs()
        error = differs.max().float() / 2 + (one["scale"] - scale).abs().max() / scale.abs().max()
        limit = 0.51
    error = float(error)
    if not error <= limit:
        raise RuntimeError(f"{case_text(case)}: ours differs from PyTorch by {error:.3g}")
    return error


# --- Timing ---


class Timed:
    """One contender: batches of calls between two events, replayed as graphs where they are short."""

    def __init__(self, torch, name, calls):
        self.torch, self.name, self.calls = torch, name, calls
        self.turn = itertools.cycle(range(len(calls)))
        self.graphs, self.slices, self.samples = [], [], []
        for _ in range(3):
            self.calls[next(self.turn)]()
        torch.cuda.synchronize()
        self.batch = 1
        call_us = self.time_batch(8)
        self.batch = max(1, math.ceil(BATCH_US / call_us))
        self.timing = f"events around {self.batch} launches"
        if call_us < REPLAYED_US:
            self.record()

    def record(self):
        torch = self.torch
        self.batch = min(self.batch, MOST_CALLS)
        try:
            for _ in range(max(1, math.ceil(len(self.calls) / self.batch))):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    for _ in range(self.batch):
                        self.calls[next(self.turn)]()
                self.graphs.append(graph)
            self.replay = itertools.cycle(self.graphs)
            self.timing = f"events around a graph of {self.batch} calls"
        except RuntimeError as error:
            self.graphs = []
            self.timing += f", as no graph: {error}".splitlines()[0]
            torch.cuda.synchronize()

    def enqueue(self, count=None):
        if self.graphs and count is None:
            next(self.replay).replay()
            return
        for _ in range(count or self.batch):
            self.calls[next(self.turn)]()

    def time_batch(self, count=None):
        first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        self.enqueue(count)
        last.record()
        last.synchronize()
        return first.elapsed_time(last) * 1e3 / (count or self.batch)

    def slice(self, seconds):
        """Warms up for half as long, then samples; batches are enqueued ahead of the device."""
        end = time.perf_counter() + seconds / 2
        while time.perf_counter() < end:
            self.time_batch()
        samples, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            events = [self.torch.cuda.Event(enable_timing=True) for _ in range(17)]
            events[0].record()
            for event in events[1:]:
                self.enqueue()
                event.record()
            events[-1].synchronize()
            samples += [a.elapsed_time(b) * 1e3 / self.batch for a, b in zip(events, events[1:])]
        self.slices.append(statistics.median(samples))
        self.samples += samples


class Clocks:
    """SM clock and watts through NVML, where Python has it."""

    def __init__(self):
        try:
            import pynvml
            pynvml.nvmlInit()
            self.nvml, self.device = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
        except Exception:  # not installed, no driver library: figures that are not taken
            self.nvml = None

    def read(self):
        if self.nvml is None:
            return None, None
        return (self.nvml.nvmlDeviceGetClockInfo(self.device, self.nvml.NVML_CLOCK_SM),
                self.nvml.nvmlDeviceGetPowerUsage(self.device) / 1e3)


def percentile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(p * len(ordered)))]


def row_of(case, timed, info, clock, watts, error):
    median = statistics.median(timed.slices)
    return {"case": case_text(case), "op": case["op"], "shape": case["shape"], "dtype": case["dtype"],
            "options": options_text(case), "backend": timed.name, "isa": info.get("isa", "") if timed.name == OURS else "",
            "device": "cuda:0", "threads": 1, "ok": True, "verdict": "pass", "reason": "",
            "kernel": info.get("kernel", "") if timed.name == OURS else "", "note": "",
            "numerics": "", "cache": "cold", "regime": "back_to_back", "timing": timed.timing,
            "median_us": median, "p10_us": percentile(timed.samples, 0.1),
            "p90_us": percentile(timed.samples, 0.9), "slices_us": timed.slices,
            "bytes": bytes_of(case), "gbps": bytes_of(case) / median * 1e-3,
            "sm_clock_mhz": clock, "watts": watts, "max_rel": error if timed.name == OURS else None,
            "flags": []}


def ratio(ours, theirs):
    """Theirs over ours, slice by slice, with a bootstrap 95 % interval."""
    import random
    pairs = [t / o for o, t in zip(ours, theirs)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(pairs, k=len(pairs))) for _ in range(1000))
    return {"median": statistics.median(pairs), "low": medians[25], "high": medians[974]}


def measure(torch, kernels, library, case, args, clocks):
    device = torch.device("cuda:0")
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    attributes = {"eps": 1e-6} if case["op"] == "rmsnorm_rope" else dict(case["options"])
    first = operands(torch, case, device)
    sets = [first] + [{k: v.clone() for k, v in first.items()} for _ in range(sets_of(case, l2) - 1)]
    plan = library.plan(case["op"], first, attributes)
    plan.bind(first)()
    torch.cuda.synchronize()
    error = check(torch, kernels, case, first)
    calls = contenders(torch, kernels, case, sets, plan)
    chosen = [n for n in calls if n == OURS or not args.only or n in args.only.split(",")]
    timed = [Timed(torch, name, calls[name]) for name in chosen]
    readings = {t.name: [] for t in timed}
    for _ in range(args.rounds):
        for t in timed:
            t.slice(SLICE_S)
            readings[t.name].append(clocks.read())
    info = plan.describe()
    rows, ratios = [], []
    for t in timed:
        clock = [c for c, _ in readings[t.name] if c is not None]
        watts = [w for _, w in readings[t.name] if w is not None]
        rows.append(row_of(case, t, info, statistics.mean(clock) if clock else None,
                           statistics.mean(watts) if watts else None, error))
        if t.name != OURS:
            ratios.append({"case": case_text(case), "backend": OURS, "against": t.name,
                           **ratio(timed[0].slices, t.slices)})
    return rows, ratios


def failed_row(case, error):
    return {"case": case_text(case), "op": case["op"], "shape": case["shape"], "dtype": case["dtype"],
            "options": options_text(case), "backend": OURS, "isa": "", "device": "cuda:0", "threads": 1, "ok": False,
            "verdict": "error", "reason": str(error), "cache": "cold", "regime": "back_to_back",
            "median_us": None, "slices_us": [], "flags": []}


def environment(torch, triton, args):
    properties = torch.cuda.get_device_properties(0)
    return {"gpu": properties.name, "multiprocessors": properties.multi_processor_count,
            "l2_bytes": properties.L2_cache_size, "torch": torch.__version__,
            "triton": triton.__version__, "cuda": torch.version.cuda,
            "python": platform.python_version(), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "data": "randn, seed 1", "regime": "back_to_back, cold L2 by rotating operands",
            "rounds": args.rounds, "slice_ms": SLICE_S * 1e3, "command": " ".join(sys.argv)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", nargs="?")
    parser.add_argument("--cases", action="append")
    parser.add_argument("--only", default="", help="contenders beside ours, e.g. triton,torch_compile")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json")
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    cases = [case for path in args.cases or [HERE / "cases" / name for name in DEFAULT_CASES]
             for case in read_cases(path)]
    if args.dry_run:
        for case in cases:
            print(f"{case_text(case)}: {bytes_of(case)} bytes, {sets_of(case, 60 << 20)} sets")
        return
    if not args.library:
        parser.error("the path of libnereid.so is missing")
    import torch
    import triton
    sys.path.insert(0, str(HERE))
    import gpu_kernels
    import nereid_c
    torch.manual_seed(1)
    library, clocks = nereid_c.Library(args.library), Clocks()
    document = {"schema": 1, "environment": environment(torch, triton, args), "results": [], "ratios": []}
    for case in cases:
        try:
            rows, ratios = measure(torch, gpu_kernels, library, case, args, clocks)
        except RuntimeError as error:  # ours refused or was wrong, or memory ended: the others go on
            rows, ratios = [failed_row(case, error)], []
        document["results"] += rows
        document["ratios"] += ratios
        print(case_text(case), flush=True)
        for row in rows:
            if row["ok"]:
                print(f"  {row['backend']:14} {row['median_us']:10.2f} us {row['gbps']:8.0f} GB/s  {row['timing']}")
            else:
                print(f"  {row['reason']}")
        for r in ratios:
            print(f"  {r['median']:.2f}x {r['against']} [{r['low']:.2f}, {r['high']:.2f}]", flush=True)
        if args.json:  # after every case, so that what is done stays
            pathlib.Path(args.json).write_text(json.dumps(document, indent=1) + "\n")
        torch.cuda.empty_cache()
    sys.exit(0 if all(row["ok"] for row in document["results"]) else 1)


if __name__ == "__main__":
    main()
