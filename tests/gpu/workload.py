#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes PTX modules to warm, and a manifest of them, without a compiler at hand.

usage: workload.py --out DIR [--modules N] [--kind heavy|data|plain] [--seed N] [--bytes N]
heavy: about 200 kB of double-precision code, some hundred milliseconds of JIT; data: 4 MB of initialised data in a short
text; plain: `--bytes` of text with next to no code. Each module also has the kernel `axpb`: x = 3x + 1.
The same arguments give the same bytes."""
import argparse
import os
import random
import struct
import sys

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n\n"
AXPB = """.visible .entry axpb(
\t.param .u64 axpb_param_0,
\t.param .u32 axpb_param_1
)
{
\t.reg .pred \t%p<2>;
\t.reg .f32 \t%f<3>;
\t.reg .b32 \t%r<6>;
\t.reg .b64 \t%rd<5>;

\tld.param.u64 \t%rd1, [axpb_param_0];
\tld.param.u32 \t%r2, [axpb_param_1];
\tmov.u32 \t%r3, %ctaid.x;
\tmov.u32 \t%r4, %ntid.x;
\tmov.u32 \t%r5, %tid.x;
\tmad.lo.s32 \t%r1, %r3, %r4, %r5;
\tsetp.ge.s32 \t%p1, %r1, %r2;
\t@%p1 bra \t$Laxpb_end;

\tcvta.to.global.u64 \t%rd2, %rd1;
\tmul.wide.s32 \t%rd3, %r1, 4;
\tadd.s64 \t%rd4, %rd2, %rd3;
\tld.global.f32 \t%f1, [%rd4];
\tfma.rn.f32 \t%f2, %f1, 0f40400000, 0f3F800000;
\tst.global.f32 \t[%rd4], %f2;

$Laxpb_end:
\tret;
}
"""
HEAVY_KERNELS, HEAVY_STATEMENTS = 3, 40
DATA_BYTES = 4 << 20


def double(value):
    return "0d%016X" % struct.unpack(">Q", struct.pack(">d", value))


class Body:
    """Straight code of one kernel with a branch in each statement, as numeric code has it."""

    def __init__(self, rng, prefix):
        self.rng, self.prefix, self.lines = rng, prefix, []
        self.doubles, self.predicates, self.labels = 3, 1, 0

    def emit(self, text):
        self.lines.append("\t" + text)

    def value(self):
        self.doubles += 1
        return f"%fd{self.doubles - 1}"

    def label(self):
        self.labels += 1
        return f"$L{self.prefix}_{self.labels}"

    def polynomial(self, start, at, degree):
        for _ in range(degree):
            result = self.value()
            self.emit(f"fma.rn.f64 \t{result}, {start}, {at}, {double(self.rng.uniform(-1, 1))};")
            start = result
        return start

    def statement(self, x, total, with_root):
        inner, chosen, after, other = self.value(), self.value(), self.label(), self.label()
        predicate = f"%p{self.predicates}"
        self.predicates += 1
        self.emit(f"fma.rn.f64 \t{inner}, {x}, {double(self.rng.uniform(0.1, 2))}, {total};")
        self.emit(f"setp.gt.f64 \t{predicate}, {inner}, {double(self.rng.uniform(1, 50))};")
        self.emit(f"@{predicate} bra \t{other};")
        self.emit(f"mov.f64 \t{chosen}, {self.polynomial(inner, inner, 14)};")
        self.emit(f"bra.uni \t{after};")
        self.lines.append(f"{other}:")
        far = self.polynomial(inner, x, 10)
        if with_root:
            root = self.value()
            self.emit(f"sqrt.rn.f64 \t{root}, {far};")
            far = root
        self.emit(f"mov.f64 \t{chosen}, {far};")
        self.lines.append(f"{after}:")
        result = self.value()
        self.emit(f"fma.rn.f64 \t{result}, {chosen}, {double(self.rng.uniform(0.1, 1))}, {total};")
        return result


def heavy_kernel(rng, name, statements):
    body = Body(rng, name)
    total = "%fd2"
    for index in range(statements):
        total = body.statement("%fd1", total, index % 3 == 0)
    head = [f".visible .entry {name}(", f"\t.param .u64 {name}_param_0", ")", "{",
            f"\t.reg .pred \t%p<{body.predicates}>;", "\t.reg .b64 \t%rd<3>;", f"\t.reg .f64 \t%fd<{body.doubles}>;", "",
            f"\tld.param.u64 \t%rd1, [{name}_param_0];", "\tcvta.to.global.u64 \t%rd2, %rd1;",
            "\tld.global.f64 \t%fd1, [%rd2];", f"\tmov.f64 \t%fd2, {double(rng.uniform(0, 1))};"]
    return "\n".join(head + body.lines + [f"\tst.global.f64 \t[%rd2], {total};", "\tret;", "}", ""])


def heavy(name, seed, _bytes):
    rng = random.Random(f"{seed}/{name}")
    kernels = [heavy_kernel(rng, f"{name}_k{index}", HEAVY_STATEMENTS) for index in range(HEAVY_KERNELS)]
    return HEADER + "\n".join(kernels) + "\n" + AXPB


def data(name, seed, _bytes):
    rng = random.Random(f"{seed}/{name}")
    first = ", ".join(str(rng.randrange(256)) for _ in range(64))
    return HEADER + f".visible .global .align 4 .b8 {name}_table[{DATA_BYTES}] = {{{first}}};\n\n" + AXPB


def plain(name, seed, size):
    text = HEADER + f"// {seed}/{name}\n" + AXPB
    line = "// " + "." * 76 + "\n"
    missing = max(0, size - len(text))
    return text + line * (missing // len(line)) + "//" + "." * max(0, missing % len(line) - 3) + "\n"


SOURCE_KERNELS, SOURCE_STATEMENTS = 3, 40
SOURCE_AXPB = """extern "C" __global__ void axpb(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * 3.f + 1.f;
}
"""


def source_kernel(rng, name):
    """CUDA C++ of the same nature as a heavy kernel's PTX."""
    def polynomial(at, degree):
        text = f"{rng.uniform(-1, 1):.9f}"
        for _ in range(degree):
            text = f"({text}) * {at} + {rng.uniform(-1, 1):.9f}"
        return text

    lines = [f'extern "C" __global__ void {name}(double *p)', "{",
             f"    double x = p[0], total = {rng.uniform(0, 1):.9f}, inner, far;"]
    for index in range(SOURCE_STATEMENTS):
        root = f"sqrt({polynomial('x', 10)})" if index % 3 == 0 else polynomial("x", 10)
        lines += [f"    inner = x * {rng.uniform(0.1, 2):.9f} + total;", f"    if (inner > {rng.uniform(1, 50):.9f})",
                  f"        far = {root};", "    else", f"        far = {polynomial('inner', 14)};",
                  f"    total += far * {rng.uniform(0.1, 1):.9f};"]
    return "\n".join(lines + ["    p[0] = total;", "}", ""])


def make_sources(folder, modules, seed=0, kernels=SOURCE_KERNELS):
    """Writes CUDA C++ for NVRTC, some tenths of a second of work each, into `folder`; gives the paths."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for index in range(modules):
        name = f"s{index:03d}"
        rng = random.Random(f"{seed}/{name}")
        paths.append(os.path.join(folder, name + ".cu"))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write("\n".join([source_kernel(rng, f"{name}_k{number}") for number in range(kernels)] + [SOURCE_AXPB]))
    return paths


KINDS = {"heavy": heavy, "data": data, "plain": plain}


def make(folder, modules, kind="heavy", seed=0, size=200_000, prefix="m"):
    """Writes the modules into `folder`; gives their paths."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for index in range(modules):
        name = f"{prefix}{index:03d}"
        path = os.path.join(folder, name + ".ptx")
        with open(path, "w", encoding="ascii") as file:
            file.write(KINDS[kind](name, seed, size))
        paths.append(path)
    return paths


def write_manifest(path, ptx, targets=("native",), options=None, samples=None):
    """A manifest of PTX files, named after the files; absolute paths."""
    lines = ["version: 1", f"targets: [{', '.join(targets)}]"]
    if samples:
        lines.append(f"verify: {{samples: {samples}}}")
    lines.append("modules:")
    for one in ptx:
        lines += [f"  - name: {os.path.basename(one).removesuffix('.ptx')}", f"    ptx: {os.path.abspath(one)}"]
        if options:
            lines.append(f"    options: {{{', '.join(f'{key}: {value}' for key, value in options.items())}}}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--modules", type=int, default=64)
    parser.add_argument("--kind", choices=KINDS, default="heavy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bytes", type=int, default=200_000)
    options = parser.parse_args()
    paths = make(options.out, options.modules, options.kind, options.seed, options.bytes)
    manifest = write_manifest(os.path.join(options.out, "manifest.yaml"), paths)
    total = sum(os.path.getsize(path) for path in paths)
    print(f"{len(paths)} modules of {total // max(1, len(paths))} bytes; manifest: {manifest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
