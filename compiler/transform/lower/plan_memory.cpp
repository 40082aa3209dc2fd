// plan_memory.cpp: every allocation of a host function becomes a place in the caller's arena.
//
// Host functions are planned callees first: a call then allocates exactly the callee's frame, whose size is known as an
// expression of the callee's symbols, and the frame shares memory with all that is not needed during the call. The
// high-water mark of an entry becomes the body of its `arena` function.
#include <algorithm>
#include <map>
#include <sstream>

#include "compiler/plan/frame.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using tir::BufferRef;

class MemoryPlan {
 public:
  MemoryPlan(relax::Module& module, PassContext& context)
      : module_(module), context_(context), build_(module.context()) {}

  Status run() {
    Diagnostics& diag = context_.diag;
    // What gives a recursive function its frame needs none of it itself, so callers can be planned before the body is.
    for (tir::PrimFunc* function : module_.prim_funcs())
      if (function->attrs.count("frame_of") != 0) RELAXC_DO(plan(*function));
    for (tir::PrimFunc* function : module_.prim_funcs())  // in the order of lowering: callees first
      if (function->attrs.count("arena") != 0 && function->attrs.count("frame_of") == 0) RELAXC_DO(plan(*function));
    for (tir::PrimFunc* function : module_.prim_funcs())
      if (auto body = function->attrs.find("frame_of"); body != function->attrs.end())
        size_claimed_frame(*function, body->second);
    for (interface::Entry& entry : context_.object->entries) finish(entry);
    return Done{};
  }

 private:
  static size_t arena_index(const tir::PrimFunc& host) { return std::stoul(host.attrs.at("arena")); }

  Status plan(tir::PrimFunc& host) {
    Diagnostics& diag = context_.diag;
    arith::Facts facts = facts_of(host);
    tir::Stmt body = size_frames(host, facts);
    if (!body) return diag.failed();
    plan::Calls calls;
    calls.in_place = [&](const tir::Invoke& invoke) { return in_place_arguments(invoke); };
    calls.alignment = [&](const tir::Invoke& invoke, size_t argument) { return alignment_of(invoke, argument); };
    RELAXC_TRY(plan::Frame frame, plan::plan_frame(module_.context(), body, facts, host.location, diag, calls,
                                                   outputs_to_lend(host, facts)));
    for (const std::string& callee : frame.in_place) module_.find_prim_func(callee)->noalias = false;
    BufferRef old = host.params[arena_index(host)].buffer;
    frame.bytes = arith::simplify(frame.bytes);  // else it would grow with the depth of calls
    BufferRef arena = build_.buffer(old->name, old->dtype, {frame.bytes}, old->scope, old->alignment);
    host.params[arena_index(host)].buffer = arena;
    host.body = with_known_alignment(plan::place_in_arena(module_.context(), body, frame, old, arena), facts);
    sizes_[host.name] = frame.bytes;
    return Done{};
  }

  /// Where no line of cache begins for sure, buffers are no more aligned than their elements.
  tir::Stmt with_known_alignment(tir::Stmt body, const arith::Facts& facts) {
    std::map<BufferRef, BufferRef> natural;
    tir::for_each_stmt(body, [&](tir::Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view == nullptr || view->base == nullptr || view->buffer->alignment == 0) return;
      uint32_t wanted = view->buffer->alignment, given = view->base->alignment;
      bool holds = given != 0 && given % wanted == 0 && arith::divisor(view->byte_offset, facts) % wanted == 0;
      if (holds || natural.count(view->buffer) != 0) return;
      tir::Buffer copy = *view->buffer;  // with its id: it takes the place of the other everywhere
      copy.alignment = 0;
      natural[view->buffer] = module_.context().arena().make<tir::Buffer>(std::move(copy));
    });
    if (natural.empty()) return body;
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](BufferRef buffer) { return natural.count(buffer) != 0 ? natural.at(buffer) : buffer; };
    return tir::rewrite(module_.context(), body, rewriter);
  }

  /// As mark_in_place says of the callee.
  std::vector<std::pair<size_t, size_t>> in_place_arguments(const tir::Invoke& invoke) const {
    std::vector<std::pair<size_t, size_t>> pairs;
    const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
    if (callee == nullptr || callee->attrs.count("in_place") == 0) return pairs;
    size_t output = 0;
    for (size_t i = 0; i < callee->params.size(); ++i)
      if (callee->params[i].buffer != nullptr) output = i;
    std::istringstream inputs(callee->attrs.at("in_place"));
    for (size_t input = 0; inputs >> input;) pairs.emplace_back(input, output);
    return pairs;
  }

  /// What a callee of ours takes for granted. Whoever else is called gets the alignment of the arena.
  int64_t alignment_of(const tir::Invoke& invoke, size_t argument) const {
    const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
    if (callee == nullptr || argument >= callee->params.size()) return plan::kAlignment;
    BufferRef buffer = callee->params[argument].buffer;
    return buffer == nullptr || buffer->alignment == 0 ? 1 : buffer->alignment;
  }

  /// Outputs of an entry whose memory is nobody else's, and of a size that the symbols tell. Others see their memory
  /// only after the call; a state's may hold what is still to be read.
  std::vector<BufferRef> outputs_to_lend(const tir::PrimFunc& host, const arith::Facts& facts) const {
    const interface::Entry* entry = entry_of(host);
    std::vector<BufferRef> lenders, buffers;
    if (entry == nullptr) return lenders;
    for (const tir::Param& param : host.params)
      if (param.buffer != nullptr) buffers.push_back(param.buffer);
    for (size_t i = 0; i < entry->outputs.size(); ++i) {
      const interface::Tensor& output = entry->outputs[i];
      BufferRef buffer = buffers.at(entry->inputs.size() + i);
      bool known = !output.data_dependent && output.pair < 0;
      for (Expr dim : buffer->shape) {
        std::optional<Expr> bound = over_parameters(dim, host, facts);
        known = known && bound && *bound == dim;
      }
      if (known && output.kind == interface::Tensor::kTensor) lenders.push_back(buffer);
    }
    return lenders;
  }

  const interface::Entry* entry_of(const tir::PrimFunc& host) const {
    for (const interface::Entry& candidate : context_.object->entries)
      if (candidate.call == host.name) return &candidate;
    return nullptr;
  }

  /// What the entry declares of its symbols, and what its guards check before memory is asked for; those of private
  /// functions are dims.
  arith::Facts facts_of(const tir::PrimFunc& host) const {
    arith::Facts facts;
    const interface::Entry* entry = entry_of(host);
    size_t k = 0;
    for (const tir::Param& param : host.params) {
      if (param.buffer != nullptr) continue;
      if (entry == nullptr) {
        facts.bound(param.var, arith::Range::at_least(0));
        continue;
      }
      const interface::Symbol& symbol = entry->symbols.at(k++);
      facts.bound(param.var, {symbol.lower, symbol.upper});
      if (symbol.multiple_of > 1) facts.multiple(param.var, symbol.multiple_of);
    }
    if (entry != nullptr) assume_guards(host, *entry, facts);
    return facts;
  }

  void assume_guards(const tir::PrimFunc& host, const interface::Entry& entry, arith::Facts& facts) const {
    const tir::PrimFunc& checks = *module_.find_prim_func(entry.shapes);
    std::vector<arith::Var> ours;
    for (const tir::Param& param : host.params)
      if (param.buffer == nullptr) ours.push_back(param.var);
    arith::Substitution symbols;
    size_t k = 0;
    for (const tir::Param& param : checks.params)
      if (param.buffer == nullptr) symbols[param.var] = ours.at(k++);
    tir::for_each_stmt(checks.body, [&](tir::Stmt s) {
      if (const auto* guard = s.as<tir::Guard>()) facts.assume(arith::substitute(guard->condition, symbols));
    });
  }

  /// Frames of called host functions get the size that their callee needs with the call's symbols. Null: reported.
  tir::Stmt size_frames(const tir::PrimFunc& host, const arith::Facts& facts) {
    std::map<BufferRef, BufferRef> sized;
    arith::Substitution claimed;
    bool failed = false;
    tir::for_each_stmt(host.body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke == nullptr || sizes_.count(invoke->callee) == 0) return;
      const tir::PrimFunc& callee = *module_.find_prim_func(invoke->callee);
      arith::Substitution symbols;
      for (size_t i = 0; i < callee.params.size(); ++i)
        if (callee.params[i].buffer == nullptr) symbols[callee.params[i].var] = std::get<Expr>(invoke->args[i]);
      BufferRef frame = std::get<BufferRef>(invoke->args[arena_index(callee)]);
      if (frame->shape[0].as<arith::VarNode>() != nullptr) {  // claimed: its size is a number of the run
        claimed[frame->shape[0]] = arith::substitute(sizes_.at(invoke->callee), symbols);
        return;
      }
      std::optional<Expr> bytes = over_parameters(arith::substitute(sizes_.at(invoke->callee), symbols), host, facts);
      if (!bytes) {
        context_.diag.error(host.location, Kind::unbounded, "the memory of a call of '{}' has no bound before the run",
                            callee.name);
        failed = true;
        return;
      }
      sized[frame] = build_.buffer(frame->name, frame->dtype, {*bytes}, frame->scope, frame->alignment);
    });
    if (failed) return {};
    if (sized.empty() && claimed.empty()) return host.body;
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* let = s.as<tir::Let>();
      auto bytes = let == nullptr ? claimed.end() : claimed.find(let->var);
      return bytes == claimed.end() ? s : build_.let(let->var, bytes->second, let->body);
    };
    rewriter.on_buffer = [&](BufferRef buffer) { return sized.count(buffer) != 0 ? sized.at(buffer) : buffer; };
    return tir::rewrite(module_.context(), host.body, rewriter);
  }

  /// The frame that `host` claims for `body` gets the size that the body was planned with.
  void size_claimed_frame(tir::PrimFunc& host, const std::string& body) {
    const tir::PrimFunc& callee = *module_.find_prim_func(body);
    tir::Rewriter rewriter;
    arith::Substitution symbols;
    std::vector<arith::Var> theirs, ours;
    for (const tir::Param& param : callee.params)
      if (param.buffer == nullptr) theirs.push_back(param.var);
    for (const tir::Param& param : host.params)
      if (param.buffer == nullptr) ours.push_back(param.var);
    for (size_t i = 0; i < theirs.size(); ++i) symbols[theirs[i]] = ours.at(i);
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke == nullptr || invoke->callee != "rlx_heap_reserve") return s;
      tir::Invoke sized = *invoke;
      sized.args.at(3) = arith::substitute(sizes_.at(body), symbols);
      return build_.invoke(std::move(sized));
    };
    host.body = tir::rewrite(module_.context(), host.body, rewriter);
  }

  static std::optional<Expr> over_parameters(Expr bytes, const tir::PrimFunc& host, const arith::Facts& facts) {
    std::vector<arith::Var> inner = arith::free_vars(bytes);
    std::erase_if(inner, [&](arith::Var var) {
      return std::any_of(host.params.begin(), host.params.end(), [&](const tir::Param& p) { return p.var == var; });
    });
    return inner.empty() ? bytes : arith::upper_bound_without(bytes, inner, facts);
  }

  void finish(interface::Entry& entry) {
    const tir::PrimFunc& host = *module_.find_prim_func(entry.call);
    tir::PrimFunc& arena = *module_.find_prim_func(entry.arena);
    arith::Substitution symbols;
    std::vector<tir::Param> scalars = host.params;
    std::erase_if(scalars, [](const tir::Param& p) { return p.buffer != nullptr; });
    BufferRef bytes = nullptr;
    size_t k = 0;
    for (const tir::Param& param : arena.params) {
      if (param.buffer != nullptr)
        bytes = param.buffer;
      else
        symbols[scalars.at(k++).var] = param.var;
    }
    Expr size = arith::substitute(sizes_.at(entry.call), symbols);
    arena.body = build_.store(bytes, {build_.index(0)}, arith::cast(DType::i(64), size));
    arith::Range range = arith::bounds(sizes_.at(entry.call), facts_of(host));
    entry.arena_max = range.has_upper() ? static_cast<uint64_t>(range.upper) : UINT64_MAX;
    entry.arena_align = plan::kAlignment;
  }

  relax::Module& module_;
  PassContext& context_;
  tir::Builder build_;
  std::map<std::string, Expr> sizes_;  ///< of planned host functions
};

}  // namespace

Result<Changed> plan_memory(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "planning needs the object's entries");
  Diagnostics& diag = context.diag;
  RELAXC_DO(MemoryPlan(module, context).run());
  return Changed::kYes;
}

}  // namespace relaxc
