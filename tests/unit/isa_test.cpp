// SPDX-License-Identifier: MIT
// tests/unit/isa_test.cpp: feature words, levels and caps, over made-up sets and on this machine.
#include "machine/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "base/env.h"

namespace nrd {
namespace {

// Sets NEREID_ISA for a test and puts back what was there.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) : before_(env("NEREID_ISA")) { put(value); }
  ~IsaVariable() { put(before_ ? before_->c_str() : nullptr); }

 private:
  static void put(const char* value) {
    if (value) {
      setenv("NEREID_ISA", value, 1);
    } else {
      unsetenv("NEREID_ISA");
    }
  }
  std::optional<std::string> before_;
};

IsaSet every_feature() {
  IsaSet isa;
  for (int i = 0; i < static_cast<int>(Feature::kCount); ++i) {
    isa = isa.with(static_cast<Feature>(i));
  }
  return isa;
}

TEST(Isa, EachFeatureHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (int i = 0; i < static_cast<int>(Feature::kCount); ++i) {
    const std::string_view word = feature_word(static_cast<Feature>(i));
    EXPECT_FALSE(word.empty());
    EXPECT_TRUE(words.insert(word).second) << word;
  }
  EXPECT_EQ(feature_word(Feature::kAvx512Bf16), "avx512_bf16");
  EXPECT_EQ(feature_word(Feature::kCount), "unknown");
}

TEST(Isa, ToStringListsFeaturesInOrder) {
  EXPECT_EQ(IsaSet().to_string(), "baseline");
  EXPECT_EQ(IsaSet().with(Feature::kFma).with(Feature::kAvx2).to_string(), "avx2 fma");
}

TEST(Isa, LevelsGrow) {
  const auto levels = isa_levels();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front().word, "baseline");
  for (size_t i = 1; i < levels.size(); ++i) {
    EXPECT_TRUE(levels[i].required.contains(levels[i - 1].required)) << levels[i].word;
    EXPECT_FALSE(levels[i].required == levels[i - 1].required) << levels[i].word;
  }
}

TEST(Isa, EachLevelWordRoundTrips) {
  for (const IsaLevel& level : isa_levels()) {
    const Expected<IsaSet> capped = cap_isa(every_feature(), level.word);
    ASSERT_TRUE(capped) << level.word;
    EXPECT_TRUE(capped->contains(level.required)) << level.word;
    EXPECT_EQ(best_level(*capped).word, level.word);
    const Expected<IsaSet> again = cap_isa(*capped, level.word);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *capped) << level.word;
  }
}

TEST(Isa, UnknownLevelSaysWhatIsAllowed) {
  const Expected<IsaSet> capped = cap_isa(every_feature(), "avx1024");
  ASSERT_FALSE(capped);
  EXPECT_EQ(capped.error().code, ErrorCode::kUnknownName);
  EXPECT_NE(capped.error().got.find("avx1024"), std::string::npos);
  EXPECT_NE(capped.error().allowed.find("baseline"), std::string::npos);
  EXPECT_FALSE(cap_isa(every_feature(), ""));
  EXPECT_FALSE(cap_isa(every_feature(), "BASELINE"));
}

#if defined(__x86_64__)
IsaSet avx2_with_vnni() {
  return IsaSet()
      .with(Feature::kAvx2)
      .with(Feature::kFma)
      .with(Feature::kF16c)
      .with(Feature::kAvxVnni);
}
IsaSet zen4() {
  return IsaSet()
      .with(Feature::kAvx2)
      .with(Feature::kFma)
      .with(Feature::kF16c)
      .with(Feature::kAvx512)
      .with(Feature::kAvx512Vnni)
      .with(Feature::kAvx512Bf16);
}

TEST(Isa, CapKeepsWhatBelongsToTheLevelAndBelow) {
  const IsaSet all = every_feature();
  EXPECT_EQ((*cap_isa(all, "avx2") & zen4()).to_string(), "avx2 fma f16c");
  EXPECT_TRUE(cap_isa(all, "avx2")->has(Feature::kAvxVnni));
  EXPECT_FALSE(cap_isa(all, "avx2")->has(Feature::kAvx512Vnni));
  EXPECT_TRUE(cap_isa(all, "avx512")->contains(zen4()));
  EXPECT_FALSE(cap_isa(all, "avx512")->has(Feature::kAmxTile));
  EXPECT_TRUE(cap_isa(all, "amx")->has(Feature::kAmxInt8));
  EXPECT_EQ(*cap_isa(avx2_with_vnni(), "avx2"), avx2_with_vnni());
  EXPECT_EQ(*cap_isa(zen4(), "baseline"), IsaSet());
}

TEST(Isa, AbsentLevelIsRefused) {
  const Expected<IsaSet> capped = cap_isa(avx2_with_vnni(), "avx512");
  ASSERT_FALSE(capped);
  EXPECT_EQ(capped.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(capped.error().allowed, "baseline avx2");
  EXPECT_NE(capped.error().hint.find("avx_vnni"), std::string::npos);
  EXPECT_FALSE(cap_isa(zen4(), "amx"));
  EXPECT_FALSE(cap_isa(zen4().with(Feature::kAmxTile).with(Feature::kAmxInt8), "amx"));
  EXPECT_FALSE(cap_isa(IsaSet().with(Feature::kAvx2), "avx2")) << "avx2 code uses fma and f16c";
}

TEST(Isa, BestLevelIsTheStrongestContained) {
  EXPECT_EQ(best_level(IsaSet()).word, "baseline");
  EXPECT_EQ(best_level(avx2_with_vnni()).word, "avx2");
  EXPECT_EQ(best_level(zen4()).word, "avx512");
  EXPECT_EQ(best_level(zen4().with(Feature::kAmxTile)).word, "avx512");
  EXPECT_EQ(best_level(every_feature()).word, "amx");
}

TEST(Isa, DetectedFeaturesComeWithTheirGround) {
  const IsaSet isa = detect_isa();
  for (Feature f : {Feature::kAvx512Vnni, Feature::kAvx512Bf16, Feature::kAvx512Fp16}) {
    if (isa.has(f)) {
      EXPECT_TRUE(isa.has(Feature::kAvx512)) << feature_word(f);
    }
  }
  for (Feature f : {Feature::kAmxInt8, Feature::kAmxBf16}) {
    if (isa.has(f)) {
      EXPECT_TRUE(isa.has(Feature::kAmxTile)) << feature_word(f);
    }
  }
  if (isa.has(Feature::kAvx512)) {
    EXPECT_EQ(best_level(isa).required.has(Feature::kAvx512), true);
  }
  EXPECT_FALSE(isa.has(Feature::kNeon));
}
#else
TEST(Isa, BaselineKeepsNeonOnly) {
  EXPECT_EQ(*cap_isa(every_feature(), "baseline") & detect_isa(), IsaSet().with(Feature::kNeon));
  EXPECT_FALSE(cap_isa(every_feature(), "avx2"));
  EXPECT_TRUE(detect_isa().has(Feature::kNeon));
}
#endif

TEST(Isa, DetectIsStable) {
  const IsaSet first = detect_isa();
  EXPECT_EQ(detect_isa(), first);
  EXPECT_TRUE(first.contains(best_level(first).required));
}

TEST(Isa, EnvironmentCapsTheDetectedSet) {
  const IsaSet detected = detect_isa();
  for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
    IsaVariable variable(nothing);
    const Expected<IsaSet> isa = isa_from_environment();
    ASSERT_TRUE(isa);
    EXPECT_EQ(*isa, detected);
  }
  for (const IsaLevel& level : isa_levels()) {
    IsaVariable variable(std::string(level.word).c_str());
    const Expected<IsaSet> isa = isa_from_environment();
    EXPECT_EQ(static_cast<bool>(isa), detected.contains(level.required)) << level.word;
    if (isa) {
      EXPECT_EQ(*isa, *cap_isa(detected, level.word));
    } else {
      EXPECT_EQ(isa.error().code, ErrorCode::kUnsupported);
      EXPECT_EQ(isa.error().argument, "NEREID_ISA");
    }
  }
}

TEST(Isa, EnvironmentFailsLoudly) {
  IsaVariable variable("sse9");
  const Expected<IsaSet> isa = isa_from_environment();
  ASSERT_FALSE(isa);
  EXPECT_EQ(isa.error().code, ErrorCode::kUnknownName);
  EXPECT_EQ(isa.error().argument, "NEREID_ISA");
  EXPECT_NE(isa.error().message().find("sse9"), std::string::npos) << isa.error().message();
  EXPECT_NE(isa.error().allowed.find("baseline"), std::string::npos);
}

}  // namespace
}  // namespace nrd
