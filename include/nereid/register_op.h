// SPDX-License-Identifier: MIT
// nereid/register_op.h: a C function of yours as an operator.
//
//   extern "C" void my_gate(const float* x, const float* y, float* out, size_t n) {
//     for (size_t i = 0; i < n; i++) out[i] = x[i] * tanhf(y[i]);
//   }
//   nereid::register_op("my_gate", &my_gate);
//
// The function's machine code is read, what it computes is proved on samples (the function runs
// in this process) and compiled to vector code. What is float in C takes f32, f16 and bf16 views as
// they lie; what is double takes f64 as it lies, and f32, f16 and bf16 converted as whole buffers.
// Parameters without a name in C are called x y z w (const pointers), out, n m k (integers), a b c
// (numbers). A function that is not understood runs as it is, if a signature is given.
#pragma once

#include <nereid/c.h>
#include <nereid/error.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace nereid {

struct Registered {
  bool lifted = false;    // its machine code was understood
  bool proved = false;    // and the trace equals the function
  bool compiled = false;  // and vector code that equals it was made; else it runs as it is
  std::string op_class;   // "elementwise", "norm" ...
  std::string signature;  // the operator's: "x[n] y[n] -> out[n] ; core n*"
  std::string reason;     // why it runs as it is, where it does
  double lift_us = 0;
  std::string assumes;  // of its integers, else a call is an error: "n >= 1, n % 2 == 0"
};

// Where a function runs while it is proved: in this process; in a forked child, so that what goes
// wrong there is an error here; or nowhere: then it runs as it is and needs a signature.
enum class Prove {
  here = NEREID_PROVE_HERE,
  in_child = NEREID_PROVE_IN_CHILD,
  no = NEREID_PROVE_NOT
};

struct RegisterOptions {
  const char* signature = nullptr;  // see register_op
  Prove prove = Prove::here;
};

namespace detail {

template <class T>
constexpr const char* c_word() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return "float";
  else if constexpr (std::is_same_v<U, double>)
    return "double";
  else if constexpr (std::is_same_v<U, void>)
    return "void";
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 8)
    return std::is_signed_v<U> ? "int64_t" : "uint64_t";
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 4)
    return std::is_signed_v<U> ? "int32_t" : "uint32_t";
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 1)
    return std::is_signed_v<U> ? "int8_t" : "uint8_t";
  else
    static_assert(sizeof(T) == 0, "a parameter type that no operator has");
}

template <class T>
std::string c_type() {
  if constexpr (std::is_pointer_v<T>) {
    using E = std::remove_pointer_t<T>;
    return std::string(std::is_const_v<E> ? "const " : "") + c_word<E>() + "*";
  } else {
    return c_word<T>();
  }
}

template <class R, class... P>
std::string c_signature(R (*)(P...)) {
  std::string text = c_type<R>() + "(";
  const char* comma = "";
  ((text += comma + c_type<P>(), comma = ", "), ...);
  return text + ")";
}

}  // namespace detail

// `signature`: the operator's, where it cannot be inferred, as in "x[n] -> out[n] ; core n": the
// pointers in their order, const ones first, and every integer as a core size.
template <class R, class... P>
Registered register_op(const char* name, R (*function)(P...), const RegisterOptions& options) {
  nereid_registered out{};
  out.struct_size = sizeof out;
  nereid_register_options given{};
  given.struct_size = sizeof given;
  given.prove = static_cast<int32_t>(options.prove);
  given.signature = options.signature;
  const std::string type = detail::c_signature(function);
  check(nereid_register_op_with(name, reinterpret_cast<const void*>(function), type.c_str(), &given,
                                &out));
  return {out.lifted != 0, out.proved != 0, out.compiled != 0, out.op_class,
          out.signature,   out.reason,      out.lift_us,       out.assumes};
}

template <class R, class... P>
Registered register_op(const char* name, R (*function)(P...), const char* signature = nullptr) {
  return register_op(name, function, RegisterOptions{signature, Prove::here});
}

}  // namespace nereid
