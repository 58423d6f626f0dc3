// SPDX-License-Identifier: MIT
// src/peers/peers.h: the libraries that we are measured against, and roofs.
#pragma once

#include <memory>
#include <vector>

#include "dispatch/backend.h"

namespace nrd {

// openblas, blis, mkl, onednn; on devices cublaslt, cudnn and roofs, which compute something else:
// copy and read move the bytes of a case, one_scale is a product without scales of blocks. None is
// opened before its load(). The list is src/peers/CMakeLists.txt.
std::vector<std::unique_ptr<Backend>> make_peer_backends();

}  // namespace nrd
