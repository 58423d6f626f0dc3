// SPDX-License-Identifier: MIT
// src/gemm/form.cpp: packed panels as the form of an operand.
#include <fmt/format.h>

#include "gemm/describe.h"

namespace nrd {
namespace {

class PackedForm final : public Form {
 public:
  explicit PackedForm(const gemm::PackedLayout& layout) : layout_(layout) {}
  std::string text() const override {
    const gemm::Family& family = *layout_.family;
    return fmt::format("panels of {} columns for {} ({}) from {}", family.columns(), family.isa,
                       numerics_word(family.numerics), word(layout_.source));
  }
  // Families are few and live as long as the process.
  std::string key() const override {
    return fmt::format("{} {} {} {}", fmt::ptr(layout_.family), word(layout_.source), layout_.k,
                       layout_.n);
  }
  size_t bytes() const override { return layout_.bytes(); }
  size_t alignment() const override { return 64; }
  const gemm::PackedLayout& layout() const { return layout_; }

 private:
  gemm::PackedLayout layout_;
};

}  // namespace

const gemm::PackedLayout* packed_layout(const OperandDesc& operand) {
  const auto* packed = dynamic_cast<const PackedForm*>(operand.form);
  return packed ? &packed->layout() : nullptr;
}

const Form* packed_form(const gemm::PackedLayout& layout) {
  return keep_form(std::make_unique<const PackedForm>(layout));
}

}  // namespace nrd
