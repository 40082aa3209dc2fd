// match.cpp: matching of data as branches.
//
// Clauses are tried in their order, and patterns may be nested. What has been found out of a value is not asked again:
// clauses are rows with a pattern for each value that is looked at; the first row that asks for a constructor decides
// which value is tested, and each constructor leaves the rows that it fits (Maranget, Compiling pattern matching to
// good decision trees, 2008). A clause that fits in several branches is read in each.
#include <algorithm>

#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

constexpr size_t kMostValues = 1000;

}  // namespace

/// `Cons(%x, _)`, `%x`, `(p, q)`, `_`
const Grammar::Pattern* Grammar::pattern() {
  constexpr int kDeepest = 100;
  const Token token = take();
  Pattern& made = patterns_.emplace_back();
  made.place = token.place, made.name = token.text;
  if (token.is_name("_")) return &made;
  if (token.kind == TokenKind::kLocal) {
    made.kind = Pattern::kVariable;
    if (accept(":") && type(Unknown::kRank, token.text) == nullptr) return nullptr;
    return &made;
  }
  const bool names = token.kind == TokenKind::kName;
  if (!names && !token.is("(")) {
    --at_;
    unexpected("a pattern");
    return nullptr;
  }
  made.kind = names ? Pattern::kConstructor : Pattern::kTuple;
  auto known = constructors_.find(token.text);
  if (names && known == constructors_.end())
    return refuse(token.place, Kind::unbound_name, "no type has a constructor '{}'", token.text);
  if (++nesting_ > kDeepest) return refuse(token.place, Kind::syntax, "nested more than {} levels deep", kDeepest);
  if (!names || accept("(")) {
    while (!peek().is(")")) {
      made.parts.push_back(pattern());
      if (made.parts.back() == nullptr) return nullptr;
      if (!accept(",")) break;
    }
    if (!expect(")", "behind a pattern")) return nullptr;
  }
  --nesting_;
  if (names && made.parts.size() != known->second.fields.size())
    return refuse(token.place, Kind::wrong_arity, "'{}' has {} fields, its pattern {}", token.text,
                  known->second.fields.size(), made.parts.size());
  return &made;
}

/// `{ pattern => value, … }`
bool Grammar::clauses(Match& match) {
  if (!expect("{", "in front of clauses")) return false;
  while (!peek().is("}")) {
    Clause clause{pattern(), 0, 0};
    if (clause.pattern == nullptr || !expect("=>", "behind a pattern")) return false;
    clause.begin = at_;
    for (int open = 0; open > 0 || (!peek().is(",") && !peek().is("}")); take()) {
      if (peek().kind == TokenKind::kEnd) return expect("}", "behind clauses");
      for (std::string_view bracket : {"(", "[", "{"}) open += peek().is(bracket) ? 1 : 0;
      for (std::string_view bracket : {")", "]", "}"}) open -= peek().is(bracket) ? 1 : 0;
    }
    clause.end = at_;
    match.clauses.push_back(clause);
    if (!accept(",")) break;
  }
  return expect("}", "behind clauses");
}

/// `match (%x) { … }`, `match (%x, %y) { … }`; `match? (%x) { … }` may leave values out.
Grammar::Expr Grammar::match(bool last) {
  Match match;
  match.place = take().place, match.last = last;
  match.is_partial = accept("?");
  Expr value = infix(0);
  if (value == nullptr || !clauses(match)) return nullptr;
  const size_t behind = at_;
  match.result = last ? results_.back() : types_.variable();
  value = named(value, "data", value->place);
  std::vector<Row> rows;
  for (size_t i = 0; i < match.clauses.size(); ++i) rows.push_back({{match.clauses[i].pattern}, i, {}});
  Expr result = decide(match, std::move(rows), {value}, "any value");
  at_ = behind;
  return result;
}

/// What the first row gives that fits `values`.
Grammar::Expr Grammar::decide(Match& match, std::vector<Row> rows, const std::vector<Expr>& values,
                              const std::string& missing) {
  if (rows.empty()) {
    if (match.is_partial) return no_value(match.result, match.place);
    return refuse(match.place, Kind::ill_formed, "no clause fits {}; 'match?' ends the run there", missing);
  }
  for (size_t column = 0; column < values.size(); ++column) {
    const Pattern& first = *rows[0].patterns[column];
    if (first.kind == Pattern::kConstructor) return switch_on(match, rows, values, column);
    if (first.kind == Pattern::kTuple) return with_parts(match, rows, values, column, first.parts.size());
  }
  Row& row = rows[0];
  for (size_t column = 0; column < values.size(); ++column)
    if (row.patterns[column]->kind == Pattern::kVariable)
      row.bound.emplace_back(row.patterns[column]->name, values[column]);
  return clause_value(match, row);
}

Grammar::Expr Grammar::clause_value(Match& match, const Row& row) {
  const Clause& clause = match.clauses[row.clause];
  if (++match.values > kMostValues)
    return refuse(match.place, Kind::unsupported, "a match whose clauses are needed more than {} times", kMostValues);
  InScope scope(*this);
  for (const auto& [variable, value] : row.bound) scopes_.back().locals[variable] = value->text;
  at_ = clause.begin;
  const bool braces = accept("{"), outer = std::exchange(last_, match.last);
  Expr value = expression();
  last_ = outer;
  if (value == nullptr || (braces && !expect("}", "behind an expression"))) return nullptr;
  if (at_ != clause.end) return unexpected("',' behind a clause");
  if (value != &returned_ && !types_.unify(match.result, type_of(value)))
    return refuse(value->place, Kind::dtype_mismatch, "a clause gives {}, where {} is needed",
                  types_.text(type_of(value)), types_.text(match.result));
  return value;
}

/// A tuple: its parts are values of their own.
Grammar::Expr Grammar::with_parts(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values,
                                  size_t column, size_t count) {
  const Pattern& first = *rows[0].patterns[column];
  Type* type = types_.resolved(type_of(values[column]));
  std::vector<Type*> parts(count);
  for (Type*& part : parts) part = types_.variable(true);
  if (!types_.unify(type, types_.compound(Type::kTuple, parts)))
    return refuse(first.place, Kind::dtype_mismatch, "a pattern of {} parts for {}", count, types_.text(type));
  std::vector<Expr> next;
  for (size_t i = 0; i < count; ++i) {
    Expr part =
        make(ExprKind::kSubscript, first.place, {values[column], integer(first.place, static_cast<int64_t>(i))});
    next.push_back(named(typed(part, parts[i]), "part", first.place));
  }
  std::vector<Row> rest;
  for (Row row : rows) {
    const Pattern& pattern = *row.patterns[column];
    if (pattern.kind == Pattern::kConstructor || (pattern.kind == Pattern::kTuple && pattern.parts.size() != count))
      return refuse(pattern.place, Kind::ill_formed, "this pattern does not fit {}", types_.text(type));
    if (pattern.kind == Pattern::kVariable) row.bound.emplace_back(pattern.name, values[column]);
    row.patterns.erase(row.patterns.begin() + static_cast<std::ptrdiff_t>(column));
    for (size_t i = 0; i < count; ++i)
      row.patterns.push_back(pattern.kind == Pattern::kTuple ? pattern.parts[i] : &patterns_.emplace_back());
    rest.push_back(std::move(row));
  }
  std::vector<Expr> left = values;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(column));
  left.insert(left.end(), next.begin(), next.end());
  return decide(match, std::move(rest), left, "any value");
}

Grammar::Expr Grammar::switch_on(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values,
                                 size_t column) {
  std::vector<std::string> named_there;
  TypeNames types;
  Type* type = nullptr;
  for (const Row& row : rows) {
    const Pattern& pattern = *row.patterns[column];
    if (pattern.kind == Pattern::kTuple)
      return refuse(pattern.place, Kind::ill_formed, "this pattern does not fit {}", types_.text(type));
    if (pattern.kind != Pattern::kConstructor) continue;
    const Constructor& made = constructors_.at(pattern.name);
    if (type == nullptr) type = data_type_of(made, types);
    if (type->text != made.type || !types_.unify(type, type_of(values[column])))
      return refuse(pattern.place, Kind::dtype_mismatch, "'{}' makes values of {}, found {}", pattern.name, made.type,
                    types_.text(type_of(values[column])));
    if (std::find(named_there.begin(), named_there.end(), pattern.name) == named_there.end())
      named_there.push_back(pattern.name);
  }
  Expr tag = nullptr;
  const Place place = match.place;
  if (named_there.size() > 1 || data_types_.at(type->text).constructors.size() > 1)
    tag = named(typed(int_keyword_call(place, "tag", {values[column]}, {}), types_.tensor({}, "int64")), "tag", place);
  return test(match, rows, values, column, named_there, 0, tag, type);
}

/// A branch for each of `constructors` from `next` on; the last needs no question if they are all that there are.
Grammar::Expr Grammar::test(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values, size_t column,
                            const std::vector<std::string>& constructors, size_t next, Expr tag, Type* type) {
  const std::vector<std::string>& all = data_types_.at(type->text).constructors;
  if (next + 1 == constructors.size() && constructors.size() == all.size())
    return with_fields(match, rows, values, column, constructors[next], type);
  if (next == constructors.size()) {
    std::vector<Row> rest;
    for (const Row& row : rows)
      if (row.patterns[column]->kind != Pattern::kConstructor) rest.push_back(row);
    auto other = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
      return std::find(constructors.begin(), constructors.end(), name) == constructors.end();
    });
    return decide(match, std::move(rest), values, "'" + *other + "'");
  }
  const Place place = match.place;
  Expr number = relax_call(place, "const",
                           {integer(place, static_cast<int64_t>(constructors_.at(constructors[next]).tag)),
                            make(ExprKind::kString, place, {}, "int64")});
  Expr condition = relax_call(place, "equal", {tag, number});
  const std::string result = match.last ? std::string() : unique("match");
  Suite sides[2];
  auto fits = [&] { return with_fields(match, rows, values, column, constructors[next], type); };
  auto others = [&] { return test(match, rows, values, column, constructors, next + 1, tag, type); };
  if (side(match, sides[0], result, fits) == nullptr) return nullptr;
  if (side(match, sides[1], result, others) == nullptr) return nullptr;
  ast::Stmt* made = emit(StmtKind::kIf, place);
  made->value = condition;
  made->body = std::move(sides[0]);
  made->orelse = std::move(sides[1]);
  if (match.last) return &returned_;
  types_of_names_[result] = match.result;
  return name(place, result);
}

/// The rows that `constructor` leaves, with its fields as values.
Grammar::Expr Grammar::with_fields(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values,
                                   size_t column, const std::string& constructor, Type* type) {
  const Constructor& made = constructors_.at(constructor);
  TypeNames types;
  if (!types_.unify(data_type_of(made, types), type))
    return refuse(match.place, Kind::unsupported, "a type of too many parts");
  const std::vector<Type*> fields = fields_of(made, types);
  std::vector<Row> rest;
  std::vector<bool> wanted(fields.size());
  std::vector<std::string> called(fields.size(), "field");
  for (Row row : rows) {
    const Pattern& pattern = *row.patterns[column];
    const bool names = pattern.kind == Pattern::kConstructor;
    if (names && pattern.name != constructor) continue;
    if (pattern.kind == Pattern::kVariable) row.bound.emplace_back(pattern.name, values[column]);
    row.patterns.erase(row.patterns.begin() + static_cast<std::ptrdiff_t>(column));
    for (size_t i = 0; i < fields.size(); ++i) {
      row.patterns.push_back(names ? pattern.parts[i] : &patterns_.emplace_back());
      if (row.patterns.back()->kind != Pattern::kAny) wanted[i] = true;
      if (row.patterns.back()->kind == Pattern::kVariable) called[i] = row.patterns.back()->name;
    }
    rest.push_back(std::move(row));
  }
  std::vector<Expr> left = values;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(column));
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) return nullptr;
    left.push_back(wanted[i] ? named(field(values[column], made, fields, i, match.place), called[i], match.place)
                             : values[column]);
  }
  return decide(match, std::move(rest), left, "'" + constructor + "' with these fields");
}

Grammar::Expr Grammar::side(Match& match, Suite& suite, const std::string& result, const std::function<Expr()>& value) {
  InScope scope(*this);
  Suite* outer = std::exchange(suite_, &suite);
  const std::map<std::string, size_t> cells = cells_;
  Expr given = value();
  cells_ = cells;
  if (given != nullptr && match.last) {
    give(given);
  } else if (given != nullptr) {
    ast::Stmt* bound = emit(StmtKind::kAssign, given->place);
    bound->value = given;
    bound->target = name(given->place, result);
    keep_cells(given->place);
  }
  suite_ = outer;
  return given;
}

}  // namespace relaxc::relay
