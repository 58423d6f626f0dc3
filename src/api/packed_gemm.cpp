// SPDX-License-Identifier: MIT
// src/api/packed_gemm.cpp: see packed_gemm.h.
#include "api/packed_gemm.h"

#include "base/lazy.h"
#include "ops/epilogue.h"

namespace nrd {
namespace {

constexpr const char* kPrepacked = "gemm_prepacked";

Expected<void> check_activation(std::string_view name) {
  Expected<const Op*> op = is_epilogue_name(name) ? nullptr : find_op(name);
  if (op && *op && is_elementwise_step(**op, 0)) return {};
  std::string allowed;
  for (const Op& known : catalogue())
    if (is_elementwise_step(known, 0)) allowed += (allowed.empty() ? "" : ", ") + known.name;
  return make_error({ErrorCode::kUnknownName, kPrepacked, "activation", fmt::format("'{}'", name),
                     allowed + ", or an operator of your own of one value", ""});
}

// The parts that an epilogue has. Names are kept per kind: a call spells none.
struct EpilogueKind {
  enum Scale : int { kNone, kNumber, kColumns };
  int scale = kNone;
  bool bias = false, residual = false;
  const char* activation = nullptr;
};

Expected<const nereid_names*> make_names(const EpilogueKind& kind) {
  std::string op = kPrepacked;
  std::vector<const char*> operands = {"a", "b", "c"};
  if (kind.scale != EpilogueKind::kNone) {
    op += kind.scale == EpilogueKind::kNumber ? "+scale" : "+column_scale";
    operands.push_back("scale");
  }
  if (kind.bias) op += "+bias", operands.push_back("bias");
  if (kind.activation) {
    NRD_TRY(check_activation(kind.activation));
    op += "+" + std::string(kind.activation);
  }
  if (kind.residual) op += "+residual", operands.push_back("residual");
  return keep_names(op.c_str(), operands, {});
}

// Under LockName::kNames; by the kind's number and activation.
struct KindHash {
  using is_transparent = void;
  size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};
using KeptKinds = std::unordered_map<std::string, const nereid_names*, KindHash, std::equal_to<>>;
constinit Lazy<KeptKinds> g_kinds;

Expected<const nereid_names*> names_of(const EpilogueKind& kind) {
  std::array<char, 64> key;
  const std::string_view activation = kind.activation ? kind.activation : "";
  const bool fits = activation.size() < key.size();
  if (!fits) return make_names(kind);
  key[0] = static_cast<char>('a' + kind.scale * 4 + kind.bias * 2 + kind.residual);
  activation.copy(key.data() + 1, activation.size());
  const std::string_view text(key.data(), activation.size() + 1);
  KeptKinds& kinds = g_kinds.get();
  {
    const Locked lock(LockName::kNames);
    if (auto found = kinds.find(text); found != kinds.end()) return found->second;
  }
  Expected<const nereid_names*> made = make_names(kind);
  if (!made) return made;
  const Locked lock(LockName::kNames);
  kinds.try_emplace(std::string(text), *made);
  return made;
}

}  // namespace

Expected<void> PackedCall::fill(Context& context, const nereid_packed& b, const nereid_tensor* a,
                                const nereid_tensor* c, const nereid_epilogue* epilogue) {
  if (&context != b.context.get() && context.isa_word() != b.isa)
    return make_error({ErrorCode::kUnsupported, kPrepacked, "packed",
                       "a matrix packed for " + b.isa,
                       "one packed for " + std::string(context.isa_word()),
                       "pack it with the context that uses it"});
  for (const auto& [name, tensor] : {std::pair{"a", a}, std::pair{"c", c}}) {
    nereid_tensor read;
    NRD_TRY(read_tensor(tensor, kPrepacked, name, read));
    NRD_TRY(check_on_cpu(read, kPrepacked, name));
  }
  nereid_epilogue how{};
  if (epilogue) NRD_TRY(read_struct(epilogue, "nereid_epilogue", how));
  call_ = {};
  call_.struct_size = sizeof call_;
  call_.threads = how.threads;
  call_.backend = how.backend;
  call_.operands = operands_.data();
  const bool is_plain = context.backend_for(how.backend, DeviceKind::kCpu) != "cpu";
  Expected<nereid_tensor> matrix = b.tensor_for(static_cast<DType>(a->dtype), is_plain);
  if (!matrix) return matrix.error();
  b_ = *matrix;
  operands_[0].tensor = a, operands_[1].tensor = &b_, operands_[2].tensor = c;
  call_.operand_count = 3;
  return add_epilogue(b, how);
}

Expected<void> PackedCall::add_epilogue(const nereid_packed& b, const nereid_epilogue& how) {
  EpilogueKind kind;
  const auto add = [&](const nereid_tensor* tensor) {
    operands_[static_cast<size_t>(call_.operand_count++)].tensor = tensor;
  };
  if (how.scale) {
    nereid_tensor scale;
    NRD_TRY(read_tensor(how.scale, kPrepacked, "scale", scale));
    kind.scale = scale.rank == 0 ? EpilogueKind::kNumber : EpilogueKind::kColumns;
    add(how.scale);
  }
  if (how.bias) kind.bias = true, add(how.bias);
  if (how.residual) kind.residual = true, add(how.residual);
  kind.activation = how.activation;
  const bool is_empty = call_.operand_count == 3 && !kind.activation;
  if (!is_empty && !is_float(b.dtype))
    return make_error({ErrorCode::kUnsupported, kPrepacked, "epilogue",
                       "one behind an integer product", "none",
                       "use gemm_dequant for scales and floats"});
  Expected<const nereid_names*> names = names_of(kind);
  if (!names) return names.error();
  call_.names = *names;
  return {};
}

}  // namespace nrd

extern "C" nereid_status nereid_gemm_packed(nereid_context* context, const nereid_tensor* a,
                                            const nereid_packed* b, const nereid_tensor* c,
                                            const nereid_epilogue* epilogue) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (!b) return nrd::null_error("b", "a matrix of nereid_pack_b", nrd::kPrepacked);
    auto found = nrd::context_of(context);
    if (!found) return found.error();
    nrd::PackedCall call;
    NRD_TRY(call.fill(***found, *b, a, c, epilogue));
    return nrd::run_call(***found, &call.call());
  });
}
