// SPDX-License-Identifier: MIT
// nereid/registry.h: what operators and backends there are.
#pragma once

#include <string>
#include <vector>

#include "nereid/context.h"

namespace nereid {

struct AttributeInfo {
  std::string name, meaning;
  std::vector<std::string> values;  // of a choice, the default first; empty for a number
  double number = 0;                // the default of a number
  std::string allowed = {};         // what a number may be: "0 or more"
};

struct OperatorInfo {
  std::string name, group, summary, signature, example;
  std::vector<AttributeInfo> attributes;
  bool in_place = false;  // an input may be the same memory as an output
};

struct BackendInfo {
  std::string name, version;
  bool available = false;
  std::string reason;  // why it is not available
  bool peer = false;   // measured against; never chosen unless named
};

namespace detail {

inline AttributeInfo attribute_info(int32_t op, int32_t index) {
  nereid_attribute_info a{};
  a.struct_size = sizeof a;
  check(nereid_describe_attribute(op, index, &a));
  AttributeInfo info{a.name, a.meaning, {}, a.number, a.allowed};
  const std::string values = a.values;
  for (size_t begin = 0; a.is_choice && begin <= values.size();) {
    size_t end = values.find('|', begin);
    if (end == std::string::npos) end = values.size();
    info.values.push_back(values.substr(begin, end - begin));
    begin = end + 1;
  }
  return info;
}

}  // namespace detail

// Every operator, in the order of the catalogue.
inline std::vector<OperatorInfo> operators() {
  std::vector<OperatorInfo> list;
  for (int32_t i = 0; i < nereid_op_count(); i++) {
    nereid_op_info op{};
    op.struct_size = sizeof op;
    check(nereid_describe_op(i, &op));
    OperatorInfo info{op.name,    op.group, op.summary,      op.signature,
                      op.example, {},       op.in_place != 0};
    for (int32_t a = 0; a < op.attribute_count; a++)
      info.attributes.push_back(detail::attribute_info(i, a));
    list.push_back(std::move(info));
  }
  return list;
}

// Every backend, loaded if it can be.
inline std::vector<BackendInfo> backends(const Context* context = nullptr) {
  std::vector<BackendInfo> list;
  for (int32_t i = 0; i < nereid_backend_count(handle_of(context)); i++) {
    nereid_backend_info b{};
    b.struct_size = sizeof b;
    check(nereid_describe_backend(handle_of(context), i, &b));
    list.push_back({b.name, b.version, b.available != 0, b.reason, b.peer != 0});
  }
  return list;
}

}  // namespace nereid
