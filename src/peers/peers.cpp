// SPDX-License-Identifier: MIT
// src/peers/peers.cpp: the list of peers.
#include "peers/peers.h"

namespace nrd {

std::vector<std::unique_ptr<Backend>> make_peer_backends() {
  std::vector<std::unique_ptr<Backend>> list;
  list.push_back(make_openblas_backend());
  list.push_back(make_blis_backend());
  list.push_back(make_mkl_backend());
  list.push_back(make_onednn_backend());
  for (std::unique_ptr<Backend>& backend : make_device_backends())
    list.push_back(std::move(backend));
  return list;
}

}  // namespace nrd
