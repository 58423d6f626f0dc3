// SPDX-License-Identifier: MIT
// src/workbench/staged_operands.cpp
#include "workbench/staged_operands.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "base/threads.h"
#include "workbench/data.h"

namespace nrd {
namespace {

constexpr size_t kMostOperands = 64;  // that are looked through

struct Staged {
  OperandValues values;
  DType dtype;
  Dims sizes, strides;
  std::shared_ptr<const std::vector<char>> bytes;

  bool is_of(const OperandValues& source, const OperandDesc& operand) const {
    return values == source && dtype == operand.dtype && sizes == operand.sizes &&
           strides == operand.strides;
  }
};

// The last used in front.
class StagedOperands {
 public:
  std::shared_ptr<const std::vector<char>> of(const Case& c, size_t index, size_t bytes) {
    const std::lock_guard lock(mutex_);
    const OperandDesc& operand = c.desc.operands[index];
    const OperandValues source(c, index);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Staged& staged) {
      return staged.is_of(source, operand);
    });
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return kept_.front().bytes;
    }
    make_room(bytes);
    auto made = std::make_shared<std::vector<char>>(bytes);
    fill_operand(c, index, made->data(), available_cores());
    kept_.push_front({source, operand.dtype, operand.sizes, operand.strides, made});
    kept_bytes_ += bytes;
    return made;
  }

 private:
  void make_room(size_t bytes) {
    while (!kept_.empty() &&
           (kept_bytes_ + bytes > kStagedBytes || kept_.size() >= kMostOperands)) {
      kept_bytes_ -= kept_.back().bytes->size();
      kept_.pop_back();
    }
  }

  std::mutex mutex_;
  std::list<Staged> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace

std::shared_ptr<const std::vector<char>> staged_operand(const Case& c, size_t operand,
                                                        size_t bytes) {
  static StagedOperands operands;
  return operands.of(c, operand, bytes);
}

}  // namespace nrd
