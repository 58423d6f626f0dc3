// SPDX-License-Identifier: MIT
// src/peers/peers.h: the libraries that we are measured against.
#pragma once

#include <memory>
#include <vector>

#include "dispatch/backend.h"

namespace nrd {

// openblas, blis, mkl, onednn, and those of devices. None is opened before its load().
std::vector<std::unique_ptr<Backend>> make_peer_backends();
// cublaslt, cudnn; and roofs, which compute something else: copy and read move the bytes of a case,
// one_scale is a product without scales of blocks.
std::vector<std::unique_ptr<Backend>> make_device_backends();

// One file each.
std::unique_ptr<Backend> make_openblas_backend();
std::unique_ptr<Backend> make_blis_backend();
std::unique_ptr<Backend> make_mkl_backend();
std::unique_ptr<Backend> make_onednn_backend();
std::unique_ptr<Backend> make_cublaslt_backend();
std::unique_ptr<Backend> make_cudnn_backend();
std::unique_ptr<Backend> make_copy_backend();
std::unique_ptr<Backend> make_read_backend();
std::unique_ptr<Backend> make_one_scale_backend();

}  // namespace nrd
