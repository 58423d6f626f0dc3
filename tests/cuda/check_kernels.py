# SPDX-License-Identifier: MIT
# tests/cuda/check_kernels.py: what the compiler made of the kernels, as a test.
"""usage: check_kernels.py [--tensor-cores PATTERN]... OBJECT...

For each object that nvcc made (cmake/keep_ptxas_output.sh keeps what ptxas said as OBJECT.ptxas):
- no kernel spills registers or keeps anything in local memory;
- ptxas did not serialise wgmma (C75xx);
- the machine code has no load from and no store to local memory;
- every sm_90a kernel whose name contains PATTERN multiplies with QGMMA, the e4m3 form of wgmma.
The machine code is read from the object itself, so that no disassembler is needed; where nvcc
packed it, zstd is.
"""
import argparse
import pathlib
import re
import shutil
import struct
import subprocess
import sys

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REFUSED = re.compile(r"\(C75\d\d\)|wgmma.*serializ|Local memory used|Registers are spilled")

# The low twelve bits of an instruction of sm_80 and sm_90, as nvdisasm names them.
OPCODES = {0x9F3: "QGMMA", 0x983: "LDL", 0x387: "STL"}
FATBIN_MAGIC = 0xBA55ED50
KIND_ELF = 2
FLAG_LZ4, FLAG_ZSTD = 0x2000, 0x8000


def check_report(path):
    """What is wrong in ptxas's own words, and how many kernels it spoke of."""
    problems, kernel, kernels = [], "?", 0
    for line in path.read_text(errors="replace").splitlines():
        if entry := ENTRY.search(line):
            kernel = f"{entry[1]} ({entry[2]})"
            kernels += 1
        if (frame := FRAME.search(line)) and any(int(g) for g in frame.groups()):
            problems.append(f"{kernel}: {line.strip()}")
        if REFUSED.search(line):
            problems.append(f"{kernel}: {line.strip()}")
    return problems, kernels


def unpacked(image, flags):
    if flags & FLAG_LZ4:
        sys.exit("the machine code is packed with LZ4: build with --compress-mode=size or none")
    if not flags & FLAG_ZSTD:
        return image
    if not shutil.which("zstd"):
        sys.exit("the machine code is packed, and zstd is not installed")
    return subprocess.run(["zstd", "-dcq"], input=image, capture_output=True, check=True).stdout


def cubins(data):
    """(architecture, bytes) of each ELF image in the fat binaries of an object file."""
    at = data.find(struct.pack("<I", FATBIN_MAGIC))
    while at >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        end = at + header + size
        at += header
        while at < end:
            kind, _, entry_header, payload = struct.unpack_from("<HHIQ", data, at)
            architecture, = struct.unpack_from("<I", data, at + 28)
            flags, = struct.unpack_from("<Q", data, at + 40)
            if kind == KIND_ELF:
                packed, = struct.unpack_from("<I", data, at + 16)
                start = at + entry_header
                yield architecture, unpacked(data[start:start + (packed or payload)], flags)
            at += entry_header + payload
        at = data.find(struct.pack("<I", FATBIN_MAGIC), end)


def kernels_of(elf):
    """(name, count of each known instruction) of the code sections of an ELF image."""
    table, = struct.unpack_from("<Q", elf, 40)
    entry_bytes, count, names_index = struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_bytes) for i in range(count)]
    names = sections[names_index][4]
    for name, _, _, _, offset, size in sections:
        end = elf.index(b"\0", names + name)
        text = elf[names + name:end].decode()
        if not text.startswith(".text."):
            continue
        found = dict.fromkeys(OPCODES.values(), 0)
        for at in range(offset, offset + size, 16):
            word, = struct.unpack_from("<H", elf, at)
            if instruction := OPCODES.get(word & 0xFFF):
                found[instruction] += 1
        yield text[len(".text."):], found


def check_object(path, patterns, seen):
    report = pathlib.Path(f"{path}.ptxas")
    if not report.exists():
        return [f"{path}: no {report.name} beside it; build the object again"], 0
    problems, kernels = check_report(report)
    for architecture, elf in cubins(path.read_bytes()):
        for name, found in kernels_of(elf):
            if found["LDL"] or found["STL"]:
                problems.append(f"{name} (sm_{architecture}): {found['LDL']} loads from and "
                                f"{found['STL']} stores to local memory")
            for pattern in patterns:
                if pattern in name and architecture == 90:
                    seen.add(pattern)
                    if not found["QGMMA"]:
                        problems.append(f"{name} (sm_90a): no QGMMA")
    return problems, kernels


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tensor-cores", action="append", default=[], metavar="PATTERN")
    parser.add_argument("objects", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    problems, kernels, seen = [], 0, set()
    for path in options.objects:
        found, count = check_object(path, options.tensor_cores, seen)
        problems += found
        kernels += count
    for pattern in options.tensor_cores:
        if pattern not in seen:
            problems.append(f"no sm_90a kernel is called *{pattern}*")
    print(f"{kernels} kernels in {len(options.objects)} objects")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems or not kernels else 0)


main()
