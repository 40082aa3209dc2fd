// relax_function.h: the tree of an @R.function to the graph.
//
// relax_function.cpp has the signature and names, relax_stmt.cpp the statements, relax_branch.cpp and relax_loop.cpp
// branches and loops, relax_expr.cpp the expressions, relax_operator.cpp calls of operators, relax_call.cpp calls of
// functions, relax_call_tir.cpp those of prim funcs, relax_external.cpp those of external functions, relax_closure.cpp
// nested functions and functions as values, relax_effect.cpp effects and in-place calls, relax_info.cpp annotations.
#pragma once

#include <optional>
#include <unordered_set>

#include "frontends/relax/dim_pattern.h"
#include "frontends/relax/graph_cursor.h"
#include "frontends/relax/scope.h"
#include "frontends/relax/term.h"
#include "frontends/relax/within.h"

namespace relaxc::frontend {

/// Reports a device that is no CPU: `R.cpu(0)`, `"llvm:0"`, `I.vdevice("llvm")` are.
Status check_device(SourceText& source, const ast::Expr& e);

/// The argument at `position`, or one named by any of `names`; null if there is none.
const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names);
/// The keyword that says what a call gives, in any age of its name: out_ty, ty_args, out_sinfo or sinfo_args.
const ast::Keyword* result_types(const ast::Expr& call);

class RelaxFunctionReader : ScalarReader {
 public:
  RelaxFunctionReader(ModuleScope& scope, const ast::Stmt& definition, relax::Function& function)
      : ScalarReader(scope.module.context(), scope.source),
        scope_(scope),
        definition_(definition),
        function_(function),
        graph_(scope, function) {}

  /// Parameters and the declared result; false if they were reported.
  bool signature();
  /// The body; once. Calls of this function before it ends see the declared result only.
  bool body();

  /// What a call of this function gives, over its own symbols; nothing if neither body nor annotation says so yet.
  Result<std::vector<relax::Info>> results(Place call);
  relax::Function& function() const { return function_; }

 private:
  using Body = std::vector<const ast::Stmt*>;
  using Info = relax::Info;
  using Value = relax::Value;

  friend class TvmCall;

  // Signature and names.
  Status decorators();
  Status type_parameters();
  void declare_module_symbols();
  Status parameter(const ast::Parameter& parameter);
  Status collect_symbols();
  Failure unbound(const ast::Expr& e, bool dims);
  Result<Scalar> name(const ast::Expr& e) override;
  Result<Scalar> subscript(const ast::Expr& e) override;
  Result<Scalar> other_call(const ast::Expr& e, const std::string& callee) override;
  void open_parts() override { names_.push(); }
  void name_part(const std::string& name, const Scalar& part, Place place) override;
  void close_parts() override { names_.pop(); }
  void bind(const ast::Expr& target, Term term);
  void poison(const ast::Expr* target);
  void poison_names(const ast::Expr* annotation);
  arith::Var declare_symbol(const std::string& name, DType dtype, Place place);
  /// A name of this function, or of one around, which is then captured.
  Scope<Term>::Binding* find(const std::string& name);
  bool shadowed(const std::string& root) { return find(root) != nullptr; }
  /// "R.nn.relu" of a call's callee, if no local name hides its root.
  std::string path_of(const ast::Expr& e);

  // Annotations.
  Result<Info> info(const ast::Expr& e);
  Result<Info> tensor_info(const ast::Expr& e);
  Result<Info> shape_info(const ast::Expr& e);
  Result<Info> prim_info(const ast::Expr& e);
  Result<Info> tuple_info(const ast::Expr& e);
  Result<Info> callable_info(const ast::Expr& e);
  Result<std::vector<Info>> info_list(const ast::Expr& e);
  /// The same where names may be bound as `kind` says; symbols that are go to `binds`.
  Result<Info> info_by(DimPattern::Kind kind, const ast::Expr& e, std::vector<arith::Var>& binds);
  /// One info, or several, whose unknown names become symbols and go to `binds`.
  Result<std::vector<Info>> fresh_infos(const ast::Expr& e, std::vector<arith::Var>& binds);
  Result<std::vector<arith::Expr>> dims(const ast::Expr& e);
  Result<std::vector<arith::Expr>> dims_of(const Term& term, Place place);
  Result<arith::Expr> dim(const ast::Expr& e);
  Result<arith::Expr> prim_of(const ast::Expr& e, DType dtype);
  bool is_empty_tuple(const ast::Expr& e);
  /// Brings a value to what its annotation says: checks, unifies symbols, or casts with a guard.
  Result<Term> annotate(const Term& term, const ast::Expr& annotation);
  Result<Value*> cast_to(Value* value, Info info, std::vector<arith::Var> binds, Place place);
  bool may_cast_in_branches(const Value& value) const;
  Result<Value*> cast_in_branches(Value* value, Info wanted, const std::vector<arith::Var>& binds, Place place);
  void give_dims(relax::Op& shape_function, int32_t rank);
  bool ranks_are_known();

  // Statements.
  Status suite(const Body& body);
  Status statement(const ast::Stmt& stmt);
  Status assignment(const ast::Stmt& stmt);
  void read_for_errors(const ast::Expr& annotation);
  Status limit_size(const ast::Stmt& stmt);
  double size_of(const ast::Expr& e) const;
  Status bind_target(const ast::Expr& target, Term term, Place value);
  Result<std::vector<Term>> parts_of(const Term& term, size_t wanted, Place place);
  Status expression(const ast::Stmt& stmt);
  Status declare_symbols(const ast::Stmt& stmt, bool& done);
  Status with(const ast::Stmt& stmt);
  Status dataflow(const ast::Stmt& stmt);
  Status outputs(const ast::Expr& call);
  Status return_values(const ast::Stmt& stmt);
  Status function_attributes(const ast::Expr& call);
  Status bounds(const std::string& name, const ast::Expr& dict);
  Result<std::vector<Value*>> result_values(const Term& term, Place place);
  Status check_results(std::vector<Value*>& values, Place place);

  // Regions.
  class BranchReader;
  Status branch(const ast::Stmt& stmt);
  Status check_open_results();
  class LoopReader;
  Status loop(const ast::Stmt& stmt);

  // Expressions.
  Result<Term> eval(const ast::Expr& e);
  Result<Term> name_term(const ast::Expr& e);
  Result<Term> sequence(const ast::Expr& e);
  Result<Term> attribute(const ast::Expr& e);
  Result<Term> element(const ast::Expr& e);
  Result<Term> infix(const ast::Expr& e);
  Result<Term> call(const ast::Expr& e);
  Result<Term> special(const std::string& path, const ast::Expr& e, bool& known);
  Result<Term> transparent(const std::string& path, const ast::Expr& e, bool& known);
  Result<Term> extern_func(const ast::Expr& e);
  Result<Term> shape(const ast::Expr& e);
  Result<Term> prim_value(const ast::Expr& e);
  Result<Term> tuple(const ast::Expr& e);
  Result<Term> tuple_get_item(const ast::Expr& e);
  Result<Term> shape_of(const ast::Expr& e);
  Result<Term> constant(const ast::Expr& e);
  const relax::TensorInfo* matched_info(const Value& value) const;
  Result<Term> match_cast(const ast::Expr& e) { return match(e, false); }
  Result<Term> match_shape(const ast::Expr& e) { return match(e, true); }
  Result<Term> match(const ast::Expr& e, bool shape_only);
  Value* operand_value(const ast::Expr& e);
  Result<Value*> as_value(const Term& term, Place place);
  Result<Value*> number(const Scalar& scalar, DType dtype, Place place);

  // Nested functions and functions as values.
  Status nested_function(const ast::Stmt& stmt);
  Term import(const Term& outer, const std::string& name, Place place);
  void import_symbols(const std::vector<arith::Var>& symbols);
  std::vector<Value*> finish_captures();
  Result<Value*> self_closure(Place place);
  Result<Value*> global_closure(const std::string& name, const std::vector<Value*>& captured, Place place);
  /// What a name is bound to: a function of the module becomes a value.
  Result<Term> named_function(const Term& term, Place place);
  Result<Term> make_closure(const ast::Expr& e);
  Result<Term> invoke_closure(const ast::Expr& e);
  Result<Term> call_closure(Value* callee, const std::vector<Value*>& args, Place place);
  Result<Term> call_value(const Term& function, const ast::Expr& e);

  // Operators.
  struct Argument {
    Term term;
    Place place;
  };
  class OperatorCall;
  Result<Term> operator_call(const std::string& name, const ast::Expr& e);
  Result<Term> tvm_operator(const std::string& name, const ast::Expr& e, bool& known);
  Result<Value*> scalar_tensor(arith::Expr dim, DType dtype, Place place);
  Result<Term> apply(const relax::OpDef& def, std::vector<Argument> operands, relax::Attrs attrs, Place place);
  Result<std::vector<Value*>> operand_values(const std::vector<Argument>& operands, bool elementwise);
  Info with_symbols(Info info, const std::string& name);
  void pin(Value& value);
  Result<relax::AttrValue> attribute_value(const Term& term, relax::AttrType type, const std::string& name,
                                           Place place);
  Result<const relax::OpDef*> find_operator(const std::string& name, Place place);

  // Effects.
  Result<Term> assert_op(const ast::Expr& e);
  Result<Term> print(const ast::Expr& e);
  Result<std::string> format_text(const ast::Expr& e);
  Status effect_here(const ast::Expr& e, std::string_view what);
  Result<std::vector<Value*>> shown_values(const ast::Expr& e, size_t first);

  // Calls.
  Result<Term> call_tir(const ast::Expr& e);
  Result<Term> call_dps(const ast::Expr& e);
  Result<Term> call_dps_packed(const ast::Expr& e);
  Result<Term> call_packed(const ast::Expr& e);
  Result<Term> call_tir_inplace(const ast::Expr& e);
  Result<Term> call_inplace_packed(const ast::Expr& e);
  Result<std::vector<int64_t>> inplace_indices(const ast::Expr& e, const ast::Expr* listed,
                                               const std::vector<Value*>& args, const std::vector<Info>& outputs);
  Result<Term> call_inplace(const std::string& name, bool external, std::vector<Value*> args,
                            std::vector<int64_t> indices, const std::vector<Info>& outputs, Place place);
  Result<Term> returned_results(const std::string& name, const std::vector<Value*>& args, std::vector<Info> infos,
                                std::vector<arith::Var> bound, Place place);
  Result<Term> call_global(const std::string& name, const ast::Expr& e);
  Result<std::vector<arith::Expr>> explicit_symbols(const RelaxFunctionReader& callee, const ast::Expr& list);
  Status check_symbols(const RelaxFunctionReader& callee, const std::vector<arith::Expr>& given,
                       const arith::Substitution& symbols, const ast::Expr& list);
  Result<std::vector<Value*>> call_arguments(const ast::Expr& list);
  Result<std::vector<Info>> output_infos(const ast::Expr& e, size_t position);
  Result<Term> callee(const ast::Expr& e);
  Result<Term> finish_call_tir(const std::string& name, std::vector<Value*> args, std::vector<Info> outputs,
                               Place place, const ast::Expr* list = nullptr);
  Status check_compact(const tir::PrimFunc& prim, const tir::Buffer& buffer, Place place);
  Status check_prim_args(const tir::PrimFunc& callee, const std::vector<Value*>& args, const std::vector<Info>& outputs,
                         Place place);
  Status check_prim_kinds(const tir::PrimFunc& callee, const std::vector<Value*>& args, size_t outputs,
                          const ast::Expr& list);
  Result<std::vector<Value*>> positional_arguments(const ast::Expr& e, size_t first);
  Status check_keywords(const ast::Expr& e, const std::vector<std::string>& known);
  Status match_argument(Info param, Info argument, arith::Substitution& symbols, Place place, const std::string& name);
  Term results_of(relax::Op* op) const;

  ModuleScope& scope_;
  const ast::Stmt& definition_;
  relax::Function& function_;
  Scope<Term> names_;
  /// Names that stayed inside of something, and what would bring them out.
  struct Hidden {
    Place place;
    std::string_view way_out;
  };
  std::map<std::string, Hidden> hidden_;
  std::map<std::string, double> sizes_;  ///< of the expressions that names of dims stand for
  std::unordered_set<arith::Expr> unbound_;
  DimPattern pattern_;
  const ast::Expr* hint_ = nullptr;  ///< the annotation of the statement being read: call_dps looks up its dtype there

  GraphCursor graph_;
  std::vector<std::string>* assigned_ = nullptr;
  std::vector<std::set<std::string>> used_later_;  ///< names that the suites around read after the current statement
  std::vector<Info> declared_;                     ///< results as annotated
  bool has_declared_ = false;
  bool returned_ = false;
  bool signature_ok_ = false;
  bool may_return_ = true;
  std::vector<Value*>* return_into_ = nullptr;
  RelaxFunctionReader* parent_ = nullptr;  ///< of a nested function: the one around
  size_t own_params_ = 0;                  ///< of a nested function: parameters before the captured values
  std::vector<Value*> captured_;           ///< values of `parent_`, one for each parameter after those
  std::vector<arith::Var> outer_symbols_;  ///< symbols of `parent_` that are mentioned here
  std::vector<relax::Op*> self_closures_;  ///< to be given what is captured, once that is known
  enum class State : uint8_t { kNew, kRunning, kDone, kFailed } state_ = State::kNew;
};

}  // namespace relaxc::frontend
