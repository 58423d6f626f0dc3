// SPDX-License-Identifier: MIT
// tests/repro/reloaded_library_test.cpp: a library that is closed and replaced by one with the same
// code at the same address and another constant must be lifted again: traces were kept by address
// and code alone.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "lift/lift.h"
#include "trace/text.h"

namespace nrd {
namespace {

std::string trace_of(const char* library, void*& address) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  address = dlsym(handle, "scaled");
  const auto signature = lift::parse_signature("float(float x)");
  const auto trace = lift::lift_function({"scaled", address, *signature});
  dlclose(handle);
  return trace ? trace_text(*trace) : trace.error().message();
}

TEST(Repro, ReloadedLibraryIsLiftedAgain) {
  void *first = nullptr, *second = nullptr;
  const std::string before = trace_of(NRD_LIBRARY_ONE, first);
  const std::string after = trace_of(NRD_LIBRARY_TWO, second);
  EXPECT_NE(before.find("0x1.4p+1"), std::string::npos) << before;
  EXPECT_NE(after.find("0x1.cp+1"), std::string::npos) << after;
  if (first != second) GTEST_SKIP() << "the libraries came to lie at different addresses";
}

}  // namespace
}  // namespace nrd
