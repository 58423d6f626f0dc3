#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# tests/workbench/report_html_render_test.py: what headless Chromium makes of the report.
"""usage: report_html_render_test.py MAKE REPORT.json

MAKE is the program report_html_make. Each page is shown at phone and at desktop width, in light
and in dark; a probe inside it reports what the browser made of it. Exits 77 (skipped) without a Chromium.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTHS = (390, 1400)

CATCH = """<script>window.problems = [];
localStorage.clear();
addEventListener('error', (e) => problems.push(String(e.message)));
addEventListener('unhandledrejection', (e) => problems.push(String(e.reason)));
addEventListener('securitypolicyviolation', (e) => problems.push('refused ' + e.blockedURI));
</script>"""

PROBE = """<script>addEventListener('load', () => {
  const boxes = '.scroll, pre, nav';
  const light = () => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
    return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
  };
  const name = (e) => e.tagName + '.' + (e.getAttribute('class') || e.id) + ' ' +
    (e.textContent || '').slice(0, 40);
  const out = { problems, scroll: document.documentElement.scrollWidth, width: innerWidth };
  out.wide = [...document.querySelectorAll('body *')]
    .filter((e) => !e.closest('svg') && !e.parentElement.closest(boxes))
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map(name);
  out.cut = [...document.querySelectorAll('figure svg text, .card svg text')].filter((e) => {
    const box = e.closest('figure, .card').getBoundingClientRect(), own = e.getBoundingClientRect();
    return own.right > box.right || own.left < box.left;
  }).map(name);
  out.requests = performance.getEntriesByType('resource').map((e) => e.name);
  out.light = light();
  document.getElementById('theme').click();
  out.light_after = light();
  document.getElementById('theme').click();
  const table = document.getElementById('table');
  out.rows = table ? table.tBodies[0].rows.length : 0;
  if (table) {
    const rows = () => [...table.tBodies[0].rows];
    const head = [...table.tHead.rows[0].cells].find((c) => c.textContent.startsWith('Median'));
    head.querySelector('button').click();
    out.sorted = rows().map((r) => r.cells[head.cellIndex].dataset.v ?? null);
    for (let i = 0; i < 2; ++i) head.querySelector('button').click();
    const select = document.getElementById('f-backend');
    select.value = select.options[1].value;
    select.dispatchEvent(new Event('input', { bubbles: true }));
    out.backend = select.value;
    out.shown = rows().filter((r) => !r.hidden).map((r) => r.dataset.backend);
  }
  out.text = document.querySelector('main').textContent.replace(/\\s+/g, ' ') + document.title;
  out.titles = [...document.querySelectorAll('svg title')].map((e) => e.textContent).join(' ');
  out.numbers = [...document.querySelectorAll('svg *')].flatMap((e) => [...e.attributes])
    .filter((a) => /NaN|Infinity|undefined/.test(a.value)).map((a) => a.name + '=' + a.value).slice(0, 5);
  out.images = document.querySelectorAll('img, script').length;
  out.bars = document.querySelectorAll('svg .bar.s0').length;
  out.badges = document.querySelectorAll('#failures .badge').length;
  out.data = typeof JSON.parse(document.getElementById('report-data').textContent);
  parent.postMessage(out, '*');
});</script>"""

WRAPPER = """<!DOCTYPE html><meta charset="utf-8"><body>{frames}<pre id="probe"></pre><script>
const found = {{}}, frames = [...document.querySelectorAll('iframe')];
addEventListener('message', (e) => {{
  found[frames.find((f) => f.contentWindow === e.source).id] = e.data;
  document.getElementById('probe').textContent = JSON.stringify(found);
}});
frames.forEach((f) => {{ f.src = f.dataset.src; }});
</script>"""


EVIL = "</script><script>alert(1)</script><img src=x onerror='problems.push(1)'>\"&<!--"


def row(backend, us, **more):
    case = f"silu {more.get('shape', 'n=4096')} f32 threads=1 warm"
    return {"op": "silu", "shape": "n=4096", "dtype": "f32", "options": "", "threads": 1, "cache": "warm",
            "device": "cpu", "backend": backend, "ok": True, "median_us": us, "verdict": "pass", "case": case,
            "slices_us": [us] * 3, **more}


def ratio(backend, against, median, low, high, shape="n=4096"):
    return {"case": f"silu {shape} f32 threads=1 warm", "backend": backend, "against": against, "median": median,
            "low": low, "high": high}


def report(rows, **more):
    return {"schema": 1, "environment": {}, "results": rows, **more}


def sweep_report():
    shapes = [(f"m={m},n={n}", m * n * 4) for m in (1, 7, 64) for n in (100, 2880, 4096, 11008)]
    rows, ratios, points = [], [], []
    for i, (shape, size) in enumerate(shapes):
        value = 0.4 + 0.1 * i
        rows += [row("cpu", 10, shape=shape, bytes=size, flops=2 * size),
                 row("mkl", 10 * value, shape=shape, bytes=size, flops=2 * size)]
        ratios.append(ratio("cpu", "mkl", value, value, value, shape))
        points.append({"case": rows[-1]["case"], "op": "silu", "backend": "cpu", "against": "mkl", "of_roof": False,
                       "ratio": value, "low": value, "high": value, "kernel": "k", "flops": 2 * size, "bytes": size})
    spread = {"count": 12, "worst": 0.4, "p10": 0.51, "median": 0.95, "geometric_mean": 0.88, "best": 1.5}
    worst = [{**points[0], "numerics": "plain", "why": "the first to accept", "command": "nereid bench silu --shape 'm=1'"}]
    return report(rows, ratios=ratios, sweep={"op": "silu", "seed": 7, "drawn": 12, "peers": spread,
                                              "roofs": {**spread, "count": 0}, "points": points, "worst": worst})


def reports(sample):
    """{name: (report, words that must be seen, words that must not)}; and what pages break on."""
    long = "x" * 300
    failed = dict(sample["results"][0], verdict="fail", ok=False, reason=long, median_us=None)
    hostile = json.loads(json.dumps(sample))
    hostile["environment"].update(cpu=long, command=long, warnings=[long], novel=long)
    for one in hostile["results"][:9]:
        one.update(op="op" * 40, backend=one["backend"] + "-" * 60, reason="</script>" + long)
    skipped = [one["reason"][:12] for one in sample["results"] if one["verdict"] == "skipped"]
    evil = dict.fromkeys(("op", "shape", "dtype", "options", "backend", "isa", "cache", "regime", "numerics", "reason",
                          "kernel", "bound", "first_bad_index", "threads", "device", "case"), EVIL)
    odd = row("cpu", 1, **dict.fromkeys(("median_us", "p10_us", "gflops", "slices_us", "flags", "bound"), {"not": "so"}))
    zero = row("cpu", 0, gflops=0, flops=0, bytes=0, l2_rel=0, shape="n=0", slices_us=[0, 0], p10_us=0, p90_us=0)
    over = [row("cpu", 1, shape="n=8192", flags=["over 100 % of the nominal roofline"]), row("onednn", 100, shape="n=8192")]
    pair = [row("cpu", 10), row("onednn", 20)]
    many = [row(backend, i * (1 if backend == "cpu" else 1 + i / 300), shape=f"n={1024 * i}")
            for i in range(1, 301) for backend in ("cpu", "onednn")]
    return {
        "sample": (sample, ["Speed-up", "Roofline, 1 thread", "Cases and backends", "Error", "Units in the last place",
                            "Time against size", "Measured arithmetic", *skipped], []),
        "empty": (report([]), ["Nothing was measured", "The report has no rows.", "There is nothing to draw."], []),
        "failed": (report([failed]), ["No row passed"], []),
        "hostile": (hostile, [], []),
        "nothing": ([], ["Nothing was measured"], []),
        "null": ({"results": None, "environment": None}, ["Nothing was measured"], []),
        "one": (report([row("cpu", 12.34)]), ["silu on cpu", "None: 1 row passed."], []),
        "wrong": (report([row("cpu", 5, verdict="fail", reason="zeros"),
                          row("openblas", None, verdict="error", reason="SIGILL")]), ["No row passed", "zeros", "SIGILL"], []),
        "slices": (report(pair), ["cpu is 2.00× as fast as onednn", "no list of ratios"], []),
        "mirrored": (report(pair, ratios=[ratio("onednn", "cpu", 0.5, 0.4, 0.625)]),
                     ["cpu is 2.00× as fast as onednn", "1.60× to 2.50×, 95 %", "Speed-ups are against cpu",
                      "0.50× 0.40–0.6"], []),
        "geomean": (report(pair + over, ratios=[ratio("cpu", "onednn", 2, 1.9, 2.1),
                                                ratio("cpu", "onednn", 100, 95, 105, "n=8192")]),
                    ["cpu is 2.00× as fast as onednn", "1.90× to 2.10×, 95 %", "Geometric mean of 1 case; 1 left out"], []),
        "odd": (report([odd, {key: None for key in odd}, 7, zero], ratios=[None, {"median": -1}, {"median": 1.5}])
                | {"environment": {"gpu": {"name": "none"}, "measured": [1, None], "warnings": "text", "nominal": 3}},
                ["name none"], ["NaN", "Infinity", "undefined", "[object"]),
        "evil": (report([row("cpu", 3) | evil, row("cpu", 3) | evil | {"verdict": "fail"}, *pair],
                        ratios=[{"case": EVIL, "backend": EVIL, "against": EVIL, "median": 2}])
                 | {"environment": {"cpu": EVIL, "command": EVIL, "warnings": [EVIL], EVIL: EVIL,
                                    "backends": [{"name": EVIL, "reason": EVIL}], "method": {"timer": EVIL}}}, [EVIL], []),
        "many": (report(many), ["The 48 slowest and fastest cases; 252 between them are in the table only."], []),
        "sweep": (sweep_report(), ["silu beside the best peer: median 0.95×, worst 0.40×", "0.51×",
                                   "Ratio over size", "Beside the best peer, m", "Beside the best peer, n", "The worst cases",
                                   "the first to accept", "nereid bench silu"], []),
    }


def chromium_dom(chromium, folder, dark):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
               f"--user-data-dir={folder}/profile", "--window-size=1600,1200",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}",
               "--virtual-time-budget=20000", "--dump-dom", (folder / "wrapper.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    if not match or not match.group(1):
        sys.exit(f"the browser gave no answer (exit {done.returncode}):\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(match.group(1)))


def bad(one):
    return not isinstance(one, dict) or one.get("verdict") != "pass"


def faults(where, seen, dark, report, must, must_not):
    """What is wrong with one page, in words."""
    rows = (report.get("results") if isinstance(report, dict) else None) or []
    checks = [
        (not seen["problems"], f"errors {seen['problems']}"),
        (not seen["requests"], f"requests {seen['requests']}"),
        (seen["scroll"] <= seen["width"], f"page is {seen['scroll']} px in {seen['width']} px"),
        (not seen["wide"], f"over the edge: {seen['wide'][:5]}"),
        ("hostile" in where or "evil" in where or not seen["cut"], f"cut off: {seen['cut'][:5]}"),
        ((seen["light"] < 0.2) == dark, f"background lightness {seen['light']:.2f}, dark={dark}"),
        ((seen["light_after"] < 0.2) != dark, "the theme button does nothing"),
        (seen["rows"] == len(rows), f"{seen['rows']} rows in the table"),
        (not seen["numbers"], f"drawn from no number: {seen['numbers']}"),
        (seen["images"] == 4, f"{seen['images']} scripts and images"),  # two of them ours
        (seen["bars"] <= 48, f"{seen['bars']} bars"),
        (seen["badges"] == sum(bad(one) for one in rows), f"{seen['badges']} failures and skips"),
        *[(" ".join(word.split()) in seen["text"], f"does not say '{word}'") for word in must],
        *[(word not in seen["text"] + seen["titles"], f"says '{word}'") for word in must_not],
        (seen["data"] == "object", "the embedded JSON does not parse"),
    ]
    if seen["rows"]:
        taken = [float(v) for v in seen["sorted"] if v is not None]
        checks += [
            (taken == sorted(taken), "sorting does not sort"),
            (all(v is None for v in seen["sorted"][len(taken):]), "rows without a time not last"),
            (set(seen["shown"]) <= {seen["backend"]}, "the filter does not filter"),
        ]
    return [f"{where}: {words}" for good, words in checks if not good]


def main():
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        print("SKIPPED: no Chromium on this machine (apt-get install chromium)")
        return 77
    make, sample_path = sys.argv[1:3]
    cases = reports(json.loads(pathlib.Path(sample_path).read_text(encoding="utf-8")))
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        frames = ""
        for title, (report, _, _) in cases.items():
            source, page = folder / f"{title}.json", folder / f"{title}.html"
            source.write_text(json.dumps(report), encoding="utf-8")
            subprocess.run([make, source, page], check=True)
            text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + CATCH, 1)
            page.write_text(text.replace("</body>", PROBE + "</body>", 1), encoding="utf-8")
            for width in WIDTHS:
                frames += (f'<iframe id="{title}-{width}" data-src="{page.as_uri()}" '
                           f'style="width:{width}px;height:900px;border:0"></iframe>')
        (folder / "wrapper.html").write_text(WRAPPER.format(frames=frames), encoding="utf-8")
        for dark in (False, True):
            seen = chromium_dom(chromium, folder, dark)
            for title, (report, must, must_not) in cases.items():
                for width in WIDTHS:
                    key = f"{title}-{width}"
                    where = f"{key} {'dark' if dark else 'light'}"
                    wrong += faults(where, seen[key], dark, report, must, must_not) if key in seen else [
                        f"{where}: no answer"]
    print("\n".join(wrong) or f"{len(cases) * len(WIDTHS) * 2} pages are sound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
