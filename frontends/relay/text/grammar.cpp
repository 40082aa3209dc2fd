// grammar.cpp: the grammar of files and functions.
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

/// Names with a meaning for the readers of Relax functions; no variable may have them.
constexpr const char* kReserved[] = {"R",        "T",   "I",     "relay", "relax", "tir",
                                     "metadata", "cls", "float", "max",   "min",   "_"};

}  // namespace

Grammar::Grammar(SourceText& source, ast::Tree& tree, Tokens tokens, Types::Deduce deduce)
    : source_(source),
      tree_(tree),
      tokens_(std::move(tokens.list)),
      types_(std::move(deduce)),
      used_(std::begin(kReserved), std::end(kReserved)) {
  for (const Token& token : tokens_)
    if (token.kind == TokenKind::kGlobal) used_.insert(token.text);
}

void Grammar::file() {
  find_definitions();
  at_ = 0;
  if (functions_.empty()) return free_expression();
  std::set<std::string> wanted = reachable();
  bool has_main = functions_.count("main") != 0;
  for (const std::string& function : order_) {
    const Definition& definition = functions_[function];
    if (function == "main" && !definition.type_params.empty())
      (void)source_.error(tokens_[definition.begin].place, Kind::unsupported,
                          "'@main' has parameters that are types, and nothing calls it");
    if (wanted.count(function) == 0 || !definition.type_params.empty()) continue;
    const bool is_private = has_main && function != "main";
    if (!is_private && infers_ && refuse_data_of(definition, function)) continue;
    type_names_.clear();
    global_function(definition, function, is_private);
  }
  for (size_t i = 0; i < instances_.size(); ++i) {  // which may need more of them
    type_names_ = instances_[i].types;
    global_function(functions_[instances_[i].function], std::string(instances_[i].name), true);
  }
}

/// Records where functions are, which others they mention, and all types, since a module's order has no meaning.
void Grammar::find_definitions() {
  size_t at = 0;
  while (tokens_[at].kind != TokenKind::kEnd) {
    bool defines = tokens_[at].is_name("def") && tokens_[at + 1].kind == TokenKind::kGlobal;
    bool is_type = tokens_[at].is_name("type") && tokens_[at + 1].kind == TokenKind::kName;
    size_t end = end_of_definition(at);
    if (is_type) declare_type(at, end);
    if (defines) {
      const Token& name = tokens_[at + 1];
      Definition made{at + 1, end, {}, {}};
      for (size_t i = at + 2; tokens_[at + 2].is("[") && i < end && !tokens_[i].is("]"); ++i)
        if (tokens_[i].kind == TokenKind::kName) made.type_params.push_back(tokens_[i].text);
      infers_ = infers_ || !made.type_params.empty();
      for (size_t i = at + 2; i < end; ++i)
        if (tokens_[i].kind == TokenKind::kGlobal) made.mentions.insert(tokens_[i].text);
      if (functions_.emplace(name.text, std::move(made)).second)
        order_.push_back(name.text);
      else
        (void)source_.error(name.place, Kind::redefinition, "two functions are named '@{}'", name.text);
    }
    if (!is_type && !defines && !functions_.empty())
      (void)source_.error(tokens_[at].place, Kind::syntax, "expected 'def @name' or 'type'");
    at = end;
  }
}

/// Returns the next `def` or `type` that is outside of braces or at the start of a line.
size_t Grammar::end_of_definition(size_t begin) const {
  int open = 0;
  for (size_t i = begin; tokens_[i].kind != TokenKind::kEnd; ++i) {
    const Token& token = tokens_[i];
    bool defines = (token.is_name("def") && tokens_[i + 1].kind == TokenKind::kGlobal) ||
                   (token.is_name("type") && tokens_[i + 1].kind == TokenKind::kName);
    bool first = token.place.begin == 0 || source_.text()[token.place.begin - 1] == '\n';
    if (i > begin && defines && (open == 0 || first)) return i;
    open += (token.is("{") ? 1 : 0) - (token.is("}") ? 1 : 0);
  }
  return tokens_.size() - 1;
}

std::set<std::string> Grammar::reachable() const {
  if (functions_.count("main") == 0) return {order_.begin(), order_.end()};
  std::set<std::string> reached{"main"};
  std::vector<std::string> open{"main"};
  while (!open.empty()) {
    std::string function = std::move(open.back());
    open.pop_back();
    for (const std::string& other : functions_.at(function).mentions)
      if (functions_.count(other) != 0 && reached.insert(other).second) open.push_back(other);
  }
  return reached;
}

ast::Stmt* Grammar::make_function(const std::string& name_of_it, Place place, bool is_private) {
  ast::Stmt* made = emit(StmtKind::kFunction, place);
  made->text = name_of_it;
  made->name_place = place;
  Expr decorator = make(ExprKind::kAttribute, place, {name(place, "R")}, "function");
  if (is_private) {
    ast::Expr& options = tree_.exprs.emplace_back(ast::Expr{ExprKind::kCall, place, {}, {decorator}, {}, 3});
    options.keywords.push_back({"private", place, make(ExprKind::kTrue, place)});
    decorator = &options;
  }
  made->decorators.push_back(decorator);
  return made;
}

void Grammar::global_function(const Definition& definition, const std::string& called, bool is_private) {
  at_ = definition.begin;
  scopes_.clear();
  numbered_at_.clear();
  holes_.clear();
  suite_ = nullptr;
  Token head = take();
  while (!definition.type_params.empty() && !take().is("]")) {
  }
  ast::Stmt* made = make_function(called, head.place, is_private);
  tree_.file.push_back(made);
  made->broken = !function(*made);
  if (!made->broken && at_ != definition.end) {
    unexpected("the end of the function");
    made->broken = true;
  }
  if (!made->broken && !fill_holes()) made->broken = true;
}

/// Parses a text without functions: `free_var %x: …;` and an expression, as TVM prints a plain expression.
void Grammar::free_expression() {
  if (peek().kind == TokenKind::kEnd) return;
  InScope scope(*this);
  ast::Stmt* made = make_function("main", peek().place, false);
  tree_.file.push_back(made);
  holes_.clear();
  Suite body;
  suite_ = &body;
  bool ok = true;
  while (ok && accept("free_var")) ok = parameter(*made) && expect(";", "behind a free variable");
  Expr value = ok ? expression() : nullptr;
  ok = value != nullptr;
  if (ok && peek().kind != TokenKind::kEnd) unexpected("the end of the text"), ok = false;
  if (ok) emit(StmtKind::kReturn, value->place)->value = value;
  made->body = std::move(body);
  made->broken = !ok || !fill_holes();
}

bool Grammar::parameter(ast::Stmt& function) {
  auto written = [&](Place place) { return source_.text().substr(place.begin, place.length); };
  Token variable = take();
  if (variable.kind != TokenKind::kLocal) {
    --at_;
    unexpected("a parameter such as %x");
    return false;
  }
  if (accept("{")) {  // the device of the parameter
    if (!function_attributes() || !expect("}", "behind the device of a parameter")) return false;
  }
  for (const ast::Parameter& earlier : function.params)  // compare spellings: a parameter's name may have got a number
    if (written(earlier.place) == written(variable.place)) {
      (void)source_.error(variable.place, Kind::redefinition, "two parameters are named '%{}'", variable.text);
      return false;
    }
  ast::Parameter& made = function.params.emplace_back();
  made.place = variable.place;
  made.name = declare(variable.text);
  if (!accept(":")) {
    (void)source_.error(variable.place, Kind::unsupported,
                        "parameter '%{}' needs a type; TVM's pass InferType writes it", variable.text);
    return false;
  }
  size_t begin = at_;
  std::string called = function.params.back().name;
  Expr annotation = type(Unknown::kSymbols, called);
  function.params.back().annotation = annotation;
  if (infers_ && annotation != nullptr) types_of_names_[called] = written_type(begin);
  return annotation != nullptr;
}

/// Parses `Primitive=1, hash="…"`: notes of TVM's passes, which change no value. Appends to `kept`, as keys and values
/// of a dict, the attributes that offload a function to a library, by their names in Relax.
bool Grammar::function_attributes(std::vector<Expr>* kept) {
  while (peek().kind == TokenKind::kName && peek(1).is("=")) {
    const Token key = take();
    take();
    if (peek().kind == TokenKind::kMeta) {
      take();
    } else {
      Expr value = attribute_value();
      if (value == nullptr) return false;
      if (kept != nullptr && (key.text == "Compiler" || key.text == "Composite"))
        kept->insert(kept->end(),
                     {make(ExprKind::kString, key.place, {}, key.text == "Compiler" ? "Codegen" : key.text), value});
    }
    if (!accept(",")) break;
  }
  return true;
}

/// Parses `(%x: T, %y: T, Primitive=1) -> T`.
bool Grammar::function_head(ast::Stmt& function, std::vector<Expr>& attributes_kept) {
  if (peek().is("[")) return refuse(peek().place, Kind::unsupported, "functions of types are not supported") != nullptr;
  if (!expect("(", "in front of parameters")) return false;
  while (!peek().is(")")) {
    bool attributes = peek().kind == TokenKind::kName;
    if (attributes ? !function_attributes(&attributes_kept) : !parameter(function)) return false;
    if (attributes || !accept(",")) break;
  }
  if (!expect(")", "behind parameters")) return false;
  if (infers_) results_.push_back(types_.variable(true));
  if (!accept("->")) return true;
  size_t begin = at_;
  function.annotation = type(Unknown::kRank, "result");
  if (infers_ && function.annotation != nullptr) results_.back() = written_type(begin);
  return function.annotation != nullptr;
}

bool Grammar::function(ast::Stmt& function) {
  InScope scope(*this);
  std::vector<Expr> attributes;
  const size_t around_results = results_.size();
  if (!function_head(function, attributes)) return results_.resize(around_results), false;
  if (infers_) {  // it may call itself
    std::vector<Type*> parts;
    for (const ast::Parameter& param : function.params) parts.push_back(types_of_names_[param.name]);
    parts.push_back(results_.back());
    types_of_names_[function.text] = types_.compound(Type::kFunction, std::move(parts));
  }
  Suite body;
  if (!attributes.empty()) {
    Suite* around = std::exchange(suite_, &body);
    emit(StmtKind::kExpr, function.place)->value =
        relax_call(function.place, "func_attr", {make(ExprKind::kDict, function.place, attributes)});
    suite_ = around;
  }
  ++functions_around_;
  Expr value = block(body, true);
  --functions_around_;
  Suite* outer = std::exchange(suite_, &body);
  if (value != nullptr) give(value);
  suite_ = outer;
  function.body = std::move(body);
  results_.resize(around_results);
  return value != nullptr;
}

void Grammar::give(Expr value) {
  if (value == &returned_) return;
  if (infers_) types_.unify(results_.back(), type_of(value));
  emit(StmtKind::kReturn, value->place)->value = value;
}

Grammar::Expr Grammar::block(Suite& into, bool last) {
  if (!expect("{", "in front of an expression")) return nullptr;
  InScope scope(*this);
  Suite* outer = std::exchange(suite_, &into);
  bool outer_last = std::exchange(last_, last);
  Expr value = expression();
  suite_ = outer;
  last_ = outer_last;
  if (value != nullptr && !expect("}", "behind an expression")) return nullptr;
  return value;
}

}  // namespace relaxc::relay
