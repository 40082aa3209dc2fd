// function_parts.h: the objects that lower the body of one LLVM function.
//
// Each part owns one kind of state and refers to the parts that it uses. These references form cycles (a subscript is a
// value, and a value may be a load), so all parts are made together.
#pragma once

#include "compiler/codegen/llvm/lower/byte_tile.h"
#include "compiler/codegen/llvm/lower/expressions.h"
#include "compiler/codegen/llvm/lower/halves_tile.h"
#include "compiler/codegen/llvm/lower/loops.h"
#include "compiler/codegen/llvm/lower/row_copies.h"
#include "compiler/codegen/llvm/lower/statements.h"

namespace relaxc::codegen_llvm {

struct FunctionParts {
  FunctionParts(ModuleLowering& module, const Signature& signature)
      : frame(module, signature), addresses(frame.source()) {}
  /// For `task`, which runs iterations of a loop of the function with these parts.
  FunctionParts(const Frame& around, const Bindings& known, const BufferAddresses& views, llvm::Function* task)
      : frame(around.module(), around.signature(), task), bindings(known.facts()), addresses(frame.source(), views) {}
  FunctionParts(const FunctionParts&) = delete;
  FunctionParts& operator=(const FunctionParts&) = delete;

  Frame frame;
  LaneArithmetic lanes{frame};
  Bindings bindings;
  BufferAddresses addresses;
  Values values{bindings, checks, expressions};
  Failures failures{frame, values, addresses};
  OverflowChecks checks{frame, lanes, values, failures};
  Memory memory{frame, lanes, addresses, values, interleaved};
  InterleavedStores interleaved{frame, lanes, bindings, addresses, values, memory};
  ExternalCalls externals{frame, addresses, values, failures};
  Expressions expressions{frame, lanes, bindings, values, checks, addresses, memory, externals};
  Calls calls{frame, addresses, values, checks, failures, externals};
  Statements statements{frame, lanes, bindings, values, checks, failures, addresses, memory, interleaved, calls, loops};
  ByteTiles byte_tiles{frame, lanes, memory};
  HalvesTiles halves_tiles{frame, lanes, memory};
  RowCopies row_copies{frame, lanes, addresses, memory};
  Loops loops{frame,       lanes,      bindings,     values,     checks, failures,  addresses,
              interleaved, byte_tiles, halves_tiles, row_copies, memory, statements};
};

}  // namespace relaxc::codegen_llvm
