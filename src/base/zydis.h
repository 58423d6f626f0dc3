// SPDX-License-Identifier: MIT
// src/base/zydis.h: Zydis, the decoder of x86-64 code, loaded when code is first read.
//
// It is needed for users' functions and to show generated code, and for nothing else: what never
// does that starts without it.
#pragma once

#include <Zydis/Zydis.h>

#include "base/error.h"

namespace nrd {

// Its functions, by the names they have there.
struct Zydis {
  decltype(&ZydisGetVersion) GetVersion;
  decltype(&ZydisDecoderInit) DecoderInit;
  decltype(&ZydisDecoderDecodeFull) DecoderDecodeFull;
  decltype(&ZydisDecoderDecodeInstruction) DecoderDecodeInstruction;
  decltype(&ZydisDecoderDecodeOperands) DecoderDecodeOperands;
  decltype(&ZydisFormatterInit) FormatterInit;
  decltype(&ZydisFormatterFormatInstruction) FormatterFormatInstruction;
  decltype(&ZydisMnemonicGetString) MnemonicGetString;
  decltype(&ZydisRegisterGetId) RegisterGetId;
  decltype(&ZydisRegisterGetClass) RegisterGetClass;
};

// The error says why it is not there and how it can be had.
Expected<const Zydis*> load_zydis();

// Where load_zydis() has succeeded already.
const Zydis& zydis();

}  // namespace nrd
