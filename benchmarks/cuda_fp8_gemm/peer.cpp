// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/peer.cpp
#include "peer.h"

#include <array>

#include "ops/desc.h"

namespace nrd::bench {
namespace {

constexpr size_t kWorkspaceBytes = size_t{64} << 20;

struct Lt {
  cublaslt::Api api;
  cublaslt::Handle handle = nullptr;
};

Expected<const Lt*> open_library() {
  static const Expected<Lt> opened = []() -> Expected<Lt> {
    constexpr std::array<std::string_view, 2> kNames = {"libcublasLt.so.13", "libcublasLt.so.12"};
    Expected<Library> library = Library::open(kNames);
    if (!library) return library.error();
    Lt lt;
    NRD_TRY(lt.api.resolve(*library));
    if (lt.api.create(&lt.handle) != 0)
      return make_error({.code = ErrorCode::kEnvironment, .argument = "cublasLtCreate"});
    return lt;
  }();
  if (!opened) return opened.error();
  return &*opened;
}

// The same product as the catalogue knows it.
Expected<Desc> describe(const cuda::Fp8GemmArgs& args) {
  const bool is_tensor = args.a_scale_row == 0;
  auto operand = [](DType dtype, Dims sizes, Dims strides) {
    OperandDesc desc;
    desc.dtype = dtype;
    desc.sizes = std::move(sizes);
    desc.strides = std::move(strides);
    return desc;
  };
  const auto scale = [&](int64_t size) {
    return is_tensor ? operand(DType::kF32, {}, {}) : operand(DType::kF32, {size}, {1});
  };
  std::vector<NamedOperand> operands = {
      {"a", operand(DType::kF8E4M3, {args.m, args.k}, {args.a_row, 1})},
      {"b", operand(DType::kF8E4M3, {args.k, args.n}, {1, args.b_row})},
      {"a_scale", scale(args.m)},
      {"b_scale", scale(args.n)},
      {"c", operand(args.c_dtype, {args.m, args.n}, {args.c_row, 1})}};
  const Attributes attributes = {{"scales", std::string(is_tensor ? "tensor" : "row_column")},
                                 {"accumulate", std::string(args.fast ? "fast" : "precise")}};
  Expected<const Op*> op = find_op("fp8_gemm");
  if (!op) return op.error();
  return bind(**op, attributes, std::move(operands));
}

}  // namespace

Expected<std::unique_ptr<Peer>> Peer::make(const cuda::Fp8GemmArgs& args, size_t l2_bytes) {
  if (args.scales == cuda::Fp8Scales::kBlock)
    return make_error({.code = ErrorCode::kUnsupported, .argument = "scales", .got = "block"});
  Expected<const Lt*> lt = open_library();
  if (!lt) return lt.error();
  Expected<Desc> desc = describe(args);
  if (!desc) return desc.error();
  Expected<cublaslt::Matmul> matmul = cublaslt::Matmul::read(*desc, (*lt)->api);
  if (!matmul) return matmul.error();
  auto peer = std::make_unique<Peer>();
  peer->matmul_ = std::move(*matmul);
  peer->operands_ = desc->operands.size();
  Expected<cublaslt::HeuristicResult> chosen =
      cublaslt::find_fastest(peer->matmul_, *desc, (*lt)->handle, kWorkspaceBytes, l2_bytes);
  if (!chosen) return chosen.error();
  peer->chosen_ = *chosen;
  Expected<cuda::DeviceMemory> workspace = cuda::DeviceMemory::allocate(kWorkspaceBytes, 0);
  if (!workspace) return workspace.error();
  peer->workspace_ = std::move(*workspace);
  return peer;
}

Expected<void> Peer::run(const cuda::Fp8GemmArgs& args, cuda::Stream stream) const {
  const cublaslt::Operands& at = matmul_.operands();
  std::vector<void*> pointers(operands_, nullptr);
  auto put = [&](int operand, const void* pointer) {
    if (operand >= 0) pointers[static_cast<size_t>(operand)] = const_cast<void*>(pointer);
  };
  put(at.a, args.a);
  put(at.b, args.b);
  put(at.c, args.c);
  put(at.a_scale, args.a_scale);
  put(at.b_scale, args.b_scale);
  const cublaslt::Status status =
      matmul_.run((*open_library())->handle, pointers.data(), chosen_.algorithm, workspace_.data(),
                  chosen_.workspace_bytes, stream);
  if (status == 0) return {};
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "cublasLtMatmul",
                     .got = std::to_string(status)});
}

}  // namespace nrd::bench
