# SPDX-License-Identifier: MIT
# tests/fuzz/generate_functions.py: random C++ functions of the kinds that the lifter knows, and the
# listing that lift_corpus reads.
#
#   generate_functions.py SEED COUNT SOURCE.cpp LISTING.txt
import pathlib
import random
import sys

CONSTANTS = ["0.0f", "1.0f", "-1.0f", "0.5f", "2.0f", "0.1f", "-3.25f", "7.0f", "1e-3f", "100.0f"]
UNARY = ["-({0})", "fabsf({0})", "sqrtf({0})", "expf({0})", "tanhf({0})", "logf({0})", "erff({0})",
         "sinf({0})", "cosf({0})", "floorf({0})", "ceilf({0})", "rintf({0})", "({0}) * ({0})",
         "1.0f / (1.0f + expf(-({0})))", "truncf({0})"]
BINARY = ["({0}) + ({1})", "({0}) - ({1})", "({0}) * ({1})", "({0}) / ({1})", "fmaxf({0}, {1})",
          "fminf({0}, {1})", "std::max<float>({0}, {1})", "std::min<float>({0}, {1})",
          "copysignf({0}, {1})"]
TERNARY = ["(({0}) {cmp} ({1}) ? ({2}) : ({3}))", "fmaf({0}, {1}, {2})"]
COMPARE = ["<", ">", "<=", ">=", "==", "!="]
INDEX = ["int", "int64_t", "size_t", "unsigned"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def expression(self, leaves, depth):
        r = self.random
        if depth == 0 or r.random() < 0.15:
            return r.choice(leaves) if r.random() < 0.8 else r.choice(CONSTANTS)
        kind = r.random()
        down = lambda: self.expression(leaves, depth - 1)
        if kind < 0.3:
            return r.choice(UNARY).format(down())
        if kind < 0.8:
            return r.choice(BINARY).format(down(), down())
        return r.choice(TERNARY).format(down(), down(), down(), down(), cmp=r.choice(COMPARE))

    def statements(self, leaves, depth, target):
        """Code that leaves a value in `target`, as a ternary, an if, or through a variable."""
        r = self.random
        style = r.randrange(4)
        if style == 0:
            return f"{target} = {self.expression(leaves, depth)};"
        if style == 1:
            condition = f"{r.choice(leaves)} {r.choice(COMPARE)} {r.choice(leaves + CONSTANTS)}"
            return (f"if ({condition}) {target} = {self.expression(leaves, depth - 1)}; "
                    f"else {target} = {self.expression(leaves, depth - 1)};")
        if style == 2:
            name = self.fresh("t")
            return (f"float {name} = {self.expression(leaves, depth - 1)}; "
                    f"{target} = {self.expression(leaves + [name], depth - 1)};")
        name = self.fresh("t")
        return (f"float {name} = {self.expression(leaves, depth - 1)}; "
                f"if ({name} {r.choice(COMPARE)} {r.choice(CONSTANTS)}) "
                f"{name} = {self.expression(leaves + [name], depth - 1)}; {target} = {name};")

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def loop(self, body, index, size="n", style=None):
        r = self.random
        style = r.randrange(4) if style is None else style
        if style == 0 or index == "unsigned":
            return f"for ({index} i = 0; i < {size}; i++) {{ {body} }}"
        if style == 1:
            return f"{index} i = 0; while (i < {size}) {{ {body} i++; }}"
        if style == 2:
            return f"if ({size} > 0) {{ {index} i = 0; do {{ {body} }} while (++i < {size}); }}"
        return f"for ({index} i = 0; i != {size}; ++i) {{ {body} }}"

    def scalar(self, name):
        count = self.random.randrange(1, 4)
        args = [f"a{i}" for i in range(count)]
        text = ", ".join(f"float {a}" for a in args)
        body = f"float r; {self.statements(args, 3, 'r')} return r;"
        return f"float {name}({text}) {{ {body} }}", f"float({text})"

    def pointers(self, count):
        return [f"x{i}" for i in range(count)]

    def map(self, name):
        r = self.random
        inputs, index = self.pointers(r.randrange(1, 4)), r.choice(INDEX)
        outs = r.randrange(1, 3)
        leaves = [f"{x}[i]" for x in inputs] + ["s"]
        body = " ".join(self.statements(leaves, 3, f"o{k}[i]") for k in range(outs))
        text = ", ".join([f"const float* {x}" for x in inputs] + [f"float* o{k}" for k in range(outs)]
                         + [f"{index} n", "float s"])
        return f"void {name}({text}) {{ {self.loop(body, index)} }}", f"void({text})"

    def matrix_map(self, name):
        r = self.random
        index = r.choice(["int", "size_t", "int64_t"])
        leaves = ["x[i * cols + j]", "b[j]", "c[i]"]
        value = self.expression(leaves, 3)
        text = (f"const float* x, const float* b, const float* c, float* out, {index} rows, "
                f"{index} cols")
        body = (f"for ({index} i = 0; i < rows; i++) for ({index} j = 0; j < cols; j++) "
                f"out[i * cols + j] = {value};")
        return f"void {name}({text}) {{ {body} }}", f"void({text})"

    REDUCTIONS = [("0.0f", "acc += {e};"), ("0.0f", "acc = acc + {e};"),
                  ("1.0f", "acc *= {e};"), ("0.0f", "acc -= {e};"),
                  ("-INFINITY", "acc = std::max(acc, {e});"), ("INFINITY", "acc = std::min(acc, {e});"),
                  ("-INFINITY", "acc = fmaxf(acc, {e});"),
                  ("-INFINITY", "{{ float v = {e}; if (v > acc) acc = v; }}"),
                  ("INFINITY", "{{ float v = {e}; acc = v < acc ? v : acc; }}")]

    def reduction(self, name):
        r = self.random
        inputs, index = self.pointers(r.randrange(1, 3)), r.choice(INDEX)
        start, step = r.choice(self.REDUCTIONS)
        value = self.expression([f"{x}[i]" for x in inputs], 2)
        finish = self.expression(["acc"], 1)
        text = ", ".join([f"const float* {x}" for x in inputs] + ["float* out", f"{index} n"])
        body = (f"float acc = {start}; {{ {self.loop(step.format(e=value), index)} }} "
                f"out[0] = {finish};")
        return f"void {name}({text}) {{ {body} }}", f"void({text})"

    def norm(self, name):
        r = self.random
        index = r.choice(INDEX)
        start, step = r.choice(self.REDUCTIONS)
        first = self.expression(["x[i]"], 2)
        second = self.expression(["x[i]", "q"], 2)
        last = self.expression(["x[i]", "w[i]", "q", "acc"], 2)
        text = f"const float* x, const float* w, float* out, {index} n, float eps"
        passes = f"float acc = {start}; {{ {self.loop(step.format(e=first), index)} }} "
        passes += f"float q = acc + eps; float acc2 = 0.0f; "
        if r.random() < 0.5:
            passes += f"{{ {self.loop(f'acc2 += {second};', index)} }} q = q + acc2; "
        else:
            passes += "q = q + acc2; "
        passes += f"{{ {self.loop(f'out[i] = {last};', index)} }}"
        return f"void {name}({text}) {{ {passes} }}", f"void({text})"

    def product(self, name):
        r = self.random
        index = r.choice(["int", "size_t", "int64_t"])
        a = r.choice(["a[i * k + p]", "a[p * m + i]"])
        b = r.choice(["b[p * n + j]", "b[j * k + p]"])
        finish = self.expression(["s", "bias[j]"], 1)
        text = (f"const float* a, const float* b, const float* bias, float* c, {index} m, "
                f"{index} n, {index} k")
        body = (f"for ({index} i = 0; i < m; i++) for ({index} j = 0; j < n; j++) {{ float s = 0; "
                f"for ({index} p = 0; p < k; p++) s += {a} * {b}; c[i * n + j] = {finish}; }}")
        return f"void {name}({text}) {{ {body} }}", f"void({text})"

    def function(self, name):
        kinds = [self.scalar, self.map, self.map, self.matrix_map, self.reduction, self.norm,
                 self.product]
        return self.random.choice(kinds)(name)


def main():
    seed, count, source, listing = sys.argv[1:]
    generator = Generator(int(seed))
    lines = ["// Generated by tests/fuzz/generate_functions.py", "#include <algorithm>",
             "#include <cmath>", "#include <cstddef>", "#include <cstdint>"]
    entries = []
    for i in range(int(count)):
        name = f"g{seed}_{i}"
        code, kind = generator.function(name)
        lines.append('extern "C" __attribute__((visibility("default"))) ' + code)
        entries.append(f"{name} | {kind} | any")
    pathlib.Path(source).write_text("\n".join(lines) + "\n")
    pathlib.Path(listing).write_text("\n".join(entries) + "\n")


if __name__ == "__main__":
    main()
