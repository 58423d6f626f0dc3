// SPDX-License-Identifier: MIT
// src/peers/onednn_matmul.cpp: products by oneDNN's matmul.
#include <cstring>

#include "peers/onednn.h"
#include "peers/onednn_primitive.h"

namespace nrd {
namespace {

constexpr int kA = 0, kB = 1;

// Memory descriptors of one product; bias is null where there is none.
struct Layouts {
  std::shared_ptr<DnnlMemoryDesc> a, b, bias, c;
};

class Matmul final : public PeerKernel {
 public:
  Matmul(const OneDnn& dnn, std::string op) : PeerKernel(std::move(op), "matmul"), dnn_(dnn) {
    biased_ = this->op() == "gemm_bias";
    packs_ = this->op() == "gemm_prepacked";
  }

  Expected<void> accepts(const Desc& desc) const override {
    NRD_TRY(accept_plain(desc));
    for (int64_t size : desc.axes)
      if (size == 0) return refuse(desc, "shape", desc.shape_text(), "sizes of at least 1");
    for (int operand : {kA, kB, c()}) NRD_TRY(matrix_layout(desc, operand));
    if (!matrix_layout(desc, c())->row_major)
      return refuse(desc, "c", "a column major matrix", "a row major one",
                    "oneDNN has only its reference code for it");
    if (biased_) NRD_TRY(accept_contiguous(desc, 2));
    if (packs_ && !desc.operands[kB].constant)
      return refuse(desc, "b", "an operand that may change", "a constant one");
    Expected<Layouts> layouts = describe_operands(desc);
    if (!layouts) return layouts.error();
    return dnnl_accepts(dnn_, desc, describe(*layouts));
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<Layouts> found = describe_operands(desc);
    if (!found) return found.error();
    Layouts& layouts = *found;
    std::shared_ptr<void> packed;
    if (packs_) {
      Expected<std::shared_ptr<void>> done = pack(desc, layouts, constants[kB]);
      if (!done) return done.error();
      packed = *done;
    }
    DnnlPlan plan;
    plan.note = packs_ ? "packed" : "";
    plan.describe = describe(layouts);
    plan.arguments = {{kDnnlArgSrc, kA, layouts.a, nullptr},
                      {kDnnlArgWeights, kB, layouts.b, packed},
                      {kDnnlArgDst, c(), layouts.c, nullptr}};
    if (biased_) plan.arguments.push_back({kDnnlArgBias, 2, layouts.bias, nullptr});
    return dnnl_prepare(dnn_, desc, std::move(plan));
  }

 private:
  int c() const { return biased_ ? 3 : 2; }

  Expected<Layouts> describe_operands(const Desc& desc) const {
    auto operand = [&desc](int i) -> const OperandDesc& {
      return desc.operands[static_cast<size_t>(i)];
    };
    Layouts l;
    l.a = dnnl_layout(dnn_, operand(kA), 2);
    l.b = packs_ ? dnnl_any_layout(dnn_, operand(kB), 2) : dnnl_layout(dnn_, operand(kB), 2);
    l.c = dnnl_layout(dnn_, operand(c()), 2);
    if (biased_) {
      OperandDesc row = operand(2);  // [n] as [1, n]
      row.sizes = {1, row.sizes.back()};
      row.strides = {row.sizes.back(), 1};
      l.bias = dnnl_layout(dnn_, row, 2);
    }
    if (!l.a || !l.b || !l.c || (biased_ && !l.bias))
      return dnnl_error(dnn_, desc, kDnnlUnimplemented);
    return l;
  }

  DnnlDescribe describe(const Layouts& l) const {
    return [&dnn = dnn_, l](DnnlPrimitiveDesc** out) {
      return dnn.matmul_primitive_desc_create(out, dnn.engine, l.a.get(), l.b.get(), l.bias.get(),
                                              l.c.get(), dnn.attributes);
    };
  }

  // Reorders b to the format that the primitive for all cores likes best; those for other thread
  // counts then get the same one.
  Expected<std::shared_ptr<void>> pack(const Desc& desc, Layouts& layouts, void* b) const {
    dnn_.set_threads(available_cores());
    int status = kDnnlSuccess;
    DnnlPrimitiveDescOwner description = dnnl_described(dnn_, describe(layouts), status);
    if (status != kDnnlSuccess) return dnnl_error(dnn_, desc, status);
    layouts.b = dnnl_copy_layout(
        dnn_, dnn_.primitive_desc_query_md(description.get(), kDnnlQueryWeights, 0));
    auto plain = dnnl_layout(dnn_, desc.operands[kB], 2);
    if (!layouts.b || !plain) return dnnl_error(dnn_, desc, kDnnlOutOfMemory);
    std::shared_ptr<void> packed;
    status = dnnl_reorder(dnn_, plain.get(), b, layouts.b.get(), packed);
    if (status == kDnnlUnimplemented) status = pack_dense(desc, b, layouts, packed);
    if (status != kDnnlSuccess) return dnnl_error(dnn_, desc, status);
    return packed;
  }

  // Some versions reorder only matrices without gaps: b without them first.
  int pack_dense(const Desc& desc, const void* b, const Layouts& layouts,
                 std::shared_ptr<void>& packed) const {
    OperandDesc dense = desc.operands[kB];
    const int last = dense.sizes.size() - 1;
    const int64_t rows = dense.sizes[last - 1], cols = dense.sizes[last];
    const int64_t row_stride = dense.strides[last - 1], col_stride = dense.strides[last];
    const size_t bytes = byte_size(dense.dtype);
    std::vector<char> copy(static_cast<size_t>(rows * cols) * bytes);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++)
        std::memcpy(copy.data() + static_cast<size_t>(i * cols + j) * bytes,
                    static_cast<const char*>(b) +
                        (i * row_stride + j * col_stride) * static_cast<int64_t>(bytes),
                    bytes);
    dense.strides = contiguous_strides(dense.sizes);
    auto layout = dnnl_layout(dnn_, dense, 2);
    if (!layout) return kDnnlOutOfMemory;
    return dnnl_reorder(dnn_, layout.get(), copy.data(), layouts.b.get(), packed);
  }

  const OneDnn& dnn_;
  bool biased_, packs_;
};

}  // namespace

void add_onednn_products(const OneDnn& dnn, PeerKernels& kernels) {
  for (const char* op : {"gemm", "gemm_bias", "gemm_prepacked"})
    kernels.push_back(std::make_unique<Matmul>(dnn, op));
}

}  // namespace nrd
