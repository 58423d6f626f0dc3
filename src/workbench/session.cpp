// SPDX-License-Identifier: MIT
// src/workbench/session.cpp: requests that are the same on every device.
#include "workbench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "workbench/json_fields.h"

namespace nrd {
namespace {

constexpr size_t kSamplesInReply = 200;

nlohmann::json outputs_reply(const RunOutputs& ran, const std::vector<Output>& outputs) {
  nlohmann::json sizes = nlohmann::json::array();
  for (const Output& output : outputs)
    sizes.push_back({{"operand", output.operand}, {"bytes", output.data.size()}});
  return {{"ok", true}, {"unwritten", ran.unwritten}, {"damaged", ran.damaged}, {"outputs", sizes}};
}

}  // namespace

nlohmann::json failed_reply(const Error& error) {
  return {{"ok", false}, {"code", static_cast<int>(error.code)}, {"reason", error.message()}};
}

Error error_of_reply(const nlohmann::json& reply) {
  const double code =
      number(reply, "code").value_or(static_cast<double>(static_cast<int>(ErrorCode::kInternal)));
  return make_error({.code = static_cast<ErrorCode>(code), .hint = text(reply, "reason")});
}

nlohmann::json unknown_request(const std::string& verb, const std::string& allowed) {
  return failed_reply(make_error({.code = ErrorCode::kInternal,
                                  .argument = "request",
                                  .got = fmt::format("'{}'", verb),
                                  .allowed = "load, outputs, " + allowed}));
}

// Every n-th of the sorted samples: enough for percentiles over all slices.
std::vector<double> thinned_samples(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  if (samples.size() <= kSamplesInReply) return samples;
  std::vector<double> kept;
  for (size_t i = 0; i < kSamplesInReply; i++)
    kept.push_back(samples[i * (samples.size() - 1) / (kSamplesInReply - 1)]);
  return kept;
}

nlohmann::json Session::handle(const nlohmann::json& request) {
  auto thrown = [](const std::string& what) {
    return failed_reply(make_error(
        {.code = ErrorCode::kEnvironment, .op = "worker", .got = "an exception: " + what}));
  };
  try {
    const std::string verb = request.at("do");
    if (verb == "load") return load(request);
    if (verb == "outputs") return run_outputs();
    return time(verb, request);
  } catch (const std::exception& e) {  // a peer or a plug-in that throws; bad_alloc
    return thrown(e.what());
  } catch (...) {
    return thrown("of unknown type");
  }
}

nlohmann::json Session::load(const nlohmann::json& request) {
  forget();
  outputs_.clear();
  Expected<Case> c = make_case(case_spec_from_json(request.at("case")));
  if (!c) return failed_reply(c.error());
  case_ = std::make_unique<Case>(std::move(*c));
  Expected<KernelChoice> choice = registry_.select(backend_of(request), case_->desc);
  if (!choice) return failed_reply(choice.error());
  choice_ = *choice;
  return {{"ok", true},
          {"kernel", choice_.kernel->name()},
          {"isa", choice_.kernel->isa()},
          {"numerics", choice_.kernel->numerics(case_->desc)}};
}

nlohmann::json Session::run_outputs() {
  Expected<KernelRunner> runner = KernelRunner::create(choice_, *case_, MemoryMode::kGuarded);
  if (!runner) return failed_reply(runner.error());
  Expected<RunOutputs> ran = runner->run_checked();
  if (!ran) return failed_reply(ran.error());
  outputs_ = std::move(ran->outputs);
  return outputs_reply(*ran, outputs_);
}

}  // namespace nrd
