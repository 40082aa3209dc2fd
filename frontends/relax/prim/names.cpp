// names.cpp: binds and finds the names of a prim func.
#include "frontends/relax/prim/names.h"

#include <algorithm>

#include "compiler/arith/print.h"
#include "compiler/arith/visit.h"
#include "compiler/support/suggest.h"
#include "frontends/relax/text/call_text.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Returns the type of a name; empty if an error prevents that it is known.
std::string type_of_prim_name(const PrimName& name) {
  if (name.kind == PrimName::kHandle) return "T.handle";
  if (name.kind == PrimName::kScalar && name.scalar) return fmt::format("T.{}", prim_dtype_text(name.scalar.dtype()));
  if (name.kind != PrimName::kBuffer || name.buffer->record != nullptr) return {};
  auto var = [](arith::Var v) { return std::string(v.name()); };
  auto buffer = [](const tir::Buffer* b) { return b->name; };
  std::string dims;
  for (arith::Expr dim : name.buffer->shape) dims += arith::print(dim, {var, buffer, {}}) + ", ";
  if (name.buffer->shape.size() > 1) dims.resize(dims.size() - 2);
  if (name.buffer->shape.size() == 1) dims.pop_back();
  return fmt::format("T.Buffer(({}), \"{}\")", dims, to_string(name.buffer->dtype));
}

}  // namespace

void PrimNames::tell(const std::string& name, const PrimName& value, Place place) const {
  if (bound_) bound_(place, name, type_of_prim_name(value));
}

void PrimNames::bind(const std::string& name, PrimName value, Place place) {
  tell(name, value, place);
  scopes_.bind(name, std::move(value), place);
}

void PrimNames::bind_outermost(const std::string& name, PrimName value, Place place) {
  tell(name, value, place);
  scopes_.bind_outermost(name, std::move(value), place);
}

Result<tir::BufferRef> PrimNames::find_buffer(const ast::Expr& e) {
  if (!e.is(AstKind::kName)) return source_.error(e.place, Kind::invalid_value, "expected the name of a buffer");
  Binding* known = find(e.text);
  if (known == nullptr) return unbound(e);
  if (known->value.kind == PrimName::kPoison) return source_.diag().failed();
  if (known->value.kind == PrimName::kBuffer && known->value.without_memory) {
    Failure failure = source_.error(e.place, Kind::ill_formed, "the buffer '{}' has no memory here", e.text);
    source_.hint("T.alloc_buffer makes new memory, data= takes that of another buffer, T.realize gives it later");
    return failure;
  }
  if (known->value.kind == PrimName::kBuffer) return known->value.buffer;
  return source_.error(e.place, Kind::invalid_value, "'{}' is not a buffer", e.text);
}

tir::BufferRef PrimNames::pointed_to(const ast::Expr& e) {
  if (tir::BufferRef buffer = described(e, "data")) return buffer;
  Binding* known = e.is(AstKind::kName) ? find(e.text) : nullptr;
  bool buffer = known != nullptr && known->value.kind == PrimName::kBuffer;
  return buffer && allocated_.count(known->value.buffer) > 0 ? known->value.buffer : nullptr;
}

tir::BufferRef PrimNames::described(const ast::Expr& e, std::string_view what) {
  const ast::Expr& path = e.is(AstKind::kStarred) ? *e.items[0] : e;
  if (!path.is(AstKind::kAttribute) || path.text != what || !path.items[0]->is(AstKind::kName)) return nullptr;
  Binding* known = find(path.items[0]->text);
  return known != nullptr && known->value.kind == PrimName::kBuffer ? known->value.buffer : nullptr;
}

void PrimNames::poison(const ast::Expr* target) {
  if (target == nullptr) return;
  for (const ast::Expr* item : targets_of(*target))
    if (item->is(AstKind::kName)) bind(item->text, {}, item->place);
}

void PrimNames::declare_symbol(const std::string& name, Place place) {
  symbols_.push_back({name, place});
  PrimName symbol{.kind = PrimName::kScalar, .scalar = context_.var(name), .unbound = true};
  bind_outermost(name, symbol, place);
}

bool PrimNames::is_long(arith::Expr e) const {
  bool found = false;
  arith::for_each_node(e, [&](arith::Expr node) { found |= long_.count(node.node()) > 0; });
  return found;
}

bool PrimNames::says_long(const ast::Expr& e) {
  if (callee_of(&e) == "T.int64") return true;
  if (const Binding* known = e.is(AstKind::kName) ? find(e.text) : nullptr)
    return known->value.kind == PrimName::kScalar && is_long(known->value.scalar);
  return std::any_of(e.items.begin(), e.items.end(),
                     [&](const ast::Expr* item) { return item != nullptr && says_long(*item); });
}

bool PrimNames::is_symbol(const std::string& name) const {
  return std::any_of(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) { return symbol.name == name; });
}

Failure PrimNames::unbound(const ast::Expr& e) {
  auto named = [](const PrimName& name) { return name.kind != PrimName::kPoison; };
  auto near = nearest_name(e.text, scopes_.names(named));
  Failure failure = source_.error(e.place, Kind::unbound_name, "the name '{}' is not bound", e.text);
  if (near) source_.hint("did you mean '{}'?", *near);
  return failure;
}

}  // namespace relaxc::frontend
