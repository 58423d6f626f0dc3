// SPDX-License-Identifier: MIT
// src/peers/onednn_rows.cpp: activations, softmax and normalisations by oneDNN.
#include "peers/onednn.h"
#include "peers/onednn_primitive.h"

namespace nrd {
namespace {

Expected<void> accept_sizes(const Desc& desc) {
  for (int64_t size : desc.axes)
    if (size == 0) return refuse(desc, "shape", desc.shape_text(), "sizes of at least 1");
  return {};
}

// Operators of which x is the first operand and out the last, both of `axes` axes.
class RowKernel : public PeerKernel {
 public:
  RowKernel(const OneDnn& dnn, std::string op, std::string name, int axes)
      : PeerKernel(std::move(op), std::move(name)), dnn_(dnn), axes_(axes) {}

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    NRD_TRY(accept_sizes(desc));
    NRD_TRY(accept_case(desc));
    for (size_t i = 0; i < desc.operands.size(); i++)
      NRD_TRY(accept_contiguous(desc, static_cast<int>(i)));
    Expected<DnnlPlan> p = plan(desc);
    if (!p) return p.error();
    return dnnl_accepts(dnn_, desc, p->describe);
  }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<DnnlPlan> p = plan(desc);
    if (!p) return p.error();
    return dnnl_prepare(dnn_, desc, std::move(*p));
  }

 protected:
  using Layout = std::shared_ptr<DnnlMemoryDesc>;
  virtual Expected<void> accept_case(const Desc&) const { return {}; }
  virtual DnnlDescribe describe(const Desc& desc, const Layout& x, const Layout& out) const = 0;
  // Arguments between x and out.
  virtual void add_arguments(const Desc&, std::vector<DnnlArgument>&) const {}
  const OneDnn& dnn_;

 private:
  Expected<DnnlPlan> plan(const Desc& desc) const {
    const int last = static_cast<int>(desc.operands.size()) - 1;
    Layout x = dnnl_layout(dnn_, desc.operands.front(), axes_);
    Layout out = dnnl_layout(dnn_, desc.operands.back(), axes_);
    if (!x || !out) return dnnl_error(dnn_, desc, kDnnlUnimplemented);
    DnnlPlan p;
    p.describe = describe(desc, x, out);
    p.arguments = {{kDnnlArgSrc, 0, x, nullptr}, {kDnnlArgDst, last, out, nullptr}};
    add_arguments(desc, p.arguments);
    return p;
  }

  int axes_;
};

class Eltwise final : public RowKernel {
 public:
  Eltwise(const OneDnn& dnn, std::string op, std::string name, int algorithm, float alpha)
      : RowKernel(dnn, std::move(op), std::move(name), 1), algorithm_(algorithm), alpha_(alpha) {}

 protected:
  DnnlDescribe describe(const Desc&, const Layout& x, const Layout& out) const override {
    return [&dnn = dnn_, x, out, algorithm = algorithm_, alpha = alpha_](DnnlPrimitiveDesc** pd) {
      return dnn.eltwise_forward_primitive_desc_create(pd, dnn.engine, kDnnlForwardInference,
                                                       algorithm, x.get(), out.get(), alpha, 0,
                                                       dnn.attributes);
    };
  }

 private:
  int algorithm_;
  float alpha_;
};

class Softmax final : public RowKernel {
 public:
  explicit Softmax(const OneDnn& dnn) : RowKernel(dnn, "softmax", "softmax_accurate", 2) {}

 protected:
  DnnlDescribe describe(const Desc&, const Layout& x, const Layout& out) const override {
    return [&dnn = dnn_, x, out](DnnlPrimitiveDesc** pd) {
      return dnn.softmax_forward_primitive_desc_create(pd, dnn.engine, kDnnlForwardInference,
                                                       kDnnlSoftmaxAccurate, x.get(), out.get(), 1,
                                                       dnn.attributes);
    };
  }
};

class Norm final : public RowKernel {
 public:
  Norm(const OneDnn& dnn, std::string op, std::string name, unsigned flags)
      : RowKernel(dnn, std::move(op), std::move(name), 2), flags_(flags) {}

 protected:
  Expected<void> accept_case(const Desc& desc) const override {
    if ((flags_ & kDnnlRmsNorm) != 0 && dnn_.minor < 9)
      return refuse(desc, "oneDNN", dnn_.version_text, "3.9 or later, which have rms_norm");
    const DType x = desc.operands.front().dtype, w = desc.operands[1].dtype;
    // Rounding f32 to f32 changes nothing, so there both casts mean the same.
    if (desc.choice("cast") != "after_weight" && x != DType::kF32)
      return refuse(desc, "cast", std::string(desc.choice("cast")), "after_weight");
    for (size_t i = 2; i + 1 < desc.operands.size(); i++)
      if (desc.operands[i].dtype != w)
        return refuse(desc, "dtype", desc.dtype_text(), "one dtype for the weight and the bias");
    if (w != DType::kF32 && dnn_.layer_normalization_forward_primitive_desc_create_v2 == nullptr)
      return refuse(desc, "w", std::string(word(w)), "f32",
                    "other weights came with oneDNN 3.3; this is " + dnn_.version_text);
    return {};
  }

  DnnlDescribe describe(const Desc& desc, const Layout& x, const Layout& out) const override {
    const auto eps = static_cast<float>(desc.number("eps"));
    const DType w = desc.operands[1].dtype;
    if (w == DType::kF32)
      return [&dnn = dnn_, x, out, eps, flags = flags_](DnnlPrimitiveDesc** pd) {
        return dnn.layer_normalization_forward_primitive_desc_create(
            pd, dnn.engine, kDnnlForwardInference, x.get(), out.get(), nullptr, eps, flags,
            dnn.attributes);
      };
    return [&dnn = dnn_, x, out, eps, w, flags = flags_](DnnlPrimitiveDesc** pd) {
      if (dnn.layer_normalization_forward_primitive_desc_create_v2 == nullptr)
        return static_cast<int>(kDnnlUnimplemented);
      return dnn.layer_normalization_forward_primitive_desc_create_v2(
          pd, dnn.engine, kDnnlForwardInference, x.get(), out.get(), nullptr, dnnl_dtype(w), eps,
          flags, dnn.attributes);
    };
  }

  void add_arguments(const Desc& desc, std::vector<DnnlArgument>& arguments) const override {
    arguments.push_back({kDnnlArgScale, 1, dnnl_layout(dnn_, desc.operands[1], 1), nullptr});
    if ((flags_ & kDnnlUseShift) != 0)
      arguments.push_back({kDnnlArgShift, 2, dnnl_layout(dnn_, desc.operands[2], 1), nullptr});
  }

 private:
  unsigned flags_;
};

}  // namespace

void add_onednn_rows(const OneDnn& dnn, PeerKernels& kernels) {
  auto eltwise = [&](const char* op, const char* name, int algorithm, float alpha = 0) {
    kernels.push_back(std::make_unique<Eltwise>(dnn, op, name, algorithm, alpha));
  };
  eltwise("exp", "eltwise_exp", kDnnlExp);
  eltwise("tanh", "eltwise_tanh", kDnnlTanh);
  eltwise("sigmoid", "eltwise_logistic", kDnnlLogistic);
  eltwise("relu", "eltwise_relu", kDnnlRelu);
  eltwise("silu", "eltwise_swish", kDnnlSwish, 1);
  eltwise("gelu", "eltwise_gelu_erf", kDnnlGeluErf);
  eltwise("gelu_tanh", "eltwise_gelu_tanh", kDnnlGeluTanh);
  kernels.push_back(std::make_unique<Softmax>(dnn));
  kernels.push_back(std::make_unique<Norm>(dnn, "layer_norm", "layer_normalization",
                                           kDnnlUseScale | kDnnlUseShift));
  kernels.push_back(
      std::make_unique<Norm>(dnn, "rms_norm", "rms_normalization", kDnnlUseScale | kDnnlRmsNorm));
}

}  // namespace nrd
