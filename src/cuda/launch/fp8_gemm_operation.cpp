// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_operation.cpp: fp8_gemm of the catalogue on wgmma or on mma.sync.
//
// A Desc is a list of products (fp8_gemm_problem.h). For each one the sides become codes and scales
// where they are not (fp8_gemm_sides.h), the product runs, and c is scattered where its columns are
// not contiguous. A side that several products share is made once.
#include <fmt/format.h>

#include <limits>

#include "base/align.h"
#include "cuda/launch/fp8_gemm_engine.h"
#include "cuda/launch/fp8_gemm_sides.h"
#include "cuda/launch/memory.h"

namespace nrd::cuda {
namespace {

constexpr size_t kPartAlignment = 256;

// Everything that does not depend on pointers.
Fp8GemmArgs shape_args(const Fp8GemmProblem& p, const Target& target) {
  Fp8GemmArgs args;
  args.m = p.m;
  args.n = p.n;
  args.k = p.k;
  args.c_dtype = p.c.dtype;
  args.c_row = p.m > 1 ? p.c.outer : p.n;
  args.scales = p.grain == Fp8Grain::kBlock ? Fp8Scales::kBlock : Fp8Scales::kVector;
  args.one_scale = p.grain == Fp8Grain::kTensor;
  args.bias_dtype = p.bias.dtype;
  args.bias_step = p.bias.inner;
  args.fast = p.fast;
  args.whole_k = p.batch_invariant;
  args.multiprocessors = target.device.multiprocessors;
  return args;
}

bool scatters(const Fp8GemmProblem& p) {
  return (p.n > 1 && p.c.inner != 1) || (p.m > 1 && p.c.outer < p.n);
}

// Offsets into the workspace.
struct WorkspacePlan {
  size_t a = 0, b = 0, c = 0, product = 0, bytes = 0;

  size_t reserve(size_t wanted) {
    const size_t at = bytes;
    bytes = round_up(bytes + wanted, kPartAlignment);
    return at;
  }
};

template <class T>
T* element(void* const* pointers, const Fp8GemmProblem& p, const ProblemOperand& operand,
           int64_t product) {
  if (!operand.present()) return nullptr;
  char* base = static_cast<char*>(pointers[operand.index]);
  return reinterpret_cast<T*>(base + p.offset(operand, product) *
                                         static_cast<int64_t>(byte_size(operand.dtype)));
}

class Fp8GemmOperation final : public Operation {
 public:
  Fp8GemmOperation(const Fp8GemmProblem& problem, const Target& target)
      : p_(problem),
        target_(target),
        engine_(target),
        args_(shape_args(problem, target)),
        a_(plan_side(problem, false, engine_.aligned_rows(), target)),
        b_(plan_side(problem, true, engine_.aligned_rows(), target)),
        scatters_(scatters(problem)) {
    if (scatters_) args_.c_row = p_.n;
  }

  // b does not change from now on: what it needs is done, into memory of our own. Whoever made it
  // may still be at work in some stream, and is waited for; while a stream is recorded that is
  // impossible, and b is one like any other.
  Expected<void> keep_b(const void* data) {
    const Expected<bool> is_there = wait_for_device();
    if (!is_there) return is_there.error();
    if (!*is_there) return {};
    constant_b_ = data;
    for (int64_t step : p_.b.leading)
      if (step != 0) return {};
    const SidePlan plan = suits(data) ? b_ : plan_move(b_);
    if (plan.work == SidePlan::Work::kNone) return {};
    Expected<DeviceMemory> memory = DeviceMemory::allocate(plan.bytes, target_.device.index);
    if (!memory) return memory.error();
    Expected<Side> side = make_side(p_, plan, data, memory->data(), target_, nullptr);
    if (!side) return side.error();
    NRD_TRY(wait_for(nullptr));
    kept_memory_ = std::move(*memory);
    kept_ = *side;
    b_.work = SidePlan::Work::kNone;
    return {};
  }

  void plan_workspace() {
    if (empty() || p_.k == 0) return;
    config_ = fp8_gemm_config(args_);
    args_.config = &config_;  // looked for once
    workspace_.a = workspace_.reserve(a_.bytes);
    workspace_.b = workspace_.reserve(kept() ? 0 : b_.bytes);
    if (scatters_)
      workspace_.c = workspace_.reserve(static_cast<size_t>(p_.m * p_.n) * byte_size(p_.c.dtype));
    workspace_.product = workspace_.reserve(engine_.workspace_bytes(args_));
  }

  size_t workspace_bytes() const override { return workspace_.bytes; }

  Expected<void> launch(void* const* pointers, void* workspace, Stream stream) const override {
    if (empty()) return {};
    Run run{engine_, pointers, static_cast<char*>(workspace), stream};
    for (int64_t product = 0; product < p_.products(); product++)
      NRD_TRY(p_.k == 0 ? place_bias(run, product) : multiply(run, product));
    return {};
  }

  std::string note() const override {
    std::string text = p_.k == 0 ? "no k: bias or zeros" : engine_.note(args_);
    const auto add = [&text](const std::string& part) {
      if (!part.empty()) text += ", " + part;
    };
    if (p_.k > 0) {
      add(side_note(a_));
      add(kept() ? "b prepared once" : side_note(b_));
    }
    if (scatters_) add("c scattered");
    if (p_.products() > 1) add(fmt::format("{} products", p_.products()));
    return text;
  }

 private:
  struct Run {
    const Fp8GemmEngine& engine;
    void* const* pointers;
    char* workspace;
    Stream stream;
    // Copies of sides at odd addresses, which are known only now: the workspace has no room for
    // them, since hardly a call needs them.
    void *moved_a = nullptr, *moved_b = nullptr;
    // The sides of the product before, and what they were made of.
    Side a, b;
    const void* a_data = nullptr;
    const void* b_data = nullptr;

    ~Run() {
      engine.release(moved_a, stream);
      engine.release(moved_b, stream);
    }
  };

  bool empty() const { return p_.m == 0 || p_.n == 0 || p_.products() == 0; }
  bool kept() const { return kept_.codes != nullptr; }
  bool suits(const void* codes) const {
    return !engine_.aligned_rows() || reinterpret_cast<uintptr_t>(codes) % 16 == 0;
  }

  // In the workspace or, where only the address calls for a copy, in memory that `moved` has.
  Expected<Side> place_side(const Run& run, const SidePlan& plan, const void* data, size_t offset,
                            void*& moved) const {
    if (suits(data) || plan.work != SidePlan::Work::kNone)
      return make_side(p_, plan, data, run.workspace + offset, target_, run.stream);
    const SidePlan copy = plan_move(plan);
    if (moved == nullptr) {
      const Expected<void*> memory = engine_.allocate(copy.bytes, run.stream);
      if (!memory) return memory.error();
      moved = *memory;
    }
    return make_side(p_, copy, data, moved, target_, run.stream);
  }

  Expected<void> make_sides(Run& run, int64_t product) const {
    const void* a = element<const void>(run.pointers, p_, p_.a, product);
    if (a != run.a_data) {
      Expected<Side> side = place_side(run, a_, a, workspace_.a, run.moved_a);
      if (!side) return side.error();
      run.a = *side;
      run.a_data = a;
    }
    if (kept()) {
      run.b = kept_;
      return {};
    }
    const void* b = element<const void>(run.pointers, p_, p_.b, product);
    if (b != run.b_data) {
      Expected<Side> side = place_side(run, b_, b, workspace_.b, run.moved_b);
      if (!side) return side.error();
      run.b = *side;
      run.b_data = b;
    }
    return {};
  }

  Expected<void> multiply(Run& run, int64_t product) const {
    NRD_TRY(make_sides(run, product));
    const float* a_scale = element<const float>(run.pointers, p_, p_.a_scale, product);
    const float* b_scale = element<const float>(run.pointers, p_, p_.b_scale, product);
    Fp8GemmArgs args = args_;
    args.a = run.a.codes;
    args.a_row = run.a.code_row;
    args.a_scale = a_scale ? a_scale : run.a.scale;
    args.a_scale_row = run.a.scale_row;
    args.a_scale_k = run.a.scale_k;
    args.b = run.b.codes;
    const bool is_known = constant_b_ && constant_b_ == run.pointers[p_.b.index];
    args.b_constant = kept() || (is_known && run.b.codes == run.b_data);
    args.b_row = run.b.code_row;
    args.b_scale = b_scale ? b_scale : run.b.scale;
    args.b_scale_column = run.b.scale_row;
    args.b_scale_k = run.b.scale_k;
    args.bias = element<const void>(run.pointers, p_, p_.bias, product);
    void* c = element<void>(run.pointers, p_, p_.c, product);
    args.c = scatters_ ? run.workspace + workspace_.c : c;
    NRD_TRY(engine_.launch(args, run.workspace + workspace_.product, run.stream));
    if (!scatters_) return {};
    PlaceArgs place = place_args(c);
    place.from = args.c;
    return engine_.place(place, run.stream);
  }

  PlaceArgs place_args(void* c) const {
    return {.m = p_.m,
            .n = p_.n,
            .c = c,
            .dtype = p_.c.dtype,
            .row_stride = p_.c.outer,
            .column_stride = p_.c.inner,
            .bias_dtype = p_.bias.dtype,
            .bias_step = p_.bias.inner};
  }

  // The empty sum.
  Expected<void> place_bias(const Run& run, int64_t product) const {
    PlaceArgs place = place_args(element<void>(run.pointers, p_, p_.c, product));
    place.bias = element<const void>(run.pointers, p_, p_.bias, product);
    return engine_.place(place, run.stream);
  }

  Fp8GemmProblem p_;
  Target target_;
  Fp8GemmEngine engine_;
  Fp8GemmArgs args_;
  SidePlan a_, b_;
  bool scatters_;
  const void* constant_b_ = nullptr;  // that was there when this was prepared
  Fp8GemmConfig config_;
  WorkspacePlan workspace_;
  DeviceMemory kept_memory_;
  Side kept_;
};

bool serves(const Op& op) { return op.name == "fp8_gemm"; }

Expected<void> accepts(const Desc& desc, const Target& target) {
  const auto refuse = [&](ErrorCode code, std::string argument, std::string got,
                          std::string allowed, std::string hint) {
    return make_error({.code = code,
                       .op = desc.op->name,
                       .argument = std::move(argument),
                       .got = std::move(got),
                       .allowed = std::move(allowed),
                       .hint = std::move(hint)});
  };
  if (!Fp8GemmEngine(target).exists())
    return refuse(ErrorCode::kUnsupported, "kernels", "a build without them", "", "");
  for (const char* name : {"a", "b"}) {
    const int index = desc.signature().find_operand(name);
    if (desc.operands[static_cast<size_t>(index)].dtype == DType::kF8E5M2)
      return refuse(ErrorCode::kUnsupportedDtype, name, "f8e5m2", "f8e4m3, f32, f16, bf16",
                    "quantise it as f8e4m3");
  }
  const Fp8GemmProblem p = read_fp8_gemm(desc);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 1024;  // a tile may pass the end
  for (auto [name, size] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}})
    if (size > kMost)
      return refuse(ErrorCode::kUnsupported, name, fmt::format("{}", size),
                    fmt::format("at most {}", kMost), "cut the product");
  return {};
}

Expected<std::unique_ptr<Operation>> prepare(const Desc& desc, const Target& target,
                                             std::span<void* const> constants) {
  NRD_TRY(accepts(desc, target));
  const Fp8GemmProblem p = read_fp8_gemm(desc);
  auto operation = std::make_unique<Fp8GemmOperation>(p, target);
  const void* b = constants.empty() ? nullptr : constants[static_cast<size_t>(p.b.index)];
  if (b != nullptr && p.n > 0 && p.k > 0) NRD_TRY(operation->keep_b(b));
  operation->plan_workspace();
  return std::unique_ptr<Operation>(std::move(operation));
}

std::string numerics(const Desc& desc, const Target& target) {
  return Fp8GemmEngine(target).numerics(shape_args(read_fp8_gemm(desc), target));
}

}  // namespace

extern const Implementation kFp8Gemm;
const Implementation kFp8Gemm = {
    .name = "fp8_gemm",
    .serves = serves,
    .accepts = accepts,
    .prepare = prepare,
    .numerics = numerics,
};

}  // namespace nrd::cuda
