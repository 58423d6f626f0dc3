// SPDX-License-Identifier: MIT
// tests/repro/fork_under_load_test.cpp: a child that is forked while other threads plan, compile,
// register, pack and log can do all of that itself.
//
// FORKS=10000 in the environment makes it as long as it is run by hand.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "nereid/nereid.h"
#include "user_functions.h"

namespace {

using nereid::Tensor;

std::atomic<int64_t> g_number{0};

// A shape that no plan was made for yet.
bool plan_a_new_shape() {
  const int64_t cols = 1 + ++g_number % 100000;
  const Tensor x(nereid::f32, {1, cols}), y(nereid::f32, {1, cols});
  for (int64_t i = 0; i < cols; i++) x.data<float>()[i] = 2;
  nereid::silu(x, y);
  return y.data<float>()[0] > 1.76f && y.data<float>()[cols - 1] < 1.77f;
}

// Lifts, proves, compiles, adds an operator and runs it.
bool register_an_operator() {
  const std::string name = "fork_" + std::to_string(getpid()) + "_" + std::to_string(++g_number);
  nereid::register_op(name.c_str(), &user_sum);
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> out(1);
  const nereid::TensorView row(x), sum(out.data(), {});
  nereid::Call(name.c_str()).operand("x", row).operand("out", sum).run();
  return out[0] == 10;
}

// A context of its own, a packed matrix, and a product that is shared out among threads.
bool multiply_in_a_new_context() {
  const nereid::Context context({.threads = 2});
  const Tensor a(nereid::f32, {64, 32}), b(nereid::f32, {32, 96}), c(nereid::f32, {64, 96});
  for (int64_t i = 0; i < a.count(); i++) a.data<float>()[i] = 1;
  for (int64_t i = 0; i < b.count(); i++) b.data<float>()[i] = 0.5f;
  nereid::gemm(a, nereid::pack_b(b, &context), c, {.threads = 2, .context = &context});
  return c.data<float>()[0] == 16 && c.data<float>()[c.count() - 1] == 16;
}

bool log_a_line() {
  std::atomic<int> lines{0};
  nereid_set_log([](void* user, int32_t, const char*) { ++*static_cast<std::atomic<int>*>(user); },
                 &lines);
  const bool planned = plan_a_new_shape();
  nereid_set_log(nullptr, nullptr);
  return planned;
}

using Work = bool (*)();
constexpr Work kWork[] = {plan_a_new_shape, register_an_operator, multiply_in_a_new_context};

int count_from(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : usual;
}

// 0: the child did its work; else what waitpid says, a signal if it hung.
int status_of_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a deadlock must end
    bool done = false;
    try {
      done = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(done ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ForkUnderLoad, EveryChildCanWork) {
  const int forks = count_from("FORKS", 200);
  std::atomic<bool> is_over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (Work work : kWork)
    threads.emplace_back([&, work] {
      while (!is_over)
        if (!work()) ++wrong;
    });
  int failed = 0;
  for (int i = 0; i < forks && failed < 3; i++) {
    const Work work = i % 4 == 3 ? log_a_line : kWork[i % 4];
    const int status = status_of_child(work);
    if (status != 0) failed++;
    EXPECT_EQ(status, 0) << "fork " << i << (WIFSIGNALED(status) ? ": hung or crashed" : "");
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << "the parent's threads must not notice";
}

}  // namespace
