// hoist_scratch.cpp: the temporaries of kernels become parameters, so that one plan places all memory.
//
// A kernel that keeps an intermediate in memory allocates it in its body. No object allocates, and a kernel does not
// know the arena; so its caller reserves the room and passes it, like a result that nobody reads. A few bytes of known
// size stay in the kernel as local memory (registers, or the stack).
//
// What is allocated inside a parallel loop belongs to one iteration: the room is reserved once for each, so that no two
// tasks meet, whatever their number.
//
// A prim func that the outside may call has plain parameters and nobody to reserve for it: its temporaries must be of
// constant size, and stay local.
#include <algorithm>
#include <map>

#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

constexpr int64_t kLocalBytes = 256;  ///< a few cache lines: what a kernel may put on the stack unasked
constexpr int64_t kAlignment = 64;
constexpr int64_t kPublicBytes = 1 << 16;  ///< what a public prim func may

class Hoist {
 public:
  Hoist(tir::PrimFunc& kernel, PassContext& context, arith::Context& scalars)
      : kernel_(kernel), context_(context), scalars_(scalars) {}

  Result<Changed> run() {
    Diagnostics& diag = context_.diag;
    find_parallel(kernel_.body);
    tir::for_each_stmt(kernel_.body, [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc != nullptr && alloc->buffer->scope == tir::Scope::kGlobal) choose(*alloc->buffer, alloc->buffer);
    });
    if (failed_) return diag.failed();
    if (local_.empty() && hoisted_.empty()) return Changed::kNo;
    rewrite();
    add_parameters();
    return Changed::kYes;
  }

 private:
  void choose(const tir::Buffer& buffer, BufferRef ref) {
    const int64_t* bytes = tir::byte_size(scalars_, buffer).constant();
    int64_t most = kernel_.is_private ? kLocalBytes : kPublicBytes;
    if (bytes != nullptr && *bytes <= most) {
      tir::Buffer local = buffer;
      local.scope = tir::Scope::kLocal;
      if (*bytes == 0)  // by one dim, whatever the others are
        for (Expr& dim : local.shape)
          if (dim.constant() == nullptr) dim = scalars_.index(0);
      local_[ref] = scalars_.arena().make<tir::Buffer>(std::move(local));
      return;
    }
    if (!kernel_.is_private) {
      context_.diag.error(
          kernel_.location, Kind::unbounded,
          "public prim func '{}' needs memory for '{}', which nobody gives it; make it private and call "
          "it from a function",
          kernel_.name, buffer.name);
      failed_ = true;
      return;
    }
    Expr bytes_of_one = arith::ceildiv(tir::byte_size(scalars_, buffer), kAlignment) * kAlignment;
    Expr all = bytes_of_one;
    auto task = tasks_.find(ref);
    if (task != tasks_.end()) all = all * task->second->extent;
    for (arith::Var var : arith::free_vars(all))
      RELAXC_CHECK(is_given(var), "scratch '" + buffer.name + "' of " + kernel_.name + " depends on a loop");
    BufferRef parameter = ref;
    if (task != tasks_.end()) {
      tir::Builder build(scalars_);
      parameter = build.buffer(buffer.name + "_tasks", DType::u(8), {all}, tir::Scope::kGlobal, kAlignment);
      offsets_[ref] = (task->second->var - task->second->min) * bytes_of_one;
    }
    hoisted_.push_back({ref, parameter});
  }

  /// Which allocations stand in a parallel loop.
  void find_parallel(Stmt body) {
    tir::for_each_stmt(body, [&](Stmt s) {
      const auto* loop = s.as<tir::For>();
      if (loop == nullptr || loop->loop_kind != tir::LoopKind::kParallel) return;
      tir::for_each_stmt(loop->body, [&](Stmt inner) {
        if (const auto* alloc = inner.as<tir::Alloc>()) tasks_.emplace(alloc->buffer, loop);
      });
    });
  }

  bool is_given(arith::Var var) const {
    bool param = std::any_of(kernel_.params.begin(), kernel_.params.end(),
                             [&](const tir::Param& p) { return p.buffer == nullptr && p.var == var; });
    return param || std::find(kernel_.symbols.begin(), kernel_.symbols.end(), var) != kernel_.symbols.end();
  }

  void rewrite() {
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](BufferRef b) { return local_.count(b) != 0 ? local_.at(b) : b; };
    rewriter.on_stmt = [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc == nullptr) return s;
      for (const auto& [buffer, parameter] : hoisted_) {
        if (buffer != alloc->buffer) continue;
        if (parameter == buffer) return alloc->body;
        return tir::Builder(scalars_).view(buffer, parameter, offsets_.at(buffer), alloc->body);
      }
      return s;
    };
    kernel_.body = tir::rewrite(scalars_, kernel_.body, rewriter);
  }

  /// After the other buffers, before the scalars.
  void add_parameters() {
    if (hoisted_.empty()) return;
    auto after = std::find_if(kernel_.params.rbegin(), kernel_.params.rend(),
                              [](const tir::Param& p) { return p.buffer != nullptr; });
    std::vector<tir::Param> scratch;
    for (const auto& [buffer, parameter] : hoisted_) scratch.push_back({parameter, {}});
    kernel_.params.insert(after.base(), scratch.begin(), scratch.end());
    kernel_.attrs["scratch"] = std::to_string(hoisted_.size());
  }

  tir::PrimFunc& kernel_;
  PassContext& context_;
  arith::Context& scalars_;
  std::map<BufferRef, BufferRef> local_;                  // looked up only
  std::map<BufferRef, const tir::For*> tasks_;            // the parallel loop around an allocation; looked up only
  std::map<BufferRef, Expr> offsets_;                     // of an iteration's part; looked up only
  std::vector<std::pair<BufferRef, BufferRef>> hoisted_;  ///< the allocation, and the parameter made of it
  bool failed_ = false;
};

}  // namespace

Result<Changed> hoist_scratch(relax::Module& module, PassContext& context) {
  Diagnostics& diag = context.diag;
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    RELAXC_TRY(Changed one, Hoist(*kernel, context, module.context()).run());
    changed |= one;
  }
  return changed;
}

}  // namespace relaxc
