// SPDX-License-Identifier: MIT
// src/workbench/user_ops.cpp: dlopen, dlsym, and errors that say what is missing.
#include "workbench/user_ops.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/files.h"

namespace nrd {

Expected<LibraryFunction> parse_library_function(const std::string& text) {
  LibraryFunction f;
  const size_t equals = text.find('=');
  const std::string place = text.substr(0, equals);
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == place.size())
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .argument = "--op",
                       .got = fmt::format("'{}'", text),
                       .allowed = "LIB.so:SYMBOL",
                       .hint = "for example ./libmine.so:my_gate"});
  f.library = place.substr(0, colon);
  f.symbol = place.substr(colon + 1);
  if (equals == std::string::npos) return f;
  const std::string rest = text.substr(equals + 1);
  const size_t second = rest.find('=');
  f.c_signature = rest.substr(0, second);
  if (second != std::string::npos) f.signature = rest.substr(second + 1);
  return f;
}

std::string library_function_text(const LibraryFunction& f) {
  std::string text = f.library + ":" + f.symbol;
  if (!f.c_signature.empty()) text += "=" + f.c_signature;
  if (!f.signature.empty()) text += "=" + f.signature;
  return text;
}

Expected<UserOpRequest> load_library_function(const LibraryFunction& f) {
  if (f.c_signature.empty())
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = f.symbol,
                       .argument = "--signature",
                       .got = "nothing",
                       .allowed = "the function's type in C",
                       .hint = "for example --signature 'void(const float*, float*, size_t)'"});
  Expected<lift::CSignature> parsed = lift::parse_signature(f.c_signature);
  if (!parsed) return parsed.error();
  // A path without a slash would be searched for among the system's libraries.
  const std::string path = f.library.find('/') == std::string::npos ? "./" + f.library : f.library;
  NRD_TRY(FileReader::open(path));  // dlopen would wait for the other end of a FIFO
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return make_error({.code = ErrorCode::kEnvironment,
                       .op = f.symbol,
                       .argument = f.library,
                       .got = dlerror(),
                       .hint = "build it with -shared -fPIC"});
  void* symbol = dlsym(handle, f.symbol.c_str());
  if (!symbol)
    return make_error({.code = ErrorCode::kUnknownName,
                       .op = f.symbol,
                       .argument = f.library,
                       .got = dlerror(),
                       .hint = "declare the function extern \"C\" and export it"});
  UserOpRequest request;
  request.name = f.symbol;
  request.function = symbol;
  request.c_signature = std::move(*parsed);
  request.signature = f.signature;
  request.library = f.library;
  return request;
}

}  // namespace nrd
