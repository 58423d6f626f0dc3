# SPDX-License-Identifier: MIT
# benchmarks/tables.py: writes the tables of docs/performance*.md and of both READMEs from
# benchmarks/results/.
#
#   tables.py [--check]      --check: only says whether the pages are what the results give
#
# A table stands between <!-- table NAME --> and <!-- end -->; NAME is a function below and its
# files: `operators zen4`, `torch emerald_rapids`. Those of a GPU are empty where there are no files.
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [*sorted((ROOT / "docs").glob("performance*.md")), ROOT / "README.md", ROOT / "README.zh.md"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def time_text(us):
    if us < 1:
        return f"{1000 * us:.0f} ns"
    return f"{us:.3g} µs" if us < 1000 else f"{us / 1000:.3g} ms"


def grid(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def operators(device):
    """Every case of `nereid bench`: our time, and theirs over ours."""
    rows, means = [], {}
    for path in sorted(RESULTS.glob(f"{device}-operators*.json")):
        cases = {}
        for row in json.loads(path.read_text())["results"]:
            key = (row["op"], row["shape"], row["dtype"], row["threads"])
            cases.setdefault(key, {})[row["backend"]] = row
        for (op, shape, dtype, threads), by in cases.items():
            ours = by.get("cpu", {}).get("median_us")
            if not ours:
                continue
            cells = []
            for peer in ("autovec", "onednn"):
                ratio = speed_up(by["cpu"], by.get(peer))
                cells.append(times(ratio))
                if ratio:
                    means.setdefault(peer, []).append(ratio)
            roof = by["cpu"].get("percent_of_roofline")
            rows.append([f"`{op}`", shape, dtype, str(threads), time_text(ours),
                         f"{roof:.0f} %" if roof else "", *cells])
    if not rows:
        return "No results."
    rows.append(["geometric mean", "", "", "", "", "",
                 *[f"**{geometric_mean(means[p]):.2f}**" if p in means else "" for p in ("autovec", "onednn")]])
    return grid(["operator", "shape", "dtype", "threads", "`cpu`", "of the roof", "autovec", "oneDNN"], rows)


def products(device):
    """Products of `nereid bench`: our time and rate, and theirs over ours."""
    peers = ("openblas", "blis", "mkl", "onednn")
    rows, means, best = [], {}, []
    for path in sorted(RESULTS.glob(f"{device}-products*.json")):
        cases = {}
        for row in json.loads(path.read_text())["results"]:
            key = (row["op"], row["shape"], row["dtype"], row["threads"], row["cache"])
            cases.setdefault(key, {})[row["backend"]] = row
        for (op, shape, dtype, threads, cache), by in cases.items():
            ours = by.get("cpu", {}).get("median_us")
            if not ours:
                continue
            found = {p: speed_up(by["cpu"], by.get(p)) for p in peers}
            ratios = {p: ratio for p, ratio in found.items() if ratio}
            for peer, ratio in ratios.items():
                means.setdefault(peer, []).append(ratio)
            if ratios:
                best.append(min(ratios.values()))
            rows.append([f"`{op}`", shape, dtype, str(threads), cache, time_text(ours),
                         f"{by['cpu']['gflops']:.0f}",
                         *[f"{ratios[p]:.2f}" if p in ratios else "" for p in peers]])
    if not rows:
        return "No results."
    rows.append(["geometric mean", "", "", "", "", "", f"best of them **{geometric_mean(best):.2f}**" if best else "",
                 *[f"**{geometric_mean(means[p]):.2f}**" if p in means else "" for p in peers]])
    return grid(["operator", "shape", "dtype", "threads", "cache", "`cpu`", "GFLOP/s", "OpenBLAS", "BLIS",
                 "MKL", "oneDNN"], rows)


def torch(device):
    """Times of torch_worker.py: PyTorch's over ours."""
    rows, means = [], {}
    for path in sorted(RESULTS.glob(f"{device}-torch*.json")):
        for row in json.loads(path.read_text())["results"]:
            cells = [f"{row['ratio'][k]:.2f}" if k in row["ratio"] else "" for k in ("eager", "compiled")]
            for k, v in row["ratio"].items():
                means.setdefault(k, []).append(v)
            rows.append([f"`{row['op']}`", row["size"], str(row["threads"]),
                         time_text(row["us"]["nereid"]), *cells])
    if not rows:
        return "No results."
    rows.append(["geometric mean", "", "", "",
                 *[f"**{geometric_mean(means[k]):.2f}**" if k in means else "" for k in ("eager", "compiled")]])
    return grid(["operator", "size", "threads", "`cpu`", "eager", "compiled"], rows)


def gpu_results(device, op):
    """The document, and its rows by case: {identity: {backend: row}}."""
    path = RESULTS / f"{device}-{op}.json"
    if not path.exists():
        return None, {}
    document, cases = json.loads(path.read_text()), {}
    for row in document["results"]:
        if row.get("median_us"):
            key = (row["op"], row["shape"], row["dtype"], row["options"], row["regime"])
            cases.setdefault(key, {})[row["backend"]] = row
    return document, cases


def speed_up(ours, theirs):
    """Their time over ours, the median over paired slices; None where one was not timed."""
    if not ours or not theirs:
        return None
    pairs = sorted(t / o for o, t in zip(ours["slices_us"], theirs["slices_us"]))
    if not pairs:
        return None
    middle = len(pairs) // 2
    return pairs[middle] if len(pairs) % 2 else (pairs[middle - 1] + pairs[middle]) / 2


def times(value):
    return f"{value:.2f}" if value else ""


def percent(value):
    return f"{100 * value:.0f} %" if value else ""


def figure(row, key, form):
    return form.format(row[key]) if row.get(key) is not None else ""


def machine(device, document):
    facts = next(iter(document["environment"].get("devices", {}).values()), None)
    if not facts:
        return device
    measured, nominal = facts["measured"], facts["nominal"]
    copy = ", ".join(f"{p['gbps']:.0f} GB/s at {p['bytes'] / 2 ** 20:.0f} MiB" for p in measured["copy"])
    read = ", ".join(f"{p['gbps']:.0f} at {p['bytes'] / 2 ** 20:.0f} MiB" for p in measured["read"])
    product = f"{(measured['fp8_gflops'] or 0) / 1e3:.0f} TFLOPS in 8 bits, {(measured['half_gflops'] or 0) / 1e3:.0f} in bf16"
    return (f"{facts['name']}, driver {facts['driver']}, {facts['runtime']}, {facts['power_limit_watts'] or 0:.0f} W, "
            f"{document['environment'].get('date', '')[:10]}. Nominal: {nominal['memory_gbps']:.0f} GB/s, "
            f"{(nominal['fp8_gflops'] or 0) / 1e3:.0f} TFLOPS in 8 bits at {facts['max_sm_mhz'] or 0:.0f} MHz. "
            f"Measured in the same run: copy {copy}; read {read}; a product of {measured['product']}: {product}.")


def of_copy(by):
    """Our rate by that of the fastest copy that ran in the same process."""
    found = [speed_up(by.get(ours), by.get(copy))
             for ours, copy in (("cuda", "copy"), ("cuda_ctypes", "torch_copy"))]
    return min((r for r in found if r), default=None)


def gpu_rows(device, op):
    """Operators that move memory: beside a copy of the same bytes, Triton and torch.compile."""
    document, cases = gpu_results(device, op)
    rows = []
    for (name, shape, dtype, options, regime), by in cases.items():
        ours, python = by.get("cuda"), by.get("cuda_ctypes")
        if not ours:
            continue
        rows.append([f"`{name}`", shape, dtype, options, time_text(ours["median_us"]),
                     figure(ours, "gbps", "{:.0f}"), figure(ours, "percent_of_nominal", "{:.0f} %"),
                     percent(of_copy(by)), times(speed_up(python, by.get("triton"))),
                     times(speed_up(python, by.get("torch_compile")))])
    return document, grid(["operator", "shape", "dtype", "options", "`cuda`", "GB/s", "of nominal",
                           "of a copy", "Triton", "torch.compile"], rows)


def gpu_products(device):
    document, cases = gpu_results(device, "fp8_gemm")
    rows = []
    for (name, shape, dtype, options, regime), by in cases.items():
        ours = by.get("cuda")
        if not ours:
            continue
        read = speed_up(ours, by.get("read"))
        rows.append([shape, options or "scales=tensor", regime, time_text(ours["median_us"]),
                     f"{ours['gflops'] / 1e3:.0f}", figure(ours, "percent_of_nominal", "{:.0f} %"),
                     figure(ours, "percent_of_clock_peak", "{:.0f} %"), figure(ours, "sm_clock_mhz", "{:.0f}"),
                     figure(ours, "watts", "{:.0f}"), times(speed_up(ours, by.get("cublaslt"))),
                     times(1 / read if read else None), times(speed_up(ours, by.get("one_scale")))])
    return document, grid(["shape", "options", "regime", "`cuda`", "TFLOPS", "of nominal", "of the clock's peak",
                           "MHz", "W", "cuBLASLt", "time over a read", "one scale"], rows)


def gpu(device):
    """The whole section of a GPU, or nothing."""
    parts = []
    for op, title in (("rmsnorm_rope", "RMSNorm and RoPE"), ("decode", "One token and 64"),
                      ("fp8_quantize", "Quantising to 8 bits"), ("fp8_gemm", "Products of 8-bit floats")):
        document, table = gpu_products(device) if op == "fp8_gemm" else gpu_rows(device, op)
        if document is None:
            continue
        parts.append(f"## {title}\n\n{machine(device, document)}\n\n{table}")
    return "\n\n".join(parts)


SUMMARY = {
    "en": ("On an {device}, random data, both in one process and in turn, scales of tensors or of rows and columns:",
           "- RMSNorm with RoPE in one launch: {low:.0f} to {high:.0f} GB/s, {worst} to {best} of a copy of the same bytes.",
           "- 8-bit products, {mode}: {mean:.2f} times as fast as cuBLASLt ({low:.2f} to {high:.2f} over {count} cases).",
           {"fast": "fast", "precise": "precise"}),
    "zh": ("{device}，随机数据，双方在同一进程中交替运行，缩放因子按张量或按行列：",
           "- RMSNorm 与 RoPE 一次启动完成：{low:.0f} 至 {high:.0f} GB/s，为复制同样字节数的速度的 {worst} 至 {best}。",
           "- 8 位矩阵乘，{mode}：速度为 cuBLASLt 的 {mean:.2f} 倍（{count} 个算例中为 {low:.2f} 至 {high:.2f} 倍）。",
           {"fast": "快速累加", "precise": "精确累加"}),
}


def gpu_summary(device, language="en"):
    """What README says of a GPU, or nothing."""
    head, rows_line, product_line, modes = SUMMARY[language]
    lines = []
    _, rows = gpu_results(device, "rmsnorm_rope")
    rates = [by["cuda"]["gbps"] for by in rows.values() if by.get("cuda")]
    copies = [c for c in map(of_copy, rows.values()) if c]
    if rates and copies:
        lines.append(rows_line.format(low=min(rates), high=max(rates), worst=percent(min(copies)),
                                      best=percent(max(copies))))
    _, products = gpu_results(device, "fp8_gemm")
    for mode, word in modes.items():
        ratios = [r for (_, shape, _, options, _), by in products.items()
                  if ("accumulate=fast" in options) == (mode == "fast") and "block" not in options
                  for r in [speed_up(by.get("cuda"), by.get("cublaslt"))] if r]
        if ratios:
            lines.append(product_line.format(mode=word, mean=geometric_mean(ratios), low=min(ratios),
                                             high=max(ratios), count=len(ratios)))
    return head.format(device=device.upper()) + "\n\n" + "\n".join(lines) if lines else ""


TABLES = {"operators": operators, "products": products, "torch": torch, "gpu": gpu, "gpu_summary": gpu_summary}


def filled(page):
    def replace(match):
        name, *files = match.group(1).split()
        return f"<!-- table {match.group(1)} -->\n{TABLES[name](*files)}\n<!-- end -->"
    return re.sub(r"<!-- table (.*?) -->\n.*?<!-- end -->", replace, page, flags=re.S)


def main():
    for path in PAGES:
        page = path.read_text()
        new = filled(page)
        if "--check" in sys.argv[1:]:
            if new != page:
                sys.exit(f"{path.name} is not what benchmarks/results give: run benchmarks/tables.py")
        else:
            path.write_text(new)


if __name__ == "__main__":
    main()
