// SPDX-License-Identifier: MIT
// src/peers/cublaslt_matmul.cpp: layouts, scales and the choice of an algorithm.
#include "peers/cublaslt_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cuda/launch/timing.h"

namespace nrd::cublaslt {
namespace {

constexpr int kCandidates = 8;
constexpr int kTimedRuns = 10;
constexpr size_t kMostTrialBytes = size_t{4} << 30;

std::optional<int> type_of(DType dtype) {
  switch (dtype) {
    case DType::kF32: return kReal32F;
    case DType::kF16: return kReal16F;
    case DType::kBF16: return kReal16BF;
    case DType::kF8E4M3: return kRealE4M3;
    case DType::kF8E5M2: return kRealE5M2;
    default: return std::nullopt;
  }
}

int find(const Desc& desc, std::string_view name) {
  const int at = desc.signature().find_operand(name);
  return at >= 0 && desc.operands[static_cast<size_t>(at)].present ? at : -1;
}

DType dtype_at(const Desc& desc, int operand) {
  return desc.operands[static_cast<size_t>(operand)].dtype;
}

bool is_fp8(DType dtype) { return dtype == DType::kF8E4M3 || dtype == DType::kF8E5M2; }

size_t elements(const OperandDesc& operand) {
  size_t n = operand.present ? 1 : 0;
  for (int64_t size : operand.sizes) n *= static_cast<size_t>(size);
  return n;
}

}  // namespace

Expected<void> Matmul::check(const char* call, Status status) const {
  if (status == 0) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = op_,
                     .argument = call,
                     .got = fmt::format("{} ({})", api_->status_text(status), status)});
}

Expected<Matmul> Matmul::read(const Desc& desc, const Api& api) {
  Matmul matmul;
  matmul.api_ = &api;
  matmul.op_ = desc.op->name;
  NRD_TRY(accept_plain(desc));
  matmul.operands_ = {.a = find(desc, "a"),
                      .b = find(desc, "b"),
                      .bias = find(desc, "bias"),
                      .a_scale = find(desc, "a_scale"),
                      .b_scale = find(desc, "b_scale"),
                      .c = find(desc, "c")};
  NRD_TRY(matmul.describe(desc));
  return matmul;
}

Expected<void> Matmul::describe(const Desc& desc) {
  const Operands& o = operands_;
  const bool fp8 = is_fp8(dtype_at(desc, o.a));
  for (int operand : {o.a, o.b, o.c})
    if (!type_of(dtype_at(desc, operand)) ||
        is_fp8(dtype_at(desc, operand)) != (fp8 && operand != o.c))
      return refuse(desc, "dtype", desc.dtype_text(),
                    "f32, f16 and bf16, or 8-bit floats for both a and b");
  Expected<nrd::MatrixLayout> a = matrix_layout(desc, o.a), b = matrix_layout(desc, o.b);
  if (!a) return a.error();
  if (!b) return b.error();
  if (a->rows == 0 || a->cols == 0 || b->cols == 0)
    return refuse(desc, "shape", desc.shape_text(), "sizes of 1 or more");
  // 8-bit operands must lie along k, both of them.
  if (fp8 && (!a->row_major || b->row_major))
    return refuse(desc, "strides", "a product of 8-bit floats whose k is not contiguous",
                  "k contiguous in a and b");
  NRD_TRY(check("cublasLtMatmulDescInit",
                api_->desc_init(&desc_, sizeof desc_, kCompute32F, kReal32F)));
  const int32_t trans_b = b->row_major ? kOpN : kOpT, trans_a = a->row_major ? kOpN : kOpT;
  NRD_TRY(check("TRANSA", set(kTransA, trans_b)));
  NRD_TRY(check("TRANSB", set(kTransB, trans_a)));
  auto layout = [&](MatrixLayout& out, DType dtype, const nrd::MatrixLayout& m) {
    // In columns, a row-major matrix is its transpose.
    const int rows = m.row_major ? m.cols : m.rows, cols = m.row_major ? m.rows : m.cols;
    return check("cublasLtMatrixLayoutInit",
                 api_->layout_init(&out, sizeof out, *type_of(dtype), static_cast<uint64_t>(rows),
                                   static_cast<uint64_t>(cols), m.ld));
  };
  NRD_TRY(layout(first_, dtype_at(desc, o.b), *b));
  NRD_TRY(layout(second_, dtype_at(desc, o.a), *a));
  NRD_TRY(layout(result_, dtype_at(desc, o.c), {a->rows, b->cols, true, b->cols}));
  if (o.bias >= 0) {
    if (dtype_at(desc, o.bias) != dtype_at(desc, o.c) ||
        (fp8 && dtype_at(desc, o.c) == DType::kF32))
      return refuse(desc, "bias", std::string(word(dtype_at(desc, o.bias))),
                    "the dtype of c; no f32 beside 8-bit floats");
    NRD_TRY(check("EPILOGUE", set(kEpilogue, static_cast<int32_t>(kEpilogueBias))));
  }
  if (!fp8) return {};
  const bool fast = desc.choice("accumulate") == "fast";
  NRD_TRY(check("FAST_ACCUM", set(kFastAccumulation, static_cast<int8_t>(fast))));
  const std::string_view scales = desc.choice("scales");
  if (scales == "tensor") return {};
  if (scales != "row_column" || api_->version() < kOuterVectorVersion)
    return refuse(desc, "scales", std::string(scales), "tensor; row_column since cuBLASLt 12.9");
  NRD_TRY(check("A_SCALE_MODE", set(kAScaleMode, static_cast<int32_t>(kScaleOuterVector))));
  return check("B_SCALE_MODE", set(kBScaleMode, static_cast<int32_t>(kScaleOuterVector)));
}

void Matmul::set_pointers(MatmulDesc& desc, void* const* pointers) const {
  auto point = [&](int attribute, int operand) {
    if (operand >= 0) api_->desc_set(&desc, attribute, &pointers[operand], sizeof(void*));
  };
  point(kBiasPointer, operands_.bias);
  point(kAScalePointer, operands_.b_scale);
  point(kBScalePointer, operands_.a_scale);
}

Status Matmul::run(Handle handle, void* const* pointers, const Algorithm& algorithm,
                   void* workspace, size_t workspace_bytes, cuda::Stream stream) const {
  static constexpr float kOne = 1, kZero = 0;
  MatmulDesc desc = desc_;
  set_pointers(desc, pointers);
  void* c = pointers[operands_.c];
  return api_->matmul(handle, &desc, &kOne, pointers[operands_.b], &first_, pointers[operands_.a],
                      &second_, &kZero, c, &result_, c, &result_, &algorithm, workspace,
                      workspace_bytes, stream);
}

Expected<std::vector<HeuristicResult>> Matmul::candidates(Handle handle, void* const* pointers,
                                                          size_t workspace_bytes) const {
  MatmulDesc desc = desc_;
  set_pointers(desc, pointers);
  Preference preference{};
  NRD_TRY(
      check("cublasLtMatmulPreferenceInit", api_->preference_init(&preference, sizeof preference)));
  NRD_TRY(
      check("MAX_WORKSPACE_BYTES", api_->preference_set(&preference, kMaxWorkspaceBytes,
                                                        &workspace_bytes, sizeof workspace_bytes)));
  std::vector<HeuristicResult> results(kCandidates);
  int returned = 0;
  NRD_TRY(check("cublasLtMatmulAlgoGetHeuristic",
                api_->heuristic(handle, &desc, &first_, &second_, &result_, &result_, &preference,
                                kCandidates, results.data(), &returned)));
  results.resize(static_cast<size_t>(std::max(0, returned)));
  std::erase_if(results, [](const HeuristicResult& r) { return r.state != 0; });
  if (results.empty())
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = op_,
                       .argument = "cublasLtMatmulAlgoGetHeuristic",
                       .got = "no algorithm for this case"});
  return results;
}

namespace {

// Several sets of operands, so that each call finds the L2 cold, with bytes that are no NaN of an
// 8-bit float.
class Trial {
 public:
  static Expected<Trial> make(const Desc& desc, size_t l2_bytes) {
    Trial trial;
    size_t bytes = 0;
    std::vector<size_t> offsets;
    for (const OperandDesc& operand : desc.operands) {
      offsets.push_back(bytes);
      bytes += (elements(operand) * byte_size(operand.dtype) + 255) / 256 * 256;
    }
    const size_t fit = std::max<size_t>(1, kMostTrialBytes / std::max<size_t>(bytes, 1));
    const size_t sets =
        std::min(fit, std::max<size_t>(2, 1 + 3 * l2_bytes / std::max<size_t>(bytes, 1)));
    Expected<cuda::DeviceMemory> memory =
        cuda::DeviceMemory::allocate(sets * bytes, desc.device.index);
    if (!memory) return memory.error();
    trial.memory_ = std::move(*memory);
    NRD_TRY(trial.fill());
    for (size_t set = 0; set < sets; set++) {
      std::vector<void*>& pointers = trial.sets_.emplace_back();
      char* base = static_cast<char*>(trial.memory_.data()) + set * bytes;
      for (size_t i = 0; i < offsets.size(); i++)
        pointers.push_back(desc.operands[i].present ? base + offsets[i] : nullptr);
    }
    return trial;
  }
  void* const* next() { return sets_[at_++ % sets_.size()].data(); }

 private:
  Expected<void> fill() {
    std::vector<unsigned char> pattern(size_t{8} << 20);
    uint64_t state = 1;
    for (unsigned char& byte : pattern) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      byte = static_cast<unsigned char>(state >> 56) & 0xBF;
    }
    for (size_t done = 0; done < memory_.bytes(); done += pattern.size())
      NRD_TRY(cuda::copy_to_device(static_cast<char*>(memory_.data()) + done, pattern.data(),
                                   std::min(pattern.size(), memory_.bytes() - done)));
    return {};
  }

  cuda::DeviceMemory memory_;
  std::vector<std::vector<void*>> sets_;
  size_t at_ = 0;
};

// Median microseconds, or nothing where the algorithm fails.
std::optional<double> time_algorithm(const Matmul& matmul, Handle handle, Trial& trial,
                                     const HeuristicResult& candidate, void* workspace) {
  Expected<cuda::Event> first = cuda::Event::create(), last = cuda::Event::create();
  if (!first || !last) return std::nullopt;
  std::vector<double> times;
  for (int run = -2; run < kTimedRuns; run++) {
    if (!first->record(nullptr) ||
        matmul.run(handle, trial.next(), candidate.algorithm, workspace, candidate.workspace_bytes,
                   nullptr) != 0 ||
        !last->record(nullptr) || !last->wait())
      return std::nullopt;
    Expected<double> us = cuda::microseconds_between(*first, *last);
    if (!us) return std::nullopt;
    if (run >= 0) times.push_back(*us);
  }
  std::sort(times.begin(), times.end());
  return (times[(kTimedRuns - 1) / 2] + times[kTimedRuns / 2]) / 2;
}

}  // namespace

Expected<HeuristicResult> find_fastest(const Matmul& matmul, const Desc& desc, Handle handle,
                                       size_t workspace_bytes, size_t l2_bytes) {
  Expected<Trial> trial = Trial::make(desc, l2_bytes);
  if (!trial) return trial.error();
  Expected<cuda::DeviceMemory> workspace =
      cuda::DeviceMemory::allocate(workspace_bytes, desc.device.index);
  if (!workspace) return workspace.error();
  Expected<std::vector<HeuristicResult>> candidates =
      matmul.candidates(handle, trial->next(), workspace_bytes);
  if (!candidates) return candidates.error();
  const HeuristicResult* best = nullptr;
  double best_us = 0;
  for (const HeuristicResult& candidate : *candidates) {
    const std::optional<double> us =
        time_algorithm(matmul, handle, *trial, candidate, workspace->data());
    if (us && (best == nullptr || *us < best_us)) best = &candidate, best_us = *us;
  }
  if (best != nullptr) return *best;
  return make_error({.code = ErrorCode::kEnvironment,
                     .op = desc.op->name,
                     .argument = "cublasLtMatmul",
                     .got = "a failure of every algorithm that it proposed"});
}

}  // namespace nrd::cublaslt
