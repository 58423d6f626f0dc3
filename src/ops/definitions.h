// SPDX-License-Identifier: MIT
// src/ops/definitions.h: NRD_BUILDS, which makes the Builds of a definition for its entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ops/builds.h"

namespace nrd {
namespace builds_detail {

template <class T>
constexpr DType native_dtype() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<U, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<U, int8_t>)
    return DType::kI8;
  else if constexpr (std::is_same_v<U, uint8_t>)
    return DType::kU8;
  else
    static_assert(sizeof(T) == 0, "a definition's pointer has an element type we do not know");
}

template <class P>
constexpr bool is_size = std::is_same_v<P, size_t>;
template <class P>
constexpr bool is_number = std::is_floating_point_v<P>;
template <class P>
constexpr bool is_type = std::is_same_v<P, int>;

// The index-th parameter, taken from the list of its kind; `rank` counts those of the kind before.
template <class P>
P fetch(const InstanceArgs& args, size_t rank) {
  if constexpr (std::is_pointer_v<P>)
    return static_cast<P>(args.pointers[rank]);
  else if constexpr (is_size<P>)
    return args.sizes[rank];
  else if constexpr (is_number<P>)
    return static_cast<P>(args.numbers[rank]);
  else
    return args.types[rank];
}

template <class P>
constexpr int kind() {
  return std::is_pointer_v<P> ? 0 : is_size<P> ? 1 : is_number<P> ? 2 : 3;
}

template <class... P>
constexpr size_t rank_of(size_t index) {
  constexpr std::array<int, sizeof...(P)> kinds = {kind<P>()...};
  size_t rank = 0;
  for (size_t i = 0; i < index; i++) rank += kinds[i] == kinds[index];
  return rank;
}

template <auto F, class... P, size_t... I>
void call(const InstanceArgs& args, void (*)(P...), std::index_sequence<I...>) {
  F(fetch<P>(args, rank_of<P...>(I))...);
}

template <auto F, class... P>
Definition make(void (*)(P...)) {
  Definition d;
  d.function = reinterpret_cast<void (*)()>(F);
  d.call = [](const void*, const InstanceArgs& args) {
    call<F>(args, F, std::make_index_sequence<sizeof...(P)>{});
  };
  auto add = [&d]<class Q>(std::type_identity<Q>) {
    if constexpr (std::is_pointer_v<Q>)
      d.native[static_cast<size_t>(d.operands++)] = native_dtype<std::remove_pointer_t<Q>>();
    else if constexpr (is_size<Q>)
      d.sizes++;
    else if constexpr (is_number<Q>)
      d.numbers++;
    else
      d.types++;
  };
  (add(std::type_identity<P>{}), ...);
  return d;
}

}  // namespace builds_detail

template <auto F>
Definition make_definition() {
  return builds_detail::make<F>(F);
}

}  // namespace nrd

// The prototypes of every build. CMake reads them out of scalar/*.c.
extern "C" {
#define NRD_JOIN3(a, b, c) a##b##_##c
#define real float
#define OP(name) void NRD_JOIN3(nrd_, scalar, name)
#include "ops/prototypes.h"
#undef OP
#define OP(name) void NRD_JOIN3(nrd_, baseline, name)
#include "ops/prototypes.h"
#undef OP
#if defined(__x86_64__)
#define OP(name) void NRD_JOIN3(nrd_, avx2, name)
#include "ops/prototypes.h"
#undef OP
#define OP(name) void NRD_JOIN3(nrd_, avx512, name)
#include "ops/prototypes.h"
#undef OP
#endif
#undef real
#define real double
#define OP(name) void NRD_JOIN3(nrd_, f64, name)
#include "ops/prototypes.h"
#undef OP
#undef real
#undef NRD_JOIN3
}

#if defined(__x86_64__)
#define NRD_AUTOVEC_BUILDS(name)                                                            \
  {                                                                                         \
    nrd::make_definition<&nrd_baseline_##name>(), nrd::make_definition<&nrd_avx2_##name>(), \
        nrd::make_definition<&nrd_avx512_##name>()                                          \
  }
#else
#define NRD_AUTOVEC_BUILDS(name) \
  { nrd::make_definition<&nrd_baseline_##name>() }
#endif

// NRD_BUILDS(silu): the Builds of the definition OP(silu).
#define NRD_BUILDS(name)                                  \
  nrd::Builds {                                           \
#name, nrd::make_definition < &nrd_scalar_##name>(),  \
        nrd::make_definition < &nrd_f64_##name>(),        \
        {NRD_AUTOVEC_BUILDS(name) }, nullptr, {}, nullptr \
  }
