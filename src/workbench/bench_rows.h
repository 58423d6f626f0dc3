// SPDX-License-Identifier: MIT
// src/workbench/bench_rows.h: what a run on the CPU and one on a device share: rows, checks,
// ratios.
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "workbench/bench.h"

namespace nrd {

Row make_row(const Case& c, const std::string& backend);
// A request that is wrong in itself is one error row a backend, so that JSON tells the whole.
std::vector<Row> error_rows(const BenchOptions& options, const CaseSpec& spec, const Error& error);

// The kernel or the backend cannot do the case: a skip with its reason, and no failure.
bool is_refusal(const Error& error);
// Ends a row. `absent`: its backend could not be started at all.
void end_row(Row& row, const Error& error, bool absent);

// References of one case, by distribution: they are the same for every backend.
class References {
 public:
  Expected<Reference>& of(const Case& c);

 private:
  std::map<Distribution, Expected<Reference>> references_;
};

// Loads the case on each kind of data in turn and judges what comes out of poisoned memory, until
// one is wrong or the run is stopped. Fills the row but for its times. `about` is what a request of
// the worker says of the backend. The error is that of a load; a run that failed ended the row.
struct CheckPlan {
  std::vector<Distribution> distributions;
  nlohmann::json about;
  bool computes = true;  // false: a roof, which is loaded and no more
};
enum class Checked { kRight, kWrong, kEnded, kStopped };
Expected<Checked> check_row(Row& row, Worker& worker, const CheckPlan& plan, const Case& c,
                            References& references);

// How many times faster each row is than that of `baseline`.
void add_ratios(Results& results, const std::vector<Row>& rows, const std::string& baseline);
// How many times faster that of `subject` is than each other, the baseline first; where it was not
// timed the former.
void add_ratios_of(Results& results, const std::vector<Row>& rows, const std::string& subject,
                   const std::string& baseline);

}  // namespace nrd
