// SPDX-License-Identifier: MIT
// tests/compiler/x86_machine.cpp: loads all registers, calls the snippet, stores all registers.
#include "x86_machine.h"

static_assert(sizeof(MachineState) == 256);

asm(R"(
.text
.globl nrd_test_run_snippet
.type nrd_test_run_snippet, @function
nrd_test_run_snippet:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  push %rsi
  push %rdi
  movups 128(%rsi), %xmm0
  movups 144(%rsi), %xmm1
  movups 160(%rsi), %xmm2
  movups 176(%rsi), %xmm3
  movups 192(%rsi), %xmm4
  movups 208(%rsi), %xmm5
  movups 224(%rsi), %xmm6
  movups 240(%rsi), %xmm7
  mov 0(%rsi), %rax
  mov 8(%rsi), %rcx
  mov 16(%rsi), %rdx
  mov 24(%rsi), %rbx
  mov 40(%rsi), %rbp
  mov 56(%rsi), %rdi
  mov 64(%rsi), %r8
  mov 72(%rsi), %r9
  mov 80(%rsi), %r10
  mov 88(%rsi), %r11
  mov 96(%rsi), %r12
  mov 104(%rsi), %r13
  mov 112(%rsi), %r14
  mov 120(%rsi), %r15
  mov 48(%rsi), %rsi
  call *(%rsp)
  push %rsi
  mov 16(%rsp), %rsi
  mov %rax, 0(%rsi)
  mov %rcx, 8(%rsi)
  mov %rdx, 16(%rsi)
  mov %rbx, 24(%rsi)
  mov %rbp, 40(%rsi)
  mov %rdi, 56(%rsi)
  mov %r8, 64(%rsi)
  mov %r9, 72(%rsi)
  mov %r10, 80(%rsi)
  mov %r11, 88(%rsi)
  mov %r12, 96(%rsi)
  mov %r13, 104(%rsi)
  mov %r14, 112(%rsi)
  mov %r15, 120(%rsi)
  movups %xmm0, 128(%rsi)
  movups %xmm1, 144(%rsi)
  movups %xmm2, 160(%rsi)
  movups %xmm3, 176(%rsi)
  movups %xmm4, 192(%rsi)
  movups %xmm5, 208(%rsi)
  movups %xmm6, 224(%rsi)
  movups %xmm7, 240(%rsi)
  pop %rax
  mov %rax, 48(%rsi)
  add $16, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
.size nrd_test_run_snippet, .-nrd_test_run_snippet
)");
