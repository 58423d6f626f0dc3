// SPDX-License-Identifier: MIT
// tests/unit/catalogue_test.cpp: every entry of the catalogue is whole and fits its definition.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "graph/program.h"
#include "ops/desc.h"

namespace nrd {
namespace {

// The names of all definitions, as their files have them.
std::set<std::string> definitions() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NRD_SOURCE_DIR "/src/ops/scalar")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("OP(")) names.insert(line.substr(3, line.find(')') - 3));
  }
  return names;
}

// A definition without an entry is a forgotten operator.
TEST(Catalogue, UsesEveryDefinition) {
  std::set<std::string> unused = definitions();
  EXPECT_GT(unused.size(), 60u);
  for (const Op& op : catalogue())
    for (const Variant& v : op.variants)
      if (v.builds) unused.erase(std::string(v.builds->name));
  for (const std::string& name : unused) ADD_FAILURE() << name << " has no entry";
}

TEST(Catalogue, NamesAreUniqueAndEntriesWhole) {
  std::set<std::string> names;
  for (const Op& op : catalogue()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_FALSE(op.summary.empty()) << op.name;
    EXPECT_FALSE(op.shape.empty()) << op.name;
    EXPECT_FALSE(op.variants.empty()) << op.name;
    for (const Variant& v : op.variants) {
      Expected<Signature> s = parse_signature(v.signature);
      EXPECT_TRUE(s) << op.name << ": " << (s ? "" : s.error().message());
      EXPECT_NE(v.builds.has_value(), !v.graph.empty()) << op.name << ": definition or graph";
    }
  }
}

TEST(Catalogue, DefinitionsFitTheirSignatures) {
  for (const Op& op : catalogue()) {
    for (size_t i = 0; i < op.variants.size(); i++) {
      const Variant& v = op.variants[i];
      if (!v.builds) continue;
      const Signature& s = signatures(op)[i];
      std::istringstream types(v.types);
      int type_count = 0;
      for (std::string word; types >> word; type_count++)
        EXPECT_GE(s.find_operand(word), 0) << op.name << " type of " << word;
      for (const Definition* d : {&v.builds->scalar, &v.builds->f64, &v.builds->autovec[0]}) {
        EXPECT_EQ(d->operands, static_cast<int>(s.operands.size())) << v.builds->name;
        EXPECT_EQ(d->sizes, static_cast<int>(s.core.size())) << v.builds->name;
        EXPECT_EQ(d->numbers, static_cast<int>(op.numbers.size())) << v.builds->name;
        EXPECT_EQ(d->types, type_count) << v.builds->name;
      }
    }
  }
}

TEST(Catalogue, ExamplesBindAndEveryChoiceRuns) {
  for (const Op& op : catalogue()) {
    std::vector<Attributes> combinations(1);
    for (const ChoiceAttribute& choice : op.choices) {
      std::vector<Attributes> next;
      for (const Attributes& a : combinations)
        for (const std::string& value : choice.values) {
          next.push_back(a);
          next.back()[choice.name] = value;
        }
      combinations = std::move(next);
    }
    for (const Attributes& attributes : combinations) {
      CaseRequest request = example_request(op);
      request.attributes = attributes;
      Expected<Desc> desc = bind_case(op, request);
      ASSERT_TRUE(desc) << op.name << ": " << desc.error().message();
      for (Build build : {Build::kScalar, Build::kF64, Build::kAutovec}) {
        Expected<Program> program = Program::prepare(*desc, build);
        EXPECT_TRUE(program) << op.name << ": " << (program ? "" : program.error().message());
      }
      EXPECT_GT(cost(*desc).bytes(), 0) << op.name;
    }
  }
}

TEST(Catalogue, AnUnknownNameGetsASuggestion) {
  Expected<const Op*> op = find_op("rmsnorm");
  ASSERT_FALSE(op);
  EXPECT_NE(op.error().message().find("rms_norm"), std::string::npos) << op.error().message();
}

TEST(Signatures, MistakesAreRefused) {
  for (const char* text : {"", "x[n]", "x -> y[n]", "x[n]:nonsense -> y[n]", "x[n/z] -> y[n]",
                           "x[n] -> y[n] ; what n"})
    EXPECT_FALSE(parse_signature(text)) << text;
}

}  // namespace
}  // namespace nrd
