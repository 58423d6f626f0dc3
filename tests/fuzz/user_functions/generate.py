# SPDX-License-Identifier: MIT
# tests/fuzz/user_functions/generate.py: functions such as users write, by the thousand.
#
#   generate.py SEED COUNT SOURCE.cpp LISTING.txt
#
# Beyond what the lifter knows best (generate_functions.py makes that), these have operands of other
# lengths than the loop, outputs that are read or written in part, preconditions, integers that are
# no sizes, tables, gathers, several outputs. Whether one is defined for a size is not known here.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import generate_functions  # noqa: E402

INTEGERS = ["int", "int", "int", "size_t", "int64_t", "unsigned"]
BLOCKS = [2, 3, 4, 8, 16, 32]


class Generator(generate_functions.Generator):
    def some(self, *choices):
        return self.random.choice(choices)

    def number(self, *choices):
        return str(self.random.choice(choices or (1, 2, 3, 4, 5, 7, 8)))

    def place(self, i="i", n="n", m=None):
        """An index expression of a loop counter, with the guard under which it is meant."""
        r = self.random
        c, d = r.choice(BLOCKS), r.randrange(1, 5)
        plain = [i] * 4
        shorter = [f"{i} / {c}", f"{i} >> {r.randrange(1, 6)}", f"{i} % {c}", f"{i} & {c - 1}", "0",
                   f"{i} & ~{c - 1}"]
        longer = [f"{i} + {d}", f"{c} * {i}", f"{c} * {i} + {r.randrange(c)}", f"{n} + {i}",
                  f"{n} - 1 - {i}", f"{i} * 2 + 1"]
        guarded = [f"{i} > 0 ? {i} - 1 : 0", f"{i} + 1 < {n} ? {i} + 1 : {i}", f"({i} + {d}) % {n}",
                   f"{i} < {n} / 2 ? {i} : {n} - 1 - {i}", f"{i} ^ 1"]
        own = [] if m is None else [f"{i} / {m}", f"{i} % {m}", f"{i} * {m}", f"{i} + {m}", m,
                                    f"{m} + {i}", f"{i} >> {m}"]
        return r.choice(plain + shorter + longer + guarded + own * 2)

    def read(self, x, i="i", n="n", m=None):
        if self.random.random() < 0.12:
            guard, at = self.some((f"{i} > 0", f"{i} - 1"), (f"{i} + 1 < {n}", f"{i} + 1"),
                                  (f"{i} >= 2", f"{i} - 2"), (f"{i} < {n} - 2", f"{i} + 2"))
            return f"({guard} ? {x}[{at}] : 0.0f)"
        return f"{x}[{self.place(i, n, m)}]"

    def parameters(self, inputs, outputs, index, integers=(), numbers=()):
        parts = [f"const {t}* {x}" for t, x in inputs] + [f"{t}* {o}" for t, o in outputs]
        parts += [f"{index} {k}" for k in integers] + [f"float {s}" for s in numbers]
        if self.random.random() < 0.2:  # some put the sizes first
            parts = parts[len(inputs) + len(outputs):] + parts[:len(inputs) + len(outputs)]
        return ", ".join(parts)

    def any_loop(self, body, index, n="n"):
        """Loops of every habit; some are defined for some sizes only."""
        r = self.random
        d = r.randrange(1, 4)
        forms = [f"for ({index} i = 0; i < {n}; i++) {{ {body} }}"] * 6 + [
            f"for ({index} i = {d}; i < {n}; i++) {{ {body} }}",
            f"for ({index} i = 0; i + {d} < {n}; i++) {{ {body} }}",
            f"for ({index} i = 0; i < {n} / {d + 1}; i++) {{ {body} }}",
            f"for ({index} i = 0; i < {n}; i += {d + 1}) {{ {body} }}",
            f"for ({index} i = 0; i != {n}; i++) {{ {body} }}",
            f"for ({index} i = 0; i != {n}; i += 2) {{ {body} }}",
            f"{index} i = 0; do {{ {body} i++; }} while (i < {n});",
            f"{index} i = {n}; while (i-- > 0) {{ {body} }}",
            f"for ({index} i = 0; i <= {n}; i++) {{ {body} }}",
            f"for ({index} i = 0; i < 2 * {n}; i++) {{ {body} }}"]
        return r.choice(forms)

    def result(self, text, body):
        return f"({text}) {{ {body} }}", f"void({text})"

    def extents(self, name):
        r, index = self.random, self.some(*INTEGERS)
        inputs = self.pointers(r.randrange(1, 4))
        leaves = [self.read(x) for x in inputs] + ["s"]
        target = self.some("o[i]", "o[i]", "o[i]", f"o[{self.place()}]")
        text = self.parameters([("float", x) for x in inputs], [("float", "o")], index, ["n"], ["s"])
        return self.result(text, self.any_loop(self.statements(leaves, 2, target), index))

    def in_out(self, name):
        r, index = self.random, self.some(*INTEGERS)
        inputs = self.pointers(r.randrange(0, 3))
        leaves = [self.read(x) for x in inputs] + ["o[i]", "s"]
        value = self.expression(leaves, 2)
        body = self.some(f"o[i] += {value};", f"o[i] = {value};", f"o[i] *= {value};",
                         f"if ({r.choice(leaves)} > 0) o[i] = {value};",
                         f"if (i % 2 == 0) o[i] = {value};",
                         f"if ({value} < s) o[i] = {r.choice(leaves)}; else o[i] -= 1.0f;",
                         f"o[i] = i > 0 ? o[i - 1] + {r.choice(leaves)} : {value};")
        text = self.parameters([("float", x) for x in inputs], [("float", "o")], index, ["n"], ["s"])
        return self.result(text, self.any_loop(body, index))

    def integers(self, name):
        r, index = self.random, self.some("int", "int", "int64_t", "size_t")
        leaves = [self.read("x", m="m"), "x[i]", "(float)m", f"(float)(i {self.some('/', '%', '*')} m)",
                  "(float)(n / m)", "(i < m ? 1.0f : -1.0f)"]
        value = self.expression(leaves, 2)
        bound = self.some("n", "n", "n", "n - m", "n / m", "m", "n * m")
        body = self.some(f"o[i] = {value};", f"o[i] = {value};",
                         f"float a = 0; for ({index} j = 0; j < m; j++) a += x[i + j]; o[i] = a;",
                         f"float a = 1; for ({index} j = 0; j < m; j++) a *= {value}; o[i] = a;",
                         f"float a = 0; for ({index} j = 0; j < m; j++) a += x[i * m + j]; o[i] = a;")
        text = self.parameters([("float", "x")], [("float", "o")], index, ["n", "m"])
        loop = f"for ({index} i = {self.some('0', '0', '0', 'm')}; i < {bound}; i++) {{ {body} }}"
        return self.result(text, loop)

    def tables(self, name):
        r, index = self.random, self.some(*INTEGERS)
        size = self.random.choice([3, 4, 8, 16, 256])
        element = self.some("float", "float", "int8_t", "int32_t", "double")
        values = ", ".join(str(r.randrange(-20, 21)) for _ in range(size))
        mask = f"& {size - 1}" if size & (size - 1) == 0 else f"% {size}"
        where = self.some(f"q[i] {mask}", f"i {mask}", f"(q[i] >> 4) {mask}", "q[i]", f"q[i / 2] {mask}")
        value = self.expression([f"(float)t[{where}]", "x[i]", "s"], 2)
        text = self.parameters([("uint8_t", "q"), ("float", "x")], [("float", "o")], index, ["n"], ["s"])
        body = f"static const {element} t[{size}] = {{{values}}}; "
        return self.result(text, body + self.any_loop(f"o[i] = {value};", index))

    def gathers(self, name):
        index = self.some("int", "size_t", "int64_t")
        element = self.some("int32_t", "int32_t", "uint8_t", "int8_t", "float")
        at = self.some("k[i]", "k[i]", "k[i]", "k[i] + 1", "2 * k[i]", f"k[{self.place()}]")
        at = f"(int)({at})" if element == "float" else at
        value = self.expression([f"x[{at}]", f"x[{at}]", self.read("y"), "s"], 2)
        guard = self.some("", "", "", "if (k[i] >= 0) ", "if (k[i] >= 0 && k[i] < n) ")
        body = self.some(f"{guard}o[i] = {value};", f"{guard}o[i] = {value};",
                         f"for ({index} j = 0; j < m; j++) o[i * m + j] = x[({index}){at} * m + j];",
                         f"{guard}o[{at}] = {self.expression(['y[i]', 's'], 1)};")
        integers = ["n", "m"] if " m" in body else ["n"]
        text = self.parameters([("float", "x"), ("float", "y"), (element, "k")], [("float", "o")], index,
                               integers, ["s"])
        return self.result(text, f"for ({index} i = 0; i < n; i++) {{ {body} }}")

    def matrices(self, name):
        r, index = self.random, self.some("int", "size_t", "int64_t")
        a, b = "i * cols + j", "j * rows + i"
        leaves = [f"x[{self.some(a, a, b, f'i * cols + j / {r.choice(BLOCKS)}')}]",
                  f"y[{self.some('i', 'j', a, 'i / 4', 'j % 8', 'cols - 1 - j')}]",
                  f"(j {self.some('<=', '>', '==')} i ? x[i * cols + j] : 0.0f)",
                  "(i > 0 ? x[(i - 1) * cols + j] : 0.0f)", "s"]
        value = self.expression(leaves, 2)
        inner = self.some("j = 0; j < cols; j++", "j = 0; j < cols; j++", "j = 0; j <= i; j++",
                          "j = i; j < cols; j++", "j = 1; j < cols; j++")
        body = self.some(
            f"for ({index} {inner}) o[{self.some(a, a, a, b)}] {self.some('=', '=', '+=')} {value};",
            f"float t = {self.some('0', '0', '-INFINITY')}; for ({index} {inner}) "
            f"{self.some(f't += {value};', f't = fmaxf(t, {value});')} o[i] = t;")
        text = self.parameters([("float", "x"), ("float", "y")], [("float", "o")], index,
                               ["rows", "cols"], ["s"])
        return self.result(text, f"for ({index} i = 0; i < rows; i++) {{ {body} }}")

    def scans(self, name):
        index = self.some(*INTEGERS)
        value = self.expression([self.read("x"), "x[i]", "t"], 2)
        start = self.some("0.0f", "1.0f", "x[0]", "-INFINITY", "o[0]", "s")
        step = self.some(f"t += {value};", f"t = s * t + {value};", f"t = fmaxf(t, {value});", f"t = {value};")
        body = self.some(f"{step} o[i] = t;", f"o[i] = t; {step}", step)
        end = "" if "o[i]" in body else "o[0] = t;"
        text = self.parameters([("float", "x")], [("float", "o")], index, ["n"], ["s"])
        return self.result(text, f"float t = {start}; {{ {self.any_loop(body, index)} }} {end}")

    def several(self, name):
        r, index = self.random, self.some(*INTEGERS)
        inputs, outs = self.pointers(r.randrange(1, 3)), [f"o{k}" for k in range(r.randrange(2, 4))]
        leaves = [self.read(x) for x in inputs] + ["s"]
        body = ""
        for o in outs:
            target = self.some(f"{o}[i]", f"{o}[i]", f"{o}[i]", f"{o}[2 * i]", f"{o}[i / 4]")
            body += f"{target} {self.some('=', '=', '+=')} {self.expression(leaves + [f'{outs[0]}[i]'], 2)}; "
        text = self.parameters([("float", x) for x in inputs], [("float", o) for o in outs], index, ["n"], ["s"])
        return self.result(text, self.any_loop(body, index))

    def types(self, name):
        r, index = self.random, self.some(*INTEGERS)
        given, made = self.some("double", "int8_t", "uint8_t", "int32_t"), self.some(
            "float", "double", "int8_t", "uint8_t", "int32_t")
        value = self.some(f"a[{self.place()}]", "a[i] + 1", "a[i] * a[i]", "a[i] > 3 ? a[i] : 3",
                          f"a[i] {self.some('&', '|', '^', '>>')} {r.randrange(1, 6)}"
                          if given != "double" else "a[i] / 3", "a[i] - b[i]")
        text = self.parameters([(given, "a"), (given, "b")], [(made, "o")], index, ["n"])
        body = self.some(f"o[i] = ({made})({value});", f"o[i] = ({made})({value});",
                         f"if (a[i] > b[i]) o[i] = ({made})({value});")
        return self.result(text, self.any_loop(body, index))

    def returned(self, name):
        index = self.some(*INTEGERS)
        start, step = self.random.choice(self.REDUCTIONS)
        start = self.some(start, start, "x[0]")
        value = self.expression([self.read("x"), "y[i]"], 2)
        text = self.parameters([("float", "x"), ("float", "y")], [], index, ["n"])
        body = f"float acc = {start}; {{ {self.any_loop(step.format(e=value), index)} }} return acc;"
        return f"({text}) {{ {body} }}", f"float({text})"

    def plain(self, name):
        code, kind = super().function(name)
        return code.split(name, 1)[1], kind

    KINDS = [extents, extents, in_out, integers, tables, gathers, matrices, scans, several, types,
             returned, plain]

    def function(self, name):
        kind = self.random.choice(self.KINDS)
        full = f"{kind.__name__}_{name}"
        code, type_in_c = kind(self, full)
        early = self.some("", "", "", "", "if (n < 3) return; ") if type_in_c.startswith("void") else ""
        if early and " n" in type_in_c.replace(",", " ").replace(")", " "):
            code = code.replace("{ ", "{ " + early, 1)
        result = type_in_c.split("(", 1)[0]
        return full, f"{result} {full}{code}", type_in_c


def functions(seed, count):
    """(name, code, type in C) of each."""
    generator = Generator(seed)
    return [generator.function(f"{seed}_{i}") for i in range(count)]


def listing(seed, count):
    return [(name, kind) for name, _, kind in functions(seed, count)]


def source(seed, count, names=None):
    """The functions, or those of these names."""
    lines = ["// Generated by tests/fuzz/user_functions/generate.py", "#include <algorithm>",
             "#include <cmath>", "#include <cstddef>", "#include <cstdint>"]
    lines += ['extern "C" ' + code for name, code, _ in functions(seed, count)
              if names is None or name in names]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    wanted_seed, wanted_count = int(sys.argv[1]), int(sys.argv[2])
    pathlib.Path(sys.argv[3]).write_text(source(wanted_seed, wanted_count))
    pathlib.Path(sys.argv[4]).write_text(
        "".join(f"{name} | {kind}\n" for name, kind in listing(wanted_seed, wanted_count)))
