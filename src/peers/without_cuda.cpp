// SPDX-License-Identifier: MIT
// src/peers/without_cuda.cpp: what a build without CUDA says of the peers of a device.
#include "dispatch/device_runtime.h"
#include "peer_list.h"
#include "peers/peers.h"

namespace nrd {
namespace {

// Named so that a person who asks for it learns why it is not here.
class AbsentPeer final : public Backend {
 public:
  explicit AbsentPeer(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  Expected<void> load() override {
    Expected<DeviceRuntime*> runtime = device_runtime();
    if (!runtime) return runtime.error();
    return {};
  }
  std::vector<const Kernel*> kernels(const Op&) const override { return {}; }

 private:
  std::string name_;
};

}  // namespace

#define PEER(name) \
  std::unique_ptr<Backend> make_##name##_backend() { return std::make_unique<AbsentPeer>(#name); }
NRD_DEVICE_PEERS(PEER)
#undef PEER

}  // namespace nrd
