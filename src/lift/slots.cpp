// SPDX-License-Identifier: MIT
// src/lift/slots.cpp: the stack, cut into cells, each a variable of ssa.h.
//
// Cells are made as accesses are met. One that lies across a cell enlarges it, and a narrow one
// inside a cell that only ever had constants stored into all of it (`float a[4] = {0}`) divides
// it; both begin the function anew, with the cells known from the start.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lift/simplify.h"
#include "lift/ssa.h"

namespace nrd::lift {
namespace {

constexpr size_t kMaxCells = 512;
constexpr uint32_t kVectorBytes = 16;
constexpr uint32_t kWordBytes = 8;

bool overlaps(const Cell& cell, int64_t offset, uint32_t size) {
  return cell.offset < offset + size && offset < cell.end();
}

// The largest power of two that fits, for the gaps between cells.
uint32_t piece_size(int64_t room) {
  return std::min<uint32_t>(kWordBytes, std::bit_floor(static_cast<uint32_t>(room)));
}

}  // namespace

// A float stored into a cell that also serves as a wider integer was merged with its upper bits;
// who reloads the register wants the float.
NodeId SsaBuilder::stored_lane(NodeId value) const {
  Node node = function_[value];
  if (node.kind == Kind::kPure && node.op == TraceOp::kOr)
    for (const NodeId arg : {node.args[0], node.args[1]})
      if (function_[arg].kind == Kind::kZext) node = function_[arg];
  if (node.kind != Kind::kZext) return value;
  const Node& inner = function_[node.args[0]];
  const bool is_lane = inner.kind == Kind::kPure && inner.op == TraceOp::kBitcast;
  return is_lane ? inner.args[0] : value;
}

NodeId SsaBuilder::load_slot(BlockId b, Type type, int64_t offset) {
  const uint32_t cell = cell_for(offset, bytes_of(type), false, type == Type::kV128);
  return read_cell(b, cell, offset - learned_.cells[cell].offset, type);
}

void SsaBuilder::store_slot(int64_t offset, NodeId value) {
  const Node node = function_[value];
  const uint32_t size = bytes_of(node.type);
  const bool is_constant = node.kind == Kind::kConst || node.kind == Kind::kUndef;
  if (is_constant) return store_constant(offset, size, node);
  const uint32_t cell = cell_for(offset, size, false, node.type == Type::kV128);
  write_cell(cell, offset - learned_.cells[cell].offset, value);
}

// `size` bytes of a constant, `from` bytes into it.
NodeId SsaBuilder::constant_part(const Node& value, int64_t from, uint32_t size) {
  const bool whole = from == 0 && static_cast<int>(size) * 8 == type_bits(value.type);
  const Type type = whole                  ? value.type
                    : size == kVectorBytes ? Type::kV128
                                           : integer_of_bits(static_cast<int>(size) * 8);
  if (value.kind == Kind::kUndef) return factory_.undefined(type);
  uint64_t bits = from >= 8 ? value.high >> (from - 8) * 8 : value.bits >> from * 8;
  if (from > 0 && from < 8) bits |= value.high << (8 - from) * 8;
  return factory_.constant(type, bits, value.high);
}

// A constant is stored cell by cell: it may initialise several variables at once. So is an
// undefined value: `push rax` often only makes room.
void SsaBuilder::store_constant(int64_t offset, uint32_t size, const Node& value) {
  const int64_t end = offset + size;
  for (int64_t at = offset; at < end;) {
    const uint32_t inside = cell_at(at);
    int64_t next = end;
    for (const Cell& cell : learned_.cells)
      if (cell.offset > at) next = std::min(next, cell.offset);
    const bool whole = at == offset && next == end && inside == kNoNode;
    uint32_t piece = whole ? size : piece_size(next - at);
    if (inside != kNoNode) {
      const Cell& cell = learned_.cells[inside];
      if (cell.end() > end && size > kWordBytes) relayout(offset, size);
      piece = static_cast<uint32_t>(std::min(end, cell.end()) - at);
      piece = std::min(piece, size == kVectorBytes && cell.size == size ? size : piece_size(piece));
    }
    const uint32_t cell = cell_for(at, piece, true, false);
    const NodeId part = constant_part(value, at - offset, piece);
    write_cell(cell, at - learned_.cells[cell].offset, part);
    at += piece;
  }
}

uint32_t SsaBuilder::cell_at(int64_t offset) const {
  for (uint32_t i = 0; i < learned_.cells.size(); i++)
    if (learned_.cells[i].offset <= offset && offset < learned_.cells[i].end()) return i;
  return kNoNode;
}

uint32_t SsaBuilder::add_cell(int64_t offset, uint32_t size, bool only_constants) {
  if (learned_.cells.size() >= kMaxCells) refuse("the function has too many local variables");
  learned_.cells.push_back({offset, size, only_constants});
  return static_cast<uint32_t>(learned_.cells.size() - 1);
}

// The cell that holds these bytes. A whole register is kept in whatever cell begins there, since
// only its low lane is known.
uint32_t SsaBuilder::cell_for(int64_t offset, uint32_t size, bool stores_constant, bool is_vector) {
  for (uint32_t i = 0; i < learned_.cells.size(); i++) {
    Cell& cell = learned_.cells[i];
    if (!overlaps(cell, offset, size)) continue;
    const bool inside = cell.offset <= offset && offset + size <= cell.end();
    const bool covers = cell.offset == offset && cell.size == size;
    if (is_vector && cell.offset == offset) {
      cell.only_constants = false;
      return i;
    }
    if (!inside || (!covers && cell.only_constants)) relayout(offset, size);
    if (!covers && cell.size == kVectorBytes && cell.offset != offset)
      refuse(fmt::format("part of a saved vector register is used at {:#x}", address_));
    if (!stores_constant) cell.only_constants = false;
    return i;
  }
  return add_cell(offset, size, stores_constant);
}

// Cells that had only constants give way; others are joined with the new one.
void SsaBuilder::relayout(int64_t offset, uint32_t size) {
  int64_t begin = offset, end = offset + size;
  std::vector<Cell> kept;
  for (const Cell& cell : learned_.cells) {
    if (!overlaps(cell, offset, size)) {
      kept.push_back(cell);
    } else if (!cell.only_constants) {
      begin = std::min(begin, cell.offset);
      end = std::max(end, cell.end());
    }
  }
  const auto joined = static_cast<uint32_t>(end - begin);
  if (joined > kVectorBytes || !std::has_single_bit(joined))
    refuse(fmt::format("locals overlap in an unusual way at {:#x}", address_));
  kept.push_back({begin, joined, false});
  learned_.cells = std::move(kept);
  throw Restart{};
}

NodeId SsaBuilder::read_cell(BlockId b, uint32_t index, int64_t inner, Type type) {
  const Cell cell = learned_.cells[index];
  const uint32_t variable = kVariables + index;
  const uint32_t size = bytes_of(type);
  if (inner == 0) return read(b, variable, facet_of(type));
  const bool upper_half = cell.size == kWordBytes && inner == 4 && size == 4;
  if (upper_half) return read(b, variable, is_float(type) ? kUpperFloat : kUpperInteger);
  const Type word = integer_of_bits(static_cast<int>(cell.size) * 8);
  const NodeId whole = read(b, variable, facet_of(word));
  const NodeId count = factory_.constant(word, static_cast<uint64_t>(inner) * 8);
  return factory_.low(factory_.pure(TraceOp::kShr, word, whole, count), type);
}

void SsaBuilder::write_cell(uint32_t index, int64_t inner, NodeId value) {
  const Cell cell = learned_.cells[index];
  const uint32_t variable = kVariables + index;
  const uint32_t size = bytes_of(function_[value].type);
  if (size >= cell.size || cell.size == kVectorBytes) return define(variable, value);
  const Type word = integer_of_bits(static_cast<int>(cell.size) * 8);
  const uint64_t hole = ((uint64_t{1} << size * 8) - 1) << inner * 8;
  const NodeId old = read_here(variable, facet_of(word));
  const NodeId kept = factory_.pure(TraceOp::kAnd, word, old, factory_.constant(word, ~hole));
  const NodeId bits = factory_.low(value, integer_of_bits(static_cast<int>(size) * 8));
  const NodeId part = factory_.pure(TraceOp::kShl, word, factory_.convert(bits, word),
                                    factory_.constant(word, static_cast<uint64_t>(inner) * 8));
  define(variable, factory_.pure(TraceOp::kOr, word, kept, part));
}

}  // namespace nrd::lift
