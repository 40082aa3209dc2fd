// evaluator.cpp: estimates a prim func's work and selects the interpreter or the JIT.
#include "compiler/api/evaluator.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

/// The number of statements that the interpreter runs in about the time that LLVM needs to compile a kernel.
constexpr double kMostInterpreted = 4e6;

/// Counts the statements of a run as far as scalars determine it; an unknown extent counts as `kMostInterpreted`.
class Work {
 public:
  Work(const tir::PrimFunc& function, std::span<const int64_t> scalars) {
    size_t at = 0;
    for (const tir::Param& param : function.params)
      if (param.buffer == nullptr && at < scalars.size()) known_[param.var] = scalars[at++];
    for (arith::Var symbol : function.symbols)
      if (at < scalars.size()) known_[symbol] = scalars[at++];
  }

  double of(tir::Stmt s) {
    if (!s) return 0;
    if (const auto* loop = s.as<tir::For>()) {
      auto trips = arith::evaluate(loop->extent, [&](arith::Var var) -> int64_t {
        auto found = known_.find(var);
        unknown_ |= found == known_.end();
        return found == known_.end() ? 1 : found->second;
      });
      double times = trips && !std::exchange(unknown_, false) ? static_cast<double>(*trips) : kMostInterpreted;
      return times * of(loop->body);
    }
    bool opaque = s.as<tir::Invoke>() != nullptr || s.as<tir::While>() != nullptr;
    double sum = opaque ? kMostInterpreted : 1;
    for (tir::Stmt child : tir::children(s)) sum += of(child);
    return sum;
  }

 private:
  std::unordered_map<arith::Expr, int64_t> known_;  // never iterated
  bool unknown_ = false;
};

/// Whether a function, or one that it calls, asks the runtime for memory or has objects of external functions. Compiled
/// code needs a run-time context for that, which the compiler does not have; the interpreter implements both itself.
/// Functions may call each other in cycles through the runtime, so each one is visited once.
class RuntimeUse {
 public:
  explicit RuntimeUse(const tir::FindFunction& find) : find_(find) {}

  bool in(const tir::PrimFunc& function) {
    if (!seen_.insert(&function).second) return false;
    bool found = false;
    tir::for_each_stmt(function.body, [&](tir::Stmt s) {
      if (const auto* invoke = s.as<tir::Invoke>(); invoke != nullptr && !found) found = in(*invoke);
    });
    return found;
  }

 private:
  bool in(const tir::Invoke& invoke) {
    if (invoke.runtime) return true;
    for (const tir::Argument& argument : invoke.args)
      if (const auto* buffer = std::get_if<tir::BufferRef>(&argument))
        if ((*buffer)->dtype == DType::handle()) return true;
    const tir::PrimFunc* callee = invoke.external || !find_ ? nullptr : find_(invoke.callee);
    return callee != nullptr && in(*callee);
  }

  const tir::FindFunction& find_;
  std::unordered_set<const tir::PrimFunc*> seen_;
};

class Mixed : public tir::Evaluator {
 public:
  Mixed(tir::FindFunction find, tir::CallExternal external)
      : find_(std::move(find)), external_(std::move(external)), interpreter_(tir::make_interpreter(find_, external_)) {}

  tir::RunStatus run(const tir::PrimFunc& function, std::span<void* const> buffers,
                     std::span<const int64_t> scalars) override {
    if (Work(function, scalars).of(function.body) <= kMostInterpreted || RuntimeUse(find_).in(function) || !compiles())
      return interpreter_->run(function, buffers, scalars);
    return jit_->run(function, buffers, scalars);
  }

 private:
  /// Makes the JIT for this machine when it is needed first; false if there is none.
  bool compiles() {
    if (jit_ != nullptr) return true;
    Diagnostics unheard;
    Result<Target> host = codegen_llvm::resolve_target("", "native", "", unheard);
    if (host) jit_ = codegen_llvm::make_jit(*host, find_, external_);
    return jit_ != nullptr;
  }

  tir::FindFunction find_;
  tir::CallExternal external_;
  std::unique_ptr<tir::Evaluator> interpreter_, jit_;
};

}  // namespace

std::unique_ptr<tir::Evaluator> make_evaluator(tir::FindFunction find, tir::CallExternal external) {
  return std::make_unique<Mixed>(std::move(find), std::move(external));
}

}  // namespace relaxc
