# SPDX-License-Identifier: MIT
# tests/package/check_docs.py: what the documents name must exist: paths, commands, flags, names.
"""usage: check_docs.py SOURCE_ROOT NEREID_PROGRAM

Checked in every document:
- relative links and their #anchors,
- paths in code spans and shell blocks that begin with a folder of the tree; `<x>` and `*` stand
  for anything, {a,b} for one of them, and a generated path under build/ is not looked up,
- `./run COMMAND`, `.ci/run STAGE`, `cmake --preset NAME` and `ctest --preset NAME`,
- `nereid VERB --flag` against `nereid VERB --help`, and the operator it names,
- names of the form NEREID_*: some file outside the documents must use them.
A word in capitals or with `…` in a command is a placeholder.

Checked in the comments of every source: the files and documents that they name are in the tree, by
their path or by a name that some file has.
"""
import fnmatch
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

REQUIRED = ["README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
MORE = ["CHANGELOG.md", "examples/README.md", "benchmarks/README.md", "docs/*.md"]
TOP_FOLDERS = {"src", "include", "tests", "docs", "cmake", "scripts", "benchmarks", "examples",
               "python", ".ci", ".github"}
SHELL = {"sh", "bash", "shell", "console", ""}

FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\s*\[[^\]]+\]:\s+(\S+)")
SPAN = re.compile(r"(`+)(.+?)\1")
PATH = re.compile(r"^[\w.<>*{},+-]+(/[\w.<>*{},+-]*)+$")
PLACEHOLDER = re.compile(r"^[A-Z][A-Z0-9_.]*$|…|\.\.\.|[<>\[\]]")
VARIABLE = re.compile(r"\bNEREID_[A-Z0-9_]*[A-Z0-9]\b(?!\*)")
SEPARATORS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"}
C_LIKE = {".c", ".h", ".cpp", ".cu", ".cuh"}
SCRIPTS = {".py", ".sh", ".cmake"}
COMMENT = {"c": re.compile(r"(?:^|[^:\"])//(.*)"), "script": re.compile(r"(?:^|\s)#(.*)")}
FILE_WORD = re.compile(r"^[\w.*{},/-]*[\w*}]\.(c|h|cpp|cu|cuh|py|sh|cmake|md|supp|map|txt)$")
ABROAD = re.compile(r"\b(SPEC|DESIGN)\b,?( section| decision)? \d")
# Of others: headers of systems and libraries, files that programs write.
ELSEWHERE = {"nereid/ops.h", "ops.h", "nereid/choices.h", "version.h", "prototypes.h",  # generated
             "asm/hwcap.h", "mkl_cblas.h", "oneapi/dnnl/dnnl_types.h", "dnnl_common_types.h",
             "perf-PID.map", "OUT.cpp", "SOURCE.cpp", "LISTING.txt"}
# Verbs whose first plain word is an operator of the catalogue.
OPERATOR_VERBS = {"bench", "check", "explain", "tune"}


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


class Tree:
    """What there is to name: files, presets, commands, verbs and flags."""

    def __init__(self, root, program):
        self.root, self.program = root, program
        presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {p["name"] for p in presets["configurePresets"] if not p.get("hidden")}
        _, self.run_help = output_of(str(root / "run"), "help")
        self.run_commands = set(re.findall(r"^  ([a-z]+)\b", self.run_help, re.M))
        self.setup_parts = set(re.findall(r"^ {20,}([a-z0-9]+)  ", self.run_help, re.M))
        ci = (root / ".ci/run").read_text(encoding="utf-8")
        self.ci_stages = set(re.findall(r"^stage_(\w+)\(\)", ci, re.M))
        self.stages = {p.name for p in (root / "src").iterdir() if p.is_dir()}

    @functools.lru_cache(maxsize=None)
    def verb_help(self, verb):
        status, text = output_of(self.program, verb, "--help")
        return text if status == 0 else None

    @functools.lru_cache(maxsize=None)
    def operators(self):
        return output_of(self.program, "ops")[1]

    @functools.lru_cache(maxsize=None)
    def variables(self):
        """Every NEREID_* that code, build files or scripts use."""
        names = set()
        files = [self.root / name for name in ("run", ".ci/run", "CMakeLists.txt",
                                               "CMakePresets.json", "pyproject.toml")]
        for folder in ("src", "include", "tests", "cmake", "scripts", "python", "examples"):
            files += (self.root / folder).rglob("*")
        for file in files:
            if file.is_file() and file.suffix not in (".md", ".pyc"):
                names.update(VARIABLE.findall(file.read_text(encoding="utf-8", errors="ignore")))
        return names

    def has(self, path):
        """Whether some file or folder fits the pattern, from the root (or include/, src/)."""
        for one in expand_braces(re.sub(r"<[^>]*>", "*", path).rstrip("/")):
            top = one.split("/")[0]
            base = {"nereid": "include/"}.get(top, "src/" if top in self.stages else "")
            if top in TOP_FOLDERS:
                base = ""
            if not any(self.root.glob(base + one)):
                return False
        return True

    def looks_like_path(self, word):
        if not PATH.match(word):
            return False
        top, last = word.split("/")[0], word.rstrip("/").split("/")[-1]
        if top in TOP_FOLDERS:
            return True
        return (top in self.stages or top == "nereid") and re.search(r"\.(c|h|cpp|cu|cuh)$", last)


def expand_braces(text):
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    return [one for choice in found[1].split(",")
            for one in expand_braces(text[:found.start()] + choice + text[found.end():])]


def slug(heading):
    """GitHub's anchor of a heading."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(path):
    found, fenced = set(), False
    for line in path.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := re.match(r"#+\s+(.*?)\s*#*$", line)):
            base = name = slug(heading[1])
            number = 0
            while name in found:
                number += 1
                name = f"{base}-{number}"
            found.add(name)
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def check_link(document, target, tree):
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return  # another site: no network in a test
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if not path.is_relative_to(tree.root):
        yield f"link leaves the tree: {target}"
    elif not path.exists():
        yield f"link to nothing: {target}"
    elif anchor and path.suffix == ".md" and anchor not in anchors(path):
        yield f"no heading for the anchor: {target}"


def commands_in(text):
    """The words of each command of a shell line, up to a comment."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    command = []
    for word in words:
        if word in SEPARATORS:
            yield command
            command = []
        else:
            command.append(word)
    yield command


def check_command(words, tree):
    while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] in ("$", "sudo", "time")):
        words = words[1:]
    if not words:
        return
    program, rest = words[0], words[1:]
    plain = [w for w in rest if not w.startswith("-") and not PLACEHOLDER.search(w)]
    if program == "./run":
        yield from check_run(rest, tree)
    elif program == ".ci/run":
        yield from (f".ci/run has no stage {w}" for w in plain if w not in tree.ci_stages)
    elif program in ("cmake", "ctest"):
        for flag, value in zip(rest, rest[1:]):
            if flag == "--preset" and not PLACEHOLDER.search(value) and value not in tree.presets:
                yield f"no preset {value}"
    elif program.split("/")[-1] == "nereid":
        yield from check_nereid(rest, tree)


def check_run(words, tree):
    if not words or PLACEHOLDER.search(words[0]):
        return
    command, rest = words[0], [w for w in words[1:] if not PLACEHOLDER.search(w)]
    if command not in tree.run_commands:
        yield f"./run has no command {command}"
    elif command == "setup":
        yield from (f"./run setup has no part {w}" for w in rest if w not in tree.setup_parts)
    elif command in ("build", "test") and rest and not rest[0].startswith("-"):
        if rest[0] not in tree.presets:
            yield f"no preset {rest[0]}"
    elif command == "bench":
        if rest[:1] == ["--against"]:
            rest = [w for w in rest[1:] if not w.endswith(".json")]
        if rest:
            yield from check_nereid(["bench", *rest], tree)


def check_nereid(words, tree):
    if not words or PLACEHOLDER.search(words[0]):
        return
    if words[0].startswith("-"):
        _, text = output_of(tree.program, "--help")
        verb = "nereid"
    else:
        verb, words = words[0], words[1:]
        text = tree.verb_help(verb)
        if text is None:
            yield f"nereid has no verb {verb}"
            return
        text += output_of(tree.program, "--help")[1]  # options of the program work after a verb too
    for word in words:
        flag = word.split("=")[0]
        if re.match(r"--?[a-z]", flag) and not re.search(rf"(?<![\w-]){flag}(?![\w-])", text):
            yield f"nereid {verb} has no flag {flag}"
    if verb in OPERATOR_VERBS and words and re.fullmatch(r"[a-z][a-z0-9_]*", words[0]):
        if words[0] != "all" and not re.search(rf"\b{words[0]}\b", tree.operators()):
            yield f"nereid {verb}: no operator {words[0]}"


def check_words(text, tree):
    """Paths and variables in a code span or a shell line."""
    for word in re.split(r"[\s=\"'();|]+", text):
        word = re.sub(r"^\./|(:\d+)?[.,:]*$", "", word)
        if tree.looks_like_path(word) and not tree.has(word):
            yield f"no such path: {word}"
    for name in VARIABLE.findall(text):
        if name not in tree.variables():
            yield f"nothing uses {name}"


def check_shell_line(line, language, tree):
    yield from check_words(line.split(" # ")[0], tree)
    for command in commands_in(line):
        yield from check_command(command, tree)
        loose = [w for w in line.split() if re.match(r"[a-z]+=[^'\"]*;[a-z]+=", w)]
        if language and command[:1] and command[0].endswith("nereid") and loose:
            yield f"the shell ends the command at ';': quote {loose[0]}"


def check_document(path, tree):
    """Yields (line number, finding)."""
    fence, language, pending = None, "", ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence, language, pending = mark[1], mark[2], ""
        elif fence is not None and mark and mark[1].startswith(fence) and not mark[2]:
            fence = None
        elif fence is not None:
            if language not in SHELL:
                continue
            if line.endswith("\\"):
                pending += line[:-1] + " "
                continue
            for finding in check_shell_line(pending + line, language, tree):
                yield number, finding
            pending = ""
        else:
            for link in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                for finding in check_link(path, link[1] or link[2], tree):
                    yield number, finding
            for span in SPAN.finditer(line):
                for finding in check_shell_line(span[2].strip(), "", tree):
                    yield number, finding


@functools.lru_cache(maxsize=None)
def file_names(root):
    """Of all files that are not generated."""
    return {p.name for folder in TOP_FOLDERS for p in (root / folder).rglob("*") if p.is_file()} | {
        p.name for p in root.iterdir() if p.is_file()}


def comments_in(path):
    """Yields (line number, text) of what follows // or #, and of lines inside /* */."""
    mark = COMMENT["c" if path.suffix in C_LIKE else "script"]
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix in C_LIKE and (inside or line.lstrip().startswith("/*")):
            inside = "*/" not in line
            yield number, line
        elif found := mark.search(line):
            yield number, found[1]


def check_comments(path, tree):
    for number, text in comments_in(path):
        if ABROAD.search(text):
            yield number, f"a document outside the tree: {text.strip()}"
        for word in re.split(r"[\s`'\"(),;]+", text):
            word = re.sub(r"(:\d+)?[.:!?]*$", "", word.removeprefix("./"))
            if not FILE_WORD.match(word):
                continue
            if word in ELSEWHERE:
                continue
            if "/" not in word:
                if not fnmatch.filter(file_names(tree.root), word):
                    yield number, f"no file has the name {word}"
                continue
            stage = path.relative_to(tree.root).parts[1:2]
            roots = [path.parent, tree.root / "src", *(tree.root / "src" / s for s in stage)]
            if not tree.has(word) and not any(any(r.glob(expand_braces(word)[0])) for r in roots):
                yield number, f"no such file: {word}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tree = Tree(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    findings = [f"{name}: missing" for name in REQUIRED if not (tree.root / name).is_file()]
    documents = [tree.root / name for name in REQUIRED if (tree.root / name).is_file()]
    for pattern in MORE:
        documents += sorted(tree.root.glob(pattern))
    for path in documents:
        name = path.relative_to(tree.root)
        # One line may hold a thing twice, as a path and in a command; say it once.
        found = dict.fromkeys(check_document(path, tree))
        findings += [f"{name}:{line}: {what}" for line, what in found]
    sources = [p for folder in sorted(TOP_FOLDERS) for p in sorted((tree.root / folder).rglob("*"))
               if p.is_file() and (p.suffix in C_LIKE | SCRIPTS or p.name == "CMakeLists.txt")]
    for path in [*sources, tree.root / "CMakeLists.txt", tree.root / "run", tree.root / ".ci/run"]:
        name = path.relative_to(tree.root)
        findings += [f"{name}:{line}: {what}" for line, what in dict.fromkeys(check_comments(path, tree))]
    print("\n".join(findings) if findings else f"{len(documents)} documents, nothing to report")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
