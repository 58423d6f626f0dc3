// SPDX-License-Identifier: MIT
// src/ops/form.h: how an operand lies in memory where strides do not say it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace nrd {

// Panels of a packed matrix, blocks of codes. Sizes and dtype of the operand stay what they mean;
// its pointer is that of the form's bytes. Equal forms are one object, which lives as long as the
// process: forms are compared by address, and a plan serves every matrix of its form.
class Form {
 public:
  virtual ~Form() = default;
  virtual std::string text() const = 0;  // "panels of 32 columns for avx512 (plain) from bf16"
  virtual std::string key() const = 0;   // equal where forms are
  virtual size_t bytes() const = 0;
  virtual size_t alignment() const = 0;
};

// The one object of that key: the given one, or one that came before.
const Form* keep_form(std::unique_ptr<const Form> form);
bool is_kept_form(const void* pointer);  // for pointers that come from outside

}  // namespace nrd
