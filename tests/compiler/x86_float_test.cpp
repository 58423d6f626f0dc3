// SPDX-License-Identifier: MIT
// tests/compiler/x86_float_test.cpp: floating-point and vector instructions against the processor.
#include <gtest/gtest.h>

#include "x86_check.h"

namespace nrd::lift {
namespace {

#define ALL_FLOAT_CONDITIONS(compare)                                                \
  NRD_SNIPPET(compare                                                                \
              "\nsetb al\nsetae ah\nsete cl\nsetne ch\nsetbe dl\nseta dh\nsetp bl\n" \
              "setnp bh")

TEST(X86, ConditionsAfterFloats) {
  for (const Snippet& s : {
           ALL_FLOAT_CONDITIONS("comiss xmm0, xmm1"),
           ALL_FLOAT_CONDITIONS("ucomiss xmm0, dword ptr [rdi]"),
           ALL_FLOAT_CONDITIONS("comisd xmm0, xmm1"),
           ALL_FLOAT_CONDITIONS("ucomisd xmm1, xmm0"),
       })
    check_snippet(s);
}

TEST(X86, ScalarArithmetic) {
  for (const Snippet& s : {
           NRD_SNIPPET("addss xmm0, xmm1"),
           NRD_SNIPPET("subss xmm0, dword ptr [rdi + 4]"),
           NRD_SNIPPET("mulss xmm0, xmm1"),
           NRD_SNIPPET("divss xmm0, xmm1"),
           NRD_SNIPPET("maxss xmm0, xmm1"),
           NRD_SNIPPET("minss xmm0, xmm1"),
           NRD_SNIPPET("sqrtss xmm0, xmm1"),
           NRD_SNIPPET("addsd xmm0, xmm1"),
           NRD_SNIPPET("subsd xmm0, xmm1"),
           NRD_SNIPPET("mulsd xmm0, qword ptr [rdi]"),
           NRD_SNIPPET("divsd xmm0, xmm1"),
           NRD_SNIPPET("maxsd xmm0, xmm1"),
           NRD_SNIPPET("minsd xmm0, xmm1"),
           NRD_SNIPPET("sqrtsd xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vsubss xmm2, xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vdivsd xmm2, xmm0, [rdi]"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vmaxss xmm2, xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vsqrtss xmm2, xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "roundss xmm0, xmm1, 8"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "roundss xmm0, xmm1, 9"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "roundsd xmm0, xmm1, 10"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "roundss xmm0, xmm1, 11"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "roundsd xmm0, xmm1, 4"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vroundss xmm2, xmm0, xmm1, 1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512, "vrndscaless xmm2, xmm0, xmm1, 2"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512, "vaddss xmm2, xmm0, xmm1"),
       })
    check_snippet(s);
}

#define FUSED(name)                                                              \
  NRD_SNIPPET_IF(NRD_HAS_FMA, name "132ss xmm0, xmm1, xmm2"),                    \
      NRD_SNIPPET_IF(NRD_HAS_FMA, name "213ss xmm0, xmm1, xmm2"),                \
      NRD_SNIPPET_IF(NRD_HAS_FMA, name "231ss xmm0, xmm1, dword ptr [rdi + 8]"), \
      NRD_SNIPPET_IF(NRD_HAS_FMA, name "132sd xmm0, xmm1, qword ptr [rdi]"),     \
      NRD_SNIPPET_IF(NRD_HAS_FMA, name "213sd xmm0, xmm1, xmm2"),                \
      NRD_SNIPPET_IF(NRD_HAS_FMA, name "231sd xmm0, xmm1, xmm2")

TEST(X86, FusedMultiplyAdd) {
  for (const Snippet& s : {FUSED("vfmadd"), FUSED("vfmsub"), FUSED("vfnmadd"), FUSED("vfnmsub")})
    check_snippet(s);
}

#define MASKS(suffix)                                                                         \
  NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 0"), NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 1"),     \
      NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 2"), NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 3"), \
      NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 4"), NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 5"), \
      NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 6"), NRD_SNIPPET("cmp" suffix " xmm0, xmm1, 7")
#define VEX_MASK(n) NRD_SNIPPET_IF(NRD_HAS_AVX, "vcmpss xmm2, xmm0, xmm1, " #n)

TEST(X86, CompareMasks) {
  for (const Snippet& s :
       {NRD_SNIPPET("cmpltps xmm0, xmm1"), NRD_SNIPPET("cmpunordpd xmm0, xmm1"), MASKS("ss"),
        MASKS("sd"), VEX_MASK(8), VEX_MASK(9), VEX_MASK(10), VEX_MASK(11), VEX_MASK(12),
        VEX_MASK(13), VEX_MASK(14), VEX_MASK(15), VEX_MASK(16), VEX_MASK(17), VEX_MASK(22),
        VEX_MASK(27), VEX_MASK(30), VEX_MASK(31)})
    check_snippet(s);
}

#define NRD_512(text) NRD_SNIPPET_IF(NRD_HAS_AVX512, text)

#define TERNARY(table) NRD_512("addss xmm0, xmm1\nvpternlogd xmm0, xmm1, xmm2, " #table)

TEST(X86, TernaryLogic) {
  for (const Snippet& s :
       {TERNARY(0), TERNARY(0xff), TERNARY(0xe4), TERNARY(0xd8), TERNARY(0xca), TERNARY(0x96),
        TERNARY(0x17), TERNARY(0x80), TERNARY(0x7f), TERNARY(0x1b), TERNARY(0x55), TERNARY(0x2d),
        NRD_512("addss xmm0, xmm1\nvpternlogd xmm0, xmm1, dword ptr [rdi]%{1to4%}, 0xe4"),
        NRD_512("addsd xmm0, xmm1\nvpternlogq xmm0, xmm1, qword ptr [rdi]%{1to2%}, 0xb8"),
        NRD_512("pcmpeqd xmm2, xmm2\naddss xmm0, xmm1\nvpternlogd xmm2, xmm0, xmm1, 0x6c")})
    check_snippet(s);
}

// Mask registers are caller-saved and not compared: what they choose is.
TEST(X86, MaskRegisters) {
  for (const Snippet& s : {
           NRD_512("vcmpltss k1, xmm0, xmm1\nvmovss xmm2%{k1%}, xmm0, xmm1"),
           NRD_512("vcmpnlesd k1, xmm0, xmm1\nvmovsd xmm2%{k1%}%{z%}, xmm0, xmm1"),
           NRD_512("vcmpunordss k1, xmm0, xmm1\nvaddss xmm2%{k1%}, xmm0, xmm1"),
           NRD_512("vcmpss k1, xmm0, xmm1, 15\nvmulss xmm2%{k1%}%{z%}, xmm0, xmm1"),
           NRD_512("vcmpltss k1, xmm0, xmm1\nvcmpneqss k2%{k1%}, xmm0, xmm2\nkmovd eax, k2"),
           NRD_512("kmovd k3, eax\nvmovss xmm2%{k3%}, xmm0, xmm1\nkmovw ecx, k3"),
           NRD_512("kmovq k3, rax\nkmovb ecx, k3\nkmovq rdx, k3"),
       })
    check_snippet(s);
}

TEST(X86, Conversions) {
  for (const Snippet& s : {
           NRD_SNIPPET("cvtsi2ss xmm0, eax"),
           NRD_SNIPPET("cvtsi2ss xmm0, rax"),
           NRD_SNIPPET("cvtsi2sd xmm0, dword ptr [rdi]"),
           NRD_SNIPPET("cvtsi2sd xmm0, rax"),
           NRD_SNIPPET("cvttss2si eax, xmm0"),
           NRD_SNIPPET("cvttss2si rax, dword ptr [rdi]"),
           NRD_SNIPPET("cvttsd2si eax, xmm0"),
           NRD_SNIPPET("cvttsd2si rax, xmm0"),
           NRD_SNIPPET("cvtss2si eax, xmm0"),
           NRD_SNIPPET("cvtsd2si rax, xmm0"),
           NRD_SNIPPET("cvtss2sd xmm0, xmm1"),
           NRD_SNIPPET("cvtss2sd xmm0, dword ptr [rdi]"),
           NRD_SNIPPET("cvtsd2ss xmm0, xmm1"),
           NRD_SNIPPET("unpcklps xmm1, xmm1\ncvtps2pd xmm0, xmm1"),
           NRD_SNIPPET("unpcklpd xmm1, xmm1\ncvtpd2ps xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vcvtsi2ss xmm2, xmm0, rax"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vcvtss2sd xmm2, xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512, "vcvtusi2ss xmm0, xmm1, eax"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512, "vcvtusi2ss xmm0, xmm1, rax"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512, "vcvtusi2sd xmm0, xmm1, rax"),
       })
    check_snippet(s);
}

TEST(X86, VectorMoves) {
  for (const Snippet& s : {
           NRD_SNIPPET("movss xmm0, xmm1"),
           NRD_SNIPPET("movss xmm0, dword ptr [rdi]"),
           NRD_SNIPPET("movss dword ptr [rdi + 12], xmm0"),
           NRD_SNIPPET("movsd xmm0, xmm1"),
           NRD_SNIPPET("movsd qword ptr [rdi], xmm1"),
           NRD_SNIPPET("movd xmm0, eax"),
           NRD_SNIPPET("movd eax, xmm0"),
           NRD_SNIPPET("movd dword ptr [rdi], xmm0"),
           NRD_SNIPPET("movq xmm0, rax"),
           NRD_SNIPPET("movq rax, xmm0"),
           NRD_SNIPPET("movq xmm0, qword ptr [rdi]"),
           NRD_SNIPPET("movq xmm0, xmm1"),
           NRD_SNIPPET("movaps xmm0, xmm1"),
           NRD_SNIPPET("movups xmm0, [rdi + 4]"),
           NRD_SNIPPET("movups [rdi + 4], xmm3"),
           NRD_SNIPPET("movdqa xmm0, [rdi + 16]"),
           NRD_SNIPPET("shufps xmm0, xmm1, 0xe4"),
           NRD_SNIPPET("shufps xmm0, xmm0, 0"),
           NRD_SNIPPET("pshufd xmm0, xmm1, 0xe0"),
           NRD_SNIPPET("movddup xmm0, xmm1\naddsd xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vmovss xmm2, xmm0, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vmovss xmm2, dword ptr [rdi]"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vmovss dword ptr [rdi], xmm2"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vbroadcastss xmm2, dword ptr [rdi]"),
       })
    check_snippet(s);
}

// An addss before says that the lane is an f32, an addsd that it is an f64.
TEST(X86, BitsOfNumbers) {
  for (const Snippet& s : {
           NRD_SNIPPET("pxor xmm0, xmm0"),
           NRD_SNIPPET("xorps xmm0, xmm0\naddss xmm0, xmm1"),
           NRD_SNIPPET("addss xmm0, xmm1\nxorps xmm0, xmm2"),
           NRD_SNIPPET("addss xmm0, xmm1\nandps xmm0, [rdi]"),
           NRD_SNIPPET("addss xmm0, xmm1\nmovaps xmm2, xmm0\norps xmm0, xmm2"),
           NRD_SNIPPET("addss xmm0, xmm1\nandnps xmm0, xmm1"),
           NRD_SNIPPET("addsd xmm0, xmm1\nxorpd xmm0, xmm2"),
           NRD_SNIPPET("addsd xmm0, xmm1\nandps xmm0, xmm2"),
           NRD_SNIPPET("addsd xmm0, xmm1\nandnpd xmm0, xmm2"),
           NRD_SNIPPET("movaps xmm2, xmm0\ncmpltss xmm2, xmm1\nandps xmm1, xmm2\n"
                       "andnps xmm2, xmm0\norps xmm1, xmm2"),
           NRD_SNIPPET("movq xmm0, rax\ncmpltss xmm1, xmm2\nandps xmm0, xmm1"),
           NRD_SNIPPET("movd xmm0, eax\npand xmm0, xmm1"),
           NRD_SNIPPET("pcmpeqd xmm0, xmm0\npsrld xmm0, 1"),
           NRD_SNIPPET("pcmpeqd xmm0, xmm0\npsllq xmm0, 63\npandn xmm0, xmm0"),
           NRD_SNIPPET("pcmpeqd xmm0, xmm0\nmovaps xmm1, xmm0\npsrlq xmm0, 1\npxor xmm0, xmm1"),
           NRD_SNIPPET("addss xmm0, xmm1\npsrld xmm0, 3"),
           NRD_SNIPPET_IF(NRD_HAS_AVX, "vaddss xmm2, xmm0, xmm1\nvxorps xmm3, xmm2, xmm1"),
           NRD_SNIPPET_IF(NRD_HAS_AVX,
                          "vcmpltss xmm2, xmm0, xmm1\nvblendvps xmm3, xmm0, xmm1, xmm2"),
           NRD_SNIPPET_IF(NRD_HAS_AVX,
                          "vcmpltsd xmm2, xmm0, xmm1\nvblendvpd xmm3, xmm0, [rdi], xmm2"),
           NRD_SNIPPET_IF(NRD_HAS_SSE41, "blendvps xmm1, xmm2, xmm0"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512,
                          "addss xmm0, xmm1\nvxorps xmm2, xmm0, dword ptr [rdi]%{1to4%}"),
           NRD_SNIPPET_IF(NRD_HAS_AVX512,
                          "addsd xmm0, xmm1\nvandpd xmm2, xmm0, qword ptr [rdi]%{1to2%}"),
       })
    check_snippet(s);
}

}  // namespace
}  // namespace nrd::lift
