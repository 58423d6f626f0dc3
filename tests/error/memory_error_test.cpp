// SPDX-License-Identifier: MIT
// tests/error/memory_error_test.cpp: sizes that cannot be, allocators that are wrong, and files
// that are none.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nereid/nereid.h"

namespace {

using nereid::Tensor;
using nereid::TensorView;

std::string message() { return nereid_last_error()->message; }

TEST(MemoryError, MoreBytesThanThereCanBe) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2 + 1}) {
    void* memory = &bytes;
    EXPECT_EQ(nereid_device_allocate(NEREID_CPU, 0, bytes, &memory), NEREID_INVALID_ARGUMENT);
    EXPECT_EQ(memory, nullptr);
    EXPECT_STREQ(nereid_last_error()->argument, "bytes");
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end the program
  void* memory = nullptr;
  EXPECT_EQ(nereid_device_allocate(NEREID_CPU, 0, SIZE_MAX / 4, &memory), NEREID_ENVIRONMENT);
  EXPECT_NE(message().find("out of memory"), std::string::npos) << message();
#endif
}

TEST(MemoryError, TensorsThatCannotBe) {
  constexpr int64_t kMost = INT64_MAX;
  EXPECT_THROW(Tensor(nereid::f32, {kMost}), nereid::ShapeMismatchError);
  EXPECT_THROW(Tensor(nereid::f32, {int64_t{1} << 40, int64_t{1} << 40}),
               nereid::ShapeMismatchError);
  EXPECT_THROW(Tensor(nereid::f32, {2, -1}), nereid::ShapeMismatchError);
  const Tensor none(nereid::f32, {kMost, 0, kMost});
  EXPECT_EQ(none.count(), 0);
  nereid::silu(none, none);
  EXPECT_THROW(Tensor(static_cast<nereid::DType>(77), {3}), nereid::UnsupportedDtypeError);
  EXPECT_THROW(Tensor(static_cast<nereid::DType>(0), {3}), nereid::UnsupportedDtypeError);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  try {
    Tensor(nereid::f32, {int64_t{1} << 50});
    ADD_FAILURE() << "4 PiB were given";
  } catch (const nereid::Exception& error) {
    EXPECT_EQ(error.error().status, NEREID_ENVIRONMENT);
  }
#endif
}

TEST(MemoryError, ViewsOfNegativeSizes) {
  float x = 0;
  EXPECT_THROW(TensorView(&x, {-1}), nereid::ShapeMismatchError);
  EXPECT_THROW(TensorView(&x, {1}).reshape({-1, -1}), nereid::ShapeMismatchError);
  const int64_t sizes[] = {-2}, strides[] = {1};
  EXPECT_THROW(TensorView(&x, {1}).as_strided(sizes, strides), nereid::ShapeMismatchError);
}

// An allocator that looks at the bytes and not at the alignment.
TEST(MemoryError, AMisalignedAllocator) {
  int given_back = 0;
  nereid::ContextOptions options;
  options.allocate = [](size_t bytes, size_t alignment) {
    return static_cast<char*>(std::aligned_alloc(alignment, (bytes + 2 * 64) / 64 * 64)) + 8;
  };
  options.release = [&](void* memory, size_t) {
    given_back++;
    std::free(static_cast<char*>(memory) - 8);
  };
  const nereid::Context context(options);
  const Tensor a(nereid::f32, {64, 64}), b(nereid::f32, {64, 64});
  try {
    nereid::pack_b(b, &context);
    ADD_FAILURE() << "accepted";
  } catch (const nereid::Exception& error) {
    EXPECT_EQ(error.error().status, NEREID_INVALID_ARGUMENT);
    EXPECT_NE(error.error().argument.find("allocate"), std::string::npos) << error.what();
    EXPECT_NE(error.error().allowed.find("multiple of 64"), std::string::npos) << error.what();
  }
  EXPECT_EQ(given_back, 1);
}

// ---- files ----

class FileError : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "nereid_file_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    const Tensor b(nereid::f32, {8, 8});
    const nereid_tensor view = b.view().c();
    ASSERT_EQ(nereid_pack_b(nullptr, &view, &packed), NEREID_OK) << message();
    const nereid_status saved = nereid_packed_save(packed, file("whole").c_str());
    if (saved == NEREID_UNSUPPORTED) GTEST_SKIP() << message();
    ASSERT_EQ(saved, NEREID_OK) << message();
  }
  void TearDown() override {
    nereid_packed_destroy(packed);
    std::filesystem::remove_all(folder);
  }
  std::string file(const char* name) const { return folder + "/" + name; }
  nereid_status map(const std::string& path) const {
    nereid_packed* mapped = nullptr;
    const nereid_status status = nereid_packed_map(nullptr, path.c_str(), 0, &mapped);
    nereid_packed_destroy(mapped);
    return status;
  }

  std::string folder;
  nereid_packed* packed = nullptr;
};

TEST_F(FileError, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0);
  for (const std::string& path : {file("fifo"), folder, std::string("/dev/null")}) {
    EXPECT_EQ(nereid_packed_save(packed, path.c_str()), NEREID_INVALID_ARGUMENT) << path;
    EXPECT_STREQ(nereid_last_error()->op, "packed_save");
    EXPECT_NE(message().find("a regular file"), std::string::npos) << message();
  }
  EXPECT_TRUE(std::filesystem::is_fifo(file("fifo")));
}

TEST_F(FileError, AFifoIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(map(file("fifo")), NEREID_INVALID_ARGUMENT);
  EXPECT_NE(message().find("a FIFO"), std::string::npos) << message();
}

TEST_F(FileError, BytesBehindTheMatrix) {
  EXPECT_EQ(map(file("whole")), NEREID_OK) << message();
  std::ofstream(file("whole"), std::ios::app) << "x";
  EXPECT_EQ(map(file("whole")), NEREID_INVALID_ARGUMENT);
  EXPECT_NE(message().find("something follows"), std::string::npos) << message();
}

}  // namespace
