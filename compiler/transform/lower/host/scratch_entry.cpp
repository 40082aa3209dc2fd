// scratch_entry.cpp: gives prim funcs that C calls their scratch memory from the arena of the call's context.
//
// The prim func itself keeps its scratch parameters, because functions of the module may call it as a kernel. The
// function for C takes one buffer more, the arena, in which each scratch buffer has a place at a multiple of 64 bytes.
#include "compiler/transform/lower/host/scratch_entry.h"

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/clone.h"

namespace relaxc::lower {

namespace {

constexpr int64_t kScratchAlignment = interface::kPrimFuncArenaAlign;

class ScratchEntry {
 public:
  ScratchEntry(relax::Module& module, const tir::PrimFunc& function)
      : module_(module), b_(module.context()), function_(function), own_(tir::clone(module.context(), function)) {
    std::vector<tir::BufferRef> buffers;
    for (const tir::Param& param : own_.params)
      if (param.buffer != nullptr) buffers.push_back(param.buffer);
    scratch_.assign(buffers.end() - static_cast<std::ptrdiff_t>(function.memory.scratch), buffers.end());
    bytes_ = b_.index(0);
    for (tir::BufferRef buffer : scratch_) {
      offsets_.push_back(bytes_);
      arith::Expr size = tir::byte_size(module.context(), *buffer);
      bytes_ = bytes_ + arith::ceildiv(size, kScratchAlignment) * kScratchAlignment;
    }
    bytes_ = arith::simplify(bytes_);
  }

  interface::PublicPrimFunc run() {
    interface::PublicPrimFunc made {
      function_.name
    };
    made.arena = add_size();
    made.with_arena = add_call();
    if (const int64_t* number = bytes_.constant()) made.arena_bytes = static_cast<uint64_t>(*number);
    return made;
  }

 private:
  bool is_scratch(tir::BufferRef buffer) const {
    return std::find(scratch_.begin(), scratch_.end(), buffer) != scratch_.end();
  }

  /// Adds the function that computes the arena's bytes from index scalars and symbols; returns its name.
  std::string add_size() {
    tir::PrimFunc made;
    made.name = module_.unique_name(function_.name + "_arena");
    made.checks.overflow_code = kSizeOverflow;
    for (const tir::Param& param : own_.params)
      if (param.buffer == nullptr && param.var.dtype().is_index()) made.params.push_back(param);
    for (tir::Var symbol : own_.symbols) made.params.push_back({nullptr, symbol});
    made.params.push_back({b_.buffer("bytes", DType::i(64), {b_.index(1)}), {}});
    std::vector<tir::Stmt> body;
    for (tir::BufferRef buffer : scratch_)
      for (arith::Expr dim : buffer->shape) {
        if (dim.constant() != nullptr) continue;
        tir::Guard guard;
        guard.code = kDimBounds;
        guard.condition = arith::ge(dim, b_.index(0));
        guard.expected = b_.index(0), guard.actual = dim;
        body.push_back(b_.guard(std::move(guard)));
      }
    body.push_back(b_.store(made.params.back().buffer, {b_.index(0)}, arith::cast(DType::i(64), bytes_)));
    made.body = b_.seq(std::move(body));
    made = tir::clone(module_.context(), made);  // add_call uses the same variables
    return module_.add_prim_func(std::move(made))->name;
  }

  /// Adds the function with all parameters except the scratch, and with an arena after the buffers; returns its name.
  std::string add_call() {
    tir::PrimFunc made;
    made.name = module_.unique_name(function_.name + "_with_arena");
    made.noalias = function_.noalias;
    made.checks.overflow_code = kSizeOverflow;
    tir::BufferRef arena = b_.buffer("arena", DType::u(8), {bytes_}, tir::Scope::kGlobal, kScratchAlignment);
    tir::Invoke call;
    call.callee = function_.name;
    for (const tir::Param& param : own_.params) {
      if (param.buffer == nullptr)
        call.args.emplace_back(arith::Expr(param.var));
      else
        call.args.emplace_back(param.buffer);
      if (param.buffer == nullptr || !is_scratch(param.buffer)) made.params.push_back(param);
      if (param.buffer == scratch_.back()) made.params.push_back({arena, {}});
    }
    for (tir::Var symbol : own_.symbols) call.args.emplace_back(arith::Expr(symbol));
    tir::Stmt body = b_.invoke(std::move(call));
    for (size_t i = scratch_.size(); i-- > 0;) body = b_.view(scratch_[i], arena, offsets_[i], body);
    made.body = body;
    tir::collect_symbols(made);
    return module_.add_prim_func(std::move(made))->name;
  }

  relax::Module& module_;
  tir::Builder b_;
  const tir::PrimFunc& function_;
  tir::PrimFunc own_;  ///< a copy, whose variables the functions made here share
  std::vector<tir::BufferRef> scratch_;
  std::vector<arith::Expr> offsets_;
  arith::Expr bytes_;
};

}  // namespace

interface::PublicPrimFunc public_prim_func(relax::Module& module, const tir::PrimFunc& function) {
  if (function.memory.scratch == 0) return {function.name};
  return ScratchEntry(module, function).run();
}

}  // namespace relaxc::lower
