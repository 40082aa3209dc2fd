// entry_steps.h: builds a function of the ABI step by step.
//
// What a step binds is valid in all steps after it. TIR expresses that by nesting; this list is nested at the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/tir/builder.h"

namespace relaxc::interface {

/// The values of rlx_status that these functions return themselves.
enum Status : int32_t {
  kNullPointer = 1,
  kDimBounds = 9,
  kArenaSize = 14,
  kArenaAlignment = 15,
  kWeightsSize = 16,
  kNeedsData = 22,
  kPoolSize = 24,
  kPoolAlignment = 25,
};

class EntrySteps {
 public:
  using Expr = tir::Expr;
  using BufferRef = tir::BufferRef;

  /// Adds parameters and a body to `function`; the caller sets its name and flags.
  EntrySteps(tir::Context& context, tir::PrimFunc& function);
  tir::Builder& build() { return build_; }
  Expr index(int64_t value) { return build_.index(value); }
  Expr word(uint64_t value) { return build_.context().imm(DType::u(64), static_cast<int64_t>(value)); }

  // Parameters, in order.
  BufferRef records_param(const std::string& name, const tir::Record& record);
  BufferRef array_param(const std::string& name, DType dtype);
  Expr scalar_param(const std::string& name, DType dtype = DType::index());

  /// The fields of the error record of a failure.
  struct Found {
    int32_t axis = -1, symbol = -1;
    Expr expected, actual;  ///< index expressions; null for 0
  };
  void require(Expr holds, Status status, const Found& found);
  void require(Expr holds, Status status) { require(holds, status, Found{}); }
  /// Requires that `value` is within the bounds of symbol `k`.
  void require_bounds(const Entry& entry, size_t k, Expr value);
  Expr let(const std::string& name, Expr value);
  /// Returns a buffer at an address, of unknown size.
  BufferRef at_address(const std::string& name, DType dtype, Expr address);
  BufferRef records_at(const std::string& name, const tir::Record& record, Expr count, Expr address);
  /// Returns a buffer in the memory of `base`, from byte `offset` on.
  BufferRef within(const std::string& name, DType dtype, BufferRef base, int64_t offset);
  /// Returns an array of `count` elements in the frame; `words` have 8 bytes.
  BufferRef array(const std::string& name, DType dtype, size_t count);
  BufferRef words(const std::string& name, size_t count) { return array(name, DType::index(), count); }
  void store(BufferRef array, size_t i, Expr value);
  Expr load(BufferRef array, size_t i) { return build_.load(array, {index(static_cast<int64_t>(i))}); }
  /// Calls a prim func; if that fails, this function returns its status.
  void call(const std::string& prim_func, std::vector<tir::Argument> args) {
    add(invocation(prim_func, std::move(args)));
  }
  tir::Stmt invocation(const std::string& prim_func, std::vector<tir::Argument> args);
  void add(tir::Stmt statement);

  /// Makes the following guards and calls fill the rlx_error at this address.
  void report_to(Expr address);
  /// Returns the buffers of a call's pools, at null for a pool that the call does not need.
  std::vector<tir::Argument> pools(const Entry& entry, BufferRef context);
  /// Returns the buffer of the weights: in the object, or after the header of the file that the context points to.
  BufferRef weights(const Weights& weights, BufferRef context);

  /// Returns the object's data of that name.
  BufferRef data(const std::string& name);
  /// Calls a function of runtime-lite, which has no hidden parameters.
  void call_runtime(const std::string& name, std::vector<tir::Argument> args);

  /// Nests the steps and sets the function's body.
  void finish();

 private:
  using Scope = std::function<tir::Stmt(tir::Stmt body)>;
  struct Step {
    tir::Stmt statement;
    Scope scope;  ///< set if it encloses all steps that follow
  };

  tir::Builder build_;
  tir::PrimFunc& function_;
  std::vector<Step> steps_;
};

}  // namespace relaxc::interface
