// SPDX-License-Identifier: MIT
// src/gemm/groups.h: B's panels in groups; a task multiplies one of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nrd::gemm {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

struct GroupRule {
  int64_t most = 1;   // panels of a group
  int64_t parts = 1;  // of A: each makes a task of every group
  int64_t tasks = 1;  // that there should be at least, even if groups are narrower for it
  // So many tasks of what is left behind each group, not of all: only the last ones are narrow.
  bool is_guided = false;
};

// Groups are found by their number. Most are of one width and lie in front: no way to one is long.
class Groups {
 public:
  Groups(Range panels, const GroupRule& rule)
      : panels_(panels), rule_(rule), width_(width(panels.size())), alike_(count_alike()) {
    count_ = alike_;
    for (int64_t j = panels_.begin + alike_ * width_; j < panels_.end; count_++) j = from(j).end;
  }
  int64_t count() const { return count_; }
  Range at(int64_t index) const {
    const int64_t skipped = std::min(index, alike_);
    Range group = from(panels_.begin + skipped * width_);
    for (index -= skipped; index > 0; index--) group = from(group.end);
    return group;
  }

 private:
  int64_t width(int64_t left) const {
    return std::clamp<int64_t>(left * rule_.parts / rule_.tasks, 1, rule_.most);
  }
  Range from(int64_t begin) const {
    const int64_t wide = rule_.is_guided ? width(panels_.end - begin) : width_;
    return {begin, std::min(begin + wide, panels_.end)};
  }
  // Groups in front that have the width of the first: guided ones as long as enough is left.
  int64_t count_alike() const {
    const bool shrinks = rule_.is_guided && width_ > 1;
    const int64_t last = shrinks ? (width_ * rule_.tasks + rule_.parts - 1) / rule_.parts : 0;
    return std::max<int64_t>(panels_.size() - last, 0) / width_;
  }

  Range panels_;
  GroupRule rule_;
  int64_t width_, alike_, count_ = 0;
};

}  // namespace nrd::gemm
