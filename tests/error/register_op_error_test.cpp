// SPDX-License-Identifier: MIT
// tests/error/register_op_error_test.cpp: what cannot become an operator, and whose fault it is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "nereid/nereid.h"
#include "user_functions.h"

namespace {

template <class F>
const void* address(F* function) {
  return reinterpret_cast<const void*>(function);
}

constexpr const char* kMap = "void(const float* x, float* out, size_t n)";

struct Refused {
  const char* name;
  const void* function;
  const char* c_signature;
  const char* signature;
  nereid_status status;
  const char* words;  // must be in the message
};

TEST(RegisterOpError, EveryMistakeHasItsMessage) {
  const void* until = address(&user_until);
  const void* gate = address(&user_gate);
  const nereid_status invalid = NEREID_INVALID_ARGUMENT, unsupported = NEREID_UNSUPPORTED;
  const Refused list[] = {
      // null pointers
      {nullptr, gate, kMap, nullptr, invalid, "name"},
      {"e_null", nullptr, kMap, nullptr, invalid, "function"},
      {"e_null", gate, nullptr, nullptr, invalid, "c_signature"},
      // names
      {"", gate, kMap, nullptr, invalid, "name"},
      {"two-words", gate, kMap, nullptr, invalid, "letters, digits and _"},
      {"\xff\xfe", gate, kMap, nullptr, invalid, "\\xff"},
      {"a_name_of_more_than_sixty_four_letters_which_no_table_has_room_to_show", gate, kMap,
       nullptr, invalid, "up to 64"},
      {"two words", gate, kMap, nullptr, invalid, "two words"},
      {"silu", gate, kMap, nullptr, invalid, "the name of an operator that exists"},
      // the function's type
      {"e_type", gate, "void(const float* x", nullptr, invalid, "signature"},
      {"e_type", gate, "void(const char* x, float* out, size_t n)", nullptr, invalid, "char"},
      {"e_type", gate, "", nullptr, invalid, "signature"},
      {"e_type", gate, "void(const float* x, float* out, long double)", nullptr, invalid,
       "'double'"},
      {"e_type", gate, "void(const float* x, float* x, size_t n)", nullptr, invalid, "named 'x'"},
      {"e_type", address(&user_pick), "float(float, int32_t)", "a[n] -> out[n] ; core n",
       unsupported, "float and double parameters only"},
      {"e_type", address(&user_nothing), "void(const float* x, size_t n)", "x[n] -> ; core n",
       unsupported, "no pointer to write through"},
      // not understood, and no signature
      {"e_until", until, kMap, nullptr, unsupported, "give the operator's signature"},
      {"e_until", until, kMap, "", unsupported, "leaves early"},
      // signatures that are none, or another function's
      {"e_sig", until, kMap, "x[n], out[n]", invalid, "->"},
      {"e_sig", until, kMap, "x[n -> out[n] ; core n", invalid, "signature"},
      {"e_sig", until, kMap, "x[n]:half -> out[n] ; core n", invalid, "no such dtype class"},
      {"e_sig", until, kMap, "x[n] -> out[n] ; cores n", invalid, "clause"},
      {"e_sig", until, kMap, "x[n] y[n] -> out[n] ; core n", invalid, "2 inputs, 1 outputs"},
      {"e_sig", until, kMap, "x[n] -> out[n]", invalid, "0 core sizes"},
      {"e_sig", until, kMap, "-> x[n] out[n] ; core n", invalid, "0 inputs, 2 outputs"},
      {"e_sig", until, kMap, "x?[n] -> out[n] ; core n", invalid, "optional"},
      {"e_sig", until, kMap, "x[n]:i32 -> out&[n] ; core n", invalid,
       "f32, which the function has"},
      {"e_sig", gate, "void(const float* x, const float* y, float* out, size_t n)",
       "x[n] -> y[n] out[n] ; core n", invalid, "1 inputs, 2 outputs"},
  };
  for (const Refused& r : list) {
    const nereid_status status =
        nereid_register_op(r.name, r.function, r.c_signature, r.signature, nullptr);
    EXPECT_EQ(status, r.status) << nereid_last_error()->message;
    EXPECT_NE(std::string(nereid_last_error()->message).find(r.words), std::string::npos)
        << "wanted '" << r.words << "' in: " << nereid_last_error()->message;
  }
}

TEST(RegisterOpError, ANameIsTakenOnce) {
  nereid::register_op("e_taken", &user_gate);
  try {
    nereid::register_op("e_taken", &user_sum);
    FAIL() << "a second operator of the same name";
  } catch (const nereid::KernelError& e) {
    EXPECT_EQ(e.error().op, "e_taken");
    EXPECT_EQ(e.error().argument, "name");
  }
}

// A refused registration leaves nothing behind: the name is free.
TEST(RegisterOpError, ARefusedNameStaysFree) {
  EXPECT_FALSE(nereid::attempt([] { nereid::register_op("e_again", &user_until); }));
  nereid::register_op("e_again", &user_until, "x[n] -> out[n] ; core n");
}

// An operand that a given signature leaves open takes what the function has there.
TEST(RegisterOpError, DtypesFollowTheFunction) {
  const nereid::Registered r =
      nereid::register_op("e_index", &user_until_index, "x[n] -> out[n] ; core n");
  EXPECT_EQ(r.signature, "x[n]:i32 -> out&[n] ; core n");
  const std::vector<float> floats(4);
  std::vector<float> out(4);
  const nereid::TensorView x(floats), result(out);
  nereid::Call call("e_index");
  call.operand("x", x).operand("out", result);
  const auto done = call.try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().status, NEREID_UNSUPPORTED_DTYPE);
}

TEST(RegisterOpError, AnOutThatIsNoStruct) {
  nereid_registered out{};  // its struct_size was forgotten
  const char* type = "void(const float* x, const float* y, float* out, size_t n)";
  EXPECT_EQ(nereid_register_op("e_struct", address(&user_gate), type, nullptr, &out),
            NEREID_INVALID_ARGUMENT);
  out.struct_size = sizeof out;
  EXPECT_EQ(nereid_register_op("e_struct", address(&user_gate), type, nullptr, &out), NEREID_OK);
}

// Runs where the loader finds no Zydis that we can use (tests/error/CMakeLists.txt).
TEST(Zydis, DISABLED_IsMissing) {
  const char* reason = std::getenv("EXPECTED_IN_ERROR");
  ASSERT_NE(reason, nullptr);
  std::vector<float> x = {1, 2}, y = {3, 4}, out(2);
  nereid::vec_add(x, y, out);  // what lifts nothing does not miss it
  EXPECT_EQ(out, (std::vector<float>{4, 6}));

  const auto inferred = nereid::attempt([] { nereid::register_op("no_zydis", &user_gate); });
  ASSERT_FALSE(inferred);
  const std::string& message = inferred.error().message;
  EXPECT_NE(message.find("no machine code can be read here"), std::string::npos) << message;
  EXPECT_NE(message.find(reason), std::string::npos) << message;

  const nereid::Registered as_it_is =
      nereid::register_op("no_zydis", &user_gate, "x[n] y[n] -> out[n] ; core n");
  EXPECT_FALSE(as_it_is.lifted);
  EXPECT_NE(as_it_is.reason.find(reason), std::string::npos) << as_it_is.reason;
  const nereid::TensorView xs(x), ys(y), result(out);
  nereid::Call("no_zydis").operand("x", xs).operand("y", ys).operand("out", result).run();
  EXPECT_FLOAT_EQ(out[0], std::tanh(3.0f));
}

}  // namespace
