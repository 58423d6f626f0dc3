// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/options.cpp
#include "options.h"

#include <map>
#include <sstream>

namespace nrd::bench {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

}  // namespace

Expected<Options> read_options(int argc, char** argv) {
  std::map<std::string, std::string> given = {
      {"shapes",
       "4096x4096x4096,8192x8192x8192,16384x4096x4096,2048x11264x4096,512x11264x4096,"
       "2048x5120x2880,1x11264x4096,16x11264x4096,64x11264x4096,128x11264x4096"},
      {"modes", "fast-tensor,fast-row,precise-tensor,precise-row,block"},
      {"configs", "all"},
      {"top", "5"},
      {"rounds", "10"},
      {"slice_ms", "10"},
      {"regime", "row"}};
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const size_t at = word.find('=');
    if (at == std::string::npos || !given.contains(word.substr(0, at)))
      return make_error({.code = ErrorCode::kUnknownName,
                         .argument = "option",
                         .got = word,
                         .hint = "read the head of main.cpp"});
    given[word.substr(0, at)] = word.substr(at + 1);
  }
  Options options;
  for (const std::string& shape : split(given["shapes"], ','))
    for (const std::string& mode : split(given["modes"], ',')) {
      const std::vector<std::string> sizes = split(shape, 'x');
      if (sizes.size() != 3)
        return make_error(
            {.code = ErrorCode::kInvalidArgument, .argument = "shapes", .got = shape});
      options.modes.push_back({.m = std::stoll(sizes[0]),
                               .n = std::stoll(sizes[1]),
                               .k = std::stoll(sizes[2]),
                               .fast = mode.starts_with("fast"),
                               .block = mode == "block",
                               .one_scale = mode.ends_with("tensor")});
    }
  options.plain = given["configs"] == "plain";
  options.all_configs = given["configs"] == "all" || options.plain;
  options.gaps = given["regime"] == "gaps";
  options.top = std::stoi(given["top"]);
  options.rounds = std::stoi(given["rounds"]);
  options.slice_ms = std::stod(given["slice_ms"]);
  return options;
}

}  // namespace nrd::bench
