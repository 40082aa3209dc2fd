// references.cpp: Relay's references, which a program can write.
//
// A reference that is bound to a variable, read and written in one function is a name of the tree that is bound again
// by each write: reading it gives another name to the value that it has then, and a branch binds it in both sides. So
// the values are those of a program without references, and no memory belongs to them. A reference that leaves its
// function, as an argument, a result, a part of a tuple or data, or captured by a closure, is refused: which values it
// has then depends on the calls.
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

/// Whether the next expression is a reference: `ref(x)`, or a variable that stands for one and is all of it.
bool Grammar::at_reference() const {
  if (peek().is_name("ref")) return true;
  const bool whole = peek(1).is(";") || peek(1).is(",") || peek(1).is(")");
  return whole && find_cell(peek()) != nullptr;
}

const std::string* Grammar::find_cell(const Token& token) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const std::string* found = nullptr;
    if (token.kind == TokenKind::kLocal) {
      auto known = scope->locals.find(token.text);
      if (known != scope->locals.end()) found = &known->second;
    } else if (token.kind == TokenKind::kGraph) {
      auto known = scope->numbered.find(token.text);
      if (known != scope->numbered.end()) found = &known->second->text;
    }
    if (found != nullptr) return cells_.count(*found) == 0 ? nullptr : found;
  }
  return nullptr;
}

/// Parses `ref(value)`, or a variable that stands for a reference. Returns the name that has the reference's value.
Grammar::Expr Grammar::reference() {
  Token token = take();
  if (!token.is_name("ref")) {
    const std::string cell = *find_cell(token);
    if (cells_.at(cell) != functions_around_)
      return refuse(token.place, Kind::unsupported, "a reference can be used only in the function that makes it");
    return name(token.place, cell);
  }
  if (!expect("(", "behind 'ref'")) return nullptr;
  Expr value = expression();
  if (value == nullptr || !expect(")", "behind the value of a reference")) return nullptr;
  const std::string cell = unique("cell");
  cells_[cell] = functions_around_;
  if (infers_) types_of_names_[cell] = type_of(value);
  return write_cell(cell, value, token.place);
}

/// Parses `ref_read(reference)`.
Grammar::Expr Grammar::read_reference() {
  Place place = take().place;
  if (!expect("(", "behind 'ref_read'")) return nullptr;
  if (!at_reference()) return no_reference();
  Expr cell = reference();
  if (cell == nullptr || !expect(")", "behind a reference")) return nullptr;
  const std::string read = unique("read");
  if (infers_) types_of_names_[read] = types_of_names_[cell->text];
  return write_cell(read, cell, place);
}

/// Parses `ref_write(reference, value)`, whose own value is an empty tuple.
Grammar::Expr Grammar::write_reference() {
  Place place = take().place;
  if (!expect("(", "behind 'ref_write'")) return nullptr;
  if (!at_reference()) return no_reference();
  Expr cell = reference();
  if (cell == nullptr || !expect(",", "behind a reference")) return nullptr;
  Expr value = expression();
  if (value == nullptr || !expect(")", "behind the value of a reference")) return nullptr;
  if (infers_ && !types_.unify(types_of_names_[cell->text], type_of(value)))
    return refuse(place, Kind::dtype_mismatch, "a reference to {} is written {}",
                  types_.text(types_of_names_[cell->text]), types_.text(type_of(value)));
  write_cell(cell->text, value, place);
  Expr made = relax_call(place, "tuple", {});
  return infers_ ? typed(made, types_.compound(Type::kTuple, {})) : made;
}

std::nullptr_t Grammar::no_reference() {
  return refuse(peek().place, Kind::unsupported, "this is no reference that a variable of this function stands for");
}

Grammar::Expr Grammar::write_cell(const std::string& cell, Expr value, Place place) {
  ast::Stmt* bound = emit(StmtKind::kAssign, place);
  bound->value = value;
  bound->target = name(place, cell);
  return bound->target;
}

/// At the end of a side of a branch, binds each of the function's references from outside of it again, so that both
/// sides do.
void Grammar::keep_cells(Place place) {
  for (const auto& [cell, function] : cells_)
    if (function == functions_around_) write_cell(cell, name(place, cell), place);
}

}  // namespace relaxc::relay
