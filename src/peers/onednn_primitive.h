// SPDX-License-Identifier: MIT
// src/peers/onednn_primitive.h: a oneDNN primitive as a prepared kernel.
//
// A primitive is built for a thread count and must run with it, while a prepared kernel serves
// any: there is one primitive a count, those for 1 and for all cores built in prepare, another on
// its first run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peers/onednn_api.h"
#include "peers/peer_kernel.h"

namespace nrd {

// Creates the primitive descriptor with the calling thread's current count.
using DnnlDescribe = std::function<int(DnnlPrimitiveDesc**)>;

// An argument of the primitive: operand `operand` of the case, or memory that the kernel owns.
struct DnnlArgument {
  int arg = 0;
  int operand = -1;
  std::shared_ptr<DnnlMemoryDesc> layout;
  std::shared_ptr<void> owned;
};

struct DnnlPlan {
  DnnlDescribe describe;
  std::vector<DnnlArgument> arguments;
  std::string note;
};

// The error of a status that is not success.
Error dnnl_error(const OneDnn& dnn, const Desc& desc, int status);
// Whether oneDNN has the primitive at all.
Expected<void> dnnl_accepts(const OneDnn& dnn, const Desc& desc, const DnnlDescribe& describe);
Expected<std::unique_ptr<PreparedKernel>> dnnl_prepare(const OneDnn& dnn, const Desc& desc,
                                                       DnnlPlan plan);

// A strided operand of one or two axes (its last ones); null if oneDNN refuses it.
std::shared_ptr<DnnlMemoryDesc> dnnl_layout(const OneDnn& dnn, const OperandDesc& operand,
                                            int axes);
// The same sizes in whatever format the primitive likes best.
std::shared_ptr<DnnlMemoryDesc> dnnl_any_layout(const OneDnn& dnn, const OperandDesc& operand,
                                                int axes);
std::shared_ptr<DnnlMemoryDesc> dnnl_copy_layout(const OneDnn& dnn, const DnnlMemoryDesc* md);
// Copies `data` from one layout to another, into memory that it allocates. Returns a status.
int dnnl_reorder(const OneDnn& dnn, const DnnlMemoryDesc* from, const void* data,
                 const DnnlMemoryDesc* to, std::shared_ptr<void>& out);
DnnlPrimitiveDescOwner dnnl_described(const OneDnn& dnn, const DnnlDescribe& describe, int& status);

}  // namespace nrd
