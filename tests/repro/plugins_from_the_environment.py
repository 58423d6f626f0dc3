# SPDX-License-Identifier: MIT
# tests/repro/plugins_from_the_environment.py: a worker loaded the libraries of NEREID_PLUGINS
# twice (once as arguments), refused the second, and every row of the plug-in was skipped.
import json
import os
import subprocess
import sys

program, plugin = sys.argv[1:3]
done = subprocess.run([program, "check", "softmax", "--backend", "misbehaving", "--dtype", "f32", "--json"],
                      capture_output=True, text=True, check=False,
                      env={**os.environ, "NEREID_PLUGINS": plugin})
verdicts = [row["verdict"] for row in json.loads(done.stdout)["results"]]
assert verdicts and all(v == "fail" for v in verdicts), (verdicts, done.stderr)
