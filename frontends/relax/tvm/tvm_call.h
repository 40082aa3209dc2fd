// tvm_call.h: reads operators in TVM's form where relaxc's own form differs.
//
// relaxc has one convolution for any number of spatial dims in one layout, shapes as operands, and no operator that can
// be composed of others. TVM has conv1d to conv3d with layouts, numbers as attributes, and clip. A row of the table
// converts such a call to operators of relaxc, so that only the parser knows TVM's form; the printer prints the result.
// If both have an operator of one name, the row reads both forms.
#pragma once

#include <map>
#include <optional>

#include "frontends/relax/function/operators.h"

namespace relaxc::frontend {

/// One call, with its arguments by the names of TVM's parameters. Errors are reported at their place.
class TvmCall {
 public:
  using Value = relax::Value;
  using Expr = arith::Expr;
  using Ints = std::vector<int64_t>;

  TvmCall(FunctionParts& fn, std::string name, const ast::Expr& e) : TvmCall(fn, name, "R." + name, e) {}
  /// For a call that is written with another name.
  TvmCall(FunctionParts& fn, std::string name, std::string spelled, const ast::Expr& e)
      : diag(fn.diag()), name(std::move(name)), spelled(std::move(spelled)), fn_(fn), e_(e) {}
  /// Reads the arguments. `params` are the names in TVM's order, separated by ", "; "data:x" is queried as x, and
  /// "axis=-1" has the default -1.
  Status bind(std::string_view params);

  Diagnostics& diag;
  const std::string name;     ///< "nn.conv2d"
  const std::string spelled;  ///< "R.nn.conv2d", for messages
  arith::Context& context() const { return fn_.context(); }
  relax::GraphBuilder& build() { return fn_.graph.at(e_.place); }

  /// Replaces an argument.
  void put(std::string_view param, Term term) { given_[std::string(param)] = {std::move(term), e_.place}; }
  /// Returns true if the argument is given and is not None.
  bool has(std::string_view param) const { return find(param) != nullptr; }
  bool is_value(std::string_view param) const;     ///< a value of the graph
  bool is_shape(std::string_view param) const;     ///< a shape value of the graph
  bool is_number(std::string_view param) const;    ///< a number or a dim
  bool is_real(std::string_view param) const;      ///< a number that is not an integer
  bool is_sequence(std::string_view param) const;  ///< a tuple or list
  /// Returns true if the result is annotated as a tuple.
  bool expects_tuple() const;
  /// Returns the dtype in the annotation of the result, if there is one.
  std::optional<DType> expected_dtype() const;

  Result<Value*> value(std::string_view param);
  Result<std::vector<Value*>> values(std::string_view param);
  /// Returns a tensor of known shape and dtype.
  Result<Value*> tensor(std::string_view param);
  /// Returns a number as a rank-0 tensor of `dtype`, and a tensor as it is.
  Result<Value*> element(std::string_view param, DType dtype);
  Result<int64_t> integer(std::string_view param, int64_t fallback);
  Result<double> real(std::string_view param, double fallback);
  Result<bool> flag(std::string_view param, bool fallback);
  Result<std::string> text(std::string_view param, std::string fallback);
  Result<DType> dtype(std::string_view param, DType fallback);
  Result<Expr> index(std::string_view param, Expr fallback);
  /// Returns numbers; a single number is a list of one.
  Result<Ints> ints(std::string_view param, Ints fallback);
  Result<std::vector<double>> reals(std::string_view param, std::vector<double> fallback);
  /// Returns lists of numbers: [[0, 0], [1, 1]].
  Result<std::vector<Ints>> int_lists(std::string_view param);
  Result<std::vector<Expr>> dims(std::string_view param);
  /// Returns dims as a shape value, and a shape value as it is.
  Result<Value*> shape(std::string_view param);

  /// Makes the call of relaxc's operator `name`, whose operands and attributes have the names of the parameters.
  Result<Term> own();
  /// Returns relaxc's operator of the same name, which must exist.
  relax::OpName own_name() const;
  Result<Value*> op(relax::OpName op, std::vector<Value*> operands, relax::Attrs attrs = {});
  Result<Value*> cast(Value* x, DType dtype);
  /// Returns a result as the meaning of an expression.
  Result<Term> term(Result<Value*> made);
  Result<Value*> reshape(Value* x, std::vector<Expr> dims);
  Result<Value*> permute(Value* x, Ints axes);
  template <typename... Args>
  Failure error(std::string_view param, Kind kind, fmt::format_string<Args...> format, Args&&... args) {
    const Argument* at = find(param);
    return fn_.source.error(at == nullptr ? e_.place : at->place, kind, format, std::forward<Args>(args)...);
  }

 private:
  const Argument* find(std::string_view param) const;
  Status add(const std::string& param, const ast::Expr& value);
  Status add_defaults(std::string_view params);
  Result<std::vector<Value*>> own_operand(const relax::OperandDef& operand);
  std::optional<Scalar> scalar(std::string_view param) const;

  FunctionParts& fn_;
  const ast::Expr& e_;
  std::map<std::string, Argument, std::less<>> given_;
};

struct TvmOperator {
  std::string_view name, params;
  Result<Term> (*read)(TvmCall&);
  /// A parameter that identifies relaxc's own form, if it is given by name after positional operands.
  std::string_view own = {};
  /// The order of the parameters in earlier releases of TVM: that of a call which gives one of `params` by its name
  /// after another argument at its position.
  std::string_view older = {};
};

/// Returns the row of that name; null if there is none.
const TvmOperator* find_tvm_operator(std::string_view name);

std::span<const TvmOperator> tvm_tensor_operators();
std::span<const TvmOperator> tvm_part_operators();
std::span<const TvmOperator> tvm_nn_operators();
std::span<const TvmOperator> tvm_image_operators();
std::span<const TvmOperator> tvm_vision_operators();
std::span<const TvmOperator> tvm_statistics_operators();
std::span<const TvmOperator> tvm_gradient_operators();

}  // namespace relaxc::frontend
