// match.cpp: matching of data as branches.
//
// Clauses are tried in their order, and patterns may be nested. What has been found out of a value is not asked again:
// clauses are rows with a pattern for each value that is looked at; the first row that asks for a constructor decides
// which value is tested, and each constructor leaves the rows that it fits (Maranget, Compiling pattern matching to
// good decision trees, 2008). A clause that fits in several branches is read in each.
#include "frontends/relay/text/match.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "frontends/relay/text/data.h"
#include "frontends/relay/text/expressions.h"
#include "frontends/relay/text/functions.h"
#include "frontends/relay/text/references.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

constexpr size_t kMostValues = 1000;

struct Pattern {
  enum Kind : uint8_t { kAny, kVariable, kConstructor, kTuple } kind = kAny;
  Place place;
  std::string name;  ///< of the variable or constructor
  std::vector<const Pattern*> parts;
};

struct Clause {
  const Pattern* pattern = nullptr;
  size_t begin = 0, end = 0;  ///< the tokens of its value
};

/// A clause that still may be the one, with a pattern for each value that is looked at, and what its variables are.
struct MatchRow {
  std::vector<const Pattern*> patterns;
  size_t clause = 0;
  std::vector<std::pair<std::string, Expr>> bound;

  /// Looks no longer at the value in this column, which a variable may stand for.
  const Pattern& drop(size_t column, Expr value) {
    const Pattern& pattern = *patterns[column];
    if (pattern.kind == Pattern::kVariable) bound.emplace_back(pattern.name, value);
    patterns.erase(patterns.begin() + static_cast<std::ptrdiff_t>(column));
    return pattern;
  }
};
using Rows = std::vector<MatchRow>;
using Values = std::vector<Expr>;

/// `values` without the one in this column.
Values without(const Values& values, size_t column) {
  Values left = values;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(column));
  return left;
}

class Matching {
 public:
  Matching(ReaderParts& reader, bool last) : reader_(reader), tokens_(reader.tokens), last_(last) {}

  Expr read() {
    place_ = tokens_.take().place;
    is_partial_ = tokens_.accept("?");
    Expr value = read_operand(reader_);
    if (value == nullptr || !clauses()) return nullptr;
    TokenCursor::Elsewhere behind(tokens_, tokens_.at());
    result_ = last_ ? reader_.values.result() : reader_.types.variable();
    value = reader_.named(value, "data", value->place);
    Rows rows;
    for (size_t i = 0; i < clauses_.size(); ++i) rows.push_back({{clauses_[i].pattern}, i, {}});
    return decide(std::move(rows), {value}, "any value");
  }

 private:
  /// Values that are looked at, and the one that is tested now: which constructors rows name there.
  struct Test {
    const Rows& rows;
    const Values& values;
    size_t column;
    Type* type;
    std::vector<std::string> constructors;
    Expr tag;  ///< null if there is one constructor
  };

  bool clauses();
  const Pattern* pattern();
  bool parts(Pattern& made);
  Expr decide(Rows rows, const Values& values, const std::string& missing);
  Expr clause_value(const MatchRow& row);
  Expr with_parts(const Rows& rows, const Values& values, size_t column, size_t count);
  Expr switch_on(const Rows& rows, const Values& values, size_t column);
  Expr test(const Test& on, size_t next);
  Expr otherwise(const Test& on);
  Expr with_fields(const Test& on, const std::string& constructor);
  Expr side(Suite& suite, const std::string& result, const std::function<Expr()>& value);

  ReaderParts& reader_;
  TokenCursor& tokens_;
  const bool last_;
  bool is_partial_ = false;
  Place place_;
  Type* result_ = nullptr;
  const Pattern anything_;
  std::deque<Pattern> patterns_;
  std::vector<Clause> clauses_;
  size_t values_ = 0;  ///< how often a clause's value was read
};

/// Reads `{ pattern => value, … }`, of values only where they are.
bool Matching::clauses() {
  if (!tokens_.expect("{", "in front of clauses")) return false;
  while (!tokens_.peek().is("}")) {
    Clause clause{pattern(), 0, 0};
    if (clause.pattern == nullptr || !tokens_.expect("=>", "behind a pattern")) return false;
    clause.begin = tokens_.at();
    for (int open = 0; open > 0 || (!tokens_.peek().is(",") && !tokens_.peek().is("}")); tokens_.take()) {
      const Token& next = tokens_.peek();
      if (next.kind == TokenKind::kEnd) return tokens_.expect("}", "behind clauses");
      for (std::string_view bracket : {"(", "[", "{"}) open += next.is(bracket) ? 1 : 0;
      for (std::string_view bracket : {")", "]", "}"}) open -= next.is(bracket) ? 1 : 0;
    }
    clause.end = tokens_.at();
    clauses_.push_back(clause);
    if (!tokens_.accept(",")) break;
  }
  return tokens_.expect("}", "behind clauses");
}

/// Reads `Cons(%x, _)`, `%x`, `(p, q)`, `_`.
const Pattern* Matching::pattern() {
  const Token token = tokens_.take();
  TokenCursor::Nested nested(tokens_, token.place);
  if (!nested) return nullptr;
  Pattern& made = patterns_.emplace_back();
  made.place = token.place, made.name = token.text;
  if (token.is_name("_")) return &made;
  if (token.kind == TokenKind::kLocal) {
    made.kind = Pattern::kVariable;
    if (tokens_.accept(":") && annotation(reader_, Unknown::kRank, token.text).written == nullptr) return nullptr;
    return &made;
  }
  if (token.is("(")) {
    made.kind = Pattern::kTuple;
    return parts(made) ? &made : nullptr;
  }
  if (token.kind != TokenKind::kName) return tokens_.unexpected(token, "a pattern");
  made.kind = Pattern::kConstructor;
  const Constructor* constructor = reader_.definitions.constructor(token.text);
  if (constructor == nullptr)
    return tokens_.refuse(token.place, Kind::unbound_name, "no type has a constructor '{}'", token.text);
  if (tokens_.accept("(") && !parts(made)) return nullptr;
  if (made.parts.size() == constructor->fields.size()) return &made;
  return tokens_.refuse(token.place, Kind::wrong_arity, "'{}' has {} fields, its pattern {}", token.text,
                        constructor->fields.size(), made.parts.size());
}

/// Reads the patterns of parts behind their bracket.
bool Matching::parts(Pattern& made) {
  while (!tokens_.peek().is(")")) {
    made.parts.push_back(pattern());
    if (made.parts.back() == nullptr) return false;
    if (!tokens_.accept(",")) break;
  }
  return tokens_.expect(")", "behind a pattern");
}

/// What the first row gives that fits `values`.
Expr Matching::decide(Rows rows, const Values& values, const std::string& missing) {
  if (rows.empty()) {
    if (is_partial_) return no_value(reader_, result_, place_);
    return tokens_.refuse(place_, Kind::ill_formed, "no clause fits {}; 'match?' ends the run there", missing);
  }
  for (size_t column = 0; column < values.size(); ++column) {
    const Pattern& first = *rows[0].patterns[column];
    if (first.kind == Pattern::kConstructor) return switch_on(rows, values, column);
    if (first.kind == Pattern::kTuple) return with_parts(rows, values, column, first.parts.size());
  }
  MatchRow& row = rows[0];
  for (size_t column = 0; column < values.size(); ++column)
    if (row.patterns[column]->kind == Pattern::kVariable)
      row.bound.emplace_back(row.patterns[column]->name, values[column]);
  return clause_value(row);
}

Expr Matching::clause_value(const MatchRow& row) {
  const Clause& clause = clauses_[row.clause];
  if (++values_ > kMostValues)
    return tokens_.refuse(place_, Kind::unsupported, "a match whose clauses are needed more than {} times",
                          kMostValues);
  Variables::InScope scope(reader_.variables);
  for (const auto& [variable, value] : row.bound) reader_.variables.set_local(variable, value->text);
  tokens_.go_to(clause.begin);
  const bool braces = tokens_.accept("{"), outer = std::exchange(reader_.last, last_);
  Expr value = read_expression(reader_);
  reader_.last = outer;
  if (value == nullptr || (braces && !tokens_.expect("}", "behind an expression"))) return nullptr;
  if (tokens_.at() != clause.end) return tokens_.unexpected("',' behind a clause");
  if (value != reader_.tree.returned() && !reader_.types.unify(result_, reader_.values.of(value)))
    return tokens_.refuse(value->place, Kind::dtype_mismatch, "a clause gives {}, where {} is needed",
                          reader_.types.text(reader_.values.of(value)), reader_.types.text(result_));
  return value;
}

/// A tuple: its parts are values of their own.
Expr Matching::with_parts(const Rows& rows, const Values& values, size_t column, size_t count) {
  const Place place = rows[0].patterns[column]->place;
  Type* type = reader_.types.resolved(reader_.values.of(values[column]));
  std::vector<Type*> types(count);
  for (Type*& part : types) part = reader_.types.variable(true);
  if (!reader_.types.unify(type, reader_.types.compound(Type::kTuple, types)))
    return tokens_.refuse(place, Kind::dtype_mismatch, "a pattern of {} parts for {}", count, reader_.types.text(type));
  Values left = without(values, column);
  for (size_t i = 0; i < count; ++i) {
    Expr index = reader_.tree.integer(place, static_cast<int64_t>(i));
    Expr part = reader_.values.set(reader_.tree.subscript(place, values[column], index), types[i]);
    left.push_back(reader_.named(part, "part", place));
  }
  Rows rest;
  for (MatchRow row : rows) {
    const Pattern& pattern = row.drop(column, values[column]);
    const bool is_tuple = pattern.kind == Pattern::kTuple;
    if (pattern.kind == Pattern::kConstructor || (is_tuple && pattern.parts.size() != count))
      return tokens_.refuse(pattern.place, Kind::ill_formed, "this pattern does not fit {}", reader_.types.text(type));
    for (size_t i = 0; i < count; ++i) row.patterns.push_back(is_tuple ? pattern.parts[i] : &anything_);
    rest.push_back(std::move(row));
  }
  return decide(std::move(rest), left, "any value");
}

/// A value of a data type: a branch for each constructor that rows name.
Expr Matching::switch_on(const Rows& rows, const Values& values, size_t column) {
  Test on{rows, values, column, nullptr, {}, nullptr};
  TypeNames types;
  for (const MatchRow& row : rows) {
    const Pattern& pattern = *row.patterns[column];
    if (pattern.kind == Pattern::kTuple)
      return tokens_.refuse(pattern.place, Kind::ill_formed, "this pattern does not fit {}",
                            reader_.types.text(on.type));
    if (pattern.kind != Pattern::kConstructor) continue;
    const Constructor& made = *reader_.definitions.constructor(pattern.name);
    if (on.type == nullptr) on.type = data_type_of(reader_, made, types);
    Type* given = reader_.values.of(values[column]);
    if (on.type->text != made.type || !reader_.types.unify(on.type, given))
      return tokens_.refuse(pattern.place, Kind::dtype_mismatch, "'{}' makes values of {}, found {}", pattern.name,
                            made.type, reader_.types.text(given));
    if (std::find(on.constructors.begin(), on.constructors.end(), pattern.name) == on.constructors.end())
      on.constructors.push_back(pattern.name);
  }
  if (on.constructors.size() > 1 || reader_.definitions.type(on.type->text)->constructors.size() > 1) {
    Expr tag = reader_.tree.data_call(place_, "tag", {values[column]}, {});
    on.tag = reader_.named(reader_.values.set(tag, reader_.types.tensor({}, "int64")), "tag", place_);
  }
  return test(on, 0);
}

/// A branch for each constructor from `next` on; the last needs no question if they are all that there are.
Expr Matching::test(const Test& on, size_t next) {
  const size_t all = reader_.definitions.type(on.type->text)->constructors.size();
  if (next + 1 == on.constructors.size() && on.constructors.size() == all)
    return with_fields(on, on.constructors[next]);
  if (next == on.constructors.size()) return otherwise(on);
  TreeBuilder& tree = reader_.tree;
  const auto number = static_cast<int64_t>(reader_.definitions.constructor(on.constructors[next])->tag);
  Expr tag = tree.relax_call(place_, "const", {tree.integer(place_, number), tree.string(place_, "int64")});
  Expr condition = tree.relax_call(place_, "equal", {on.tag, tag});
  const std::string result = last_ ? std::string() : tree.unique("match");
  Suite sides[2];
  auto fits = [&] { return with_fields(on, on.constructors[next]); };
  if (side(sides[0], result, fits) == nullptr) return nullptr;
  if (side(sides[1], result, [&] { return test(on, next + 1); }) == nullptr) return nullptr;
  ast::Stmt* made = tree.emit(StmtKind::kIf, place_);
  made->value = condition;
  made->body = std::move(sides[0]);
  made->orelse = std::move(sides[1]);
  if (last_) return tree.returned();
  reader_.values.set_name(result, result_);
  return tree.name(place_, result);
}

/// The rows that name no constructor, for those of which there is no row.
Expr Matching::otherwise(const Test& on) {
  Rows rest;
  for (const MatchRow& row : on.rows)
    if (row.patterns[on.column]->kind != Pattern::kConstructor) rest.push_back(row);
  const std::vector<std::string>& all = reader_.definitions.type(on.type->text)->constructors;
  auto other = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
    return std::find(on.constructors.begin(), on.constructors.end(), name) == on.constructors.end();
  });
  return decide(std::move(rest), on.values, "'" + *other + "'");
}

/// The rows that `constructor` leaves, with its fields as values.
Expr Matching::with_fields(const Test& on, const std::string& constructor) {
  const Constructor& made = *reader_.definitions.constructor(constructor);
  TypeNames types;
  if (!reader_.types.unify(data_type_of(reader_, made, types), on.type))
    return tokens_.refuse(place_, Kind::unsupported, "a type of too many parts");
  const std::vector<Type*> fields = fields_of(reader_, made, types);
  Expr value = on.values[on.column];
  Rows rest;
  std::vector<bool> wanted(fields.size());
  std::vector<std::string> called(fields.size(), "field");
  for (MatchRow row : on.rows) {
    const Pattern& pattern = row.drop(on.column, value);
    const bool names = pattern.kind == Pattern::kConstructor;
    if (names && pattern.name != constructor) continue;
    for (size_t i = 0; i < fields.size(); ++i) {
      row.patterns.push_back(names ? pattern.parts[i] : &anything_);
      if (row.patterns.back()->kind != Pattern::kAny) wanted[i] = true;
      if (row.patterns.back()->kind == Pattern::kVariable) called[i] = row.patterns.back()->name;
    }
    rest.push_back(std::move(row));
  }
  Values left = without(on.values, on.column);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) return nullptr;
    left.push_back(wanted[i] ? reader_.named(data_field(reader_, value, made, fields, i, place_), called[i], place_)
                             : value);
  }
  return decide(std::move(rest), left, "'" + constructor + "' with these fields");
}

/// One side of a branch, which returns its value or binds it to `result`.
Expr Matching::side(Suite& suite, const std::string& result, const std::function<Expr()>& value) {
  Variables::InScope scope(reader_.variables);
  TreeBuilder::Into into(reader_.tree, suite);
  Expr given = nullptr;
  {
    Variables::InSide cells(reader_.variables);
    given = value();
  }
  if (given != nullptr) end_side(reader_, given, last_, result);
  return given;
}

}  // namespace

Expr read_match(ReaderParts& reader, bool last) {
  return Matching(reader, last).read();
}

}  // namespace relaxc::relay
