// SPDX-License-Identifier: MIT
// src/peers/peers.cpp: every peer of the list in CMakeLists.txt.
#include "peers/peers.h"

#include "peer_list.h"

namespace nrd {

#define PEER(name) std::unique_ptr<Backend> make_##name##_backend();
NRD_CPU_PEERS(PEER)
NRD_DEVICE_PEERS(PEER)
#undef PEER

std::vector<std::unique_ptr<Backend>> make_peer_backends() {
  std::vector<std::unique_ptr<Backend>> list;
#define PEER(name) list.push_back(make_##name##_backend());
  NRD_CPU_PEERS(PEER)
  NRD_DEVICE_PEERS(PEER)
#undef PEER
  return list;
}

}  // namespace nrd
