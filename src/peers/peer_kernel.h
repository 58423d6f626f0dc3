// SPDX-License-Identifier: MIT
// src/peers/peer_kernel.h: what the peers' backends and kernels share.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/backend.h"

namespace nrd {

// A kernel that knows its operator; its name is the peer's function.
class PeerKernel : public Kernel {
 public:
  PeerKernel(std::string op, std::string name) : op_(std::move(op)), name_(std::move(name)) {}
  const std::string& op() const { return op_; }
  std::string name() const override { return name_; }

 private:
  std::string op_;
  std::string name_;
};

using PeerKernels = std::vector<std::unique_ptr<PeerKernel>>;

// Loads once and remembers how that went.
class PeerBackend : public Backend {
 public:
  explicit PeerBackend(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  Expected<void> load() override;
  std::vector<const Kernel*> kernels(const Op& op) const override;

 protected:
  // Opens the library and fills version_ and kernels_.
  virtual Expected<void> open() = 0;

  std::string version_;
  PeerKernels kernels_;

 private:
  std::string name_;
  std::optional<Expected<void>> loaded_;
};

// A prepared call: void(const Args&, void* workspace, const Exec&).
template <class Call>
class PreparedCall final : public PreparedKernel {
 public:
  PreparedCall(Call call, std::string note, size_t workspace_bytes)
      : call_(std::move(call)), note_(std::move(note)), workspace_bytes_(workspace_bytes) {}
  size_t workspace_bytes() const override { return workspace_bytes_; }
  std::string note() const override { return note_; }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    call_(args, workspace, exec);
    return {};
  }

 private:
  Call call_;
  std::string note_;
  size_t workspace_bytes_;
};

template <class Call>
std::unique_ptr<PreparedKernel> prepared_call(std::string note, Call call,
                                              size_t workspace_bytes = 0) {
  return std::make_unique<PreparedCall<Call>>(std::move(call), std::move(note), workspace_bytes);
}

// A library's thread count, of the whole process; set only when it changes.
class ThreadCount {
 public:
  void set_function(void (*set)(int)) { set_ = set; }
  void set(int threads) const {
    if (current_.load(std::memory_order_relaxed) == threads) return;
    set_(threads);
    current_.store(threads, std::memory_order_relaxed);
  }

 private:
  void (*set_)(int) = nullptr;
  mutable std::atomic<int> current_{0};
};

// 64-byte aligned memory for packed weights; null when there is none.
struct FreeDeleter {
  void operator()(void* memory) const;
};
using AlignedMemory = std::unique_ptr<void, FreeDeleter>;
AlignedMemory aligned_memory(size_t bytes);

// "first, second", or the one that is not empty.
std::string joined(const std::string& first, const std::string& second);

// The error of accepts(): what the case has and what the peer takes.
Error refuse(const Desc& desc, std::string argument, std::string got, std::string allowed,
             std::string hint = {});
// On the CPU, and leading axes, if any, are all 1.
Expected<void> accept_plain(const Desc& desc);
// Operand dtypes are those listed, in the operands' order.
Expected<void> accept_dtypes(const Desc& desc, std::span<const DType> dtypes);
// The operand's name in the signature.
std::string operand_name(const Desc& desc, int operand);

// A matrix operand as BLAS sees it: rows (or columns) with unit stride, `ld` elements apart.
struct MatrixLayout {
  int rows = 0;
  int cols = 0;
  bool row_major = true;
  int ld = 1;
};
Expected<MatrixLayout> matrix_layout(const Desc& desc, int operand);
// The stride of a vector operand (its last axis); positive, 1 where it does not matter.
Expected<int> vector_stride(const Desc& desc, int operand);
// The same, but only 1 will do.
Expected<void> accept_contiguous(const Desc& desc, int operand);
// The size of a vector operand; an error when it leaves int.
Expected<int> vector_size(const Desc& desc, int operand);

}  // namespace nrd
