// relax_stmt.cpp: the statements of a Relax function.
//
// An error in one statement does not end the function: its targets are poisoned, so that what depends on them stays
// silent, and the next statement is read. A mistake is reported once, and every mistake is.
#include "compiler/relax/attr_text.h"
#include "compiler/relax/function_attrs.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/name_uses.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

std::vector<const ast::Expr*> targets_of(const ast::Expr& target) {
  return target.is_sequence() ? target.items : std::vector<const ast::Expr*>{&target};
}

/// The dtype of the symbol that a call such as T.int64() declares; integers of 32 and 64 bits are dims.
std::optional<DType> declared_symbol(const std::string& path, const ast::Expr& call) {
  for (const char* untyped : {"T.var", "T.Var", "T.SizeVar", "tir.Var", "R.shape_var", "T.index"})
    if (path == untyped && (path != "T.index" || call.items.size() == 1)) return DType::index();
  if (path.rfind("T.", 0) != 0 || call.items.size() != 1) return std::nullopt;
  std::optional<DType> dtype = parse_dtype(path == "T.boolean" ? "bool" : path.substr(2));
  return dtype == DType::i(64) || dtype == DType::i(32) ? DType::index() : dtype;
}

/// Whether nothing after `body` is reached. Indentation is bounded, so recursion is.
bool ends_in_return(const std::vector<const ast::Stmt*>& body) {
  if (body.empty()) return false;
  const ast::Stmt& last = *body.back();
  return last.kind == StmtKind::kReturn ||
         (last.kind == StmtKind::kIf && ends_in_return(last.body) && ends_in_return(last.orelse));
}

}  // namespace

Status RelaxFunctionReader::suite(const Body& body) {
  bool ok = true;
  for (size_t i = 0; i < body.size(); ++i) {
    const ast::Stmt& stmt = *body[i];
    if (returned_ && return_into_ != nullptr) {
      (void)source_.error(stmt.place, Kind::ill_formed, "nothing can follow 'return'");
      return source_.diag().failed();
    }
    if (stmt.kind == StmtKind::kIf && stmt.orelse.empty() && i + 1 < body.size() && ends_in_return(stmt.body)) {
      // What follows an `if` that returns is its other branch.
      ast::Stmt whole = stmt;
      whole.orelse.assign(body.begin() + static_cast<int64_t>(i) + 1, body.end());
      may_return_ = true;
      if (!statement(whole)) ok = false;
      break;
    }
    bool nested = stmt.kind == StmtKind::kIf || stmt.kind == StmtKind::kWith;
    if (nested) used_later_.push_back(names_used({body.begin() + static_cast<int64_t>(i) + 1, body.end()}));
    may_return_ = i + 1 == body.size();
    if (!statement(stmt)) {
      ok = false;
      poison(stmt.target);
    }
    if (nested) used_later_.pop_back();
  }
  if (!ok) return source_.diag().failed();
  return Done{};
}

Status RelaxFunctionReader::statement(const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kPass:
    case StmtKind::kImport:
      return Done{};
    case StmtKind::kAssign:
      return assignment(stmt);
    case StmtKind::kExpr:
      return expression(stmt);
    case StmtKind::kReturn:
      return return_values(stmt);
    case StmtKind::kWith:
      return with(stmt);
    case StmtKind::kIf:
      return branch(stmt);
    case StmtKind::kAugmentAssign:
      return source_.error(stmt.place, Kind::unsupported, "values do not change here; write a new binding");
    case StmtKind::kFor:
    case StmtKind::kWhile:
      return source_.error(stmt.place, Kind::unsupported,
                           "a Relax function loops by 'with R.loop(…)' or by calling itself");
    case StmtKind::kFunction:
      return nested_function(stmt);
    default:
      break;
  }
  return source_.error(stmt.place, Kind::unsupported, "this statement has no meaning in a Relax function");
}

Status RelaxFunctionReader::assignment(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  if (stmt.value == nullptr)
    return source_.error(stmt.place, Kind::ill_formed, "a declaration without a value means nothing here");
  bool done = false;
  RELAXC_DO(declare_symbols(stmt, done));
  if (done) return Done{};
  Result<Term> term = [&] {
    Within<const ast::Expr*> hint(hint_, stmt.annotation);
    return eval(*stmt.value);
  }();
  if (term) term = named_function(*term, stmt.value->place);
  if (!term) {
    if (stmt.annotation != nullptr) read_for_errors(*stmt.annotation);
    return diag.failed();
  }
  if (stmt.annotation != nullptr) {
    term = annotate(*term, *stmt.annotation);
    if (!term) return diag.failed();
  }
  if (term->kind == Term::kScalar || term->is_dims()) RELAXC_DO(limit_size(stmt));
  return bind_target(*stmt.target, std::move(*term), stmt.value->place);
}

/// `s = s * s`, again and again, would be an expression that doubles with every line.
Status RelaxFunctionReader::limit_size(const ast::Stmt& stmt) {
  static constexpr double kLargest = 10000;
  double size = size_of(*stmt.value);
  if (size > kLargest)
    return source_.error(stmt.value->place, Kind::unsupported,
                         "written out, this dim is an expression of more than {} parts; a match_cast to a new symbol "
                         "gives its value a name",
                         kLargest);
  if (stmt.target->is(AstKind::kName)) sizes_[stmt.target->text] = size;
  return Done{};
}

/// Names and operators of an expression of dims, with those in its names written out.
double RelaxFunctionReader::size_of(const ast::Expr& e) const {
  auto known = e.is(AstKind::kName) ? sizes_.find(e.text) : sizes_.end();
  double size = known == sizes_.end() ? 1 : known->second;
  for (const ast::Expr* item : e.items)
    if (item != nullptr) size += size_of(*item);
  for (const ast::Keyword& keyword : e.keywords) size += size_of(*keyword.value);
  return size;
}

/// The annotation of a value that was refused has mistakes of its own; symbols that it names are known from here on.
void RelaxFunctionReader::read_for_errors(const ast::Expr& annotation) {
  std::vector<arith::Var> named;
  (void)info_by(DimPattern::kFresh, annotation, named);
}

/// `a`, or `a, (b, c)` for the parts of a tuple.
Status RelaxFunctionReader::bind_target(const ast::Expr& target, Term term, Place value) {
  Diagnostics& diag = source_.diag();
  if (!target.is_sequence()) {
    if (!target.is(AstKind::kName))
      return source_.error(target.place, Kind::unsupported, "values are bound to names, found {}", describe(target));
    bind(target, std::move(term));
    return Done{};
  }
  RELAXC_TRY(std::vector<Term> parts, parts_of(term, target.items.size(), value));
  if (parts.size() != target.items.size())
    return source_.error(target.place, Kind::wrong_arity, "{} names for {} values", target.items.size(), parts.size());
  bool ok = true;
  for (size_t i = 0; i < parts.size(); ++i) ok &= bool(bind_target(*target.items[i], std::move(parts[i]), value));
  if (!ok) return diag.failed();
  return Done{};
}

/// The fields of a tuple; those of a value only if there are `wanted` of them, since taking them out makes ops.
Result<std::vector<Term>> RelaxFunctionReader::parts_of(const Term& term, size_t wanted, Place place) {
  Diagnostics& diag = source_.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  if (term.kind == Term::kSequence) return term.items;
  const auto* tuple = term.kind == Term::kValue ? term.value->info->as<relax::TupleInfo>() : nullptr;
  if (tuple == nullptr)
    return source_.error(place, Kind::dtype_mismatch, "only a tuple has parts, found {}",
                         term.kind == Term::kValue ? relax::to_string(term.value->info) : "no tuple");
  std::vector<Term> parts(tuple->fields.size());
  for (size_t i = 0; i < parts.size() && parts.size() == wanted; ++i) {
    RELAXC_TRY(Value * part, graph_.at(place).tuple_get(term.value, static_cast<int64_t>(i)));
    parts[i] = Term::of(part);
  }
  return parts;
}

/// `n = T.int64()`, `n, m = R.shape_vars("n", "m")`.
Status RelaxFunctionReader::declare_symbols(const ast::Stmt& stmt, bool& done) {
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target), values = targets_of(*stmt.value);
  bool group = values.size() == 1 && values[0]->is(AstKind::kCall) && path_of(*values[0]->items[0]) == "R.shape_vars";
  if (values.empty()) return Done{};  // `x = ()`
  for (const ast::Expr* value : values) {
    if (group) break;
    if (!value->is(AstKind::kCall) || !declared_symbol(path_of(*value->items[0]), *value)) return Done{};
  }
  done = true;
  size_t count = group ? values[0]->items.size() - 1 : values.size();
  if (count != targets.size())
    return source_.error(stmt.place, Kind::wrong_arity, "{} names for {} symbols", targets.size(), count);
  for (size_t i = 0; i < targets.size(); ++i) {
    const ast::Expr* target = targets[i];
    if (!target->is(AstKind::kName))
      return source_.error(target->place, Kind::syntax, "expected a name for the symbol");
    auto* known = names_.find(target->text);
    bool again =
        known != nullptr && known->value.kind == Term::kScalar && known->value.scalar.expr.as<arith::VarNode>();
    DType dtype = group ? DType::index() : *declared_symbol(path_of(*values[i]->items[0]), *values[i]);
    if (!again) declare_symbol(target->text, dtype, target->place);
  }
  return Done{};
}

Status RelaxFunctionReader::with(const ast::Stmt& stmt) {
  const ast::Expr& head = *stmt.with.front().value;
  std::string path = head.is(AstKind::kCall) ? path_of(*head.items[0]) : std::string();
  if (stmt.with.size() == 1 && path == "R.dataflow") return dataflow(stmt);
  if (stmt.with.size() == 1 && path == "R.loop") return loop(stmt);
  return source_.error(head.place, Kind::unsupported, "'with' opens a dataflow block (R.dataflow) or a loop (R.loop)");
}

/// A dataflow block: what R.output names, and symbols, outlive it.
Status RelaxFunctionReader::dataflow(const ast::Stmt& stmt) {
  if (graph_.in_dataflow())
    return source_.error(stmt.place, Kind::ill_formed, "a dataflow block cannot stand in another");
  GraphCursor::Dataflow dataflow(graph_);
  Scope<Term>::Inner own_names(names_);
  std::vector<const ast::Expr*> exported;
  bool ok = true;
  for (const ast::Stmt* inner : stmt.body) {
    const ast::Expr* call = inner->kind == StmtKind::kExpr && inner->value->is(AstKind::kCall) ? inner->value : nullptr;
    std::string path = call == nullptr ? std::string() : path_of(*call->items[0]);
    if (path == "R.output" || path == "R.outputs") {
      for (size_t i = 1; i < call->items.size(); ++i) exported.push_back(call->items[i]);
      continue;
    }
    if (inner->kind == StmtKind::kReturn) {
      (void)source_.error(inner->place, Kind::ill_formed, "'return' stands after the dataflow block, not inside");
      ok = false;
      continue;
    }
    if (statement(*inner)) continue;
    ok = false;
    poison(inner->target);
  }
  std::vector<std::pair<std::string, Term>> kept;
  for (const ast::Expr* name : exported) {
    auto* known = name->is(AstKind::kName) ? names_.find(name->text) : nullptr;
    if (known != nullptr) {
      kept.emplace_back(name->text, known->value);
      continue;
    }
    ok = false;
    if (name->is(AstKind::kName))
      (void)unbound(*name, false);
    else
      (void)source_.error(name->place, Kind::ill_formed, "R.output takes names, found {}", describe(*name));
  }
  Scope<Term>::Frame frame = own_names.leave();
  for (auto& [name, binding] : frame) {
    // A poisoned name stays poisoned outside, since its error was reported.
    bool symbol = binding.value.kind == Term::kScalar || binding.value.kind == Term::kPoison;
    if (symbol)
      names_.bind(name, binding.value, binding.place);
    else
      hidden_[name] = {binding.place,
                       "it belongs to a dataflow block that has ended; name it in R.output to use it after"};
  }
  for (auto& [name, term] : kept) {
    hidden_.erase(name);
    names_.bind(name, std::move(term), stmt.place);
  }
  if (!ok) return source_.diag().failed();
  return Done{};
}

Status RelaxFunctionReader::expression(const ast::Stmt& stmt) {
  const ast::Expr& e = *stmt.value;
  if (e.is(AstKind::kString)) return Done{};  // a comment
  if (!e.is(AstKind::kCall)) return source_.error(e.place, Kind::ill_formed, "this statement does nothing");
  std::string path = path_of(*e.items[0]);
  if (path == "R.func_attr") return function_attributes(e);
  if (path == "R.func_name" || path == "R.func_ret_struct_info") return Done{};
  if (path == "R.output" || path == "R.outputs")
    return source_.error(e.place, Kind::ill_formed, "R.output belongs inside 'with R.dataflow():'");
  RELAXC_TRY(Term term, eval(e));
  (void)term;
  return Done{};
}

Result<std::vector<relax::Value*>> RelaxFunctionReader::result_values(const Term& term, Place place) {
  Diagnostics& diag = source_.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  std::vector<Value*> values;
  bool several = term.kind == Term::kSequence && term.items.size() != 1 && !(term.is_dims() && !term.items.empty());
  if (several) {
    for (const Term& item : term.items) {
      RELAXC_TRY(Value * value, as_value(item, place));
      values.push_back(value);
    }
    return values;
  }
  Term single = term;
  if (term.kind == Term::kSequence && !term.is_dims()) {  // (x,): a tuple of one
    RELAXC_TRY(Value * field, as_value(term.items[0], place));
    return std::vector<Value*>{graph_.at(place).tuple({field})};
  }
  RELAXC_TRY(Value * value, as_value(single, place));
  if (value == nullptr) return source_.error(place, Kind::invalid_value, "None cannot be returned; R.tuple() can");
  const auto* tuple = value->info->as<relax::TupleInfo>();
  if (tuple == nullptr || tuple->fields.size() == 1) return std::vector<Value*>{value};
  if (value->op != nullptr && value->op->kind == relax::OpKind::kTuple) return value->op->operands();
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    RELAXC_TRY(Value * field, graph_.at(place).tuple_get(value, static_cast<int64_t>(i)));
    values.push_back(field);
  }
  return values;
}

Status RelaxFunctionReader::return_values(const ast::Stmt& stmt) {
  if (return_into_ == nullptr || !may_return_)
    return source_.error(stmt.place, Kind::unsupported, "'return' ends a function or both branches of its last 'if'");
  returned_ = true;
  if (stmt.value == nullptr) return Done{};
  RELAXC_TRY(Term term, eval(*stmt.value));
  RELAXC_TRY(*return_into_, result_values(term, stmt.value->place));
  for (Value* value : *return_into_)
    if (value == nullptr) return source_.error(stmt.value->place, Kind::invalid_value, "None cannot be returned");
  return Done{};
}

Status RelaxFunctionReader::bounds(const std::string& attribute, const ast::Expr& dict) {
  if (!dict.is(AstKind::kDict))
    return source_.error(dict.place, Kind::invalid_attribute, "'{}' takes a dict such as {{\"n\": 256}}", attribute);
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    RELAXC_TRY(std::string symbol, string_value(source_, *dict.items[i], "a symbol"));
    RELAXC_TRY(arith::Expr value, index(*dict.items[i + 1]));
    if (value.constant() == nullptr)
      return source_.error(dict.items[i + 1]->place, Kind::invalid_attribute, "a bound is an integer");
    ast::Expr place_of_name = *dict.items[i];
    place_of_name.text = symbol;
    auto* known = names_.find(symbol);
    bool is_symbol = known != nullptr && (known->value.kind == Term::kScalar || known->value.kind == Term::kValue);
    if (!is_symbol) return unbound(place_of_name, true);
    // A symbol may be bounded before it has a value: what the data gives it must keep to that.
    Scalar scalar = known->value.scalar;
    if (known->value.kind == Term::kValue) {
      RELAXC_TRY(scalar, name(place_of_name));
    }
    const auto* var = scalar.expr.as<arith::VarNode>();
    if (var == nullptr)
      return source_.error(dict.items[i]->place, Kind::invalid_attribute, "'{}' is no symbol", symbol);
    int64_t bound = *value.constant();
    if (attribute == "tir_var_multiple_of" && bound < 1)
      return source_.error(dict.items[i + 1]->place, Kind::invalid_attribute,
                           "'{}' cannot be a multiple of {}; a positive number is expected", symbol, bound);
    if (attribute == "tir_var_multiple_of")
      function_.facts.multiple(arith::Var(var), bound);
    else if (attribute == "tir_var_upper_bound")
      function_.facts.bound(arith::Var(var), {INT64_MIN, bound});
    else
      function_.facts.bound(arith::Var(var), {bound, INT64_MAX});
    if (!function_.facts.conflict().empty())
      return source_.error(dict.items[i + 1]->place, Kind::invalid_attribute, "{} = {} leaves no value for '{}': {}",
                           attribute, bound, symbol, function_.facts.conflict());
  }
  return Done{};
}

Status RelaxFunctionReader::function_attributes(const ast::Expr& call) {
  if (call.items.size() != 2 || !call.items[1]->is(AstKind::kDict))
    return source_.error(call.place, Kind::invalid_attribute, "R.func_attr takes one dict");
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    RELAXC_TRY(std::string key, string_value(source_, *entries[i], "an attribute's name"));
    const ast::Expr& value = *entries[i + 1];
    if (key == "tir_var_upper_bound" || key == "tir_var_lower_bound" || key == "tir_var_multiple_of") {
      RELAXC_DO(bounds(key, value));
      continue;
    }
    if (key == "global_symbol") continue;
    RELAXC_TRY(Term term, eval(value));
    const relax::FunctionAttr* row = relax::find_function_attr(key);
    relax::AttrType type = row == nullptr ? relax::AttrType::kString : row->type;
    RELAXC_TRY(relax::AttrValue read, attribute_value(term, type, key, value.place));
    if (!relax::set_attribute(function_, key, read))
      return source_.error(value.place, Kind::invalid_attribute, "'{}' is {}, found {}", key, row->form,
                           relax::attr_text(read));
  }
  return Done{};
}

}  // namespace relaxc::frontend
