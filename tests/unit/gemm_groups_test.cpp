// SPDX-License-Identifier: MIT
// tests/unit/gemm_groups_test.cpp: groups of panels beside the rule, walked from the first one on.
#include <gtest/gtest.h>

#include "gemm/groups.h"

namespace nrd::gemm {
namespace {

TEST(Groups, FollowTheRule) {
  for (int64_t size : {0, 1, 2, 7, 16, 17, 97, 128, 1000}) {
    for (int64_t most : {1, 3, 8, 16}) {
      for (int64_t parts : {1, 2, 5, 40}) {
        for (int64_t tasks : {1, 4, 32, 100}) {
          for (bool is_guided : {false, true}) {
            const Range panels = {5, 5 + size};
            const Groups groups(panels, {most, parts, tasks, is_guided});
            int64_t begin = panels.begin, count = 0;
            for (; begin < panels.end; count++) {
              const int64_t of = is_guided ? panels.end - begin : size;
              const int64_t width = std::clamp<int64_t>(of * parts / tasks, 1, most);
              const Range group = groups.at(count);
              ASSERT_EQ(group.begin, begin);
              ASSERT_EQ(group.end, std::min(begin + width, panels.end));
              begin = group.end;
            }
            ASSERT_EQ(groups.count(), count);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nrd::gemm
