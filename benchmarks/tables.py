# SPDX-License-Identifier: MIT
# benchmarks/tables.py: writes the tables of docs/performance.md from benchmarks/results/.
#
#   tables.py [--check]      --check: only says whether the page is what the results give
#
# A table stands between <!-- table NAME --> and <!-- end -->; NAME is a function below and its
# files: `operators zen4`, `torch emerald_rapids`.
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"


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
                theirs = by.get(peer, {}).get("median_us")
                cells.append(f"{theirs / ours:.2f}" if theirs else "")
                if theirs:
                    means.setdefault(peer, []).append(theirs / ours)
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
            ratios = {p: by[p]["median_us"] / ours for p in peers if by.get(p, {}).get("median_us")}
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


TABLES = {"operators": operators, "products": products, "torch": torch}


def filled(page):
    def replace(match):
        name, *files = match.group(1).split()
        return f"<!-- table {match.group(1)} -->\n{TABLES[name](*files)}\n<!-- end -->"
    return re.sub(r"<!-- table (.*?) -->\n.*?<!-- end -->", replace, page, flags=re.S)


def main():
    page = PAGE.read_text()
    new = filled(page)
    if "--check" in sys.argv[1:]:
        if new != page:
            sys.exit("docs/performance.md is not what benchmarks/results give: run benchmarks/tables.py")
        return
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
