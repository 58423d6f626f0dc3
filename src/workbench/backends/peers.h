// SPDX-License-Identifier: MIT
// src/workbench/backends/peers.h: the CPU libraries that we are measured against.
#pragma once

#include <memory>
#include <vector>

#include "dispatch/kernel.h"

namespace nrd {

// openblas, blis, mkl, onednn. None is opened before its load().
std::vector<std::unique_ptr<Backend>> make_peer_backends();

// One file each.
std::unique_ptr<Backend> make_openblas_backend();
std::unique_ptr<Backend> make_blis_backend();
std::unique_ptr<Backend> make_mkl_backend();
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace nrd
