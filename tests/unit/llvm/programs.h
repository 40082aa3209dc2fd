// programs.h: small TIR programs and a machine to run them on.
#pragma once

#include <memory>
#include <vector>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/tir/builder.h"

namespace relaxc::testing {

inline Target native_target() {
  Diagnostics diag;
  auto target = codegen_llvm::resolve_target("", "native", "", diag);
  return *target;
}

/// The oldest CPU of this architecture: everything that it lacks is done by arithmetic.
inline Target baseline_target() {
  Diagnostics diag;
  auto target = codegen_llvm::resolve_target("", "", "", diag);
  return *target;
}

/// `out[i] = value(in[i])` over `count` elements, as a loop of the given kind.
inline tir::PrimFunc elementwise(tir::Builder& b, DType from, DType to, int64_t count, tir::LoopKind kind,
                                 const std::function<arith::Expr(arith::Expr)>& value) {
  tir::PrimFunc f;
  f.name = "elementwise";
  tir::BufferRef in = b.buffer("in", from, {b.index(count)}), out = b.buffer("out", to, {b.index(count)});
  f.params = {{in, {}}, {out, {}}};
  if (kind == tir::LoopKind::kVectorized) {
    f.body = b.loop("o", b.index(count / 16), [&](arith::Var o) {
      return b.loop(
          "v", b.index(16), [&](arith::Var v) { return b.store(out, {o * 16 + v}, value(b.load(in, {o * 16 + v}))); },
          kind);
    });
  } else {
    f.body = b.loop(
        "i", b.index(count), [&](arith::Var i) { return b.store(out, {i}, value(b.load(in, {i}))); }, kind);
  }
  return f;
}

}  // namespace relaxc::testing
