// SPDX-License-Identifier: MIT
// tests/compiler/x86_test.cpp: integer instructions against the processor; what is refused, and
// why.
#include <gtest/gtest.h>

#include "x86_check.h"

namespace nrd::lift {
namespace {

TEST(X86, IntegerMovesAndExtensions) {
  for (const Snippet& s : {
           NRD_SNIPPET("mov eax, ecx"),
           NRD_SNIPPET("mov rax, rcx"),
           NRD_SNIPPET("mov ax, cx"),
           NRD_SNIPPET("mov ah, cl"),
           NRD_SNIPPET("mov cl, dh"),
           NRD_SNIPPET("mov sil, r8b"),
           NRD_SNIPPET("mov rax, -5"),
           NRD_SNIPPET("movabs rax, 0x123456789abcdef0"),
           NRD_SNIPPET("mov eax, [rdi + 4]"),
           NRD_SNIPPET("mov [rdi + 9], cx"),
           NRD_SNIPPET("mov dword ptr [rdi], 0xff800000"),
           NRD_SNIPPET("mov qword ptr [rdi], -1"),
           NRD_SNIPPET("movzx eax, ch"),
           NRD_SNIPPET("movzx rax, word ptr [rdi]"),
           NRD_SNIPPET("movsx eax, cl"),
           NRD_SNIPPET("movsx rax, cx"),
           NRD_SNIPPET("movsxd rax, ecx"),
           NRD_SNIPPET("cbw"),
           NRD_SNIPPET("cwde"),
           NRD_SNIPPET("cdqe"),
           NRD_SNIPPET("cdq"),
           NRD_SNIPPET("cqo"),
           NRD_SNIPPET("lea rax, [rcx + rdx*8 - 12]"),
           NRD_SNIPPET("lea eax, [rcx + rdx*4 + 1]"),
           NRD_SNIPPET("lea eax, [ecx + edx]"),
           NRD_SNIPPET("lea rax, [ecx + edx]"),
           NRD_SNIPPET("lea rax, [rip + 16]"),
           NRD_SNIPPET("xchg rax, rcx"),
           NRD_SNIPPET("xchg r8d, r9d"),
           NRD_SNIPPET("nop dword ptr [rax + rax + 0]\nendbr64"),
       })
    check_snippet(s);
}

TEST(X86, IntegerArithmetic) {
  for (const Snippet& s : {
           NRD_SNIPPET("add eax, ecx"),
           NRD_SNIPPET("add rax, [rdi]"),
           NRD_SNIPPET("add [rdi + 8], ecx"),
           NRD_SNIPPET("add al, 200"),
           NRD_SNIPPET("sub ax, cx"),
           NRD_SNIPPET("sub rax, -128"),
           NRD_SNIPPET("and ecx, -16"),
           NRD_SNIPPET("or cl, 1"),
           NRD_SNIPPET("xor rax, rax"),
           NRD_SNIPPET("xor rax, rcx"),
           NRD_SNIPPET("not ecx"),
           NRD_SNIPPET("neg rcx"),
           NRD_SNIPPET("neg cl"),
           NRD_SNIPPET("inc ecx"),
           NRD_SNIPPET("dec rcx"),
           NRD_SNIPPET("imul eax, ecx"),
           NRD_SNIPPET("imul rax, rcx, -7"),
           NRD_SNIPPET("imul rax, [rdi]"),
           NRD_SNIPPET("imul ax, cx"),
           NRD_SNIPPET("imul ecx"),
           NRD_SNIPPET("mul ecx"),
           NRD_SNIPPET("imul rcx"),
           NRD_SNIPPET("mul rcx"),
           NRD_SNIPPET("imul cl"),
           NRD_SNIPPET("mul cl"),
           NRD_SNIPPET("and ecx, 0xff\nor ecx, 1\ncdq\nidiv ecx"),
           NRD_SNIPPET("or rcx, 2\nand rcx, 0xff\ncqo\nidiv rcx"),
           NRD_SNIPPET("or ecx, 1\nxor edx, edx\ndiv ecx"),
           NRD_SNIPPET("or rcx, 1\nmov edx, 0\ndiv rcx"),
           NRD_SNIPPET("cmp eax, ecx\nadc edx, ebx"),
           NRD_SNIPPET("cmp eax, ecx\nsbb edx, -1"),
           NRD_SNIPPET("cmp rax, rcx\nsbb rdx, rdx"),
           NRD_SNIPPET("add eax, ecx\nadc edx, 0"),
           NRD_SNIPPET_IF(NRD_HAS_BMI, "andn eax, ecx, edx"),
       })
    check_snippet(s);
}

TEST(X86, Shifts) {
  for (const Snippet& s : {
           NRD_SNIPPET("shl eax, 3"),
           NRD_SNIPPET("shl rax, 63"),
           NRD_SNIPPET("shl eax"),
           NRD_SNIPPET("shr rax"),
           NRD_SNIPPET("shr eax, 31"),
           NRD_SNIPPET("sar eax, 32"),
           NRD_SNIPPET("sar rax, cl"),
           NRD_SNIPPET("sar eax, cl"),
           NRD_SNIPPET("shl rdx, cl"),
           NRD_SNIPPET("shr edx, cl"),
           NRD_SNIPPET("sar dl, 3"),
           NRD_SNIPPET("sar dx, cl"),
           NRD_SNIPPET("shr dl, cl"),
           NRD_SNIPPET("shl dl, cl"),
           NRD_SNIPPET("shr byte ptr [rdi], 4"),
           NRD_SNIPPET("rol eax, 7"),
           NRD_SNIPPET("ror rax, 9"),
           NRD_SNIPPET("sar eax, 2\nsetne dl\nsets bl"),
           NRD_SNIPPET("bt eax, 5\nsetc dl"),
           NRD_SNIPPET("bt rax, rcx\ncmovnc rdx, rbx"),
           NRD_SNIPPET("bt dword ptr [rdi], 3\nsetc dl"),
           NRD_SNIPPET_IF(NRD_HAS_BMI, "shlx eax, ecx, edx"),
           NRD_SNIPPET_IF(NRD_HAS_BMI, "sarx rax, rcx, rdx"),
           NRD_SNIPPET_IF(NRD_HAS_BMI, "shrx rax, [rdi], rdx"),
           NRD_SNIPPET_IF(NRD_HAS_BMI, "rorx eax, ecx, 5"),
       })
    check_snippet(s);
}

#define ALL_CONDITIONS(compare)                                                      \
  NRD_SNIPPET(compare                                                                \
              "\nsetb al\nsetae ah\nsete cl\nsetne ch\nsetbe dl\nseta dh\nsets bl\n" \
              "setns bh\nsetl r8b\nsetge r9b\nsetle r10b\nsetg r11b")

TEST(X86, ConditionsAfterIntegers) {
  for (const Snippet& s : {
           ALL_CONDITIONS("cmp eax, ecx"),
           ALL_CONDITIONS("cmp rax, rcx"),
           ALL_CONDITIONS("cmp al, cl"),
           ALL_CONDITIONS("cmp ax, -1"),
           ALL_CONDITIONS("cmp dword ptr [rdi], 7"),
           ALL_CONDITIONS("sub eax, ecx"),
           ALL_CONDITIONS("test eax, ecx"),
           ALL_CONDITIONS("test cl, 0x80"),
           ALL_CONDITIONS("and rax, rcx"),
           ALL_CONDITIONS("or eax, ecx"),
           ALL_CONDITIONS("xor eax, ecx"),
           ALL_CONDITIONS("neg ecx"),
           NRD_SNIPPET("add eax, ecx\nsetb dl\nsetae dh\nsete bl\nsets bh"),
           NRD_SNIPPET("inc ecx\nsete dl\nsets bl"),
           NRD_SNIPPET("dec ecx\nsete dl\nsetl bl\nsetg bh\nsets r8b"),
           NRD_SNIPPET("cmp rax, rcx\nmov r8d, 5\nlea r9, [r8 + 1]\ncmova rdx, rbx"),
           NRD_SNIPPET("cmp rax, rcx\ncmovl edx, ebx"),
           NRD_SNIPPET("cmp rax, rcx\ncmovge edx, [rdi]"),
       })
    check_snippet(s);
}

TEST(X86, Refusals) {
  struct Case {
    Snippet snippet;
    const char* reason;
  };
  const Case cases[] = {
      {NRD_SNIPPET("mulps xmm0, xmm1"), "packed arithmetic (mulps)"},
      {NRD_SNIPPET("paddd xmm0, xmm1"), "packed arithmetic (paddd)"},
      {NRD_SNIPPET("vaddps ymm0, ymm0, ymm1"), "packed arithmetic (vaddps)"},
      {NRD_SNIPPET("vmovaps ymm0, ymm1"), "a vector wider than 128 bits"},
      {NRD_SNIPPET("vxorps ymm0, ymm0, ymm0"), "a vector wider than 128 bits"},
      {NRD_SNIPPET("unpcklps xmm0, xmm1"), "packed arithmetic"},
      {NRD_SNIPPET("shufps xmm0, xmm0, 0x55"), "packed arithmetic"},
      {NRD_SNIPPET("insertps xmm0, xmm1, 0x10"), "packed arithmetic"},
      {NRD_SNIPPET("cvtps2pd xmm0, [rdi]"), "packed arithmetic"},
      {NRD_SNIPPET("addss xmm0, xmm1\nmovups [rdi], xmm0"), "several lanes"},
      {NRD_SNIPPET("rsqrtss xmm0, xmm1"), "approximate reciprocal (rsqrtss)"},
      {NRD_SNIPPET("rcpss xmm0, xmm1"), "approximate reciprocal"},
      {NRD_SNIPPET("fld dword ptr [rdi]"), "x87 arithmetic"},
      {NRD_SNIPPET("rep movsd"), "a string instruction"},
      {NRD_SNIPPET("rep stosb"), "a string instruction"},
      {NRD_SNIPPET("lock add [rdi], eax"), "an atomic operation (add)"},
      {NRD_SNIPPET("xchg [rdi], eax"), "an atomic operation (xchg)"},
      {NRD_SNIPPET("lock cmpxchg [rdi], ecx"), "an atomic operation"},
      {NRD_SNIPPET("syscall"), "a system instruction"},
      {NRD_SNIPPET("mov rax, fs:[0]"), "thread-local data"},
      {NRD_SNIPPET("mul cx"), "both halves"},
      {NRD_SNIPPET("idiv ecx"), "double width"},
      {NRD_SNIPPET("div cl"), "8 or 16 bits"},
      {NRD_SNIPPET("inc eax\nsetb cl"), "flags that are not modelled"},
      {NRD_SNIPPET("shr eax, 1\nsetc cl"), "flags that are not modelled"},
      {NRD_SNIPPET("cmp eax, ecx\nsetp cl"), "flags that are not modelled"},
      {NRD_SNIPPET("imul eax, ecx\nseto cl"), "flags that are not modelled"},
      {NRD_SNIPPET("popcnt eax, ecx"), "an unknown instruction (popcnt)"},
      {NRD_SNIPPET("vmovss xmm0%{k1%}%{z%}, dword ptr [rdi]"), "a masked load"},
      {NRD_SNIPPET("vmovss dword ptr [rdi]%{k1%}, xmm0"), "a masked store"},
      {NRD_SNIPPET("vblendmps xmm0%{k1%}, xmm1, xmm2"), "by a mask"},
      {NRD_SNIPPET("vcmpltps k1, xmm0, xmm1"), "packed arithmetic"},
      {NRD_SNIPPET("vaddss xmm0, xmm1, xmm2, %{rz-sae%}"), "embedded rounding"},
  };
  for (const Case& c : cases)
    EXPECT_NE(refusal_of(c.snippet).find(c.reason), std::string::npos)
        << c.snippet.text << ": " << refusal_of(c.snippet);
}

}  // namespace
}  // namespace nrd::lift
