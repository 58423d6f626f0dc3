#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/setup.sh: installs what is missing for the parts named; asks dpkg first, so that a second
# run changes nothing and needs no network. Called by ./run setup, where the parts are described.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
source scripts/lib.sh

# The host always needs both decoders: it lifts the catalogue for every target.
# OpenBLAS is there to be compared with: the demo shows every product beside it.
base_packages=(g++ cmake ninja-build pkg-config python3 libfmt-dev libcli11-dev nlohmann-json3-dev
               libasmjit-dev libzydis-dev libcapstone-dev libgtest-dev librapidcheck-dev
               libopenblas0-pthread)
# A test renders the HTML report; the lifter reads what several compilers make of a corpus and of the
# catalogue, with their sanitizer and coverage runtimes.
test_packages=(python3-venv zstd chromium fonts-liberation clang-14 libclang-rt-14-dev clang-16
               clang-19 libclang-rt-19-dev)
if [[ $(uname -m) == x86_64 ]]; then
  test_packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
fi
dev_packages=(git ccache clang-16 libclang-rt-16-dev clang-tidy-16 clang-format)  # -rt: libFuzzer
aarch64_packages=(g++-aarch64-linux-gnu qemu-user libfmt-dev:arm64 libasmjit-dev:arm64
                  libzydis-dev:arm64 libcapstone-dev:arm64 libgtest-dev:arm64
                  librapidcheck-dev:arm64)
base_tools=(g++ cmake ninja pkg-config python3)
base_headers=(fmt/core.h CLI/CLI.hpp nlohmann/json.hpp asmjit/asmjit.h Zydis/Zydis.h
              capstone/capstone.h gtest/gtest.h rapidcheck.h)

is_debian() { have apt-get && have dpkg-query; }

installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 \
    -o Acquire::Retries=3 "$@"
}

# install_packages PACKAGE...: those that are missing, in one go.
install_packages() {
  local package missing=() foreign=0
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return 0; fi
  if [[ "${missing[*]}" == *:arm64* ]] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
    foreign=1
  fi
  if ((EUID != 0)) && ! sudo -n true 2>/dev/null; then
    say "Missing packages, and no password-free sudo. Please run:"
    if ((foreign)); then echo "    sudo dpkg --add-architecture arm64"; fi
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    return 1
  fi
  if ((foreign)); then as_root dpkg --add-architecture arm64; fi
  if ((foreign)) || ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    step setup-lists apt_get update || true
  fi
  say "Installing ${missing[*]}"
  if ! step setup-packages apt_get install --no-install-recommends "${missing[@]}"; then
    say "Once more, with fresh package lists"  # old ones name files that the mirror dropped
    step setup-lists apt_get update || true
    step setup-packages apt_get install --no-install-recommends "${missing[@]}"
  fi
}

# On another distribution nothing is installed; what is needed is named, unless it is all there.
need_tools() {
  local tool header missing=()
  for tool in "${base_tools[@]}"; do
    have "$tool" || missing+=("$tool")
  done
  if have g++; then
    for header in "${base_headers[@]}"; do
      echo "#include <$header>" | g++ -std=c++20 -x c++ -E -o /dev/null - 2>/dev/null ||
        missing+=("<$header>")
    done
  fi
  if ((${#missing[@]})); then
    say "This is not Debian, so nothing is installed here. Missing: ${missing[*]}"
    echo "    The packages by their Debian names: ${base_packages[*]}"
    return 1
  fi
}

need_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    die "CMake 3.25 or newer is needed; $(command -v cmake) is $version"
  fi
}

# The wheels of scripts/requirements.txt in .cache/venv; its copy of the list says what is in it.
make_venv() {
  local venv=.cache/venv
  if cmp -s scripts/requirements.txt "$venv/requirements.txt" &&
     "$venv/bin/python3" -c 'import numpy, ml_dtypes' 2>/dev/null; then
    return 0
  fi
  mkdir -p .cache
  step setup-venv python3 -m venv --clear "$venv"
  install_wheels "$venv" || install_wheels "$venv"
  cp scripts/requirements.txt "$venv/requirements.txt"
}

install_wheels() {
  step setup-wheels "$1/bin/python3" -m pip install --disable-pip-version-check \
    -r scripts/requirements.txt
}

# The toolkit comes from NVIDIA's own packages, whose licence is the user's to accept.
need_cuda() {
  local version
  have nvcc || die "no nvcc on PATH. Install the CUDA toolkit, 12.4 or newer, from
    https://developer.nvidia.com/cuda-downloads and add its bin folder to PATH"
  version=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  if [[ $(printf '%s\n' 12.4 "$version" | sort -V | head -n 1) != 12.4 ]]; then
    die "CUDA 12.4 or newer is needed; $(command -v nvcc) is $version"
  fi
}

packages=()
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }
parts=("$@")
for part in "${parts[@]}"; do
  case $part in
    base) packages+=("${base_packages[@]}") ;;
    test) packages+=("${test_packages[@]}") ;;
    dev) packages+=("${dev_packages[@]}") ;;
    aarch64)
      [[ $(uname -m) != aarch64 ]] || die "this machine is aarch64 itself: use the preset release"
      packages+=("${aarch64_packages[@]}")
      ;;
    cuda | peers) ;;
    *) die "no such part: $part (base, test, dev, aarch64, cuda, peers)" ;;
  esac
done

if is_debian; then
  install_packages "${packages[@]}"
elif wants aarch64 || wants dev; then
  die "setup ${parts[*]} is for Debian; it would install: ${packages[*]}"
else
  need_tools
fi
if wants base; then need_cmake; fi
if wants test; then make_venv; fi
if wants cuda; then need_cuda; fi
if wants peers; then scripts/setup_peers.sh; fi
