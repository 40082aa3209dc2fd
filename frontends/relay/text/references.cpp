// references.cpp: references as names that are bound again.
#include "frontends/relay/text/references.h"

#include "frontends/relay/text/expressions.h"

namespace relaxc::relay {

namespace {

Expr no_reference(ReaderParts& reader) {
  return reader.tokens.refuse(reader.tokens.peek().place, Kind::unsupported,
                              "this is no reference that a variable of this function stands for");
}

}  // namespace

bool at_reference(const ReaderParts& reader) {
  const TokenCursor& tokens = reader.tokens;
  if (tokens.peek().is_name("ref")) return true;
  const bool whole = tokens.peek(1).is(";") || tokens.peek(1).is(",") || tokens.peek(1).is(")");
  return whole && reader.variables.cell(tokens.peek()) != nullptr;
}

Expr read_reference(ReaderParts& reader) {
  const Token token = reader.tokens.take();
  if (!token.is_name("ref")) {
    const std::string cell = *reader.variables.cell(token);
    if (!reader.variables.is_of_this_function(cell))
      return reader.tokens.refuse(token.place, Kind::unsupported,
                                  "a reference can be used only in the function that makes it");
    return reader.tree.name(token.place, cell);
  }
  if (!reader.tokens.expect("(", "behind 'ref'")) return nullptr;
  Expr value = read_expression(reader);
  if (value == nullptr || !reader.tokens.expect(")", "behind the value of a reference")) return nullptr;
  const std::string cell = reader.tree.unique("cell");
  reader.variables.add_cell(cell);
  if (reader.values.are_inferred()) reader.values.set_name(cell, reader.values.of(value));
  return reader.tree.bind(cell, value, token.place);
}

Expr read_from_reference(ReaderParts& reader) {
  const Place place = reader.tokens.take().place;
  if (!reader.tokens.expect("(", "behind 'ref_read'")) return nullptr;
  if (!at_reference(reader)) return no_reference(reader);
  Expr cell = read_reference(reader);
  if (cell == nullptr || !reader.tokens.expect(")", "behind a reference")) return nullptr;
  const std::string read = reader.tree.unique("read");
  reader.values.set_name(read, reader.values.of_name(cell->text));
  return reader.tree.bind(read, cell, place);
}

Expr read_write_to_reference(ReaderParts& reader) {
  const Place place = reader.tokens.take().place;
  if (!reader.tokens.expect("(", "behind 'ref_write'")) return nullptr;
  if (!at_reference(reader)) return no_reference(reader);
  Expr cell = read_reference(reader);
  if (cell == nullptr || !reader.tokens.expect(",", "behind a reference")) return nullptr;
  Expr value = read_expression(reader);
  if (value == nullptr || !reader.tokens.expect(")", "behind the value of a reference")) return nullptr;
  if (reader.values.are_inferred()) {
    Type* declared = reader.values.of_name(cell->text);
    Type* written = reader.values.of(value);
    if (!reader.types.unify(declared, written))
      return reader.tokens.refuse(place, Kind::dtype_mismatch, "a reference to {} is written {}",
                                  reader.types.text(declared), reader.types.text(written));
  }
  reader.tree.bind(cell->text, value, place);
  return reader.values.set(reader.tree.relax_call(place, "tuple", {}), reader.types.compound(Type::kTuple, {}));
}

void keep_references(ReaderParts& reader, Place place) {
  for (const std::string& cell : reader.variables.cells_of_this_function())
    reader.tree.bind(cell, reader.tree.name(place, cell), place);
}

}  // namespace relaxc::relay
