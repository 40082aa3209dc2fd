// limit_unrolling.cpp: keeps unrolled and vectorized loops that would be too much code as plain loops.
//
// The problem: unrolled loops in each other multiply. Six of 64 iterations, a program of 300 bytes, are 2^36 copies of
// their body, which no backend ends writing; and LLVM orders the instructions of a block in a time that grows with the
// square of their number. A vectorized loop of 1,024 lanes is 128 instructions a statement, and multiplies as well.
//
// The method: loops are counted from the inside out. One that would be more statements than a limit becomes a serial
// loop, which gives the same bits, and those inside of it stay what they are. A function with many such nests gets a
// lower limit. Schedules stay far below: their largest bodies are tiles in registers.
#include <algorithm>
#include <unordered_map>

#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using tir::Stmt;

class Unrolling {
 public:
  Unrolling(arith::Context& context, int64_t most) : context_(context), most_(most) {}

  Stmt limited(Stmt body) {
    tir::Rewriter rewriter;  // visits what is inside of a statement before it
    rewriter.on_stmt = [&](Stmt s) {
      const Stmt kept = as_loop(s);
      sizes_[kept.node()] = size_of(kept);
      return kept;
    };
    const Stmt made = tir::rewrite(context_, body, rewriter);
    statements_ = made ? sizes_.at(made.node()) : 0;
    return made;
  }

  /// How many statements the body is as code.
  int64_t statements() const { return statements_; }

 private:
  /// How often the code of the body is there: for each iteration of an unrolled loop, for each vector of lanes.
  static int64_t copies_of(const tir::For& loop) {
    constexpr int64_t kLanes = 8;  // of float32 in AVX2
    const int64_t* extent = loop.extent.constant();
    if (extent == nullptr || *extent < 1) return 1;
    if (loop.loop_kind == tir::LoopKind::kUnrolled) return *extent;
    return loop.loop_kind == tir::LoopKind::kVectorized ? (*extent - 1) / kLanes + 1 : 1;
  }

  Stmt as_loop(Stmt s) const {
    const auto* loop = s.as<tir::For>();
    if (loop == nullptr || copies_of(*loop) == 1 || copies_of(*loop) <= most_ / inside(s)) return s;
    tir::For kept = *loop;
    kept.loop_kind = tir::LoopKind::kSerial;
    return Stmt(context_.arena().make<tir::For>(std::move(kept)));
  }

  int64_t size_of(Stmt s) const {
    const auto* loop = s.as<tir::For>();
    return loop != nullptr ? copies_of(*loop) * inside(s) : inside(s);
  }

  /// Statements in one copy of the body of `s`; at least 1.
  int64_t inside(Stmt s) const {
    int64_t count = 0;
    for (Stmt child : tir::children(s)) count += sizes_.at(child.node());
    return std::max<int64_t>(count, 1);
  }

  arith::Context& context_;
  int64_t most_;
  int64_t statements_ = 0;
  std::unordered_map<const tir::StmtNode*, int64_t> sizes_;
};

}  // namespace

Result<Changed> limit_unrolling(relax::Module& module, PassContext&) {
  constexpr int64_t kMostOfFunction = 16384;
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    if (!kernel->body || kernel->is_host()) continue;
    for (int64_t most : {int64_t{2048}, int64_t{64}, int64_t{1}}) {
      Unrolling unrolling(module.context(), most);
      const Stmt body = unrolling.limited(kernel->body);
      if (!(body == kernel->body)) changed = Changed::kYes;
      kernel->body = body;
      if (unrolling.statements() <= kMostOfFunction) break;
    }
  }
  return changed;
}

}  // namespace relaxc
