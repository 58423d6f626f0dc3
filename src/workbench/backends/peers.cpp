// SPDX-License-Identifier: MIT
// src/workbench/backends/peers.cpp: the list of CPU peers.
#include "workbench/backends/peers.h"

namespace nrd {

std::vector<std::unique_ptr<Backend>> make_peer_backends() {
  std::vector<std::unique_ptr<Backend>> list;
  list.push_back(make_openblas_backend());
  list.push_back(make_blis_backend());
  list.push_back(make_mkl_backend());
  list.push_back(make_onednn_backend());
  return list;
}

}  // namespace nrd
