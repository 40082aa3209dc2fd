// random_function.h: one function of a random module, statement by statement.
//
// Nothing here knows an operator: operands and attributes are drawn by their definitions, and what the operator's own
// deduction refuses is drawn again. `sizes_` holds one size for each symbol, so that programs stay small and most
// guards hold at least for these sizes. random_operator.cpp makes the operators, random_call.cpp calls and effects,
// random_region.cpp what has regions.
#pragma once

#include <optional>

#include "compiler/relax/builder.h"
#include "tests/property/random.h"

namespace relaxc::property {

class RandomFunction {
 public:
  RandomFunction(relax::Module& module, const relax::OpTable& ops, Random& random, relax::Function& function,
                 uint64_t seed)
      : module_(module), ops_(ops), random_(random), function_(function), seed_(seed) {}

  void make();
  /// float32 and whole numbers only: see random_exact_module.
  void make_exact();

 private:
  using Value = relax::Value;
  using Info = relax::Info;
  using Expr = arith::Expr;
  using Values = std::vector<Value*>;

  void parameters();
  Info parameter_info(size_t index);
  void statements(size_t count);
  void statement();
  void results();
  std::string name() { return name_of(next_name_++); }
  std::string name_of(size_t number);

  // random_operator.cpp
  void operation();
  void exact_operation(size_t& growing, size_t& added);
  bool call_operator(const relax::OpDef& def);
  Value* operand(const relax::OpDef& def, const relax::OperandDef& operand, Value* first);
  Value* shape_operand(const std::string& role, Value* first);
  Value* constant(DType dtype, std::vector<int64_t> shape);
  relax::AttrValue attribute(const relax::AttrDef& attr, Value* first);
  std::vector<Expr> dims_like(const std::vector<Expr>& dims);
  bool keeps(const relax::Op& op);

  // random_region.cpp
  /// A loop that is being made: how often it runs at most, the state that it begins with, and what is known of it
  /// later.
  struct Loop {
    relax::Op* op = nullptr;
    Value *count = nullptr, *first = nullptr;
    Info carried = {};
    bool grows = false;
  };
  void branch();
  void loop();
  Value* trip_count();
  void carry(Loop& loop);
  Value* loop_body(const Loop& loop, arith::Var iteration);
  Value* next_state(const Loop& loop, const Value* argument, const Values& before);
  Value* scanned(const Values& before);
  void cast();
  void tuple();
  Value* condition();
  std::optional<Info> joined(relax::Op* op, Value* a, Value* b);

  // random_call.cpp
  void call_function();
  bool match(Info param, Info argument, arith::Substitution& symbols);
  void call_prim_func();
  void make_closure();
  void call_closure();
  void call_external();
  void call_inplace();
  void effect();

  relax::GraphBuilder builder() { return {module_, ops_, block_, *diag_}; }
  arith::Context& context() const { return module_.context(); }
  void new_block(bool dataflow) { block_ = function_.make_block(region_, dataflow); }
  void leave_dataflow() {
    if (block_->dataflow) new_block(false);
  }
  void add(Value* value);
  /// Values in scope for which `fits` holds.
  template <typename F>
  Values those(F fits) const {
    Values found;
    for (Value* value : scope_)
      if (fits(*value)) found.push_back(value);
    return found;
  }
  static bool is_tensor(const Value& value);
  std::optional<int64_t> size(Expr e) const;
  /// Elements of a tensor at the sizes assumed; nothing if a dim is unknown.
  std::optional<int64_t> elements(const Value& value) const;
  /// Elements at the most in any trial (sizes.h), where other symbols have the sizes assumed.
  int64_t most_elements(const Value& value) const;

  relax::Module& module_;
  const relax::OpTable& ops_;
  Random& random_;
  relax::Function& function_;
  uint64_t seed_;
  relax::Region* region_ = nullptr;
  relax::Block* block_ = nullptr;
  Values scope_;
  std::unordered_map<Expr, int64_t> sizes_;
  std::optional<Diagnostics> diag_;  ///< of the attempt that is under way
  size_t next_name_ = 0;
  bool exact_ = false;
  bool calls_ = seed_ % 3 != 0;    ///< closures and calls in place
  bool outside_ = seed_ % 4 == 3;  ///< external functions, text and assertions
  int depth_ = 0;
};

}  // namespace relaxc::property
