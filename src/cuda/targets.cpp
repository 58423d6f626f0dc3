// SPDX-License-Identifier: MIT
// src/cuda/targets.cpp
#include "cuda/targets.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/env.h"

namespace nrd::cuda {
namespace {

// As a user asks for them.
constexpr std::string_view kAsk80 = "sm_80", kAsk90 = "sm_90";
constexpr const char* kVariable = "NEREID_CUDA_ARCH";

bool runs_sm90a(const DeviceInfo& device) { return device.major == 9 && device.minor == 0; }

}  // namespace

std::string describe(const DeviceInfo& device) {
  return fmt::format("{} (sm_{}{})", device.name, device.major, device.minor);
}

Expected<std::string_view> target_of(const DeviceInfo& device, std::string_view asked) {
  if (device.major < 8)
    return make_error({.code = ErrorCode::kUnsupported,
                       .argument = fmt::format("cuda:{}", device.index),
                       .got = describe(device),
                       .allowed = "sm_80 and later"});
  if (asked == kAsk80) return kSm80;
  if (runs_sm90a(device)) return kSm90a;
  if (asked != kAsk90) return kSm80;
  return make_error(
      {.code = ErrorCode::kUnsupported,
       .argument = kVariable,
       .got = fmt::format("{} for cuda:{}, {}", asked, device.index, describe(device)),
       .allowed = fmt::format("{} on this device", kAsk80),
       .hint = "unset it for the best there is"});
}

Expected<std::string> target_from_environment() {
  std::string asked = env(kVariable).value_or("");
  if (asked.empty() || asked == kAsk80 || asked == kAsk90) return asked;
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = kVariable,
                     .got = "'" + asked + "'",
                     .allowed = fmt::format("{}, {}, or nothing", kAsk80, kAsk90)});
}

std::string version_text() {
  const auto number = [](int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  };
  int runtime = 0, driver = 0;
  std::string text;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) text = "runtime " + number(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    text += (text.empty() ? "driver " : ", driver ") + number(driver);
  cudaGetLastError();
  return text;
}

}  // namespace nrd::cuda
