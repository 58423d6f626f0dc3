// SPDX-License-Identifier: MIT
// tests/unit/graph_test.cpp: composites become the graphs that their text describes.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/program.h"
#include "ops/round_to.h"

namespace nrd {
namespace {

Desc bound(const char* op, std::map<std::string, int64_t, std::less<>> sizes,
           Attributes attributes = {}, const char* dtypes = "f32",
           std::vector<std::string> optional = {}) {
  CaseRequest r;
  r.sizes = std::move(sizes);
  r.attributes = std::move(attributes);
  r.dtypes = dtypes;
  r.optional = std::move(optional);
  Expected<Desc> d = bind_case(**find_op(op), r);
  EXPECT_TRUE(d) << d.error().message();
  return *d;
}

std::vector<std::string> operators(const Graph& g) {
  std::vector<std::string> names;
  for (const Node& n : g.nodes) names.push_back(n.desc.op->name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Graph, GatedMlpIsTwoProductsAnActivationAndAProduct) {
  Expected<Graph> g = build_graph(bound("gated_mlp", {{"m", 2}, {"hidden", 8}, {"inter", 6}}));
  ASSERT_TRUE(g) << g.error().message();
  EXPECT_EQ(operators(*g), (Names{"gemm", "gemm", "silu", "vec_mul"}));
  // The weight is used as it lies, seen from the other side.
  EXPECT_EQ(g->nodes[0].desc.operands[1].sizes, (Dims{8, 6}));
  EXPECT_EQ(g->nodes[0].desc.operands[1].strides, (Dims{1, 8}));
}

TEST(Graph, GuardsFollowChoicesAndOperands) {
  Expected<Graph> g =
      build_graph(bound("gated_mlp", {{"m", 2}, {"hidden", 8}, {"inter", 6}},
                        {{"activation", std::string("gelu_tanh")}}, "f32", {"gate_bias"}));
  ASSERT_TRUE(g) << g.error().message();
  EXPECT_EQ(operators(*g), (Names{"gemm", "gemm", "vec_add", "gelu_tanh", "vec_mul"}));
}

TEST(Graph, RoundBetweenStoresTheValueInXsDtype) {
  auto rounded = [](const char* choice) {
    Expected<Graph> g = build_graph(
        bound("rmsnorm_rope", {{"batch", 1}, {"seq", 2}, {"hidden", 16}, {"head_dim", 8}},
              {{"round_between", std::string(choice)}}, "bf16"));
    EXPECT_TRUE(g);
    for (const GraphValue& v : g->values)
      if (v.rounded) return v.dtype == DType::kBF16;
    return false;
  };
  EXPECT_TRUE(rounded("yes"));
  EXPECT_FALSE(rounded("no"));
}

TEST(Graph, TextNamesShapesAndDtypes) {
  Expected<Graph> g = build_graph(bound("gemm_bias", {{"m", 2}, {"n", 3}, {"k", 4}}));
  ASSERT_TRUE(g);
  const std::string text = g->text();
  EXPECT_NE(text.find("gemm("), std::string::npos) << text;
  EXPECT_NE(text.find("bias[2, 3]:f32"), std::string::npos) << text;
}

// x = 2 rows of ones, weights chosen so that the result is known exactly.
TEST(Program, RunsACompositeInF32AndInDouble) {
  const Desc d = bound("gated_mlp", {{"m", 1}, {"hidden", 4}, {"inter", 2}});
  Expected<Program> p = Program::prepare(d, Build::kScalar);
  ASSERT_TRUE(p);
  float x[4] = {1, 2, 3, 4}, gate[8] = {1, 0, 0, 0, 0, 1, 0, 0}, up[8] = {}, out[2] = {-1, -1};
  for (const OperandDesc& o : d.operands) EXPECT_LE(o.sizes.size(), 2);
  std::vector<void*> pointers(d.operands.size(), nullptr);
  const Signature& s = d.signature();
  pointers[static_cast<size_t>(s.find_operand("x"))] = x;
  pointers[static_cast<size_t>(s.find_operand("gate_weight"))] = gate;
  pointers[static_cast<size_t>(s.find_operand("up_weight"))] = up;
  pointers[static_cast<size_t>(s.inputs)] = out;
  std::vector<char> workspace(p->workspace_bytes() + 64);
  p->run(pointers.data(), workspace.data(), {});
  EXPECT_EQ(out[0], 0);  // silu(0) times anything
  EXPECT_EQ(out[1], 0);
}

TEST(Rounding, NudgeMovesOnlyTheDoubleBuild) {
  const int bf16 = static_cast<int>(DType::kBF16);
  const double tie = 1 + 1.0 / 256;  // halfway between two bf16 values
  EXPECT_EQ(nrd_round_to_f64(tie, bf16), 1.0);
  set_rounding_nudge(1e-5);
  EXPECT_EQ(nrd_round_to_f64(tie, bf16), 1 + 1.0 / 128);
  EXPECT_EQ(nrd_round_to_f32(static_cast<float>(tie), bf16), 1.0f);
  set_rounding_nudge(0);
  EXPECT_EQ(nrd_round_to_f64(0.1, static_cast<int>(DType::kF32)), 0.1);
}

}  // namespace
}  // namespace nrd
