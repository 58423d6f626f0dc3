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


def reports(sample):
    """The sample, and what pages break on: nothing, only failures, words without a break."""
    long = "x" * 300
    failed = dict(sample["results"][0], verdict="fail", ok=False, reason=long, median_us=None)
    hostile = json.loads(json.dumps(sample))
    hostile["environment"].update(cpu=long, command=long, warnings=[long], novel=long)
    for row in hostile["results"][:9]:
        row.update(op="op" * 40, backend=row["backend"] + "-" * 60, reason="</script>" + long)
    return {
        "sample": sample,
        "empty": {"schema": 1, "environment": {}, "results": []},
        "failed": {"schema": 1, "environment": {}, "results": [failed]},
        "hostile": hostile,
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


def faults(where, seen, dark, report):
    """What is wrong with one page, in words."""
    checks = [
        (not seen["problems"], f"errors {seen['problems']}"),
        (not seen["requests"], f"requests {seen['requests']}"),
        (seen["scroll"] <= seen["width"], f"page is {seen['scroll']} px in {seen['width']} px"),
        (not seen["wide"], f"over the edge: {seen['wide'][:5]}"),
        ("hostile" in where or not seen["cut"], f"cut off: {seen['cut'][:5]}"),
        ((seen["light"] < 0.2) == dark, f"background lightness {seen['light']:.2f}, dark={dark}"),
        ((seen["light_after"] < 0.2) != dark, "the theme button does nothing"),
        (seen["rows"] == len(report["results"]), f"{seen['rows']} rows in the table"),
        (seen["data"] == "object", "the embedded JSON does not parse"),
    ]
    if seen["rows"]:
        taken = [float(v) for v in seen["sorted"] if v is not None]
        checks += [
            (taken == sorted(taken), "sorting does not sort"),
            (all(v is None for v in seen["sorted"][len(taken):]), "rows without a time not last"),
            (set(seen["shown"]) == {seen["backend"]}, "the filter does not filter"),
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
        for title, report in cases.items():
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
            for title, report in cases.items():
                for width in WIDTHS:
                    key = f"{title}-{width}"
                    where = f"{key} {'dark' if dark else 'light'}"
                    wrong += faults(where, seen[key], dark, report) if key in seen else [
                        f"{where}: no answer"]
    print("\n".join(wrong) or f"{len(cases) * len(WIDTHS) * 2} pages are sound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
