// SPDX-License-Identifier: MIT
// tests/unit/env_test.cpp: the list of variables, its page in docs, and the log that one drives.
#include "base/env.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace nrd {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The words NEREID_... of a text, NO_COLOR and TERM.
std::set<std::string> variables_in(const std::string& text) {
  std::set<std::string> names;
  for (const std::string prefix : {"NEREID_", "NO_COLOR", "TERM"}) {
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      size_t end = at;
      while (end < text.size() && is_word_character(text[end])) end++;
      if (at == 0 || !is_word_character(text[at - 1])) names.insert(text.substr(at, end - at));
    }
  }
  return names;
}

TEST(Env, ReadsTheVariablesOfTheListOnly) {
  setenv("NEREID_PEERS_DIR", "/somewhere", 1);
  EXPECT_EQ(env("NEREID_PEERS_DIR"), "/somewhere");
  setenv("NEREID_PEERS_DIR", "", 1);
  EXPECT_EQ(env("NEREID_PEERS_DIR"), "");
  unsetenv("NEREID_PEERS_DIR");
  EXPECT_EQ(env("NEREID_PEERS_DIR"), std::nullopt);
  EXPECT_EQ(env("PATH"), std::nullopt);
  EXPECT_EQ(env("NEREID_NO_SUCH"), std::nullopt);
}

TEST(Env, NamesAreDistinctAndExplained) {
  std::set<std::string_view> names;
  for (const EnvVariable& variable : env_variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
  }
}

TEST(Env, TheDocumentationListsTheSame) {
  const std::string page = read_text(fs::path(NRD_SOURCE_DIR) / "docs" / "env.md");
  ASSERT_FALSE(page.empty()) << "docs/env.md is missing";
  std::set<std::string> names;
  for (const EnvVariable& variable : env_variables()) names.emplace(variable.name);
  EXPECT_EQ(variables_in(page), names);
}

TEST(Env, NobodyElseReadsTheEnvironment) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(NRD_SOURCE_DIR) / "src")) {
    if (!entry.is_regular_file() || entry.path().filename() == "env.cpp") continue;
    const std::string text = read_text(entry.path());
    EXPECT_EQ(text.find("getenv("), std::string::npos) << entry.path() << ": use base/env.h";
  }
}

TEST(Env, WordsThatMeanNothingAreErrors) {
  const auto message_of = [](const char* name, const char* value) {
    setenv(name, value, 1);
    const Expected<void> checked = check_environment();
    unsetenv(name);
    return checked ? std::string("accepted") : checked.error().message();
  };
  const std::array<const char*, 2> wrong[] = {
      {"NEREID_THREADS", "abc"},    {"NEREID_THREADS", "0"},      {"NEREID_THREADS", "4x"},
      {"NEREID_THREADS", "99999"},  {"NEREID_LOG", "dispatch,x"}, {"NEREID_DUMP", "foo"},
      {"NEREID_ON_FALLBACK", "no"}, {"NEREID_CUDA_ARCH", "sm_3"}, {"NEREID_PERF_MAP", "yes"},
      {"NEREID_GDB", "2"},          {"NEREID_EXPECT_CUDA", "x"}};
  for (const auto& [name, value] : wrong) {
    const std::string message = message_of(name, value);
    EXPECT_NE(message.find(std::string(name) + ": got '" + value + "', allowed: "),
              std::string::npos)
        << message;
  }
  const std::array<const char*, 2> right[] = {
      {"NEREID_THREADS", "3"},         {"NEREID_THREADS", ""}, {"NEREID_LOG", "info,warning"},
      {"NEREID_DUMP", "lift,asm"},     {"NEREID_GDB", "0"},    {"NEREID_CUDA_ARCH", "sm_80"},
      {"NEREID_ON_FALLBACK", "error"}, {"NEREID_LOG", ","}};
  for (const auto& [name, value] : right) EXPECT_EQ(message_of(name, value), "accepted") << name;
}

TEST(Env, ANameThatIsNearlyOneOfOursIsAnError) {
  const auto message_of = [](const char* name) {
    setenv(name, "1", 1);
    const Expected<void> checked = check_environment();
    unsetenv(name);
    return checked ? std::string("accepted") : checked.error().message();
  };
  for (const char* name : {"NEREID_THREAD", "NEREID_THRAEDS", "NEREID_IS", "NEREID_LOGS"})
    EXPECT_NE(message_of(name).find("did you mean"), std::string::npos) << name;
  for (const char* name : {"NEREID_HOME", "NEREID_ROOT", "NEREID_LIB", "NEREID", "NO_COLOUR"})
    EXPECT_EQ(message_of(name), "accepted") << name;
}

// ---- the log ----

TEST(Log, IsOffByDefaultAndGoesToTheSink) {
  unsetenv("NEREID_LOG");
  EXPECT_FALSE(log_enabled(LogLevel::kWarning));
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  EXPECT_TRUE(log_enabled(LogLevel::kDispatch));
  log(LogLevel::kInfo, "one");
  log_once(LogLevel::kWarning, "two");
  log_once(LogLevel::kWarning, "two");
  set_log_sink({});
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
  log(LogLevel::kInfo, "three");
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Log, ASinkMayReplaceItselfWhileOthersLog) {
  std::vector<std::thread> threads;
  set_log_sink([](LogLevel, std::string_view) { set_log_sink([](LogLevel, std::string_view) {}); });
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([] {
      for (int line = 0; line < 100; line++) log(LogLevel::kInfo, "line");
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_log_sink({});
}

TEST(LogDeathTest, NereidLogChoosesWhatGoesToStderr) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process: the variable is read once
  setenv("NEREID_LOG", "dispatch", 1);
  const auto say_all = [] {
    log(LogLevel::kInfo, "not this");
    log(LogLevel::kDispatch, "rms_norm: cpu");
    _exit(log_enabled(LogLevel::kInfo) ? 1 : 0);
  };
  EXPECT_EXIT(say_all(), testing::ExitedWithCode(0), "^nereid: dispatch: rms_norm: cpu\n$");
  unsetenv("NEREID_LOG");
}

}  // namespace
}  // namespace nrd
