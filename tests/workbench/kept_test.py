# SPDX-License-Identifier: MIT
# tests/workbench/kept_test.py: nothing that was measured is lost: files that cannot be written,
# Ctrl-C, kill -9, and a terminal of 80 columns.
import csv
import json
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MISBEHAVING = sys.argv[1], sys.argv[2]
QUICK = ["--rounds", "2", "--slice-ms", "1"]
# Case after case until it is stopped; each is done in a moment.
ENDLESS = ["bench", "silu", "--shape", "n=1..4000:+1", "--backend", "cpu,scalar", *QUICK]


def settings(env=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NEREID_") and k != "NO_COLOR"}
    return {**kept, "TERM": "xterm", **(env or {})}


def run(*arguments, env=None, **more):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=settings(env),
                          timeout=300, stdin=subprocess.DEVNULL, **more)


def start(*arguments):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=settings(), stdin=subprocess.DEVNULL, start_new_session=True)


def children(pid):
    """Processes whose parent it is."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if name.isdigit() and int(fields[1]) == pid:
            found.append(int(name))
    return found


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def until(self, condition, what):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("never: " + what)

    def rows(self, name):
        with open(self.path(name)) as file:
            return json.load(file)["results"]

    def no_other_files(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))


class BeforeTheRun(Test):
    """A file that cannot be written is known before anything is measured."""

    def refused(self, arguments, *words, code=1):
        for verb in (["bench", "silu", *QUICK], ["check", "silu"]):
            out = run(*verb, "--shape", "n=64", "--backend", "cpu", *arguments)
            self.assertEqual(out.returncode, code, out.stderr)
            self.assertEqual(out.stdout, "")
            for word in words:
                self.assertIn(word, out.stderr)

    def test_files_that_cannot_be(self):
        for flag in ("--json", "--csv", "--md", "--html"):
            self.refused([flag, "/no/such/folder/a"], "/no/such/folder/a", "No such file")
            self.refused([flag, self.folder], self.folder, "a folder", code=2)
        self.no_other_files()

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_files_that_must_not_be(self):
        with open(self.path("old.json"), "w") as file:
            file.write("{}")
        os.chmod(self.path("old.json"), stat.S_IRUSR)
        self.refused(["--json", self.path("old.json")], "Permission denied")
        os.chmod(self.folder, stat.S_IRUSR | stat.S_IXUSR)
        self.refused(["--json", self.path("new.json")], "Permission denied")
        os.chmod(self.folder, stat.S_IRWXU)

    def test_demo(self):
        with open(self.path("file"), "w"):
            pass
        for folder in ("/proc/nothing", self.path("file")):
            out = run("demo", "--out", folder)
            self.assertEqual(out.returncode, 1)
            self.assertIn(folder, out.stderr)
            self.assertEqual(out.stdout, "")

    def test_two_reports_in_one_place(self):
        self.refused(["--json", self.path("a"), "--csv", os.path.join(self.folder, ".", "a")],
                     "--json", "--csv", code=2)
        self.refused(["--json", "--csv"], "standard output", code=2)

    def test_a_mistake_leaves_nothing(self):
        out = run("bench", "no_such_operator", "--json", self.path("a.json"))
        self.assertEqual(out.returncode, 2)
        self.no_other_files()

    def test_an_older_result_stays_until_there_is_a_new_one(self):
        for content in ("old", None):
            if content:
                with open(self.path("a.json"), "w") as file:
                    file.write(content)
            else:
                os.remove(self.path("a.json"))
            # Its only kernel hangs, so that no row comes.
            process = start("--plugin", MISBEHAVING, "bench", "sigmoid", "--shape", "n=64", "--backend",
                            "misbehaving", "--json", self.path("a.json"))
            self.until(lambda: children(process.pid), "a worker")
            time.sleep(0.5)
            process.kill()
            process.communicate()
            with open(self.path("a.json")) as file:
                text = file.read()
            if content:
                self.assertEqual(text, content)
            else:
                self.assertEqual(json.loads(text)["results"], [])
                self.assertFalse(json.loads(text)["complete"])


class WhileItRuns(Test):
    def test_rows_are_shown_and_written_as_they_come(self):
        names = ["a.json", "a.csv", "a.md", "a.html"]
        flags = [word for name in names for word in ("--" + name[2:], self.path(name))]
        process = start(*ENDLESS, *flags)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        shown = [process.stdout.readline() for _ in range(8)]
        self.assertTrue(any(line.startswith("silu n=1 ") for line in shown), shown)
        self.until(lambda: len(self.rows("a.json")) > 6, "rows in the file")
        process.kill()
        process.wait()
        self.assertGreater(len(self.rows("a.json")), 6)
        with open(self.path("a.csv")) as file:
            self.assertGreater(len(list(csv.DictReader(file))), 4)
        with open(self.path("a.md")) as file:
            self.assertIn("| silu n=1 ", file.read())
        with open(self.path("a.html")) as file:
            self.assertTrue(file.read().rstrip().endswith("</html>"))

    def test_csv_and_markdown_come_row_by_row_on_standard_output(self):
        for flag, begin in (("--csv", "silu,n=1,"), ("--md", "| silu n=1 ")):
            process = start(*ENDLESS, flag)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.stderr.close)
            lines = [process.stdout.readline() for _ in range(8)]
            process.kill()
            process.wait()
            self.assertTrue(any(line.startswith(begin) for line in lines), lines)

    def test_kill_leaves_whole_files_and_no_worker(self):
        for delay in (0.0, 0.01, 0.03, 0.1, 0.2):
            process = start(*ENDLESS, "--json", self.path("a.json"))
            self.until(lambda: os.path.exists(self.path("a.json")) and self.rows("a.json"), "a row")
            time.sleep(delay)
            workers = children(process.pid)
            process.kill()
            process.communicate()
            self.assertGreater(len(self.rows("a.json")), 0)
            self.until(lambda: not any(map(lives, workers)), "the end of the workers")
            os.remove(self.path("a.json"))

    def test_content_goes_through_links_pipes_and_permissions(self):
        os.symlink("real.json", self.path("link.json"))
        with open(self.path("real.json"), "w"):
            pass
        os.chmod(self.path("real.json"), 0o640)
        out = run("bench", "silu", "--shape", "n=64", "--backend", "cpu", *QUICK, "--json", self.path("link.json"),
                  "--csv", "/dev/stderr", "--md", "/dev/null")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertEqual(len(self.rows("real.json")), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("real.json")).st_mode), 0o640)
        self.assertTrue(out.stderr.startswith("op,shape,"), out.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.no_other_files("real.json", "link.json")


class Interrupted(Test):
    def stop(self, process, number, group=False):
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted after", err)
        return out, err

    def test_what_was_measured_is_kept(self):
        for number, group in ((signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, False),
                              (signal.SIGINT, True)):
            process = start(*ENDLESS, "--json", self.path("a.json"), "--html", self.path("a.html"))
            self.until(lambda: os.path.exists(self.path("a.json")) and len(self.rows("a.json")) > 3, "rows")
            workers = children(process.pid)
            out, err = self.stop(process, number, group)
            with open(self.path("a.json")) as file:
                document = json.load(file)
            rows = document["results"]
            self.assertFalse(document["complete"])
            self.assertIn("interrupted after", document["environment"]["warnings"][-1])
            self.assertIn(f"{len(rows)} rows are kept", err)
            self.assertEqual({row["verdict"] for row in rows}, {"pass"}, rows)
            self.assertIn(f"silu {rows[-1]['shape']} ", out)
            with open(self.path("a.html")) as file:
                self.assertIn(rows[-1]["shape"], file.read())
            self.assertFalse(any(map(lives, workers)))
            os.remove(self.path("a.json"))

    def test_the_slices_of_the_case_in_hand_are_kept(self):
        process = start("bench", "silu", "--shape", "n=64", "--backend", "cpu,scalar", "--rounds", "1000",
                        "--slice-ms", "20", "--json")
        self.until(lambda: len(children(process.pid)) == 2, "both workers")
        time.sleep(3)
        out, _ = self.stop(process, signal.SIGINT)
        rows = json.loads(out)["results"]
        self.assertEqual([row["backend"] for row in rows], ["cpu", "scalar"])
        for row in rows:
            self.assertTrue(0 < len(row["slices_us"]) < 1000, row)
            self.assertIn(f"{len(row['slices_us'])} of 1000 slices", row["flags"])

    def test_a_worker_that_hangs_is_no_obstacle(self):
        process = start("--plugin", MISBEHAVING, "check", "sigmoid", "--shape", "n=64", "--backend",
                        "cpu,misbehaving", "--dtype", "f32", "--json")
        self.until(lambda: children(process.pid), "a worker")
        time.sleep(2)
        out, _ = self.stop(process, signal.SIGINT)
        self.assertEqual([row["backend"] for row in json.loads(out)["results"]], ["cpu"])

    def test_a_second_one_ends_it_at_once(self):
        process = start("--plugin", MISBEHAVING, "check", "sigmoid", "--shape", "n=64", "--backend", "misbehaving",
                        "--dtype", "f32")
        self.until(lambda: children(process.pid), "a worker")
        time.sleep(1)
        workers = children(process.pid)
        process.send_signal(signal.SIGINT)
        self.until(lambda: process.poll() is not None or "again" in os.read(process.stderr.fileno(), 1000).decode(),
                   "the announcement")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.until(lambda: not any(map(lives, workers)), "the end of the workers")


def on_terminal(*arguments, columns=80, env=None):
    """What the program writes to a terminal of so many columns."""
    import fcntl
    import struct
    import termios
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *arguments], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                               env=settings(env))
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(ours)
    process.wait()
    return text.decode()


class Terminals(Test):
    CASE = ["--plugin", MISBEHAVING, "bench", "softmax", "--shape", "rows=123456;cols=1,7", "--dtype", "bf16,bf16",
            "--backend", "cpu,scalar,autovec,misbehaving", "--threads", "2", *QUICK]

    def test_a_table_fits(self):
        texts = [run(*self.CASE).stdout]
        texts += [on_terminal(*self.CASE, columns=width, env={"NO_COLOR": "1"}) for width in (80, 60)]
        for text, width in zip(texts, (80, 80, 60)):
            lines = text.replace("\r\n", "\n").split("\n")
            table = [line for line in lines if "\033[K" not in line]
            self.assertTrue(any("backend" in line and "check" in line for line in table), text)
            for line in table:
                self.assertLessEqual(len(line), width, line)

    def test_a_wide_terminal_shows_more(self):
        wide = on_terminal(*self.CASE, columns=140, env={"NO_COLOR": "1"})
        for title in ("kernel", "bound", "max abs", "rel L2", "GB/s"):
            self.assertIn(title, wide)

    def test_colour(self):
        case = ["check", "silu", "--shape", "n=8", "--dtype", "f32"]
        self.assertIn("\033[32m", on_terminal(*case))
        self.assertIn("\033[32m", on_terminal(*case, env={"NO_COLOR": ""}))
        self.assertNotRegex(on_terminal(*case, env={"NO_COLOR": "1"}), "\033\\[[0-9]*m")
        self.assertNotIn("\033", on_terminal(*case, env={"TERM": "dumb"}))
        with open(self.path("a.json"), "w") as file:
            json.dump({"schema": 1, "environment": {}, "results": []}, file)
        self.assertNotIn("\033", on_terminal("compare", self.path("a.json"), self.path("a.json"),
                                             env={"TERM": "dumb"}))
        self.assertNotIn("\033", run(*case).stdout)


class Options(Test):
    def refused(self, *arguments, words=()):
        out = run(*arguments)
        self.assertEqual(out.returncode, 2, f"{arguments}: {out.stdout}{out.stderr}")
        self.assertEqual(out.stdout, "")
        for word in words:
            self.assertIn(word, out.stderr, arguments)
        self.assertNotRegex(out.stderr, "exception|type_error|what\\(\\)")

    def test_numbers_that_mean_nothing(self):
        odd = ["nan", "-nan", "inf", "-1", "0", "1e300", "", "x", "5x", " "]
        for value in odd:
            for verb in (["bench", "silu"], ["demo"]):
                self.refused(*verb, f"--slice-ms={value}", words=["--slice-ms"])
                self.refused(*verb, f"--rounds={value}", words=["--rounds"])
            for verb in (["bench", "silu"], ["check", "silu"], ["demo"]):
                self.refused(*verb, f"--timeout={value}", words=["--timeout"])
            for verb in (["bench", "silu"], ["check", "silu"], ["explain", "silu"], ["info", "--peaks"]):
                self.refused(*verb, f"--threads={value}", words=["--threads"])
        for value in ("nan", "-1", "1.5", "", "99999999999999999999"):
            self.refused("bench", "silu", f"--seed={value}", words=["--seed"])
        self.refused("bench", "silu", "--rounds=2.5", words=["--rounds"])
        self.refused("bench", "silu", "--threads=1,,x", words=["--threads"])
        self.refused("bench", "silu", "--threads=,", words=["--threads"])
        self.refused("bench", "silu", "--threads=99999999999", words=["--threads"])
        with open(self.path("a.json"), "w") as file:
            json.dump({"schema": 1, "results": []}, file)
        for value in ("nan", "-3%", "inf", "%", "", "3%%"):
            self.refused("compare", self.path("a.json"), self.path("a.json"), f"--tolerance={value}",
                         words=["--tolerance"])

    def test_a_plugin_of_this_folder_needs_no_path(self):
        name = os.path.basename(MISBEHAVING)
        out = run("--plugin", name, "backends", cwd=os.path.dirname(MISBEHAVING))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("misbehaving", out.stdout)
        out = run("--plugin", name, "bench", "softmax", "--shape", "rows=4,cols=8", "--backend", "misbehaving",
                  *QUICK, "--json", cwd=os.path.dirname(MISBEHAVING))
        self.assertEqual(json.loads(out.stdout)["results"][0]["verdict"], "fail", out.stdout)
        out = run("backends", cwd=os.path.dirname(MISBEHAVING), env={"NEREID_PLUGINS": name})
        self.assertIn("misbehaving", out.stdout)
        self.assertEqual(run("--plugin", name, "backends", cwd=self.folder).returncode, 2)

    def test_explain_speaks_of_what_matters(self):
        out = run("explain", "silu", "--shape", "n=100").stdout
        self.assertIn("openblas", out)
        for name in ("cuda", "cublaslt", "cudnn", "copy", "one_scale"):
            self.assertNotRegex(out, rf"(?m)^  . {name} ")
        named = run("explain", "silu", "--shape", "n=100", "--backend", "cuda").stdout
        self.assertIn("device of the operands", named)
        on_device = run("explain", "relu", "--shape", "n=100", "--device", "cuda").stdout
        self.assertRegex(on_device, r"(?m)^  . cuda ")
        self.assertNotIn("openblas", on_device)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
