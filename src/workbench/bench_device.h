// SPDX-License-Identifier: MIT
// src/workbench/bench_device.h: the supervisor of cases on a device.
//
// All backends of a device share one worker, where they race A B A B; this process never creates a
// context on it. A kernel that leaves the device unusable ends its row and its worker, and the
// others go on in a new one.
#pragma once

#include <memory>

#include "workbench/bench_rows.h"

namespace nrd {

class DeviceBench {
 public:
  DeviceBench(KernelRegistry& registry, const BenchOptions& options, Roofline& roofline)
      : registry_(registry), options_(options), roofline_(roofline) {}

  std::vector<Row> run(const Case& c);

 private:
  Expected<Worker*> ready();
  void measure_roofs(const Case& c);
  std::vector<Row> start_rows(const Case& c);
  void check(Row& row, const Case& c, References& references);
  bool reuse_check(Row& row, const Case& c);
  void race(std::vector<Row>& rows, const Case& c);
  std::vector<std::string> race_once(std::vector<Row>& rows, const Case& c);
  void finish(Row& row, const Case& c);

  KernelRegistry& registry_;
  const BenchOptions& options_;
  Roofline& roofline_;
  std::unique_ptr<Worker> worker_;
  std::map<std::string, Row> checked_;  // by backend and case without cache and regime
};

}  // namespace nrd
