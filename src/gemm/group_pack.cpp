// SPDX-License-Identifier: MIT
// src/gemm/group_pack.cpp: see group_pack.h.
//
// Bound: memory for sources along k, where a group is one move; shuffles for sources across, which
// the compiler makes of the interleaving loop. Products of many rows hide both.
#include "gemm/group_pack.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace nrd::gemm {
namespace {

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

struct Keep {
  template <class T>
  T operator()(T value) const {
    return value;
  }
};
struct InvertTopBit {
  uint8_t operator()(uint8_t value) const { return value ^ 0x80; }
};

// A whole group that lies together.
template <class In, class Convert, class Out>
void move_group(const char* from, int group, Out* to) {
  if constexpr (std::is_same_v<Convert, Keep> && sizeof(In) == sizeof(Out)) {
    std::memcpy(to, from, static_cast<size_t>(group) * sizeof(In));
  } else {
    for (int g = 0; g < group; g++) to[g] = Convert()(load<In>(from + g * int64_t{sizeof(In)}));
  }
}

// In: as the matrix holds it; Out: as the panel does. kGroup 0: any.
template <class In, class Out, int kGroup, class Convert>
void pack(const GroupPanel& panel, const char* from, int64_t along_k, int64_t across, int64_t k,
          int64_t groups, Out* to) {
  const int group = kGroup > 0 ? kGroup : panel.group;
  const Convert convert;
  const bool is_along_k = along_k == sizeof(In), is_across = across == sizeof(In);
  for (int64_t s = 0; s < groups; s++, to += int64_t{panel.width} * group) {
    const char* first = from + s * group * along_k;
    const auto present = static_cast<int>(std::clamp<int64_t>(k - s * group, 0, group));
    if (present < group || panel.valid < panel.width) {
      std::fill_n(to, int64_t{panel.width} * group, Out{0});
    }
    if (is_along_k && present == group) {
      for (int w = 0; w < panel.valid; w++)
        move_group<In, Convert>(first + w * across, group, to + w * group);
    } else if (is_along_k) {
      for (int w = 0; w < panel.valid; w++) {
        for (int g = 0; g < present; g++) {
          to[w * group + g] = convert(load<In>(first + w * across + g * int64_t{sizeof(In)}));
        }
      }
    } else if (is_across && present == group) {
      for (int w = 0; w < panel.valid; w++) {
        for (int g = 0; g < group; g++) {
          to[w * group + g] = convert(load<In>(first + g * along_k + w * int64_t{sizeof(In)}));
        }
      }
    } else {
      for (int w = 0; w < panel.valid; w++) {
        for (int g = 0; g < present; g++) {
          to[w * group + g] = convert(load<In>(first + g * along_k + w * across));
        }
      }
    }
  }
}

template <class In, class Out, class Convert = Keep>
void pack_by_group(const GroupPanel& panel, const void* from, int64_t along_k, int64_t across,
                   int64_t k, int64_t groups, void* to) {
  const auto* source = static_cast<const char*>(from);
  auto* out = static_cast<Out*>(to);
  const auto run = [&](auto pack) { pack(panel, source, along_k, across, k, groups, out); };
  switch (panel.group) {
    case 2: return run(pack<In, Out, 2, Convert>);
    case 4: return run(pack<In, Out, 4, Convert>);
    case 8: return run(pack<In, Out, 8, Convert>);
    case 32: return run(pack<In, Out, 32, Convert>);
    case 64: return run(pack<In, Out, 64, Convert>);
    default: return run(pack<In, Out, 0, Convert>);
  }
}

}  // namespace

void pack_groups(const GroupPanel& panel, const void* from, int64_t along_k, int64_t across,
                 int64_t k, int64_t groups, void* to) {
  const auto run = [&](auto pack) { pack(panel, from, along_k, across, k, groups, to); };
  if (panel.dtype == DType::kBF16) return run(pack_by_group<uint16_t, uint16_t>);
  if (panel.element == 2) {
    if (panel.dtype == DType::kU8) return run(pack_by_group<uint8_t, int16_t>);
    return run(pack_by_group<int8_t, int16_t>);
  }
  if (panel.inverts_top_bit) return run(pack_by_group<uint8_t, uint8_t, InvertTopBit>);
  run(pack_by_group<uint8_t, uint8_t>);
}

}  // namespace nrd::gemm
