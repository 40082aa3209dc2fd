// string_parameters.cpp: see string_parameters.h.
//
// Strings say how to print, which operation to do, or which function to call, all of which is decided when compiling.
// So a call f(x, R.str("mean")) becomes a call of a copy of f without that parameter. Copies are made until no call
// passes a string any more: a function that hands a parameter on to another one, or to itself, needs copies of that
// too. The function itself goes away if it is private and nothing else mentions it.
//
// A function that gives such a parameter another value is left as it is, as is every other use of a string.
#include "frontends/relax/text/string_parameters.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using ast::Expr;
using ast::Stmt;
using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

constexpr size_t kMostCopies = 1000;

/// What names stand for, in a copy of a function.
using Strings = std::map<std::string, const Expr*>;

/// Returns the literal in `"text"` and R.str("text"); null for other expressions.
const Expr* literal_of(const Expr& e) {
  if (e.is(AstKind::kString)) return &e;
  const bool wrapped = e.is(AstKind::kCall) && e.items.size() == 2 && dotted_path(*e.items[0]) == "R.str";
  return wrapped && e.items[1]->is(AstKind::kString) ? e.items[1] : nullptr;
}

bool is_relax_function(const Stmt& stmt) {
  for (const Expr* decorator : stmt.decorators) {
    const std::string path =
        dotted_path(decorator->is(AstKind::kCall) ? *decorator->items[0] : *decorator).value_or("");
    if (path.ends_with(".function")) return true;
  }
  return false;
}

/// Whether an expression that is assigned to binds a name, alone or in a tuple.
bool binds(const Expr* target, const std::string& name) {
  if (target == nullptr) return false;
  if (target->is(AstKind::kName)) return target->text == name;
  return target->is_sequence() &&
         std::any_of(target->items.begin(), target->items.end(), [&](const Expr* item) { return binds(item, name); });
}

bool has_param(const Stmt& function, const std::string& name) {
  return std::any_of(function.params.begin(), function.params.end(),
                     [&](const ast::Parameter& param) { return param.name == name; });
}

/// Whether a statement gives a name another value: an assignment, a loop, or a function that has such a parameter.
bool gives_value(const Stmt& stmt, const std::string& name) {
  if (binds(stmt.target, name) || has_param(stmt, name)) return true;
  for (const ast::WithItem& item : stmt.with)
    if (binds(item.target, name)) return true;
  for (const std::vector<const Stmt*>* body : {&stmt.body, &stmt.orelse})
    for (const Stmt* inner : *body)
      if (gives_value(*inner, name)) return true;
  return false;
}

/// Whether an expression may be a function of a module: `Module.f`, `cls.f`. R.f and the like are operators.
bool is_of_module(const Expr& e) {
  if (!e.is(AstKind::kAttribute) || !e.items[0]->is(AstKind::kName)) return false;
  const std::string& space = e.items[0]->text;
  return space != "R" && space != "T" && space != "I" && space != "relax" && space != "tir" && space != "ir";
}

bool is_private(const Stmt& stmt) {
  for (const Expr* decorator : stmt.decorators)
    if (const ast::Keyword* given = decorator->keyword("private")) return given->value->is(AstKind::kTrue);
  return false;
}

class Specialization {
 public:
  Specialization(SourceText& source, ast::Tree& tree) : source_(source), tree_(tree) {}

  void run() {
    find(tree_.file);
    if (passes_string(tree_.file)) tree_.file = suite(tree_.file);
  }

 private:
  void find(const std::vector<const Stmt*>& statements) {
    for (const Stmt* stmt : statements) {
      if (stmt->kind == StmtKind::kClass) find(stmt->body);
      if (stmt->kind != StmtKind::kFunction) continue;
      names_.insert(stmt->text);
      if (!stmt->broken && is_relax_function(*stmt)) functions_[stmt->text] = stmt;
    }
  }

  /// Whether a call of a function of the module passes a string; most modules have none and stay as they are.
  bool passes_string(const std::vector<const Stmt*>& statements) const {
    for (const Stmt* stmt : statements)
      if (passes_string(stmt->value) || passes_string(stmt->body) || passes_string(stmt->orelse)) return true;
    return false;
  }

  bool passes_string(const Expr* e) const {
    if (e == nullptr) return false;
    const Stmt* called = e->is(AstKind::kCall) ? function_of(*e) : nullptr;
    for (size_t i = 1; called != nullptr && i < e->items.size(); ++i)
      if (literal_of(*e->items[i]) != nullptr) return true;
    for (const Expr* item : e->items)
      if (passes_string(item)) return true;
    return false;
  }

  /// Copies the statements of a file or class, and appends the copies of functions.
  std::vector<const Stmt*> suite(const std::vector<const Stmt*>& statements) {
    std::vector<const Stmt*> made;
    for (const Stmt* stmt : statements) made.push_back(rewritten(*stmt));
    while (!waiting_.empty()) {
      const auto [copy, strings] = std::move(waiting_.back());
      waiting_.pop_back();
      strings_ = strings;
      made.push_back(rewritten(*copy));
      strings_.clear();
    }
    const std::set<std::string> used = used_in(made);
    std::erase_if(made, [&](const Stmt* stmt) { return may_go(*stmt) && used.count(stmt->text) == 0; });
    return made;
  }

  /// Whether a function may go away if nothing uses it.
  bool may_go(const Stmt& stmt) const {
    return stmt.kind == StmtKind::kFunction && copied_.count(stmt.text) > 0 && is_private(stmt);
  }

  /// Returns what is mentioned by statements that stay, and by the functions that these mention.
  std::set<std::string> used_in(const std::vector<const Stmt*>& statements) {
    std::vector<std::string> pending;
    for (const Stmt* stmt : statements)
      if (!may_go(*stmt)) pending.push_back(stmt->text);
    std::set<std::string> used;
    while (!pending.empty()) {
      const std::string from = std::move(pending.back());
      pending.pop_back();
      for (const std::string& name : mentions_[from])
        if (used.insert(name).second) pending.push_back(name);
    }
    return used;
  }

  const Stmt* rewritten(const Stmt& stmt) {
    Stmt made = stmt;
    if (stmt.kind == StmtKind::kClass) {
      made.body = suite(stmt.body);
      return &tree_.stmts.emplace_back(std::move(made));
    }
    const bool outer = stmt.kind == StmtKind::kFunction && depth_++ == 0;
    if (outer) reading_ = stmt.text;
    made.target = stmt.kind == StmtKind::kAssign && stmt.target != nullptr && stmt.target->is(AstKind::kName)
                      ? stmt.target
                      : rewritten(stmt.target);
    made.value = rewritten(stmt.value);
    made.annotation = rewritten(stmt.annotation);
    for (ast::WithItem& item : made.with) item.value = rewritten(item.value);
    for (std::vector<const Stmt*>* body : {&made.body, &made.orelse})
      for (const Stmt*& inner : *body) inner = rewritten(*inner);
    depth_ -= stmt.kind == StmtKind::kFunction ? 1 : 0;
    return &tree_.stmts.emplace_back(std::move(made));
  }

  const Expr* rewritten(const Expr* e) {
    if (e == nullptr) return nullptr;
    if (e->is(AstKind::kName)) {
      auto string = strings_.find(e->text);
      if (string != strings_.end()) return string->second;
      mentions_[reading_].insert(e->text);
      return e;
    }
    Expr made = *e;
    const bool is_call = e->is(AstKind::kCall);
    for (size_t i = is_call ? 1 : 0; i < made.items.size(); ++i) made.items[i] = rewritten(made.items[i]);
    for (ast::Keyword& keyword : made.keywords) keyword.value = rewritten(keyword.value);
    if (is_call && !call_copy(made)) made.items[0] = rewritten(made.items[0]);
    if (is_of_module(*e)) mentions_[reading_].insert(e->text);
    return made.items == e->items && same_keywords(made, *e) ? e : &tree_.exprs.emplace_back(std::move(made));
  }

  static bool same_keywords(const Expr& a, const Expr& b) {
    for (size_t i = 0; i < a.keywords.size(); ++i)
      if (a.keywords[i].value != b.keywords[i].value) return false;
    return true;
  }

  /// Returns the function of the module that a call names, if it has as many parameters as the call has arguments.
  const Stmt* function_of(const Expr& call) const {
    const Expr& head = *call.items[0];
    auto found = is_of_module(head) || head.is(AstKind::kName) ? functions_.find(head.text) : functions_.end();
    if (found == functions_.end() || found->second->params.size() + 1 != call.items.size()) return nullptr;
    return found->second;
  }

  /// Makes a call of a function with strings a call of its copy; returns whether it did.
  bool call_copy(Expr& call) {
    const Stmt* function = function_of(call);
    if (function == nullptr) return false;
    std::vector<const Expr*> kept{call.items[0]};
    Strings strings;
    for (size_t i = 1; i < call.items.size(); ++i) {
      const Expr* literal = literal_of(*call.items[i]);
      const std::string& param = function->params[i - 1].name;
      if (literal != nullptr && !gets_value(*function, param))
        strings[param] = literal;
      else
        kept.push_back(call.items[i]);
    }
    if (strings.empty()) return false;
    Expr renamed = *call.items[0];
    renamed.text = copy_of(*function, strings);
    kept[0] = &tree_.exprs.emplace_back(std::move(renamed));
    call.items = std::move(kept);
    return true;
  }

  /// Whether the function gives a parameter another value.
  static bool gets_value(const Stmt& function, const std::string& param) {
    return std::any_of(function.body.begin(), function.body.end(),
                       [&](const Stmt* inner) { return gives_value(*inner, param); });
  }

  /// Returns the name of the function's copy for these strings.
  std::string copy_of(const Stmt& function, const Strings& strings) {
    std::string key = function.text;
    for (const auto& [param, literal] : strings) key += '\0' + param + '\0' + literal->text;
    if (copies_.size() == kMostCopies && copies_.count(key) == 0) return too_many(function);
    std::string& name = copies_[key];
    if (!name.empty()) return name;
    copied_.insert(function.text);
    int number = 1;
    do name = function.text + "_" + std::to_string(number++);
    while (!names_.insert(name).second);
    Stmt copy = function;
    copy.text = name;
    for (const Expr*& decorator : copy.decorators) decorator = as_private(*decorator);
    std::erase_if(copy.params, [&](const ast::Parameter& param) { return strings.count(param.name) > 0; });
    waiting_.emplace_back(&tree_.stmts.emplace_back(std::move(copy)), strings);
    return name;
  }

  /// Reports that there are too many copies, once. Returns the name of one of the function, so that nothing else is
  /// reported of the call.
  std::string too_many(const Stmt& function) {
    if (!std::exchange(reported_, true))
      (void)source_.error(function.place, Kind::unsupported,
                          "calls pass more than {} lists of strings to functions, and each is a copy of a function",
                          kMostCopies);
    const std::string begin = function.text + '\0';
    auto near = copies_.lower_bound(begin);
    return near != copies_.end() && near->first.starts_with(begin) ? near->second : function.text;
  }

  /// Returns `@R.function(private=True)` of `@R.function`.
  const Expr* as_private(const Expr& decorator) {
    Expr made = decorator;
    if (!decorator.is(AstKind::kCall)) {
      made = Expr{AstKind::kCall, decorator.place, {}, {&decorator}, {}, decorator.depth + 1};
    }
    std::erase_if(made.keywords, [](const ast::Keyword& keyword) { return keyword.name == "private"; });
    const Expr& yes = tree_.exprs.emplace_back(Expr{AstKind::kTrue, decorator.place, {}, {}, {}, 1});
    made.keywords.push_back({"private", decorator.place, &yes});
    return &tree_.exprs.emplace_back(std::move(made));
  }

  SourceText& source_;
  ast::Tree& tree_;
  std::map<std::string, const Stmt*> functions_;
  std::map<std::string, std::string> copies_;  ///< names, by the function and the strings
  std::set<std::string> names_;                ///< of all functions of the module, and of copies
  std::set<std::string> copied_;               ///< functions that have copies
  /// Names that a function of the module mentions, other than in calls of copies.
  std::map<std::string, std::set<std::string>> mentions_;
  std::vector<std::pair<const Stmt*, Strings>> waiting_;
  Strings strings_;
  std::string reading_;  ///< the function of the module whose statements are copied
  int depth_ = 0;        ///< of functions in functions
  bool reported_ = false;
};

}  // namespace

void specialize_strings(SourceText& source, ast::Tree& tree) {
  Specialization(source, tree).run();
}

}  // namespace relaxc::frontend
