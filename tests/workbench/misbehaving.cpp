// SPDX-License-Identifier: MIT
// tests/workbench/misbehaving.cpp: a plug-in whose kernels fail while they run, each in its way.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "nereid/plugin.h"

namespace {

int accept(const nereid_desc*, char*, size_t) { return 0; }

// All need the number of elements only.
int remember_count(const nereid_desc* desc, void* const*, void** state, char*, size_t) {
  int64_t count = 1;
  const nereid_operand_desc& x = desc->operands[0];
  for (int32_t d = 0; d < x.rank; d++) count *= x.sizes[d];
  *state = reinterpret_cast<void*>(static_cast<intptr_t>(count));
  return 0;
}

size_t elements(const void* state) {
  return static_cast<size_t>(reinterpret_cast<intptr_t>(state));
}

int crash(const void*, void* const*, void*, int32_t) { return raise(SIGSEGV); }
int illegal(const void*, void* const*, void*, int32_t) { return raise(SIGILL); }
int hang(const void*, void* const*, void*, int32_t) {
  while (true) pause();
}
int fail(const void*, void* const*, void*, int32_t) { return 7; }
int throws(const void*, void* const*, void*, int32_t) {
  throw std::runtime_error("thrown by the plug-in");
}
int leaves(const void*, void* const*, void*, int32_t) { _exit(3); }

// Right, and then one element more than there is.
int overruns(const void* state, void* const* operands, void*, int32_t) {
  const auto* x = static_cast<const float*>(operands[0]);
  auto* out = static_cast<volatile float*>(operands[1]);
  for (size_t i = 0; i < elements(state); i++) out[i] = x[i] > 0 ? x[i] : 0;
  out[elements(state)] = 1;
  return 0;
}

int zeros(const void* state, void* const* operands, void*, int32_t) {
  std::memset(operands[1], 0, elements(state) * sizeof(float));
  return 0;
}

int refuse(const nereid_desc*, char* reason, size_t size) {
  strncpy(reason, "this one refuses everything", size - 1);
  return 1;
}

constexpr nereid_plugin_kernel kernel(const char* op,
                                      int (*run)(const void*, void* const*, void*, int32_t)) {
  return {sizeof(nereid_plugin_kernel), op, "bad", accept, remember_count, nullptr, run, nullptr};
}

const nereid_plugin_kernel kKernels[] = {
    kernel("exp", crash),
    kernel("tanh", illegal),
    kernel("sigmoid", hang),
    kernel("silu", fail),
    kernel("gelu", throws),
    kernel("gelu_tanh", leaves),
    kernel("relu", overruns),
    kernel("softmax", zeros),
    {sizeof(nereid_plugin_kernel), "vec_sum", "bad", refuse, remember_count, nullptr, fail,
     nullptr},
};

const nereid_plugin kPlugin = {NEREID_PLUGIN_VERSION,
                               sizeof(nereid_plugin),
                               "misbehaving",
                               "1.0",
                               kKernels,
                               sizeof kKernels / sizeof kKernels[0]};

}  // namespace

extern "C" NEREID_API const nereid_plugin* nereid_plugin_entry(void) { return &kPlugin; }
