// SPDX-License-Identifier: MIT
// tests/unit/files_test.cpp: files are written whole or not at all, and only regular ones.
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace nrd {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "nereid_files_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string refusal(const Expected<void>& result) {
  return result ? "accepted" : result.error().message();
}

TEST_F(Files, ANewFileAndOneThatIsReplaced) {
  ASSERT_TRUE(save_file(path("a"), "one"));
  EXPECT_EQ(content_of(path("a")), "one");
  ASSERT_EQ(chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(save_file(path("a"), "two, which is longer"));
  EXPECT_EQ(content_of(path("a")), "two, which is longer");
  struct stat status;
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WhatIsNotCommittedLeavesNothing) {
  ASSERT_TRUE(save_file(path("a"), "old"));
  {
    Expected<FileWriter> writer = FileWriter::create(path("a"));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write("new"));
    EXPECT_EQ(content_of(path("a")), "old");
  }
  EXPECT_EQ(content_of(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ALinkStaysAndTheFileBehindItIsReplaced) {
  ASSERT_TRUE(save_file(path("file"), "old"));
  fs::create_symlink("file", path("link"));
  ASSERT_TRUE(save_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content_of(path("file")), "new");
  fs::create_symlink("nothing", path("dangling"));
  EXPECT_NE(refusal(save_file(path("dangling"), "x")).find("leads nowhere"), std::string::npos);
}

TEST_F(Files, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_directory(path("folder"));
  const std::pair<std::string, std::string> cases[] = {{path("fifo"), "a FIFO"},
                                                       {path("folder"), "a folder"},
                                                       {"/dev/null", "a device"},
                                                       {path("folder") + "/", "a folder"},
                                                       {path("new") + "/", "cannot be written"},
                                                       {"", "cannot be written"},
                                                       {path("no/such/file"), "cannot be written"}};
  for (const auto& [name, what] : cases)
    EXPECT_NE(refusal(save_file(name, "x")).find(what), std::string::npos)
        << name << ": " << refusal(save_file(name, "x"));
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const std::string& name : {path("fifo"), std::string("/dev/zero"), folder_.string()}) {
    const Expected<FileReader> reader = FileReader::open(name);
    ASSERT_FALSE(reader) << name;
    EXPECT_EQ(reader.error().allowed, "a regular file") << name;
  }
  ASSERT_TRUE(save_file(path("a"), "12345"));
  const Expected<FileReader> reader = FileReader::open(path("a"));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->bytes, 5u);
  char text[8] = {};
  const Expected<size_t> got = reader->read(text, sizeof text);
  ASSERT_TRUE(got);
  EXPECT_EQ(std::string(text, *got), "12345");
}

TEST_F(Files, ALongNameIsNoObstacle) {
  const std::string name(255, 'n');
  EXPECT_EQ(refusal(save_file(path(name), "x")), "accepted");
  EXPECT_EQ(content_of(path(name)), "x");
}

TEST_F(Files, OfManyWritersOneWinsWhole) {
  std::vector<std::thread> writers;
  for (char letter : {'a', 'b', 'c'})
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 20; i++) EXPECT_TRUE(save_file(path("f"), std::string(100000, letter)));
    });
  for (int i = 0; i < 50; i++) {
    const std::string seen = content_of(path("f"));
    EXPECT_TRUE(seen.empty() || seen == std::string(100000, seen[0]));
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace nrd
