// plan_memory.cpp: places every allocation of a host function in the caller's arena.
//
// Host functions are planned callees first: a call then allocates exactly the callee's frame, whose size is an
// expression of the callee's symbols, and the frame shares memory with whatever is not needed during the call. The
// high-water mark of an entry becomes the body of its `arena` function.
//
// An entry that no other function calls takes pools (--pool) as further parameters. Callees take none: callers would
// have to pass them on, and a call's frame competes for the pools as a whole.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/traffic.h"
#include "compiler/arith/prover.h"
#include "compiler/arith/visit.h"
#include "compiler/arith/walks.h"
#include "compiler/plan/frame.h"
#include "compiler/support/findings.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/index_checks.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_facts.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using tir::BufferRef;

/// Returns whether `offset` has many nodes, as the maximum of several sums has, or a choice between such.
bool is_long(Expr offset) {
  constexpr size_t kLong = 24;
  size_t nodes = 0;
  arith::for_each_reached(offset, [&](Expr e) { return ++nodes > kLong ? std::vector<Expr>() : arith::operands(e); });
  return nodes > kLong;
}

/// Returns whether `wanted` divides `offset` for all values of its symbols. Mostly the form of `offset` decides: sums,
/// maxima and choices of multiples are multiples. The prover examines the whole offset, which may be the maximum of
/// fifty sums, and takes a tenth of a second for it. `holds`: the answers for parts of other offsets.
bool is_multiple(Expr offset, int64_t wanted, arith::Prover& prover, std::unordered_map<Expr, bool>& holds) {
  auto unknown = [&](Expr e) { return arith::operands_except(e, [&](Expr part) { return holds.count(part) != 0; }); };
  arith::for_each_node(offset, unknown, [&](Expr e) {
    if (!e.dtype().is_index()) return void(holds[e] = false);
    std::vector<Expr> of = arith::operands(e);
    switch (e->kind) {
      case arith::ExprKind::kAdd:
      case arith::ExprKind::kSub:
      case arith::ExprKind::kMin:
      case arith::ExprKind::kMax:
        holds[e] = holds.at(of[0]) && holds.at(of[1]);
        return;
      case arith::ExprKind::kSelect:
        holds[e] = holds.at(of[1]) && holds.at(of[2]);
        return;
      case arith::ExprKind::kMul:
        holds[e] = holds.at(of[0]) || holds.at(of[1]);
        return;
      default:
        holds[e] = prover.divisor(e) % wanted == 0;
    }
  });
  return holds.at(offset) || (!is_long(offset) && prover.divisor(offset) % wanted == 0);
}

class MemoryPlan {
 public:
  MemoryPlan(relax::Module& module, PassContext& context)
      : module_(module), context_(context), build_(module.context()) {}

  Status run() {
    // The function that claims a recursive function's frame has none itself, so callers are planned before the body.
    for (tir::PrimFunc* function : module_.prim_funcs())
      if (!function->host.frame_of.empty()) RELAXC_DO(plan(*function));
    for (tir::PrimFunc* function : module_.prim_funcs())  // in the order of lowering: callees first
      if (function->is_host() && function->host.frame_of.empty()) RELAXC_DO(plan(*function));
    for (tir::PrimFunc* function : module_.prim_funcs())
      if (!function->host.frame_of.empty()) size_claimed_frame(*function);
    for (interface::Entry& entry : context_.object->entries) finish(entry);
    for (tir::PrimFunc* function : module_.prim_funcs())
      if (function->is_host()) leave_out_checks(*function);
    name_overflows();
    return Done{};
  }

 private:
  static size_t arena_index(const tir::PrimFunc& host) { return host.host.arena.value(); }

  Status plan(tir::PrimFunc& host) {
    Diagnostics& diag = context_.diag;
    arith::Facts facts = lower::facts_of(module_, *context_.object, host);
    tir::Stmt body = size_frames(host, facts);
    if (!body) return diag.failed();
    plan::Pools pools = pools_for(host, body, facts);
    RELAXC_TRY(plan::Frame frame, plan::plan_frame(module_.context(), body, facts, host.location, diag,
                                                   lower::calls_of(module_), donor_outputs(host, facts), pools));
    if (!pools.buffers.empty()) take_pools(host, pools, frame);
    for (const std::string& name : frame.in_place) {
      tir::PrimFunc& callee = *module_.find_prim_func(name);
      callee.noalias &= callee.memory.copies;
    }
    for (const auto& [name, params] : frame.overlapping) add_overlapping(*module_.find_prim_func(name), params);
    BufferRef old = host.params[arena_index(host)].buffer;
    frame.bytes = arith::simplify(frame.bytes);  // else the expression would grow with the depth of calls
    BufferRef arena = build_.buffer(old->name, old->dtype, {frame.bytes}, old->scope, old->alignment);
    host.params[arena_index(host)].buffer = arena;
    body = without_own_copies(plan::place_in_arena(module_.context(), body, frame, old, arena));
    host.body = with_known_alignment(body, facts);
    host.body = with_named_offsets(host);
    sizes_[host.name] = frame.bytes;
    return Done{};
  }

  static void add_overlapping(tir::PrimFunc& callee, std::set<size_t> params) {
    std::vector<size_t>& known = callee.memory.overlapping;
    params.insert(known.begin(), known.end());
    known.assign(params.begin(), params.end());
  }

  /// Removes copies of a tensor to itself, which are left where the copy was given the tensor's memory.
  tir::Stmt without_own_copies(tir::Stmt body) {
    std::map<BufferRef, std::pair<BufferRef, Expr>> places;  // looked up only
    tir::for_each_stmt(body, [&](tir::Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view == nullptr || view->base == nullptr) return;
      auto below = places.find(view->base);
      places[view->buffer] = below == places.end()
                                 ? std::pair(view->base, view->byte_offset)
                                 : std::pair(below->second.first, below->second.second + view->byte_offset);
    });
    auto copies_itself = [&](const tir::Invoke& invoke) {
      const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
      if (callee == nullptr || !callee->memory.copies) return false;
      auto from = std::get<BufferRef>(invoke.args.at(0)), to = std::get<BufferRef>(invoke.args.at(1));
      auto its = places.find(from), theirs = places.find(to);
      return its != places.end() && theirs != places.end() && its->second == theirs->second;
    };
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      return invoke != nullptr && copies_itself(*invoke) ? build_.seq({}) : s;
    };
    return tir::rewrite(module_.context(), body, rewriter);
  }

  /// Returns the pools of an entry; none for other functions and for entries that functions call.
  plan::Pools pools_for(const tir::PrimFunc& host, tir::Stmt body, const arith::Facts& facts) {
    plan::Pools pools;
    if (context_.pools.empty() || lower::entry_of(*context_.object, host) == nullptr || is_called(host.name))
      return pools;
    for (const interface::Pool& pool : context_.pools) {
      pools.bytes.push_back(static_cast<int64_t>(pool.bytes));
      pools.buffers.push_back(pool_buffer(pool.name, pools.bytes.back()));
    }
    analysis::Numbers numbers(plan::kTypical);
    for (const tir::Param& param : host.params)
      if (param.buffer == nullptr) numbers.set(param.var, plan::typical(facts, param.var));
    pools.traffic = analysis::traffic(body, std::move(numbers),
                                      [&](const std::string& name) { return module_.find_prim_func(name); });
    return pools;
  }

  BufferRef pool_buffer(const std::string& name, int64_t bytes) {
    return build_.buffer(name, DType::u(8), {build_.index(bytes)}, tir::Scope::kGlobal, plan::kAlignment);
  }

  bool is_called(const std::string& name) const {
    bool called = false;
    for (const tir::PrimFunc* function : module_.prim_funcs())
      if (function->is_host())
        tir::for_each_stmt(function->body, [&](tir::Stmt s) {
          const auto* invoke = s.as<tir::Invoke>();
          called = called || (invoke != nullptr && invoke->callee == name);
        });
    return called;
  }

  /// Makes the pools parameters, each with the size that is used of it.
  void take_pools(tir::PrimFunc& host, const plan::Pools& pools, plan::Frame& frame) {
    interface::Entry& entry = *std::find_if(context_.object->entries.begin(), context_.object->entries.end(),
                                            [&](const interface::Entry& e) { return e.call == host.name; });
    std::map<BufferRef, BufferRef> sized;
    std::vector<tir::Param> params;
    for (size_t i = 0; i < pools.buffers.size(); ++i) {
      const std::string& name = context_.pools[i].name;
      sized[pools.buffers[i]] = pool_buffer(name, frame.pool_bytes[i]);
      params.push_back({sized[pools.buffers[i]], {}});
      entry.pools.push_back({name, static_cast<uint64_t>(frame.pool_bytes[i])});
      if (frame.pool_bytes[i] == 0)
        context_.diag.warning(host.location, Kind::usage,
                              "nothing of '{}' is in pool '{}': no buffer fits the {} bytes that are left", entry.name,
                              name, context_.pools[i].bytes);
    }
    for (plan::Placement& placement : frame.placements)
      if (auto pool = sized.find(placement.donor); pool != sized.end()) placement.donor = pool->second;
    auto behind_arena = host.params.begin() + static_cast<std::ptrdiff_t>(arena_index(host)) + 1;
    host.params.insert(behind_arena, params.begin(), params.end());
  }

  /// Reduces the alignment of a buffer to that of its elements if its address cannot be proved to be a larger multiple.
  tir::Stmt with_known_alignment(tir::Stmt body, const arith::Facts& facts) {
    std::map<BufferRef, BufferRef> natural;
    arith::Prover prover(module_.context(), facts);
    std::map<uint32_t, std::unordered_map<Expr, bool>> multiples;  // by the wanted alignment
    tir::for_each_stmt(body, [&](tir::Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view == nullptr || view->base == nullptr || view->buffer->alignment == 0) return;
      uint32_t wanted = view->buffer->alignment, given = view->base->alignment;
      bool holds = view->round_up % wanted == 0 && view->round_up != 0;
      holds = holds ||
              (given != 0 && given % wanted == 0 && is_multiple(view->byte_offset, wanted, prover, multiples[wanted]));
      if (holds || natural.count(view->buffer) != 0) return;
      tir::Buffer copy = *view->buffer;  // keeps its id, since it replaces the other everywhere
      copy.alignment = 0;
      natural[view->buffer] = module_.context().arena().make<tir::Buffer>(std::move(copy));
    });
    if (natural.empty()) return body;
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](BufferRef buffer) { return natural.count(buffer) != 0 ? natural.at(buffer) : buffer; };
    return tir::rewrite(module_.context(), body, rewriter);
  }

  /// Returns the body with long offsets computed once at its start instead of at every view.
  tir::Stmt with_named_offsets(const tir::PrimFunc& host) {
    std::vector<std::pair<Expr, arith::Var>> named;
    arith::Substitution names;
    std::unordered_set<Expr> params;
    for (const tir::Param& param : host.params) params.insert(param.var);
    std::unordered_map<Expr, bool> of_entry;  // offsets share nodes
    auto unknown = [&](Expr e) {
      return arith::operands_except(e, [&](Expr part) { return of_entry.count(part) != 0; });
    };
    auto is_of_entry = [&](Expr e) {
      if (e.as<arith::Load>() != nullptr) return false;
      if (e.as<arith::VarNode>() != nullptr) return params.count(e) != 0;
      const std::vector<Expr> parts = arith::operands(e);
      return std::all_of(parts.begin(), parts.end(), [&](Expr part) { return of_entry.at(part); });
    };
    tir::for_each_stmt(host.body, [&](tir::Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view == nullptr || view->base == nullptr || names.count(view->byte_offset) != 0) return;
      if (!is_long(view->byte_offset)) return;
      arith::for_each_node(view->byte_offset, unknown, [&](Expr node) { of_entry[node] = is_of_entry(node); });
      if (!of_entry.at(view->byte_offset)) return;
      named.emplace_back(view->byte_offset, module_.context().var("offset"));
      names[view->byte_offset] = named.back().second;
    });
    if (named.empty()) return host.body;
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* view = s.as<tir::View>();
      auto name = view == nullptr || view->base == nullptr ? names.end() : names.find(view->byte_offset);
      return name == names.end() ? s : build_.view(view->buffer, view->base, name->second, view->body, view->round_up);
    };
    tir::Stmt body = tir::rewrite(module_.context(), host.body, rewriter);
    for (auto offset = named.rbegin(); offset != named.rend(); ++offset)
      body = build_.let(offset->second, offset->first, body);
    return body;
  }

  /// Returns the outputs of an entry whose memory may hold other buffers before they are written: it is no state's,
  /// which may still be read, and entry symbols give its size. Callers see it only after the call.
  std::vector<BufferRef> donor_outputs(const tir::PrimFunc& host, const arith::Facts& facts) const {
    const interface::Entry* entry = lower::entry_of(*context_.object, host);
    std::vector<BufferRef> donors, buffers;
    if (entry == nullptr) return donors;
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
      if (known && output.kind == interface::Tensor::kTensor) donors.push_back(buffer);
    }
    return donors;
  }

  /// Returns the body with the frames of called host functions sized for the calls' symbols; null: reported.
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
      if (frame->shape[0].as<arith::VarNode>() != nullptr) {  // claimed at run time: a Let gives its size
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

  /// Sets the size of the frame that `host` claims to the planned size of the function that runs in it.
  void size_claimed_frame(tir::PrimFunc& host) {
    const tir::PrimFunc& callee = *module_.find_prim_func(host.host.frame_of);
    arith::Substitution symbols;
    std::vector<arith::Var> theirs, ours;
    for (const tir::Param& param : callee.params)
      if (param.buffer == nullptr) theirs.push_back(param.var);
    for (const tir::Param& param : host.params)
      if (param.buffer == nullptr) ours.push_back(param.var);
    for (size_t i = 0; i < theirs.size(); ++i) symbols[theirs[i]] = ours.at(i);
    Expr bytes;
    tir::for_each_stmt(host.body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && invoke->callee == callee.name)
        bytes = std::get<BufferRef>(invoke->args[arena_index(callee)])->shape[0];
    });
    RELAXC_CHECK(bytes, "no call of '" + callee.name + "' in what claims its frame");
    Expr planned = arith::substitute(sizes_.at(callee.name), symbols);
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* let = s.as<tir::Let>();
      return let != nullptr && let->var == bytes ? build_.let(let->var, planned, let->body) : s;
    };
    host.body = tir::rewrite(module_.context(), host.body, rewriter);
  }

  /// Records the ranges that an entry's guards give its symbols, and removes the overflow checks of functions in which
  /// these ranges exclude an overflow.
  void leave_out_checks(tir::PrimFunc& host) {
    const interface::Entry* entry = lower::entry_of(*context_.object, host);
    if (entry != nullptr) {
      std::vector<arith::Range> declared;
      for (const interface::Symbol& symbol : entry->symbols) declared.push_back({symbol.lower, symbol.upper});
      leave_out_checks(*module_.find_prim_func(entry->shapes), declared);
      leave_out_checks(*module_.find_prim_func(entry->arena), declared);
      if (!entry->values.empty()) leave_out_checks(*module_.find_prim_func(entry->values), {});
    }
    leave_out_checks(host, entry != nullptr && !is_called(host.name) ? admitted(host) : std::vector<arith::Range>());
  }
  static void leave_out_checks(tir::PrimFunc& function, const std::vector<arith::Range>& ranges) {
    if (!ranges.empty()) function.checks.ranges = ranges;
    if (tir::IndexRanges(function).all_fit()) function.checks.overflow_code = 0;
  }

  /// Adds a node that reports overflow, with the same number in all entries, if a function may still overflow.
  void name_overflows() {
    size_t node = 0;
    for (const interface::Entry& entry : context_.object->entries) node = std::max(node, entry.nodes.size());
    bool any = false;
    for (tir::PrimFunc* function : module_.prim_funcs()) {
      if (function->checks.overflow_code == 0) continue;
      function->checks.error_node = static_cast<int32_t>(node);
      any = true;
    }
    if (!any) return;
    for (interface::Entry& entry : context_.object->entries) {
      entry.nodes.resize(node);
      entry.nodes.push_back("function '" + entry.name + "': " + sentence({Finding::kOverflow}));
    }
  }

  /// Returns the ranges of an entry's symbols once its guards hold and the size of its arena fits.
  std::vector<arith::Range> admitted(const tir::PrimFunc& host) const {
    arith::Facts facts = lower::facts_of(module_, *context_.object, host);
    const Expr size = sizes_.at(host.name);
    std::unordered_map<Expr, arith::Range> ranges;
    for (const arith::Var var : arith::free_vars(size)) ranges[var] = facts.range_of(var);
    std::vector<arith::Range> list;
    for (const tir::Param& param : host.params) {
      if (param.buffer != nullptr) continue;
      arith::Range range = facts.range_of(param.var);
      if (const auto found = ranges.find(param.var); found != ranges.end())
        range.upper = found->second.upper = tir::most_that_fits(size, param.var, ranges);
      list.push_back(range);
    }
    return list;
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
    arith::Facts facts = lower::facts_of(module_, *context_.object, host, lower::SizeGuards::kLeftOut);
    arith::Range range = arith::bounds(sizes_.at(entry.call), facts);
    entry.arena_max = range.has_upper() ? static_cast<uint64_t>(range.upper) : UINT64_MAX;
    entry.arena_align = plan::kAlignment;
  }

  relax::Module& module_;
  PassContext& context_;
  tir::Builder build_;
  std::map<std::string, Expr> sizes_;  ///< frame sizes in bytes of planned host functions
};

}  // namespace

Result<Changed> plan_memory(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "planning needs the object's entries");
  RELAXC_DO(MemoryPlan(module, context).run());
  return Changed::kYes;
}

}  // namespace relaxc
