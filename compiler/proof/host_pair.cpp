// host_pair.cpp: compares the bodies of a host function before and after memory planning.
//
// Planning replaces allocations by views of memory that the function gets; everything else stays, in its order. So the
// unplanned body tells which tensors there are, which buffers are parts of which, and how they are used, and the
// planned body tells where each buffer lies. Both are flattened to lists, in which an Alloc, a View or a Let is valid
// to the end of its suite. The other statements must agree one by one in what they call and which buffers they name.
// Two differences are allowed: offsets get names at the start, and a copy between buffers at one address is omitted.
//
// Rejected: the planned body alone, which does not tell whether two buffers at one address are meant to be one tensor.
#include "compiler/proof/host_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/arith/visit.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {
namespace {

using tir::BufferRef;
using tir::Stmt;

/// Returns the statements of a suite in order, with each Alloc, View and Let before its body.
std::vector<Stmt> flat(Stmt s) {
  std::vector<Stmt> list;
  while (s) {
    if (const auto* seq = s.as<tir::Seq>()) {
      for (size_t i = 0; i + 1 < seq->body.size(); ++i)
        for (Stmt inner : flat(seq->body[i])) list.push_back(inner);
      s = seq->body.empty() ? Stmt() : seq->body.back();
      continue;
    }
    list.push_back(s);
    if (const auto* alloc = s.as<tir::Alloc>())
      s = alloc->body;
    else if (const auto* view = s.as<tir::View>())
      s = view->body;
    else if (const auto* let = s.as<tir::Let>())
      s = let->body;
    else
      break;
  }
  return list;
}

/// Returns the buffers that the statement's own expressions read, by id.
std::map<uint32_t, BufferRef> loaded(Stmt s) {
  std::map<uint32_t, BufferRef> buffers;
  for (Expr e : tir::expressions(s))
    arith::for_each_node(e, [&](Expr node) {
      if (const auto* load = node.as<arith::Load>()) buffers[load->buffer->id] = load->buffer;
    });
  return buffers;
}

bool same_keys(const std::map<uint32_t, BufferRef>& a, const std::map<uint32_t, BufferRef>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.first == y.first; });
}

class Walk {
 public:
  Walk(const tir::PrimFunc& planned, const Parameters& parameters, Inequalities& known, const tir::FindFunction& find,
       Claims& claims)
      : planned_(planned), parameters_(parameters), known_(known), find_(find), claims_(claims) {}

  HostPair run(Stmt unplanned, const arith::Facts& facts) {
    Step entry, exit;
    for (const tir::Param& param : planned_.params) {
      if (param.buffer == nullptr) continue;
      places_[param.buffer->id] = {param.buffer, zero(), 0, zero()};
      if (parameters_.scratch.count(param.buffer->id) != 0) continue;
      const size_t tensor = add_tensor(param.buffer, true);
      if (parameters_.idle.count(param.buffer->id) == 0) entry.touches.push_back(tensor);
      exit.touches.push_back(tensor);
    }
    add(std::move(entry));
    suite(unplanned, planned_.body, facts);
    add(std::move(exit));
    for (const auto& [from, to] : left_out_) claim_one_place(from, to);
    return std::move(pair_);
  }

 private:
  struct Part {
    size_t tensor = 0;
    Expr offset;  ///< in bytes, from the tensor's start
  };
  struct Loop {
    size_t head = 0;
    std::vector<size_t> leaves;  ///< steps that break out of the loop
  };

  Expr zero() const { return context().index(0); }
  Context& context() const { return known_.context(); }
  Expr resolved(Expr e) const { return arith::substitute(e, values_); }
  Expr bytes_of(BufferRef buffer) const { return resolved(tir::byte_size(context(), *buffer)); }

  size_t add_tensor(BufferRef buffer, bool parameter) {
    parts_[buffer->id] = {pair_.tensors.size(), zero()};
    pair_.tensors.push_back({buffer, parameter, {}, bytes_of(buffer)});
    return pair_.tensors.size() - 1;
  }

  /// Adds a step after all steps at which the walk has ended so far, and returns its number.
  size_t add(Step step) {
    const size_t id = pair_.steps.size();
    pair_.steps.push_back(std::move(step));
    for (size_t end : ends_) pair_.steps[end].next.push_back(id);
    ends_ = {id};
    return id;
  }

  void differs(Stmt s) {
    if (!agrees_) return;
    agrees_ = false;
    const auto* invoke = s.as<tir::Invoke>();
    claims_.add(Verdict::kUndecided,
                fmt::format("planning changed places alone: the bodies differ at {}",
                            invoke != nullptr ? "a call of '" + invoke->callee + "'" : "a statement"));
  }

  void suite(Stmt unplanned, Stmt planned, arith::Facts facts) {
    const std::vector<Stmt> was = flat(unplanned), is = flat(planned);
    size_t at = 0;
    for (Stmt s : was) {
      if (!agrees_) return;
      if (declare(s)) continue;
      while (at < is.size() && place(is[at], s)) ++at;
      if (at < is.size() && alike(s, is[at]))
        statement(s, is[at++], facts);
      else if (!leave_out(s))
        return differs(s);
    }
    while (at < is.size() && place(is[at], {})) ++at;
    if (at != is.size()) differs(is[at]);
  }

  /// Returns whether `s` defines a buffer of the unplanned body; records what the buffer is.
  bool declare(Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>()) {
      if (alloc->buffer->scope != tir::Scope::kGlobal) return true;
      Step step;
      step.begins.push_back(add_tensor(alloc->buffer, false));
      add(std::move(step));
      return true;
    }
    const auto* view = s.as<tir::View>();
    if (view == nullptr) return false;
    if (auto base = view->base == nullptr ? parts_.end() : parts_.find(view->base->id); base != parts_.end())
      parts_[view->buffer->id] = {base->second.tensor, base->second.offset + resolved(view->byte_offset)};
    return true;
  }

  /// Returns whether `s`, of the planned body, only tells where something lies: a View, or a name for an offset.
  /// `beside` is the next statement of the unplanned body.
  bool place(Stmt s, Stmt beside) {
    if (const auto* view = s.as<tir::View>()) {
      place_view(*view);
      return true;
    }
    if (const auto* alloc = s.as<tir::Alloc>()) return alloc->buffer->scope != tir::Scope::kGlobal;
    const auto* let = s.as<tir::Let>();
    const auto* other = beside.as<tir::Let>();
    if (let == nullptr || (other != nullptr && other->var == let->var) || has_loads(let->value)) return false;
    values_[let->var] = resolved(let->value);
    return true;
  }

  void place_view(const tir::View& view) {
    auto base = view.base == nullptr ? places_.end() : places_.find(view.base->id);
    if (base == places_.end()) return;  // memory from the heap, which is not planned
    Address at = base->second;
    const Expr offset = resolved(view.byte_offset);
    (at.round_up != 0 ? at.beyond : at.offset) = (at.round_up != 0 ? at.beyond : at.offset) + offset;
    if (view.round_up != 0 && at.round_up != 0)
      claims_.add(Verdict::kUndecided, fmt::format("'{}' has one place: it is rounded up twice", view.buffer->name));
    if (view.round_up != 0) at.round_up = view.round_up;
    auto [known, fresh] = places_.emplace(view.buffer->id, at);
    // An offset in a loop or a branch may have other variables than before it: use() must compare them again.
    if (!fresh && !(known->second.offset == at.offset && known->second.beyond == at.beyond))
      checked_.erase(view.buffer->id);
    known->second = at;
  }

  /// Returns whether both statements do the same with the same buffers.
  bool alike(Stmt a, Stmt b) const {
    if (a->kind != b->kind || !same_keys(loaded(a), loaded(b))) return false;
    if (const auto* let = a.as<tir::Let>()) return let->var == b.as<tir::Let>()->var;
    if (const auto* store = a.as<tir::Store>()) return store->buffer->id == b.as<tir::Store>()->buffer->id;
    if (const auto* loop = a.as<tir::For>()) return loop->var == b.as<tir::For>()->var;
    const auto* invoke = a.as<tir::Invoke>();
    return invoke == nullptr || alike(*invoke, *b.as<tir::Invoke>());
  }
  /// The buffer for a callee's frame may differ: planning replaces it once its size is known.
  bool alike(const tir::Invoke& a, const tir::Invoke& b) const {
    if (a.callee != b.callee || a.args.size() != b.args.size()) return false;
    const tir::PrimFunc* callee = find_(a.callee);
    for (size_t i = 0; i < a.args.size(); ++i) {
      const auto *x = std::get_if<BufferRef>(&a.args[i]), *y = std::get_if<BufferRef>(&b.args[i]);
      if ((x == nullptr) != (y == nullptr)) return false;
      const bool is_frame = callee != nullptr && callee->host.arena == i;
      if (x != nullptr && (*x)->id != (*y)->id && !is_frame) return false;
    }
    return true;
  }

  void statement(Stmt was, Stmt is, arith::Facts& facts) {
    Step step;
    for (const auto& [_, buffer] : loaded(was)) use(buffer, buffer, step);
    if (const auto* store = was.as<tir::Store>()) use(store->buffer, store->buffer, step);
    if (const auto* invoke = was.as<tir::Invoke>()) return call(*invoke, *is.as<tir::Invoke>(), facts, std::move(step));
    if (const auto* let = was.as<tir::Let>()) {
      if (!has_loads(is.as<tir::Let>()->value)) values_[let->var] = resolved(is.as<tir::Let>()->value);
      add(std::move(step));
    } else if (const auto* branch = was.as<tir::If>()) {
      add(std::move(step));
      branches(*branch, *is.as<tir::If>(), facts);
    } else if (was.as<tir::For>() != nullptr || was.as<tir::While>() != nullptr) {
      loop(was, is, facts, std::move(step));
    } else if (const auto* guard = was.as<tir::Guard>()) {
      add(std::move(step));
      assume(guard->condition, facts);
    } else if (was.as<tir::Break>() != nullptr || was.as<tir::Continue>() != nullptr) {
      jump(was.as<tir::Break>() != nullptr, add(std::move(step)));
    } else {
      add(std::move(step));
    }
  }

  void assume(Expr condition, arith::Facts& facts) const {
    if (condition = resolved(condition); !has_loads(condition)) facts.assume(condition);
  }

  void branches(const tir::If& was, const tir::If& is, const arith::Facts& facts) {
    const std::vector<size_t> begin = ends_;
    arith::Facts then_facts = facts, else_facts = facts;
    assume(was.condition, then_facts);
    assume(arith::logical_not(was.condition), else_facts);
    suite(was.then_body, is.then_body, std::move(then_facts));
    std::vector<size_t> ends = std::exchange(ends_, begin);
    suite(was.else_body, is.else_body, std::move(else_facts));
    ends_.insert(ends_.end(), ends.begin(), ends.end());
  }

  void loop(Stmt was, Stmt is, arith::Facts facts, Step step) {
    const auto* counted = was.as<tir::For>();
    // A For evaluates its bounds once, before the first iteration; a While evaluates its condition before each.
    if (counted != nullptr) add(std::exchange(step, {}));
    const size_t head = add(std::move(step));
    loops_.push_back({head, {}});
    if (counted != nullptr) {
      assume(arith::le(counted->min, counted->var), facts);
      assume(arith::lt(counted->var, counted->min + counted->extent), facts);
      suite(counted->body, is.as<tir::For>()->body, std::move(facts));
    } else {
      suite(was.as<tir::While>()->body, is.as<tir::While>()->body, std::move(facts));
    }
    for (size_t end : ends_) pair_.steps[end].next.push_back(head);
    ends_ = std::move(loops_.back().leaves);
    ends_.push_back(head);
    loops_.pop_back();
  }

  void jump(bool leaves, size_t step) {
    if (loops_.empty()) return;
    if (leaves)
      loops_.back().leaves.push_back(step);
    else
      pair_.steps[step].next.push_back(loops_.back().head);
    ends_.clear();
  }

  /// Records that `step` uses the tensor of which `was` is a part, and checks that it lies where `is` does.
  void use(BufferRef was, BufferRef is, Step& step) {
    auto part = parts_.find(was->id);
    if (part == parts_.end()) return;  // memory from the heap, which is not planned
    Tensor& tensor = pair_.tensors[part->second.tensor];
    if (std::find(step.touches.begin(), step.touches.end(), part->second.tensor) == step.touches.end())
      step.touches.push_back(part->second.tensor);
    if (is->id != was->id && tensor.buffer->id == was->id) tensor.bytes = bytes_of(is);
    if (!checked_.insert(is->id).second) return;
    auto found = places_.find(is->id);
    if (found == places_.end())
      return claims_.add(Verdict::kUndecided,
                         fmt::format("'{}' is in some memory: the planned function names none", was->name));
    Address begin = found->second;
    Expr& offset = begin.round_up != 0 ? begin.beyond : begin.offset;
    if (!part->second.offset.is_constant(0)) offset = arith::simplify(offset - part->second.offset);
    if (tensor.parameter && !tensor.place) tensor.place = Address{tensor.buffer, zero(), 0, zero()};
    if (!tensor.place) {
      tensor.place = begin;
      return;
    }
    claims_.add(same(*tensor.place, begin) ? Verdict::kProved : Verdict::kUndecided,
                fmt::format("'{}' is at the address of '{}': their offsets are not proved to be the same", was->name,
                            tensor.buffer->name));
  }

  bool same(const Address& a, const Address& b) {
    return a.memory == b.memory && a.round_up == b.round_up && known_.equal(a.offset, b.offset) &&
           known_.equal(a.beyond, b.beyond);
  }

  void call(const tir::Invoke& was, const tir::Invoke& is, const arith::Facts& facts, Step step) {
    for (size_t i = 0; i < was.args.size(); ++i)
      if (const auto* buffer = std::get_if<BufferRef>(&was.args[i]))
        use(*buffer, std::get<BufferRef>(is.args[i]), step);
    const tir::PrimFunc* callee = find_(was.callee);
    if (callee != nullptr) allow_in_place(was, is, *callee, step);
    if (callee != nullptr) allow_overlaps(was, is, *callee, step);
    add(std::move(step));
    if (callee == nullptr || !callee->is_host()) return;
    HostCall& made = pair_.calls.emplace_back(HostCall{&is, facts, {}, {}});
    for (size_t i = 0; i < callee->params.size(); ++i)
      if (callee->params[i].buffer == nullptr) made.scalars.push_back(resolved(std::get<Expr>(is.args.at(i))));
    made.frame = bytes_of(std::get<BufferRef>(is.args.at(*callee->host.arena)));
  }

  /// Finds operands that the callee may overwrite by its result: those that it only gets as parameters for which it
  /// allows this, and only if they start at the result's address.
  void allow_in_place(const tir::Invoke& was, const tir::Invoke& is, const tir::PrimFunc& callee, Step& step) {
    const std::vector<size_t>& allowed = callee.memory.in_place;
    const std::optional<size_t> result = callee.result();
    const Part* made = allowed.empty() || !result ? nullptr : part_of(was, *result);
    if (made == nullptr) return;
    std::map<size_t, bool> operands;  // whether every parameter that gets this tensor allows it
    for (size_t i = 0; i < was.args.size(); ++i) {
      const Part* part = i == *result ? nullptr : part_of(was, i);
      if (part == nullptr || part->tensor == made->tensor) continue;
      bool fits = std::find(allowed.begin(), allowed.end(), i) != allowed.end() && one_place(is, i, *result);
      auto [known, fresh] = operands.emplace(part->tensor, fits);
      known->second = known->second && fits;
    }
    for (auto [tensor, fits] : operands) {
      if (!fits) continue;
      step.in_place.emplace_back(tensor, made->tensor);
      if (!callee.noalias || callee.memory.copies) continue;
      claims_.add(Verdict::kRefuted, fmt::format("'{}' may overwrite '{}': it assumes that its buffers share no memory",
                                                 callee.name, pair_.tensors[tensor].buffer->name));
    }
  }

  /// Finds operands that the callee's result may overlap: those that it only gets as parameters for which it allows
  /// this, and only if they begin far enough from it.
  void allow_overlaps(const tir::Invoke& was, const tir::Invoke& is, const tir::PrimFunc& callee, Step& step) {
    const std::optional<size_t> result = callee.result();
    const Part* made = callee.memory.overlaps.empty() || !result ? nullptr : part_of(was, *result);
    if (made == nullptr) return;
    std::map<size_t, bool> operands;  // whether every parameter that gets this tensor allows it
    for (size_t i = 0; i < was.args.size(); ++i) {
      const Part* part = i == *result ? nullptr : part_of(was, i);
      if (part == nullptr || part->tensor == made->tensor) continue;
      const bool fits = is_apart_enough(is, callee, i, *result);
      auto [known, fresh] = operands.emplace(part->tensor, fits);
      known->second = known->second && fits;
    }
    for (auto [tensor, fits] : operands)
      if (fits) step.in_place.emplace_back(tensor, made->tensor);
  }

  /// Whether the result begins as many bytes before or after an operand as the callee says that it must, and the callee
  /// was compiled for buffers that share memory.
  bool is_apart_enough(const tir::Invoke& planned, const tir::PrimFunc& callee, size_t operand, size_t result) {
    const auto& all = callee.memory.overlaps;
    auto allowed = std::find_if(all.begin(), all.end(), [&](const tir::Overlap& one) { return one.input == operand; });
    if (allowed == all.end()) return false;
    const auto is_apart = [&](size_t param) { return callee.is_apart(callee.params[param].buffer); };
    auto x = places_.find(std::get<BufferRef>(planned.args.at(result))->id);
    auto y = places_.find(std::get<BufferRef>(planned.args.at(operand))->id);
    if (is_apart(operand) || is_apart(result) || x == places_.end() || y == places_.end()) return false;
    if (x->second.memory != y->second.memory || x->second.round_up != y->second.round_up) return false;
    const auto begin = [](const Address& at) { return at.round_up != 0 ? at.offset + at.beyond : at.offset; };
    std::string why;
    Expr low = begin(x->second), high = begin(y->second);
    if (allowed->behind) std::swap(low, high);
    return known_.any_of({{low + allowed->distance, high}}, why) == Verdict::kProved;
  }

  const Part* part_of(const tir::Invoke& invoke, size_t argument) const {
    const auto* buffer = std::get_if<BufferRef>(&invoke.args.at(argument));
    auto part = buffer == nullptr ? parts_.end() : parts_.find((*buffer)->id);
    return part == parts_.end() ? nullptr : &part->second;
  }

  bool one_place(const tir::Invoke& planned, size_t a, size_t b) {
    auto x = places_.find(std::get<BufferRef>(planned.args.at(a))->id);
    auto y = places_.find(std::get<BufferRef>(planned.args.at(b))->id);
    return x != places_.end() && y != places_.end() && same(x->second, y->second);
  }

  /// Returns whether `s` is a copy that planning may have omitted; if so, both operands must have one address.
  bool leave_out(Stmt s) {
    const auto* invoke = s.as<tir::Invoke>();
    const tir::PrimFunc* callee = invoke == nullptr ? nullptr : find_(invoke->callee);
    if (callee == nullptr || !callee->memory.copies) return false;
    const Part *from = part_of(*invoke, 0), *to = part_of(*invoke, 1);
    if (from == nullptr || to == nullptr) return false;
    left_out_.emplace_back(*from, *to);
    Step step;
    step.touches = {from->tensor, to->tensor};
    step.in_place.emplace_back(from->tensor, to->tensor);
    add(std::move(step));
    return true;
  }

  void claim_one_place(const Part& from, const Part& to) {
    auto at = [&](const Part& part) {
      const Tensor& tensor = pair_.tensors[part.tensor];
      std::optional<Address> place = tensor.place;
      if (tensor.parameter) place = Address{tensor.buffer, zero(), 0, zero()};
      if (place)
        (place->round_up != 0 ? place->beyond : place->offset) =
            (place->round_up != 0 ? place->beyond : place->offset) + part.offset;
      return place;
    };
    std::optional<Address> a = at(from), b = at(to);
    claims_.add(a && b && same(*a, *b) ? Verdict::kProved : Verdict::kUndecided,
                fmt::format("'{}' and '{}', whose copy is omitted, are at one address: no proof was found",
                            pair_.tensors[from.tensor].buffer->name, pair_.tensors[to.tensor].buffer->name));
  }

  const tir::PrimFunc& planned_;
  const Parameters& parameters_;
  Inequalities& known_;
  const tir::FindFunction& find_;
  Claims& claims_;
  HostPair pair_;
  bool agrees_ = true;
  std::unordered_map<uint32_t, Part> parts_;      ///< parts of the unplanned body, by id
  std::unordered_map<uint32_t, Address> places_;  ///< addresses in the planned body, by id
  std::set<uint32_t> checked_;                    ///< ids of buffers that use() has compared
  arith::Substitution values_;                    ///< values of Lets without loads
  std::vector<std::pair<Part, Part>> left_out_;   ///< operands of omitted copies
  std::vector<size_t> ends_;                      ///< steps before the next one
  std::vector<Loop> loops_;
};

}  // namespace

HostPair read_pair(tir::Stmt unplanned, const tir::PrimFunc& planned, const Parameters& parameters,
                   const arith::Facts& facts, Inequalities& known, const tir::FindFunction& find, Claims& claims) {
  return Walk(planned, parameters, known, find, claims).run(unplanned, facts);
}

}  // namespace relaxc::proof
