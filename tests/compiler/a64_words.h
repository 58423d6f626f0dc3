// SPDX-License-Identifier: MIT
// tests/compiler/a64_words.h: instructions as aarch64-linux-gnu-as encodes them: one of each form
// that GCC 12 and clang 14 and 19 emit for scalar C, and the neighbours of those forms.
#pragma once

#include <cstdint>

namespace nrd::lift {

constexpr uint32_t kA64Words[] = {
    // clang-format off
    0x5ee28420,  // add d0, d1, d2
    0x0b220000,  // add w0, w0, w2, uxtb
    0x0b232000,  // add w0, w0, w3, uxth
    0x0b208020,  // add w0, w1, w0, sxtb
    0x0b224020,  // add w0, w1, w2, uxtw
    0x0b890d00,  // add w0, w8, w9, asr #3
    0x0b487d48,  // add w8, w10, w8, lsr #31
    0x11000508,  // add w8, w8, #1
    0x11400508,  // add w8, w8, #1, lsl #12
    0x0b005d08,  // add w8, w8, w0, lsl #23
    0x0b090108,  // add w8, w8, w9
    0x8b020800,  // add x0, x0, x2, lsl #2
    0x8b000020,  // add x0, x1, x0
    0x8b22e020,  // add x0, x1, x2, sxtx
    0x8b29c100,  // add x0, x8, w9, sxtw
    0x8b4c1d6e,  // add x14, x11, x12, lsr #7
    0x8b28480f,  // add x15, x0, w8, uxtw #2
    0x8b2ac9c8,  // add x8, x14, w10, sxtw #2
    0x91000508,  // add x8, x8, #1
    0x8b208108,  // add x8, x8, w0, sxtb
    0x8b220108,  // add x8, x8, w2, uxtb
    0x8b232108,  // add x8, x8, w3, uxth
    0x2b020020,  // adds w0, w1, w2
    0xb17ffc20,  // adds x0, x1, #0xfff, lsl #12
    0xab224820,  // adds x0, x1, w2, uxtw #2
    0x4e231c00,  // and v0.16b, v0.16b, v3.16b
    0x0e231c00,  // and v0.8b, v0.8b, v3.8b
    0x0a020c20,  // and w0, w1, w2, lsl #3
    0x120079ad,  // and w13, w13, #0x7fffffff
    0x0a0a0129,  // and w9, w9, w10
    0x8ac20c20,  // and x0, x1, x2, ror #3
    0x927ee14a,  // and x10, x10, #0x7fffffffffffffc
    0x6a820c20,  // ands w0, w1, w2, asr #3
    0x721e014a,  // ands w10, w10, #4
    0x13147d00,  // asr w0, w8, #0x14
    0x1ac92908,  // asr w8, w8, w9
    0x937ffd28,  // asr x8, x9, #0x3f
    0x331c1c20,  // bfi w0, w1, #4, #8
    0x331d13e0,  // bfi w0, wzr, #3, #5
    0xb3601c20,  // bfi x0, x1, #0x20, #8
    0x33031c08,  // bfxil w8, w0, #3, #5
    0xb3609c20,  // bfxil x0, x1, #0x20, #8
    0x6f047400,  // bic v0.4s, #0x80, lsl #24
    0x0e621c20,  // bic v0.8b, v1.8b, v2.8b
    0x0a290108,  // bic w8, w8, w9
    0x6a220c20,  // bics w0, w1, w2, lsl #3
    0x6ee21c20,  // bif v0.16b, v1.16b, v2.16b
    0x6ea21c20,  // bit v0.16b, v1.16b, v2.16b
    0x2ea21c20,  // bit v0.8b, v1.8b, v2.8b
    0x2e621c20,  // bsl v0.8b, v1.8b, v2.8b
    0x3a431804,  // ccmn w0, #3, #4, ne
    0x7a43b804,  // ccmp w0, #3, #4, lt
    0x7a41a008,  // ccmp w0, w1, #8, ge
    0x7a421020,  // ccmp w1, w2, #0, ne
    0xfa5f8800,  // ccmp x0, #0x1f, #0, hi
    0x1a810420,  // cinc w0, w1, ne
    0xda813020,  // cinv x0, x1, hs
    0x3100141f,  // cmn w0, #5
    0x2b01081f,  // cmn w0, w1, lsl #2
    0xb100141f,  // cmn x0, #5
    0xab00031f,  // cmn x24, x0
    0x6b21801f,  // cmp w0, w1, sxtb
    0x6b0901bf,  // cmp w13, w9
    0x7100009f,  // cmp w4, #0
    0xf140041f,  // cmp x0, #1, lsl #12
    0xeb214c1f,  // cmp x0, w1, uxtw #3
    0xeb00003f,  // cmp x1, x0
    0xeb181f3f,  // cmp x25, x24, lsl #7
    0xf102011f,  // cmp x8, #0x80
    0x5a80a400,  // cneg w0, w0, lt
    0x5a805400,  // cneg w0, w0, mi
    0xda815420,  // cneg x0, x1, mi
    0x1a80a040,  // csel w0, w2, w0, ge
    0x1a80d021,  // csel w1, w1, w0, le
    0x1a830084,  // csel w4, w4, w3, eq
    0x1a839084,  // csel w4, w4, w3, ls
    0x1a80b108,  // csel w8, w8, w0, lt
    0x1a88c128,  // csel w8, w9, w8, gt
    0x1a881128,  // csel w8, w9, w8, ne
    0x9a809020,  // csel x0, x1, x0, ls
    0x9a80b020,  // csel x0, x1, x0, lt
    0x9a893100,  // csel x0, x8, x9, lo
    0x1a9f97e0,  // cset w0, hi
    0x1a9f37e0,  // cset w0, hs
    0x1a9f87e0,  // cset w0, ls
    0x1a9f17ea,  // cset w10, eq
    0x1a9f77eb,  // cset w11, vs
    0x1a9f67ec,  // cset w12, vc
    0x1a9fd7e3,  // cset w3, gt
    0x1a9f07e4,  // cset w4, ne
    0x1a9f57e5,  // cset w5, mi
    0x1a9f27e8,  // cset w8, lo
    0x1a9fa7e8,  // cset w8, lt
    0x5a9f03e0,  // csetm w0, ne
    0xda9fa3e0,  // csetm x0, lt
    0x1a9f1420,  // csinc w0, w1, wzr, ne
    0x1a801500,  // csinc w0, w8, w0, ne
    0x9a9f851a,  // csinc x26, x8, xzr, hi
    0x5a821020,  // csinv w0, w1, w2, ne
    0x5a8213e0,  // csinv w0, wzr, w2, ne
    0x5a80d420,  // csneg w0, w1, w0, le
    0x5a894549,  // csneg w9, w10, w9, mi
    0x4a2a0129,  // eon w9, w9, w10
    0xca220420,  // eon x0, x1, x2, lsl #1
    0x6e221c20,  // eor v0.16b, v1.16b, v2.16b
    0x4a000028,  // eor w8, w1, w0
    0x13821420,  // extr w0, w1, w2, #5
    0x7ee2d420,  // fabd d0, d1, d2
    0x7ea1d400,  // fabd s0, s0, s1
    0x1e20c000,  // fabs s0, s0
    0x1e612800,  // fadd d0, d0, d1
    0x1e212801,  // fadd s1, s0, s1
    0x1e61840f,  // fccmp d0, d1, #0xf, hi
    0x1e201400,  // fccmp s0, s0, #0, ne
    0x1e206401,  // fccmp s0, s0, #1, vs
    0x1e214400,  // fccmp s0, s1, #0, mi
    0x1e287408,  // fccmp s0, s8, #8, vc
    0x1e2dd5a1,  // fccmp s13, s13, #1, le
    0x1e285501,  // fccmp s8, s8, #1, pl
    0x1e210410,  // fccmpe s0, s1, #0, eq
    0x1e225410,  // fccmpe s0, s2, #0, pl
    0x1e201430,  // fccmpe s1, s0, #0, ne
    0x1e224430,  // fccmpe s1, s2, #0, mi
    0x1e212000,  // fcmp s0, s1
    0x1e202028,  // fcmp s1, #0.0
    0x1e202018,  // fcmpe s0, #0.0
    0x1e202030,  // fcmpe s1, s0
    0x1e21dc00,  // fcsel s0, s0, s1, le
    0x1e29bc00,  // fcsel s0, s0, s9, lt
    0x1e297c00,  // fcsel s0, s0, s9, vc
    0x1e219c01,  // fcsel s1, s0, s1, ls
    0x1e2bcc21,  // fcsel s1, s1, s11, gt
    0x1e2b6c21,  // fcsel s1, s1, s11, vs
    0x1e284c0c,  // fcsel s12, s0, s8, mi
    0x1e290d08,  // fcsel s8, s8, s9, eq
    0x1e281d29,  // fcsel s9, s9, s8, ne
    0x1e22c021,  // fcvt d1, s1
    0x1e624000,  // fcvt s0, d0
    0x1e300000,  // fcvtms w0, s0
    0x1e200000,  // fcvtns w0, s0
    0x1e280000,  // fcvtps w0, s0
    0x5ee1b800,  // fcvtzs d0, d0
    0x5ea1b800,  // fcvtzs s0, s0
    0x5f3bfc20,  // fcvtzs s0, s1, #5
    0x1e18f000,  // fcvtzs w0, s0, #4
    0x1e380008,  // fcvtzs w8, s0
    0x9e780000,  // fcvtzs x0, d0
    0x9e580400,  // fcvtzs x0, d0, #0x3f
    0x9e380000,  // fcvtzs x0, s0
    0x7ee1b800,  // fcvtzu d0, d0
    0x7ea1b800,  // fcvtzu s0, s0
    0x1e390000,  // fcvtzu w0, s0
    0x1e19f400,  // fcvtzu w0, s0, #3
    0x9e790000,  // fcvtzu x0, d0
    0x9e390000,  // fcvtzu x0, s0
    0x1e211800,  // fdiv s0, s0, s1
    0x1f400820,  // fmadd d0, d1, d0, d2
    0x1f092400,  // fmadd s0, s0, s9, s9
    0x1e214800,  // fmax s0, s0, s1
    0x1e206821,  // fmaxnm s1, s1, s0
    0x1e215800,  // fmin s0, s0, s1
    0x1e28780b,  // fminnm s11, s0, s8
    0x9e670100,  // fmov d0, x8
    0x9e6703e0,  // fmov d0, xzr
    0x1e6e9001,  // fmov d1, #1.25000000
    0x1e604001,  // fmov d1, d0
    0x1e2e1000,  // fmov s0, #1.00000000
    0x1e2703e0,  // fmov s0, wzr
    0x1e204001,  // fmov s1, s0
    0x1e270101,  // fmov s1, w8
    0x6f03f400,  // fmov v0.2d, #0.50000000
    0x0f03f700,  // fmov v0.2s, #1.50000000
    0x4f07f700,  // fmov v0.4s, #-1.50000000
    0x1e26004d,  // fmov w13, s2
    0x9e660028,  // fmov x8, d1
    0x1f018800,  // fmsub s0, s0, s1, s2
    0x1e610800,  // fmul d0, d0, d1
    0x1e210800,  // fmul s0, s0, s1
    0x5f829020,  // fmul s0, s1, v2.s[0]
    0x1e614020,  // fneg d0, d1
    0x1e214000,  // fneg s0, s0
    0x1f220c21,  // fnmadd s1, s1, s2, s3
    0x1f228c21,  // fnmsub s1, s1, s2, s3
    0x1e2d8940,  // fnmul s0, s10, s13
    0x1e27c021,  // frinti s1, s1
    0x1e254000,  // frintm s0, s0
    0x1e244020,  // frintn s0, s1
    0x1e24c021,  // frintp s1, s1
    0x1e274000,  // frintx s0, s0
    0x1e25c021,  // frintz s1, s1
    0x1e21c001,  // fsqrt s1, s0
    0x1e613800,  // fsub d0, d0, d1
    0x1e213800,  // fsub s0, s0, s1
    0x4e041c20,  // ins v0.s[0], w1
    0x2d400901,  // ldp s1, s2, [x8]
    0x2d7f8921,  // ldp s1, s2, [x9, #-4]
    0x29c10440,  // ldp w0, w1, [x2, #8]!
    0xa9402809,  // ldp x9, x10, [x0]
    0x68c10440,  // ldpsw x0, x1, [x2], #8
    0x3d400020,  // ldr b0, [x1]
    0xfd400101,  // ldr d1, [x8]
    0x7d400020,  // ldr h0, [x1]
    0x3ce17800,  // ldr q0, [x0, x1, lsl #4]
    0xbc61c800,  // ldr s0, [x0, w1, sxtw]
    0xbc614800,  // ldr s0, [x0, w1, uxtw]
    0xbc61f800,  // ldr s0, [x0, x1, sxtx #2]
    0xbc61e800,  // ldr s0, [x0, x1, sxtx]
    0xbc7f6800,  // ldr s0, [x0, xzr]
    0xbd400280,  // ldr s0, [x20]
    0xbc4046a0,  // ldr s0, [x21], #4
    0xbc7c6b00,  // ldr s0, [x24, x28]
    0xbc69d900,  // ldr s0, [x8, w9, sxtw #2]
    0xbc697900,  // ldr s0, [x8, x9, lsl #2]
    0xbc685920,  // ldr s0, [x9, w8, uxtw #2]
    0xbd401901,  // ldr s1, [x8, #0x18]
    0xb869d908,  // ldr w8, [x8, w9, sxtw #2]
    0xb8697908,  // ldr w8, [x8, x9, lsl #2]
    0xb9400108,  // ldr w8, [x8]
    0xb8404409,  // ldr w9, [x0], #4
    0xf9400528,  // ldr x8, [x9, #8]
    0xf9400128,  // ldr x8, [x9]
    0x39400000,  // ldrb w0, [x0]
    0x38625820,  // ldrb w0, [x1, w2, uxtw #0]
    0x38627820,  // ldrb w0, [x1, x2, lsl #0]
    0x384015b0,  // ldrb w16, [x13], #1
    0x38696908,  // ldrb w8, [x8, x9]
    0x784026a8,  // ldrh w8, [x21], #2
    0x78697908,  // ldrh w8, [x8, x9, lsl #1]
    0x79400108,  // ldrh w8, [x8]
    0x38c015b0,  // ldrsb w16, [x13], #1
    0x39c001d1,  // ldrsb w17, [x14]
    0x38e96908,  // ldrsb w8, [x8, x9]
    0x389ffc20,  // ldrsb x0, [x1, #-1]!
    0x79c00002,  // ldrsh w2, [x0]
    0x78e37804,  // ldrsh w4, [x0, x3, lsl #1]
    0x78c02408,  // ldrsh w8, [x0], #2
    0x78802420,  // ldrsh x0, [x1], #2
    0xb8ab7949,  // ldrsw x9, [x10, x11, lsl #2]
    0xb9800129,  // ldrsw x9, [x9]
    0x385ff020,  // ldurb w0, [x1, #-1]
    0x785ff020,  // ldurh w0, [x1, #-1]
    0x389ff020,  // ldursb x0, [x1, #-1]
    0x78dff020,  // ldursh w0, [x1, #-1]
    0x53134908,  // lsl w8, w8, #0xd
    0x1aca2129,  // lsl w9, w9, w10
    0xd37ef400,  // lsl x0, x0, #2
    0x530d7d08,  // lsr w8, w8, #0xd
    0x1aca2529,  // lsr w9, w9, w10
    0xd347fd08,  // lsr x8, x8, #7
    0x1b10322c,  // madd w12, w17, w16, w12
    0x9b0200a0,  // madd x0, x5, x2, x0
    0x1b02fc20,  // mneg w0, w1, w2
    0x9b02fc20,  // mneg x0, x1, x2
    0x5e080420,  // mov d0, v1.d[0]
    0x5e0c0420,  // mov s0, v1.s[1]
    0x4ea11c20,  // mov v0.16b, v1.16b
    0x0ea11c20,  // mov v0.8b, v1.8b
    0x0e0c3c20,  // mov w0, v1.s[1]
    0x2a0503f3,  // mov w19, w5
    0x2a1f03e8,  // mov w8, wzr
    0x4e083c20,  // mov x0, v1.d[0]
    0xaa0203f3,  // mov x19, x2
    0xaa1f03fa,  // mov x26, xzr
    0x2f00e400,  // movi d0, #0000000000000000
    0x4f03e7e0,  // movi v0.16b, #0x7f
    0x0f03a7e0,  // movi v0.4h, #0x7f, lsl #8
    0x4f03c7e0,  // movi v0.4s, #0x7f, msl #8
    0x0f03e7e0,  // movi v0.8b, #0x7f
    0x0f000401,  // movi v1.2s, #0
    0x0f066461,  // movi v1.2s, #0xc3, lsl #24
    0x6f00e402,  // movi v2.2d, #0000000000000000
    0x4f046402,  // movi v2.4s, #0x80, lsl #24
    0x72a7e6a8,  // movk w8, #0x3f35, lsl #16
    0xf28aaac8,  // movk x8, #0x5556
    0xf2afe949,  // movk x9, #0x7f4a, lsl #16
    0x128000a0,  // movn w0, #0x5
    0x12a000a0,  // movn w0, #0x5, lsl #16
    0x92800000,  // movn x0, #0
    0x92e000a0,  // movn x0, #0x5, lsl #48
    0x52809e68,  // movz w8, #0x4f3
    0xd2bfffe0,  // movz x0, #0xffff, lsl #16
    0xd2800013,  // movz x19, #0
    0x1b018109,  // msub w9, w8, w1, w0
    0x1b097d09,  // mul w9, w8, w9
    0x9b0a7d29,  // mul x9, x9, x10
    0x2e205820,  // mvn v0.8b, v1.8b
    0x2a210fe0,  // mvn w0, w1, lsl #3
    0x2a2803e8,  // mvn w8, w8
    0x2f03d7e0,  // mvni v0.2s, #0x7f, msl #16
    0x2f008420,  // mvni v0.4h, #0x1
    0x6f00a420,  // mvni v0.8h, #0x1, lsl #8
    0x6f046402,  // mvni v2.4s, #0x80, lsl #24
    0x2f046403,  // mvni v3.2s, #0x80, lsl #24
    0x4b0003e0,  // neg w0, w0
    0x4b810fe0,  // neg w0, w1, asr #3
    0xcb0003f9,  // neg x25, x0
    0xcb040be4,  // neg x4, x4, lsl #2
    0x6b0003e9,  // negs w9, w0
    0xeb0107e0,  // negs x0, x1, lsl #1
    0x0ee21c20,  // orn v0.8b, v1.8b, v2.8b
    0x2a620820,  // orn w0, w1, w2, lsr #2
    0x2a2a0129,  // orn w9, w9, w10
    0x4ea11c00,  // orr v0.16b, v0.16b, v1.16b
    0x0f047400,  // orr v0.2s, #0x80, lsl #24
    0x0ea11c00,  // orr v0.8b, v0.8b, v1.8b
    0x2ac22420,  // orr w0, w1, w2, ror #9
    0x2a092500,  // orr w0, w8, w9, lsl #9
    0x2a491d00,  // orr w0, w8, w9, lsr #7
    0x3200f3e0,  // orr w0, wzr, #0x55555555
    0x32180108,  // orr w8, w8, #0x100
    0x2a090108,  // orr w8, w8, w9
    0xb200f3e0,  // orr x0, xzr, #0x5555555555555555
    0x13801c00,  // ror w0, w0, #7
    0x93c11420,  // ror x0, x1, #5
    0x131d1020,  // sbfiz w0, w1, #3, #5
    0x937e7c8d,  // sbfiz x13, x4, #2, #0x20
    0x130f6800,  // sbfx w0, w0, #0xf, #0xc
    0x934f6800,  // sbfx x0, x0, #0xf, #0xc
    0x5e61d800,  // scvtf d0, d0
    0x9e42d820,  // scvtf d0, x1, #0xa
    0x9e620040,  // scvtf d0, x2
    0x1e620001,  // scvtf d1, w0
    0x5e21d800,  // scvtf s0, s0
    0x5f38e420,  // scvtf s0, s1, #8
    0x1e02f000,  // scvtf s0, w0, #4
    0x1e220101,  // scvtf s1, w8
    0x9e220101,  // scvtf s1, x8
    0x1ac90d08,  // sdiv w8, w8, w9
    0x9ac90d00,  // sdiv x0, x8, x9
    0x5f455420,  // shl d0, d1, #5
    0x0f375421,  // shl v1.2s, v1.2s, #0x17
    0x9b220c20,  // smaddl x0, w1, w2, x3
    0x9b22fc20,  // smnegl x0, w1, w2
    0x0e012c01,  // smov w1, v0.b[0]
    0x4e072c00,  // smov x0, v0.b[3]
    0x4e042c00,  // smov x0, v0.s[0]
    0x9b228c20,  // smsubl x0, w1, w2, x3
    0x9b427c20,  // smulh x0, x1, x2
    0x9b297c09,  // smull x9, w0, w9
    0x0f20a400,  // sshll v0.2d, v0.2s, #0
    0x5f7d0420,  // sshr d0, d1, #3
    0x2d3f8362,  // stp s2, s0, [x27, #-4]
    0x2d000102,  // stp s2, s0, [x8]
    0x3c336ac0,  // str b0, [x22, x19]
    0xbc004c00,  // str s0, [x0, #4]!
    0xbd000260,  // str s0, [x19]
    0xbc004680,  // str s0, [x20], #4
    0xbc3c6ae0,  // str s0, [x23, x28]
    0xbd000500,  // str s0, [x8, #4]
    0xbc29d900,  // str s0, [x8, w9, sxtw #2]
    0xbc295900,  // str s0, [x8, w9, uxtw #2]
    0xbc297900,  // str s0, [x8, x9, lsl #2]
    0xb8004428,  // str w8, [x1], #4
    0xb82ad928,  // str w8, [x9, w10, sxtw #2]
    0xb82a7928,  // str w8, [x9, x10, lsl #2]
    0xb9000128,  // str w8, [x9]
    0xb900001f,  // str wzr, [x0]
    0xb800441f,  // str wzr, [x0], #4
    0xb827791f,  // str wzr, [x8, x7, lsl #2]
    0xf9001d0e,  // str x14, [x8, #0x38]
    0xf9000128,  // str x8, [x9]
    0xf800841f,  // str xzr, [x0], #8
    0xf900051f,  // str xzr, [x8, #8]
    0xf900011f,  // str xzr, [x8]
    0x39000001,  // strb w1, [x0]
    0x38001688,  // strb w8, [x20], #1
    0x382a6928,  // strb w8, [x9, x10]
    0x79000001,  // strh w1, [x0]
    0x78002688,  // strh w8, [x20], #2
    0x782a7928,  // strh w8, [x9, x10, lsl #1]
    0x381ff020,  // sturb w0, [x1, #-1]
    0x781ff020,  // sturh w0, [x1, #-1]
    0x7ee28420,  // sub d0, d1, d2
    0x4b010800,  // sub w0, w0, w1, lsl #2
    0x4b08000a,  // sub w10, w0, w8
    0x51001668,  // sub w8, w19, #5
    0xcb22cc20,  // sub x0, x1, w2, sxtw #3
    0xcb80fc20,  // sub x0, x1, x0, asr #63
    0xcb181f34,  // sub x20, x25, x24, lsl #7
    0xcb000028,  // sub x8, x1, x0
    0x71001508,  // subs w8, w8, #5
    0x6b0a0129,  // subs w9, w9, w10
    0xf1000673,  // subs x19, x19, #1
    0xeb090108,  // subs x8, x8, x9
    0x13001c21,  // sxtb w1, w1
    0x93401c20,  // sxtb x0, w1
    0x13003d08,  // sxth w8, w8
    0x93403c28,  // sxth x8, w1
    0x93407c01,  // sxtw x1, w0
    0x721e001f,  // tst w0, #4
    0x6a010c1f,  // tst w0, w1, lsl #3
    0xf240011f,  // tst x8, #1
    0x53170808,  // ubfiz w8, w0, #9, #3
    0xd37f7c68,  // ubfiz x8, x3, #1, #0x20
    0x53104109,  // ubfx w9, w8, #0x10, #1
    0xd3431c01,  // ubfx x1, x0, #3, #5
    0x7e61d821,  // ucvtf d1, d1
    0x9e630061,  // ucvtf d1, x3
    0x1e630022,  // ucvtf d2, w1
    0x1e03d820,  // ucvtf s0, w1, #0xa
    0x7e21d821,  // ucvtf s1, s1
    0x9e230261,  // ucvtf s1, x19
    0x1e230022,  // ucvtf s2, w1
    0x1ac90908,  // udiv w8, w8, w9
    0x9ac90908,  // udiv x8, x8, x9
    0x9ba20c20,  // umaddl x0, w1, w2, x3
    0x9ba2fc20,  // umnegl x0, w1, w2
    0x0e023c00,  // umov w0, v0.h[0]
    0x0e013c01,  // umov w1, v0.b[0]
    0x9ba28c20,  // umsubl x0, w1, w2, x3
    0x9bc27c20,  // umulh x0, x1, x2
    0x9ba87c08,  // umull x8, w0, w8
    0x7f410420,  // ushr d0, d1, #0x3f
    0x53001c20,  // uxtb w0, w1
    0x53003c20,  // uxth w0, w1
    // clang-format on
};

}  // namespace nrd::lift
