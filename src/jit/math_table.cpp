// SPDX-License-Identifier: MIT
// src/jit/math_table.cpp: tanh and erf from a table of polynomials, where lanes can be looked up.
//
// |x| below 1/8 is one interval, each octave above has two: the index is the exponent and the first
// bit of the mantissa. In an interval f is a polynomial of degree 6 around its centre. In the first
// one the polynomial is f(a) - a, whose error counts little beside a itself. Coefficients are
// rounded from the lowest on, each step fitting the rest anew; errors of the fit stay below 0.7
// units of the last place, those of the whole below 1.5.
#include <array>

#include "jit/math.h"
#include "jit/math_kit.h"

namespace nrd::jit {
namespace {

using Table = std::array<float, 16>;
struct OddTable {
  Table centre;
  std::array<Table, 7> coefficient;  // constant term first
};

constexpr float kFirstInterval = 0.125f;
// The bits of 1/8 above the 22nd, less one: [1/8, 3/16) has index 1.
constexpr uint32_t kFirstIndex = 247;

// clang-format off: tables
// tanh on [0, 10].
constexpr OddTable kTanh = {
    .centre = {{0.0f, 0.15625f, 0.21875f, 0.3125f, 0.4375f, 0.625f, 0.875f, 1.25f, 1.75f, 2.5f,
                3.5f, 5.0f, 7.0f, 10.0f, 10.0f, 10.0f}},
    .coefficient = {{
        {{0.0f, 0.154990733f, 0.215326339f, 0.302709728f, 0.411570042f, 0.554599702f, 0.703905582f,
          0.848283648f, 0.941375554f, 0.986614287f, 0.998177886f, 0.999909222f, 0.999998331f, 1.0f,
          1.0f, 1.0f}},
        {{1.02414646e-10f, 0.975977898f, 0.95363456f, 0.908366799f, 0.830610037f, 0.692419112f,
          0.5045169f, 0.280414879f, 0.113812096f, 0.0265922491f, 0.00364088453f, 0.00018183238f,
          3.32610762e-06f, 1.5478733e-07f, 1.5478733e-07f, 1.5478733e-07f}},
        {{-5.65099043e-08f, -0.151306123f, -0.205331355f, -0.274968147f, -0.341796786f,
          -0.383994311f, -0.355108529f, -0.237872258f, -0.107143722f, -0.0262358598f,
          -0.00363384211f, -0.000181846277f, -3.23373001e-06f, 8.43064015e-07f, 8.43064015e-07f,
          8.43064015e-07f}},
        {{-0.333328098f, -0.302091986f, -0.273606509f, -0.219524607f, -0.136062697f, -0.0178118534f,
          0.0818134025f, 0.108318672f, 0.0629231259f, 0.0170185622f, 0.00241286447f,
          0.000118911237f, 2.20681e-06f, 1.81586745e-06f, 1.81586745e-06f, 1.81586745e-06f}},
        {{-0.000178764283f, 0.194385335f, 0.0984462202f, 0.156146735f, 0.132836595f, 0.134535998f,
          0.0568711758f, -0.0125616798f, -0.0233763158f, -0.0080529172f, -0.00120081473f,
          -5.94330377e-05f, -1.32431751e-06f, 1.73703825e-06f, 1.73703825e-06f, 1.73703825e-06f}},
        {{0.136103332f, 0.358106136f, 0.020368455f, 0.038824711f, -0.0390955992f, -0.0562642179f,
          -0.05931817f, -0.0196014978f, 0.00356344692f, 0.00288417679f, 0.000486762874f,
          2.84191337e-05f, 4.93079028e-07f, 7.70754582e-07f, 7.70754582e-07f, 7.70754582e-07f}},
        {{-0.019871885f, -61.5768623f, 18.5526485f, 0.225691482f, 5.9679451f, 0.110053182f,
          0.175439239f, 0.0149183925f, 0.000655404758f, -0.000694267219f, -0.000150263877f,
          -9.43712894e-06f, -2.95991658e-08f, 1.26793367e-07f, 1.26793367e-07f, 1.26793367e-07f}},
    }}};

// erf on [0, 4].
constexpr OddTable kErf = {
    .centre = {{0.0f, 0.15625f, 0.21875f, 0.3125f, 0.4375f, 0.625f, 0.875f, 1.25f, 1.75f, 2.5f,
                3.5f, 3.5f, 3.5f, 3.5f, 3.5f, 3.5f}},
    .coefficient = {{
        {{0.0f, 0.174884886f, 0.242951706f, 0.341468632f, 0.463898122f, 0.623240888f, 0.784075081f,
          0.92290014f, 0.986671686f, 0.999593019f, 0.999999285f, 0.999999285f, 0.999999285f,
          0.999999285f, 0.999999285f, 0.999999285f}},
        {{0.128379166f, 1.10116446f, 1.07565594f, 1.02339542f, 0.931812167f, 0.763499558f,
          0.524745047f, 0.236521125f, 0.0527749956f, 0.00217888318f, 5.3993449e-06f, 5.3993449e-06f,
          5.3993449e-06f, 5.3993449e-06f, 5.3993449e-06f, 5.3993449e-06f}},
        {{3.58640136e-07f, -0.172071591f, -0.235232815f, -0.319806308f, -0.407609016f,
          -0.477193534f, -0.459174514f, -0.295654297f, -0.0923588276f, -0.00544378674f,
          -2.04998541e-05f, -2.04998541e-05f, -2.04998541e-05f, -2.04998541e-05f, -2.04998541e-05f,
          -2.04998541e-05f}},
        {{-0.376148015f, -0.349397898f, -0.323986858f, -0.274445117f, -0.191645801f, -0.0556825288f,
          0.0929165483f, 0.167531043f, 0.0901665539f, 0.00832791347f, 4.10621396e-05f,
          4.10621396e-05f, 4.10621396e-05f, 4.10621396e-05f, 4.10621396e-05f, 4.10621396e-05f}},
        {{0.000446502148f, 0.119048886f, -0.0589091592f, 0.146763444f, 0.139320388f, 0.177471608f,
          0.116164468f, -0.00604315009f, -0.0480228402f, -0.0086526135f, -5.24546631e-05f,
          -5.24546631e-05f, -5.24546631e-05f, -5.24546631e-05f, -5.24546631e-05f,
          -5.24546631e-05f}},
        {{0.109370403f, 0.352240175f, -0.219423607f, 0.0500917174f, 0.0064069638f, -0.02647903f,
          -0.0663237348f, -0.0468874909f, 0.0061159227f, 0.00631478149f, 0.000101685968f,
          0.000101685968f, 0.000101685968f, 0.000101685968f, 0.000101685968f, 0.000101685968f}},
        {{0.00548132043f, -20.7225761f, 111.904236f, 0.357016981f, 6.26655245f, -0.0819208771f,
          -0.167767689f, 0.0197765008f, 0.00833837595f, -0.00263662892f, -0.000123796824f,
          -0.000123796824f, -0.000123796824f, -0.000123796824f, -0.000123796824f,
          -0.000123796824f}},
    }}};
// clang-format on

// An odd function that is 1 from `limit` on. NaN stays: the minimum returns its second operand.
V odd_by_table(Builder& b, V x, const OddTable& table, float limit) {
  Kit k(b);
  const V a = k.min(k.f(limit), k.abs(x));
  const V interval = k.int_sub(k.shr(a, 22), k.i(kFirstIndex));
  const V index = b.op2(Op::kMax, Lane::kI32, interval, k.i(0));
  const V t = k.sub(a, b.lookup(index, table.centre));
  V sum = b.lookup(index, table.coefficient.back());
  for (size_t i = table.coefficient.size() - 1; i-- > 1;)
    sum = k.fma(sum, t, b.lookup(index, table.coefficient[i]));
  const M is_first = k.is(Predicate::kOlt, a, k.f(kFirstInterval));
  const V constant = k.select(is_first, a, b.lookup(index, table.coefficient[0]));
  return k.bit_or(k.fma(sum, t, constant), k.sign_of(x));
}

}  // namespace

bool has_table_functions(const Builder& b) { return b.target().has_tables && b.lanes() == 16; }
V math_tanh_by_table(Builder& b, V x) { return odd_by_table(b, x, kTanh, 10.0f); }
V math_erf_by_table(Builder& b, V x) { return odd_by_table(b, x, kErf, 3.95f); }

}  // namespace nrd::jit
