// frames.cpp: makes the claims of frames.h, one kind after another.
#include "compiler/proof/frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/visit.h"
#include "compiler/proof/host_facts.h"
#include "compiler/proof/host_pair.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {
namespace {

using arith::Expr;
using tir::BufferRef;

/// The bytes from `begin` up to `end` (exclusive) of one memory.
struct Span {
  Expr begin, end;
};

/// Returns a tensor's name for messages; buffers that passes make have none.
std::string named(const Tensor& tensor) {
  return tensor.buffer->name.empty() ? "unnamed" : tensor.buffer->name;
}

/// Returns whether a branch or loop of the function checks sizes. The facts do not contain such conditions.
bool checks_in_branches(const tir::PrimFunc& function) {
  bool found = false;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    const bool may_not_run = s.as<tir::If>() != nullptr || s.as<tir::For>() != nullptr || s.as<tir::While>() != nullptr;
    if (!may_not_run || found) return;
    tir::for_each_stmt(s, [&](tir::Stmt inner) {
      const auto* guard = inner.as<tir::Guard>();
      found = found || (guard != nullptr && guard->code != kSizeOverflow);
    });
  });
  return found;
}

class Frame {
 public:
  Frame(const tir::PrimFunc& function, const interface::Object& object, const tir::FindFunction& find)
      : function_(function),
        object_(object),
        find_(find),
        facts_(facts_of(function, object, find)),
        known_(context_of(function), facts_, scalar_ids(function)),
        checks_in_branches_(checks_in_branches(function)) {
    claims_.function = function.name;
  }

  Claims run(tir::Stmt unplanned) {
    pair_ = read_pair(unplanned, function_, parameters_of(function_, object_), facts_, known_, find_, claims_);
    for (const Tensor& tensor : pair_.tensors) prove_inside(tensor);
    const Occupancy found = occupancy(pair_.steps, pair_.tensors.size());
    for (auto [a, b] : found.together) prove_disjoint(pair_.tensors[a], pair_.tensors[b]);
    claims_.proved += found.shared.size();
    for (const HostCall& call : pair_.calls) calls_well(call);
    if (const interface::Entry* entry = entry_of(object_, function_)) tells_size(*entry);
    return std::move(claims_);
  }

 private:
  static arith::Context& context_of(const tir::PrimFunc& function) {
    return function.params.at(*function.host.arena).buffer->shape.at(0).context();
  }
  arith::Context& context() const { return known_.context(); }

  Expr bytes_of(BufferRef buffer) const { return tir::byte_size(context(), *buffer); }

  /// Returns where a tensor lies: from its memory's start or, if it is rounded up, from the first multiple after that.
  static Span span_of(const Tensor& tensor) {
    const Address& at = *tensor.place;
    Expr begin = at.round_up != 0 ? at.offset + at.beyond : at.offset;
    return {begin, begin + tensor.bytes};
  }

  /// Returns how many bytes the first multiple of `round_up` may lie after the start of the memory.
  static int64_t most_padding(const Address& at) {
    const auto natural = static_cast<int64_t>(at.memory->dtype.bytes());
    const int64_t aligned = at.memory->alignment != 0 ? at.memory->alignment : natural;
    return at.round_up == 0 ? 0 : std::max<int64_t>(0, static_cast<int64_t>(at.round_up) - aligned);
  }

  void decide(const std::vector<Inequality>& alternatives, const std::string& claim) {
    std::string why;
    const Verdict verdict = known_.any_of(alternatives, why);
    settle(verdict, claim, why);
  }

  /// A counterexample does not refute the claim if a check in a branch may exclude it.
  void settle(Verdict verdict, const std::string& claim, const std::string& why) {
    if (verdict == Verdict::kRefuted && checks_in_branches_)
      return claims_.add(Verdict::kUndecided, claim + ": wrong " + why + " unless a check in a branch excludes that");
    claims_.add(verdict, claim + ": " + why);
  }

  void prove_inside(const Tensor& tensor) {
    if (!tensor.place || tensor.parameter) return;
    const Address& at = *tensor.place;
    const Span span = span_of(tensor);
    const std::string name = fmt::format("'{}' is inside of '{}'", named(tensor), at.memory->name);
    if (at.round_up != 0 && arith::divisor(at.offset, facts_) % at.round_up != 0)
      return claims_.add(Verdict::kUndecided, name + ": what is added before it is rounded up is not a multiple");
    std::string why;
    Verdict verdict = known_.any_of({{context().index(0), span.begin}}, why);
    if (verdict == Verdict::kProved)
      verdict = known_.any_of({{span.end + most_padding(at), bytes_of(at.memory)}, {span.end, span.begin}}, why);
    settle(verdict, name, why);
  }

  void prove_disjoint(const Tensor& a, const Tensor& b) {
    if (a.parameter && b.parameter) return;  // the caller keeps its buffers apart
    auto memory = [](const Tensor& tensor) {
      return tensor.parameter ? tensor.buffer : tensor.place ? tensor.place->memory : nullptr;
    };
    if (memory(a) != memory(b) || memory(a) == nullptr) return;
    const std::string claim = fmt::format("'{}' and '{}' are disjoint", named(a), named(b));
    if (a.parameter || b.parameter) {
      const Tensor& inner = a.parameter ? b : a;
      return decide({{inner.bytes, context().index(0)}}, claim);
    }
    if (a.place->round_up != b.place->round_up)
      return claims_.add(Verdict::kUndecided, claim + ": one of them is rounded up");
    const Span x = span_of(a), y = span_of(b);
    decide({{x.end, y.begin}, {y.end, x.begin}, {x.end, x.begin}, {y.end, y.begin}}, claim);
  }

  void calls_well(const HostCall& made) {
    const tir::PrimFunc& callee = *find_(made.call->callee);
    Inequalities there(context(), made.facts, {});
    arith::Substitution scalars;
    size_t k = 0;
    for (const tir::Param& param : callee.params)
      if (param.buffer == nullptr) scalars[param.var] = made.scalars.at(k++);
    const Expr wanted = arith::substitute(bytes_of(callee.params.at(*callee.host.arena).buffer), scalars);
    std::string why;
    claims_.add(there.any_of({{wanted, made.frame}}, why),
                fmt::format("'{}' gets the memory that it needs: {}", callee.name, why));
    for (Expr condition : conditions_of(callee, object_, find_)) {
      const Expr here = arith::substitute(condition, scalars);
      const bool holds = arith::prove(here, made.facts);
      claims_.add(holds ? Verdict::kProved : Verdict::kUndecided,
                  fmt::format("'{}' is called where {}: no proof was found", callee.name, arith::to_string(here)));
    }
  }

  void tells_size(const interface::Entry& entry) {
    const tir::PrimFunc& arena = *find_(entry.arena);
    const auto* store = arena.body.as<tir::Store>();
    if (store == nullptr)
      return claims_.add(Verdict::kUndecided,
                         fmt::format("'{}' states what the function needs: it is not a single store", arena.name));
    const std::vector<arith::Var> ours = scalars_of(function_), theirs = scalars_of(arena);
    arith::Substitution symbols;
    for (size_t i = 0; i < theirs.size(); ++i) symbols[theirs[i]] = ours.at(i);
    Expr stated = store->value;
    if (const auto* cast = stated.as<arith::Cast>()) stated = cast->value;
    if (!stated.dtype().is_index()) {
      const int64_t* number = stated.constant();
      if (number != nullptr) stated = context().index(*number);
    }
    decide({{bytes_of(function_.params.at(*function_.host.arena).buffer), arith::substitute(stated, symbols)}},
           fmt::format("'{}' states what the function needs", arena.name));
  }

  const tir::PrimFunc& function_;
  const interface::Object& object_;
  const tir::FindFunction& find_;
  arith::Facts facts_;
  Inequalities known_;
  bool checks_in_branches_;
  HostPair pair_;
  Claims claims_;
};

}  // namespace

std::vector<Claims> check_frames(const std::vector<const tir::PrimFunc*>& functions, const Bodies& unplanned,
                                 const interface::Object& object, const tir::FindFunction& find) {
  std::vector<Claims> list;
  for (const tir::PrimFunc* function : functions) {
    if (!function->is_host()) continue;
    auto before = unplanned.find(function->name);
    if (before != unplanned.end()) {
      list.push_back(Frame(*function, object, find).run(before->second));
      continue;
    }
    Claims& none = list.emplace_back();
    none.function = function->name;
    none.add(Verdict::kUndecided, "it is what it was before: there is no such function before memory is planned");
  }
  return list;
}

}  // namespace relaxc::proof
