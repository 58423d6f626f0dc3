// SPDX-License-Identifier: MIT
// tests/repro/stride_of_one_test.cpp: the stride of an axis of size 1 means nothing. A column of a
// matrix, [3,1] with strides [2,2], was folded into a row of three neighbours.
#include <gtest/gtest.h>
#include <nereid/nereid.h>

#include <vector>

namespace {

TEST(Repro, AColumnOfOneIsNotARow) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {3, 1}, strides[] = {2, 2};
  for (const char* backend : {"cpu", "scalar", "autovec"}) {
    std::vector<float> out(3);
    nereid_tensor from{}, to{};
    from.struct_size = to.struct_size = sizeof from;
    from.dtype = to.dtype = NEREID_F32;
    from.rank = to.rank = 2;
    from.sizes = to.sizes = sizes;
    from.strides = strides;
    from.data = const_cast<float*>(x.data());
    to.data = out.data();
    const nereid_operand operands[] = {{"x", &from}, {"out", &to}};
    nereid_call call{};
    call.struct_size = sizeof call;
    call.op = "relu";
    call.backend = backend;
    call.operands = operands;
    call.operand_count = 2;
    ASSERT_EQ(nereid_run(nullptr, &call), NEREID_OK) << nereid_last_error()->message;
    EXPECT_EQ(out, (std::vector<float>{1, 3, 5})) << backend;
  }
}

}  // namespace
