#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/setup_peers.sh: installs the CPU libraries that we are measured against.
#
# OpenBLAS and BLIS are Debian packages; MKL and oneDNN are PyPI wheels, of which only the shared
# libraries are unpacked, into .cache/peers (or $NEREID_PEERS_DIR). Nothing is compiled.
# Each peer is tried; the exit code says whether all are there.
set -u
cd "$(dirname "$0")/.." || exit 1

# oneDNN 3.2 is the last wheel that runs on OpenMP. Later ones (package onednn) hand CPU work to
# SYCL, which costs 8 us a call and 700 MB; at equal work they were not faster.
MKL_WHEELS=(mkl==2026.2.0 intel-openmp==2026.2.0)
ONEDNN_WHEELS=(onednn-cpu-gomp==2023.2.0)
PEERS_DIR="${NEREID_PEERS_DIR:-$PWD/.cache/peers}"
missing=""

has_library() { ldconfig -p 2>/dev/null | grep -q "$1"; }

install_packages() {  # library, packages
  local library="$1"
  shift
  if has_library "$library"; then
    echo "$library is there"
    return 0
  fi
  local root=""
  if [ "$(id -u)" != 0 ]; then root="sudo"; fi
  if ! command -v apt-get >/dev/null || { [ -n "$root" ] && ! command -v sudo >/dev/null; }; then
    echo "$library is missing: install $* (needs apt-get and root)" >&2
    return 1
  fi
  $root apt-get install -y --no-install-recommends "$@" >/dev/null ||
    { $root apt-get update >/dev/null && $root apt-get install -y --no-install-recommends "$@" >/dev/null; }
  $root ldconfig
  has_library "$library" && echo "$library installed"
}

# Unpacks the libraries that match, flat; each appears under its name only when it is complete.
unpack_wheels() {  # folder of wheels, regular expression
  python3 - "$1" "$2" "$PEERS_DIR" <<'PYTHON'
import os, pathlib, re, sys, zipfile

folder, pattern, target = sys.argv[1:]
for wheel in pathlib.Path(folder).glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = os.path.basename(member.filename)
            if "/data/lib/" not in member.filename or not re.fullmatch(pattern, name):
                continue
            part = os.path.join(target, name + ".part")
            with archive.open(member) as source, open(part, "wb") as sink:
                while chunk := source.read(1 << 20):
                    sink.write(chunk)
            os.replace(part, os.path.join(target, name))
PYTHON
}

install_wheels() {  # library, regular expression of the libraries to keep, wheels
  local library="$1" pattern="$2"
  shift 2
  if [ -e "$PEERS_DIR/$library" ]; then
    echo "$library is there"
    return 0
  fi
  local wheels
  wheels="$(mktemp -d)" || return 1
  mkdir -p "$PEERS_DIR" &&
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$wheels" "$@" &&
    unpack_wheels "$wheels" "$pattern"
  rm -rf "$wheels"
  [ -e "$PEERS_DIR/$library" ] && echo "$library installed in $PEERS_DIR"
}

install_packages libopenblas.so.0 libopenblas0-pthread || missing="$missing openblas"
install_packages libblis.so.4 libblis4-pthread || missing="$missing blis"
if [ "$(uname -m)" = x86_64 ]; then
  # The 32-bit integer interface on Intel's OpenMP, with the code for every instruction set.
  install_wheels libmkl_rt.so.3 \
    'lib(iomp5\.so|mkl_(rt|core|intel_lp64|intel_thread|def|mc3|avx2|avx512|avx10|vml_.*)\.so\.[0-9]+)' \
    "${MKL_WHEELS[@]}" || missing="$missing mkl"
  { install_packages libgomp.so.1 libgomp1 &&
    install_wheels libdnnl.so.3 'libdnnl\.so\.3' "${ONEDNN_WHEELS[@]}"; } ||
    missing="$missing onednn"
else
  echo "mkl and onednn have no wheels for $(uname -m)"
fi

if [ -n "$missing" ]; then
  echo "not installed:$missing" >&2
  exit 1
fi
