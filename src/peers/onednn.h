// SPDX-License-Identifier: MIT
// src/peers/onednn.h: the families of oneDNN's kernels, one file each.
#pragma once

#include "peers/onednn_api.h"
#include "peers/peer_kernel.h"

namespace nrd {

// gemm, gemm_bias and gemm_prepacked of floats and 8-bit integers.
void add_onednn_products(const OneDnn& dnn, PeerKernels& kernels);
// exp, tanh, sigmoid, relu, silu, gelu, gelu_tanh, softmax, layer_norm and rms_norm.
void add_onednn_rows(const OneDnn& dnn, PeerKernels& kernels);

}  // namespace nrd
