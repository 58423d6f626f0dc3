// SPDX-License-Identifier: MIT
// src/cuda/launch/tables.cpp: which kernels each target of the library has.
#include "cuda/launch/tables.h"

namespace nrd::cuda {

const KernelTables& tables_sm90() {
  static const KernelTables tables{};
  return tables;
}

const KernelTables& tables_sm80() {
  static const KernelTables tables{};
  return tables;
}

}  // namespace nrd::cuda
