// SPDX-License-Identifier: MIT
// tests/error/plugins/throws.cpp: a plug-in whose functions throw, each for its operator.
#include <stdexcept>
#include <string_view>

#include "nereid/plugin.h"

namespace {

int accepts(const nereid_desc* desc, char*, size_t) {
  if (std::string_view(desc->op) == "relu") throw std::runtime_error("accepts threw");
  return 0;
}
int prepare(const nereid_desc* desc, void* const*, void**, char*, size_t) {
  if (std::string_view(desc->op) == "tanh") throw 42;
  return 0;
}
int run(const void*, void* const*, void*, int32_t) { throw std::runtime_error("run threw"); }
int run_refuses(const void*, void* const*, void*, int32_t) { return 3; }

const nereid_plugin_kernel kKernels[] = {
    {sizeof(nereid_plugin_kernel), "silu", "throws", accepts, prepare, nullptr, run, nullptr},
    {sizeof(nereid_plugin_kernel), "relu", "throws", accepts, prepare, nullptr, run, nullptr},
    {sizeof(nereid_plugin_kernel), "tanh", "throws", accepts, prepare, nullptr, run, nullptr},
    {sizeof(nereid_plugin_kernel), "exp", "refuses", accepts, prepare, nullptr, run_refuses,
     nullptr},
};
const nereid_plugin kPlugin = {NEREID_PLUGIN_VERSION,
                               sizeof(nereid_plugin),
                               "throws",
                               nullptr,
                               kKernels,
                               sizeof kKernels / sizeof kKernels[0]};

}  // namespace

extern "C" NEREID_API const nereid_plugin* nereid_plugin_entry(void) { return &kPlugin; }
