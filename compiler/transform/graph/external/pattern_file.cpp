// pattern_file.cpp: reads rows of external patterns.
//
//   relaxc external patterns 1
//   # A line that starts with # is a comment.
//   pattern dense_relu
//     match nn.relu(add(matmul(x, %w), %b))
//     operand x = float32[m, k]
//     operand w = float32[k, n]
//     when k % 4 == 0
//     scratch 4 * m * k
//     call mylib_dense_relu(x, w, b, m)
//
// A statement is a line, or several while a bracket is open. Positions in messages are those in the file, so statements
// are read from the whole text by position.
#include "compiler/transform/graph/external/pattern_file.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/support/suggest.h"

namespace relaxc {
namespace {

using relax::RuleDim;
using relax::RuleReader;

constexpr std::string_view kFirstLine = "relaxc external patterns 1";
constexpr std::string_view kKeywords[] = {"pattern", "match", "parameters", "operand",
                                          "result",  "when",  "scratch",    "call"};
constexpr size_t kMostRows = 4096;

struct Span {
  size_t begin = 0, end = 0;
};

/// Returns the statements of a text, without comments and blank lines; open brackets continue a statement.
std::vector<Span> statements_of(std::string_view text) {
  std::vector<Span> statements;
  int open = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t first = std::min(text.find_first_not_of(" \t\r", begin), end);
    if (first < end && text[first] != '#') {
      if (open <= 0) statements.push_back({first, end}), open = 0;
      statements.back().end = end;
      for (char c : text.substr(first, end - first))
        open += (c == '(' || c == '[') ? 1 : (c == ')' || c == ']') ? -1 : 0;
    }
    begin = end + 1;
  }
  for (Span& statement : statements)
    while (std::isspace(static_cast<unsigned char>(text[statement.end - 1])) != 0) --statement.end;
  return statements;
}

/// Returns a part that a pattern as a whole may be and that is no operator; null if there is none.
const PatternNode* no_operator(const PatternNode& pattern) {
  if (pattern.kind == PatternNode::kOperator) return nullptr;
  if (pattern.kind != PatternNode::kEither) return &pattern;
  for (const PatternNode& choice : pattern.operands)
    if (const PatternNode* other = no_operator(choice)) return other;
  return nullptr;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Reading {
 public:
  Reading(std::string path, std::string text, const relax::OpTable& ops, Sources& sources, Diagnostics& diag)
      : ops_(ops), sources_(sources), diag(diag), source_(sources.add_file(std::move(path), std::move(text))) {}

  Result<ExternalPatterns> run() {
    const std::vector<Span> statements = statements_of(source_->text);
    if (statements.empty() || text_of(statements[0]) != kFirstLine)
      return diag.error(statements.empty() ? nullptr : location(statements[0]), Kind::syntax,
                        "'{}' is not a file of external patterns: it does not start with '{}'", source_->path,
                        kFirstLine);
    for (size_t i = 1; i < statements.size(); ++i) RELAXC_DO(statement(statements[i]));
    RELAXC_DO(end_row());
    return std::move(file_);
  }

 private:
  std::string_view text_of(Span span) const {
    return std::string_view(source_->text).substr(span.begin, span.end - span.begin);
  }
  Location location(Span span) const {
    return sources_.at(
        TextSpan{source_, static_cast<uint32_t>(span.begin), static_cast<uint32_t>(span.end - span.begin)});
  }
  Location location(size_t at) const {
    const size_t end = std::min(at + 1, source_->text.size());
    return location(Span{std::min(at, end), end});
  }
  ExternalPattern& row() { return file_.rows.back(); }

  RuleReader reader(Span span, size_t from) {
    RuleReader rule(std::string_view(source_->text).substr(0, span.end), [this](size_t at, std::string_view what) {
      return diag.error(location(at), Kind::syntax, "expected {}", what);
    });
    rule.has_elements = true;
    rule.move_to(from);
    return rule;
  }

  Status statement(Span span) {
    RuleReader rule = reader(span, span.begin);
    const size_t length = std::min(text_of(span).find_first_of(" \t"), span.end - span.begin);
    const Span word{span.begin, span.begin + length};
    const std::string keyword(text_of(word));
    rule.move_to(word.end);
    if (keyword == "pattern") return begin_row(span, rule);
    if (std::find(std::begin(kKeywords), std::end(kKeywords), keyword) == std::end(kKeywords)) {
      Failure failure = diag.error(location(word), Kind::syntax, "expected one of {}, found '{}'",
                                   fmt::join(kKeywords, ", "), keyword);
      if (auto near = nearest_name(keyword, {std::begin(kKeywords), std::end(kKeywords)}))
        diag.note(nullptr, "did you mean '{}'?", *near);
      return failure;
    }
    if (file_.rows.empty())
      return diag.error(location(word), Kind::syntax, "'{}' must come after a line 'pattern NAME'", keyword);
    if (keyword != "operand" && keyword != "when" && !seen_.insert(keyword).second)
      return diag.error(location(word), Kind::redefinition, "the pattern '{}' has a line '{}' already", row().name,
                        keyword);
    RELAXC_DO(content(keyword, span, rule));
    return rule.at_end() ? Status(Done{}) : Status(rule.expected("the end of the line"));
  }

  Status content(const std::string& keyword, Span span, RuleReader& rule) {
    if (keyword == "match") return match(span, rule);
    if (keyword == "parameters") return rule.list(row().parameters, [&] { return name_of(rule); });
    if (keyword == "operand") return operand(rule);
    if (keyword == "when") return rule.list(row().conditions, [&] { return condition(rule); });
    if (keyword == "call") return call(rule);
    if (keyword == "scratch") {
      RELAXC_TRY(row().scratch, dim(rule));
      return Done{};
    }
    RELAXC_TRY(row().result, rule.operand());
    for (const RuleDim& dim : row().result->dims) note_uses(dim, span.begin);
    return Done{};
  }

  Status begin_row(Span span, RuleReader& rule) {
    RELAXC_DO(end_row());
    rule.skip_blanks();
    const Span at{rule.position(), span.end};
    const std::string name(text_of(at));
    if (name.empty() || name.find_first_of(" \t,()[]") != std::string::npos)
      return diag.error(location(at.begin), Kind::syntax, "expected a name for the pattern, without blanks");
    for (const auto& [other, where] : named_) {
      if (other != name) continue;
      Failure twice = diag.error(location(at), Kind::redefinition, "there is a pattern '{}' already", name);
      diag.note(where, "here");
      return twice;
    }
    if (file_.rows.size() == kMostRows)
      return diag.error(location(at), Kind::unsupported, "a file has at most {} patterns", kMostRows);
    named_.emplace_back(name, location(at));
    file_.rows.emplace_back().name = name;
    return Done{};
  }

  Status match(Span span, RuleReader& rule) {
    rule.skip_blanks();
    const size_t begin = rule.position();
    auto place = [this, begin](size_t at) { return location(begin + at); };
    std::variant<PatternNode, PatternFault> read = read_pattern(text_of({begin, span.end}));
    if (const auto* fault = std::get_if<PatternFault>(&read)) return faulty(*fault, place(fault->at));
    PatternNode& pattern = row().pattern.emplace(std::get<PatternNode>(std::move(read)));
    RELAXC_DO(check_pattern(pattern, ops_, place, diag));
    if (const PatternNode* other = no_operator(pattern))
      return diag.error(place(other->at), Kind::syntax, "expected an operator and its operands, as in add(x, %b)");
    rule.move_to(span.end);
    return Done{};
  }

  Failure faulty(const PatternFault& fault, Location where) {
    if (!fault.unknown_operator) return diag.error(where, Kind::syntax, "{}", fault.text);
    Failure failure = diag.error(where, Kind::unknown_operator, "{}", fault.text);
    std::vector<std::string> names(std::begin(relax::kOpNames), std::end(relax::kOpNames));
    auto near = nearest_path(*fault.unknown_operator, names);
    if (near) diag.note(nullptr, "did you mean '{}'? docs/operators.md lists all", *near);
    return failure;
  }

  Result<std::string> name_of(RuleReader& rule) {
    std::string name = rule.word();
    if (name.empty()) return rule.expected("a name");
    return name;
  }

  Result<RuleDim> dim(RuleReader& rule) {
    rule.skip_blanks();
    const size_t at = rule.position();
    RELAXC_TRY(RuleDim dim, rule.dim());
    note_uses(dim, at);
    return dim;
  }

  Status operand(RuleReader& rule) {
    rule.skip_blanks();
    const size_t at = rule.position();
    RELAXC_TRY(std::string name, name_of(rule));
    if (!rule.take("=")) return rule.expected("'=' and the operand's dtype and dims, as in x = float32[n, 4]");
    RELAXC_TRY(relax::RuleTensor tensor, rule.operand());
    for (const ExternalPattern::Operand& other : row().operands)
      if (other.name == name)
        return diag.error(location(Span{at, at + name.size()}), Kind::redefinition,
                          "there is a rule of operand '{}' already", name);
    operand_places_.emplace_back(name, location(Span{at, at + name.size()}));
    for (const RuleDim& dim : tensor.dims)
      if (dim.kind == RuleDim::kName)
        dims_.push_back(dim.name);
      else
        note_uses(dim, at);
    row().operands.push_back({std::move(name), std::move(tensor)});
    return Done{};
  }

  Result<ExternalPattern::Condition> condition(RuleReader& rule) {
    using Condition = ExternalPattern::Condition;
    RELAXC_TRY(RuleDim a, dim(rule));
    static constexpr struct {
      std::string_view sign;
      Condition::Kind kind;
      bool swapped;
    } kSigns[] = {{"==", Condition::kEqual, false},     {"!=", Condition::kUnequal, false},
                  {"<=", Condition::kLessEqual, false}, {">=", Condition::kLessEqual, true},
                  {"<", Condition::kLess, false},       {">", Condition::kLess, true}};
    const auto* sign =
        std::find_if(std::begin(kSigns), std::end(kSigns), [&](const auto& s) { return rule.take(s.sign); });
    if (sign == std::end(kSigns)) return rule.expected("==, !=, <, <=, > or >=");
    RELAXC_TRY(RuleDim b, dim(rule));
    if (sign->swapped) std::swap(a, b);
    return Condition{sign->kind, std::move(a), std::move(b)};
  }

  Status call(RuleReader& rule) {
    rule.skip_blanks();
    const size_t at = rule.position();
    row().function = rule.word();
    if (!relax::names_c_function(row().function))
      return diag.error(location(at), Kind::syntax, "expected the name of a C function of yours, found '{}'",
                        row().function);
    if (!rule.take("(")) return rule.expected("'(' and the arguments");
    if (!rule.at(")")) RELAXC_DO(rule.list(row().arguments, [&] { return argument(rule); }));
    if (!rule.take(")")) return rule.expected("',' or ')'");
    if (!rule.take("->")) return Done{};
    if (rule.word() != "permuted" || !rule.take("("))
      return rule.expected("permuted and the order of the result's axes");
    return axes(rule, row().result_axes);
  }

  /// Reads numbers up to the closing bracket.
  Status axes(RuleReader& rule, std::vector<int64_t>& order) {
    RELAXC_DO(rule.list(order, [&] { return rule.number(); }));
    return rule.take(")") ? Status(Done{}) : Status(rule.expected("',' or ')'"));
  }

  Result<ExternalPattern::Argument> argument(RuleReader& rule) {
    rule.skip_blanks();
    const size_t at = rule.position();
    if (rule.word() == "permuted" && rule.take("(")) return permuted(rule);
    rule.move_to(at);
    RELAXC_TRY(RuleDim value, rule.dim());
    if (value.kind == RuleDim::kName)
      passed_.emplace_back(value.name, location(Span{at, at + value.name.size()}));
    else
      note_uses(value, at);
    return ExternalPattern::Argument{std::move(value), {}};
  }

  Result<ExternalPattern::Argument> permuted(RuleReader& rule) {
    rule.skip_blanks();
    const size_t at = rule.position();
    RELAXC_TRY(std::string name, name_of(rule));
    permuted_.emplace_back(name, location(Span{at, at + name.size()}));
    ExternalPattern::Argument argument{{RuleDim::kName, 0, std::move(name), {}}, {}};
    if (!rule.take(",")) return rule.expected("',' and the order of the axes");
    RELAXC_DO(axes(rule, argument.axes));
    return argument;
  }

  /// Records the names of numbers in `dim`, which must be known once the row has been read.
  void note_uses(const RuleDim& dim, size_t at) {
    if (dim.kind == RuleDim::kName || dim.kind == RuleDim::kElement) numbers_.emplace_back(dim.name, location(at));
    for (const RuleDim& part : dim.parts) note_uses(part, at);
  }

  /// Checks what only a whole row shows.
  Status end_row() {
    if (file_.rows.empty()) return Done{};
    const Location where = named_.back().second;
    ExternalPattern& row = file_.rows.back();
    if (row.pattern.has_value() == !row.parameters.empty())
      return diag.error(where, Kind::syntax,
                        "the pattern '{}' needs a line 'match' with operators, or 'parameters' with the names of a "
                        "function's parameters, and not both",
                        row.name);
    if (row.function.empty())
      return diag.error(where, Kind::syntax, "the pattern '{}' lacks a line 'call' with a C function", row.name);
    HoleNames holes = row.pattern ? holes_of(*row.pattern) : HoleNames{row.parameters, {}};
    operand_places_.insert(operand_places_.end(), permuted_.begin(), permuted_.end());
    for (const auto& [name, at] : operand_places_)
      if (!contains(holes.values, name)) return unbound(name, "an operand of the pattern", holes.values, at);
    std::vector<std::string> numbers = dims_;
    numbers.insert(numbers.end(), holes.attrs.begin(), holes.attrs.end());
    for (const auto& [name, at] : numbers_)
      if (!contains(numbers, name)) return unbound(name, "a dim of an operand or an attribute", numbers, at);
    numbers.insert(numbers.end(), holes.values.begin(), holes.values.end());
    for (const auto& [name, at] : passed_)
      if (!contains(numbers, name)) return unbound(name, "an operand, a dim or an attribute", numbers, at);
    seen_.clear(), dims_.clear(), numbers_.clear(), passed_.clear(), operand_places_.clear(), permuted_.clear();
    return Done{};
  }

  Failure unbound(const std::string& name, std::string_view what, const std::vector<std::string>& known,
                  Location where) {
    Failure failure = diag.error(where, Kind::unbound_name, "'{}' is not {}", name, what);
    if (auto near = nearest_name(name, known)) diag.note(nullptr, "did you mean '{}'?", *near);
    return failure;
  }

  using Places = std::vector<std::pair<std::string, Location>>;

  const relax::OpTable& ops_;
  Sources& sources_;
  Diagnostics& diag;
  const SourceFile* source_;
  ExternalPatterns file_;
  Places named_;                                         ///< the names of all rows
  std::set<std::string> seen_;                           ///< lines of the current row, as all below
  std::vector<std::string> dims_;                        ///< names that operands give to dims
  Places numbers_, passed_, permuted_, operand_places_;  ///< names that the row uses
};

}  // namespace

Result<ExternalPatterns> read_external_patterns(std::string path, std::string text, const relax::OpTable& ops,
                                                Sources& sources, Diagnostics& diag) {
  return Reading(std::move(path), std::move(text), ops, sources, diag).run();
}

}  // namespace relaxc
