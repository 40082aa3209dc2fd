// recurrent.cpp: LSTM, GRU and RNN as ONNX defines them, by expansion into a loop.
//
// Work that does not depend on the state is done once for all steps: the product of the input with its weights is one
// large matmul before the loop, and the loop body has only the product of the state. The state is carried, the hidden
// states are scan outputs. A sequence of constant length 1, as in streaming models, needs no loop. A reverse direction
// reverses the sequence, runs forward, and reverses the result. With lengths, steps after a sequence's end keep its
// state and output 0.
#include <algorithm>
#include <cctype>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/expansion_builder.h"

namespace relaxc::ops::recurrent_family {
namespace {

using relax::GraphBuilder;
using relax::Region;

constexpr OperandDef kLstm[] = {{"x"},
                                {"w"},
                                {"r"},
                                {"bias", OperandDef::kOptional},
                                {"lengths", OperandDef::kOptional},
                                {"initial_h", OperandDef::kOptional},
                                {"initial_c", OperandDef::kOptional},
                                {"peephole", OperandDef::kOptional}};
constexpr std::span<const OperandDef> kGru(kLstm, 6);

constexpr AttrDef kDirection{"direction", AttrType::kString, false, "forward"};
constexpr AttrDef kActivations{"activations", AttrType::kStrings};
constexpr AttrDef kAlpha{"activation_alpha", AttrType::kFloats};
constexpr AttrDef kBeta{"activation_beta", AttrType::kFloats};
constexpr AttrDef kClip{"clip", AttrType::kFloat, false, "0"};
constexpr AttrDef kLayout{"layout", AttrType::kInt, false, "0"};
constexpr AttrDef kLstmAttrs[] = {
    kDirection, kActivations, kAlpha, kBeta, kClip, kLayout, {"input_forget", AttrType::kBool, false, "False"}};
constexpr AttrDef kGruAttrs[] = {
    kDirection, kActivations, kAlpha, kBeta, kClip, kLayout, {"linear_before_reset", AttrType::kBool, false, "False"}};
constexpr AttrDef kRnnAttrs[] = {kDirection, kActivations, kAlpha, kBeta, kClip, kLayout};

/// Properties of a kind of cell (RNN, GRU or LSTM) from which shapes are deduced.
struct Cell {
  int64_t gates;
  int64_t states;  ///< values that are carried from step to step
  std::vector<std::string> activations;
};
Cell cell_of(const Op& op) {
  if (op.is("nn.lstm")) return {4, 2, {"Sigmoid", "Tanh", "Tanh"}};
  if (op.is("nn.gru")) return {3, 1, {"Sigmoid", "Tanh"}};
  return {1, 1, {"Tanh"}};
}

/// An activation of a cell: the operator that computes it, and the attributes that this operator takes.
struct ActivationDef {
  std::string_view name;
  std::optional<OpName> op;  ///< none for those that Step::activation computes
  bool alpha, beta;
  double default_alpha, default_beta;
};
constexpr ActivationDef kActivationDefs[] = {
    {"relu", OpName("nn.relu"), false, false, 0, 0},
    {"tanh", OpName("tanh"), false, false, 0, 0},
    {"sigmoid", OpName("sigmoid"), false, false, 0, 0},
    {"softsign", OpName("nn.softsign"), false, false, 0, 0},
    {"softplus", OpName("nn.softplus"), false, false, 0, 0},
    {"leakyrelu", OpName("nn.leaky_relu"), true, false, 0.01, 0},
    {"thresholdedrelu", OpName("nn.thresholded_relu"), true, false, 1, 0},
    {"elu", OpName("nn.elu"), true, false, 1, 0},
    {"hardsigmoid", OpName("nn.hard_sigmoid"), true, true, 0.2, 0.5},
    {"affine", {}, true, true, 1, 0},
    {"scaledtanh", {}, true, true, 1, 1},
};
struct Activation {
  const ActivationDef* def = nullptr;
  double alpha = 0, beta = 0;
};

const ActivationDef* find_activation(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char ch) { return std::tolower(ch); });
  for (const ActivationDef& def : kActivationDefs)
    if (def.name == name) return &def;
  return nullptr;
}

size_t directions(const Op& op) {
  return op.attrs.string("direction") == "bidirectional" ? 2 : 1;
}

std::vector<std::string> activation_names(const Op& op) {
  std::vector<std::string> names = op.attrs.get<std::vector<std::string>>("activations");
  std::vector<std::string> defaults = cell_of(op).activations;
  while (names.size() < defaults.size() * directions(op)) names.push_back(defaults[names.size() % defaults.size()]);
  return names;
}

/// Returns all activations, direction by direction. Those that take an alpha or beta consume the given ones in order.
std::vector<Activation> activations_of(const Op& op) {
  std::vector<Activation> out;
  size_t next_alpha = 0, next_beta = 0;
  auto next = [](const std::vector<double>& given, size_t& at, double fallback) {
    return at < given.size() ? given[at++] : fallback;
  };
  for (const std::string& name : activation_names(op)) {
    const ActivationDef* def = find_activation(name);
    Activation a{def, def->default_alpha, def->default_beta};
    if (def->alpha) a.alpha = next(op.attrs.floats("activation_alpha"), next_alpha, a.alpha);
    if (def->beta) a.beta = next(op.attrs.floats("activation_beta"), next_beta, a.beta);
    out.push_back(a);
  }
  return out;
}

relaxc::Status check_attrs(InferContext& c) {
  const std::string& direction = c.op.attrs.string("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return c.error(Kind::invalid_attribute, "direction \"{}\" of '{}' is not one of forward, reverse, bidirectional",
                   direction, c.op.def->name);
  size_t count = cell_of(c.op).activations.size() * directions(c.op);
  const auto& names = c.op.attrs.get<std::vector<std::string>>("activations");
  if (!names.empty() && names.size() != count)
    return c.error(Kind::invalid_attribute, "'{}' takes {} activations, found {}", c.op.def->name, count, names.size());
  for (const std::string& name : names)
    if (find_activation(name) == nullptr)
      return c.error(Kind::invalid_attribute, "activation \"{}\" of '{}' is not known", name, c.op.def->name);
  int64_t layout = c.op.attrs.integer("layout");
  if (layout != 0 && layout != 1) return c.error(Kind::invalid_attribute, "layout {} of '{}'", layout, c.op.def->name);
  return Done{};
}

/// Requires that an operand, if it is given, is a float tensor of exactly these dims.
relaxc::Status expect(InferContext& c, size_t operand, const Dims& dims) {
  if (!c.has(operand)) return Done{};
  RELAXC_TRY(const TensorInfo* x, c.tensor(operand));
  std::string_view name = c.op.def->operands[operand].name;
  if (x->shape->size() != dims.size())
    return c.error(Kind::rank_mismatch, "operand '{}' of '{}' has shape {}, expected {}", name, c.op.def->name,
                   text(*x->shape), text(dims));
  for (size_t k = 0; k < dims.size(); ++k)
    RELAXC_DO(require_equal(c, dims[k], (*x->shape)[k], fmt::format("axis {} of '{}'", k, name)));
  bool fits = operand == 4 ? x->dtype->is_integer() : x->dtype->is_float();
  if (!fits)
    return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' is {}", name, c.op.def->name, to_string(*x->dtype));
  return Done{};
}

InferResult infer(InferContext& c) {
  RELAXC_DO(check_attrs(c));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* r, c.tensor(2));
  if (x->ndim != 3 || r->ndim != 3 || !x->dtype->is_float())
    return c.error(Kind::rank_mismatch, "'{}' takes float tensors of 3 dims, found {} and {}", c.op.def->name,
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(2)->info));
  bool batch_first = c.op.attrs.integer("layout") == 1;
  Expr seq = (*x->shape)[batch_first ? 1 : 0], batch = (*x->shape)[batch_first ? 0 : 1], hidden = r->shape->back();
  Cell cell = cell_of(c.op);
  Expr dirs = c.context.index(static_cast<int64_t>(directions(c.op)));
  Dims state = batch_first ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden};
  RELAXC_DO(expect(c, 1, {dirs, hidden * cell.gates, x->shape->back()}));
  RELAXC_DO(expect(c, 2, {dirs, hidden * cell.gates, hidden}));
  RELAXC_DO(expect(c, 3, {dirs, hidden * (2 * cell.gates)}));
  RELAXC_DO(expect(c, 4, {batch}));
  RELAXC_DO(expect(c, 5, state));
  RELAXC_DO(expect(c, 6, state));
  RELAXC_DO(expect(c, 7, {dirs, hidden * 3}));
  Dims all = batch_first ? Dims{batch, seq, dirs, hidden} : Dims{seq, dirs, batch, hidden};
  std::vector<Info> infos{tensor_info(c.context, all, *x->dtype)};
  for (int64_t k = 0; k < cell.states; ++k) infos.push_back(tensor_info(c.context, state, *x->dtype));
  return infos;
}

/// The weights and activations of one direction, in the dtype of the computation.
struct Direction {
  Value* w = nullptr;           ///< [input, gates * hidden]
  Value* r = nullptr;           ///< [hidden, gates * hidden]
  Value* input_bias = nullptr;  ///< [gates * hidden] or null
  Value* state_bias = nullptr;  ///< [gates * hidden] or null
  Value* peephole = nullptr;    ///< [3 * hidden] or null
  std::span<const Activation> activations;
};

/// Computes one step of a cell: the new states, of which the first is the output.
class Step {
 public:
  Step(GraphBuilder& b, const Op& op, const Direction& direction, Expr hidden)
      : chain_(b), op_(op), direction_(direction), hidden_(hidden) {}

  bool failed() const { return chain_.failed(); }
  ExpansionBuilder& chain() { return chain_; }

  /// `gates` are the products of the input with its weights, [batch, gates * hidden]. Returns the new states.
  std::vector<Value*> run(Value* gates, const std::vector<Value*>& states) {
    if (op_.is("nn.lstm")) return lstm(gates, states[0], states[1]);
    if (op_.is("nn.gru")) return {gru(gates, states[0])};
    Value* sum = chain_.add(gates, with_bias(product(states[0], 0, 1), 0, 1));
    return {activation(0, sum)};
  }

 private:
  Value* gate(Value* gates, int64_t k) { return chain_.part(gates, -1, hidden_ * k, hidden_); }
  /// Multiplies the state by the recurrent weights of gates first .. first + count - 1.
  Value* product(Value* state, int64_t first, int64_t count) {
    return chain_.call("matmul", {state, gates_of(direction_.r, first, count)});
  }
  Value* gates_of(Value* x, int64_t first, int64_t count) {
    if (count == gate_count()) return x;
    return chain_.part(x, -1, hidden_ * first, hidden_ * count);
  }
  Value* with_bias(Value* x, int64_t first, int64_t count) {
    if (direction_.state_bias == nullptr) return x;
    return chain_.add(x, gates_of(direction_.state_bias, first, count));
  }
  int64_t gate_count() const { return cell_of(op_).gates; }
  Value* peephole(int64_t k, Value* state, Value* x) {
    if (direction_.peephole == nullptr) return x;
    return chain_.add(x, chain_.multiply(chain_.part(direction_.peephole, 0, hidden_ * k, hidden_), state));
  }

  Value* activation(size_t index, Value* x) {
    const Activation& a = direction_.activations[index];
    if (chain_.failed()) return nullptr;
    DType dtype = x->dtype();
    if (double limit = op_.attrs.number("clip"); limit > 0)
      x = chain_.call("minimum",
                      {chain_.call("maximum", {x, chain_.number(dtype, -limit)}), chain_.number(dtype, limit)});
    // Operands are made one by one, here and below, since C++ leaves open which argument of a call is evaluated first.
    if (a.def->name == "affine") {
      Value* offset = chain_.number(dtype, a.beta);
      return chain_.add(chain_.multiply(x, chain_.number(dtype, a.alpha)), offset);
    }
    if (a.def->name == "scaledtanh") {
      Value* factor = chain_.number(dtype, a.alpha);
      return chain_.multiply(chain_.call("tanh", {chain_.multiply(x, chain_.number(dtype, a.beta))}), factor);
    }
    relax::Attrs attrs;
    if (a.def->alpha) attrs.set("alpha", a.alpha);
    if (a.def->beta) attrs.set("beta", a.beta);
    return chain_.call(*a.def->op, {x}, std::move(attrs));
  }
  Value* one_minus(Value* x) { return chain_.failed() ? nullptr : chain_.subtract(chain_.number(x->dtype(), 1), x); }

  /// Computes an LSTM step, with gates in the order i, o, f, c.
  std::vector<Value*> lstm(Value* gates, Value* h, Value* c) {
    Value* all = chain_.add(gates, with_bias(product(h, 0, 4), 0, 4));
    Value* in = activation(0, peephole(0, c, gate(all, 0)));
    Value* forget = op_.attrs.flag("input_forget") ? one_minus(in) : activation(0, peephole(2, c, gate(all, 2)));
    Value* fresh = activation(1, gate(all, 3));
    Value* added = chain_.multiply(in, fresh);
    Value* cell = chain_.add(chain_.multiply(forget, c), added);
    Value* out = activation(0, peephole(1, cell, gate(all, 1)));
    // `clip` limits the inputs of all activations, and the value of the cell is one of them.
    return {chain_.multiply(out, activation(2, cell)), cell};
  }

  /// Computes a GRU step, with gates z, r, h. The reset gate scales the state, or with linear_before_reset its product.
  Value* gru(Value* gates, Value* h) {
    Value* both = with_bias(product(h, 0, 2), 0, 2);
    Value* of_state = gate(both, 0);
    Value* update = activation(0, chain_.add(gate(gates, 0), of_state));
    of_state = gate(both, 1);
    Value* reset = activation(0, chain_.add(gate(gates, 1), of_state));
    Value* state = nullptr;
    if (op_.attrs.flag("linear_before_reset"))
      state = chain_.multiply(reset, with_bias(product(h, 2, 1), 2, 1));
    else
      state = with_bias(product(chain_.multiply(reset, h), 2, 1), 2, 1);
    Value* fresh = activation(1, chain_.add(gate(gates, 2), state));
    Value* kept = chain_.multiply(update, h);
    return chain_.add(chain_.multiply(one_minus(update), fresh), kept);
  }

  ExpansionBuilder chain_;
  const Op& op_;
  const Direction& direction_;
  Expr hidden_;
};

class Recurrence {
 public:
  Recurrence(GraphBuilder& b, const Op& op) : b_(b), op_(op), chain_(b), cell_(cell_of(op)), all_(activations_of(op)) {
    dtype_ = wide(op.operand(0)->dtype());
    batch_first_ = op.attrs.integer("layout") == 1;
    const Dims& x = op.operand(0)->shape();
    seq_ = x[batch_first_ ? 1 : 0], batch_ = x[batch_first_ ? 0 : 1], input_ = x[2];
    hidden_ = op.operand(2)->shape()[2];
  }

  Values run() {
    Value* x = chain_.as(op_.operand(0), dtype_);
    if (batch_first_) x = chain_.permute(x, {1, 0, 2});
    size_t count = directions(op_);
    std::vector<std::vector<Value*>> results;  // of each direction: all hidden states, then the last states
    for (size_t d = 0; d < count; ++d) {
      bool reverse = d == 1 || op_.attrs.string("direction") == "reverse";
      results.push_back(run_direction(x, d, reverse));
      if (chain_.failed()) return chain_.done({});
    }
    std::vector<Value*> out;
    for (size_t k = 0; k < results[0].size(); ++k) {
      std::vector<Value*> parts;
      for (auto& direction : results) parts.push_back(direction[k]);
      Value* joined = chain_.call("stack", parts, {{"axis", int64_t{k == 0}}});
      if (batch_first_) joined = k == 0 ? chain_.permute(joined, {2, 0, 1, 3}) : chain_.permute(joined, {1, 0, 2});
      out.push_back(chain_.as(joined, op_.results[k]->dtype()));
    }
    return chain_.done(std::move(out));
  }

 private:
  Context& context() const { return b_.context(); }
  Expr index(int64_t value) const { return context().index(value); }

  /// Returns row `d` of an operand without the axis of directions; null if the operand is absent.
  Value* of_direction(size_t operand, size_t d) {
    Value* x = op_.operand(operand);
    if (x == nullptr || chain_.failed()) return nullptr;
    Value* row = chain_.part(chain_.as(x, dtype_), 0, index(static_cast<int64_t>(d)), index(1));
    Dims shape(x->shape().begin() + 1, x->shape().end());
    return chain_.reshape(row, shape);
  }

  Direction direction(size_t d) {
    Direction out;
    out.w = chain_.permute(of_direction(1, d), {1, 0});
    out.r = chain_.permute(of_direction(2, d), {1, 0});
    if (Value* bias = of_direction(3, d)) {
      Expr half = hidden_ * cell_.gates;
      out.input_bias = chain_.part(bias, 0, index(0), half);
      out.state_bias = chain_.part(bias, 0, half, half);
    }
    out.peephole = of_direction(7, d);
    size_t each = cell_.activations.size();
    out.activations = std::span(all_).subspan(d * each, each);
    return out;
  }

  Value* initial_state(size_t operand, size_t d) {
    Value* given = op_.operand(operand);
    if (given == nullptr) return chain_.call("zeros", {b_.shape({batch_, hidden_})}, {{"dtype", dtype_}});
    Value* x = chain_.as(given, dtype_);
    int64_t axis = batch_first_ ? 1 : 0;
    Value* row = chain_.part(x, axis, index(static_cast<int64_t>(d)), index(1));
    return chain_.reshape(row, {batch_, hidden_});
  }

  /// Reverses the sequence in time, each one within its length if lengths are given.
  Value* reversed(Value* x) {
    if (op_.operand(4) != nullptr) return chain_.call("reverse_sequence", {x, op_.operand(4)});
    return chain_.call("flip", {x}, {{"axis", std::vector<int64_t>{0}}});
  }

  std::vector<Value*> run_direction(Value* x, size_t d, bool reverse) {
    Direction weights = direction(d);
    if (chain_.failed()) return {};
    if (reverse) x = reversed(x);
    Expr gates = hidden_ * cell_.gates;
    Value* product = chain_.call("matmul", {chain_.reshape(x, {seq_ * batch_, input_}), weights.w});
    if (weights.input_bias != nullptr) product = chain_.add(product, weights.input_bias);
    product = chain_.reshape(product, {seq_, batch_, gates});
    std::vector<Value*> states;
    for (int64_t k = 0; k < cell_.states; ++k) states.push_back(initial_state(5 + static_cast<size_t>(k), d));
    if (chain_.failed()) return {};
    std::vector<Value*> results = seq_.is_constant(0)   ? none(states)
                                  : seq_.is_constant(1) ? single(weights, product, states)
                                                        : loop(weights, product, states);
    if (reverse && !chain_.failed() && !failed_) results[0] = reversed(results[0]);
    if (failed_) chain_.fail();
    return results;
  }

  /// Computes one time step; returns the new states, then the output. Sequences that have ended keep their states.
  std::vector<Value*> step(GraphBuilder& b, const Direction& weights, Value* product, std::vector<Value*> states,
                           Expr time) {
    Step cell(b, op_, weights, hidden_);
    ExpansionBuilder& chain = cell.chain();
    Value* gates = chain.reshape(chain.part(product, 0, time, index(1)), {batch_, hidden_ * cell_.gates});
    std::vector<Value*> next = cell.run(gates, states);
    Value* out = next[0];
    if (op_.operand(4) != nullptr) {
      Value* lengths = chain.reshape(chain.as(op_.operand(4), DType::i(64)), {batch_, index(1)});
      Value* now = chain.call("shape_to_tensor", {b.shape({time})});
      Value* running = chain.call("less", {now, lengths});
      if (!chain.failed()) out = chain.call("where", {running, next[0], chain.number(dtype_, 0)});
      for (size_t k = 0; k < next.size(); ++k) next[k] = chain.call("where", {running, next[k], states[k]});
    }
    failed_ |= chain.failed();
    next.push_back(out);
    return next;
  }

  /// Handles sequences of length 0: there is no output, and the states do not change.
  std::vector<Value*> none(const std::vector<Value*>& states) {
    std::vector<Value*> results{chain_.call("zeros", {b_.shape({index(0), batch_, hidden_})}, {{"dtype", dtype_}})};
    results.insert(results.end(), states.begin(), states.end());
    return results;
  }

  std::vector<Value*> single(const Direction& weights, Value* product, const std::vector<Value*>& states) {
    std::vector<Value*> next = step(b_, weights, product, states, index(0));
    if (failed_) return {};
    Value* out = chain_.reshape(next.back(), {index(1), batch_, hidden_});
    std::vector<Value*> results{out};
    results.insert(results.end(), next.begin(), next.end() - 1);
    return results;
  }

  std::vector<Value*> loop(const Direction& weights, Value* product, const std::vector<Value*>& states) {
    relax::Function& function = b_.function();
    std::vector<Value*> operands{b_.prim(seq_), nullptr};
    operands.insert(operands.end(), states.begin(), states.end());
    Op* loop = b_.append(relax::OpKind::kLoop, operands);
    Region* region = function.make_region(loop);
    Var time = context().var("step");
    function.facts.bound(time, arith::Range::at_least(0));
    function.facts.assume(arith::lt(time, seq_));
    loop->binds.push_back(time);
    function.make_argument(region, "step", prim_info(context(), DType::index(), time));
    Info state_info = tensor_info(context(), Dims{batch_, hidden_}, dtype_);
    std::vector<Value*> carried;
    for (size_t k = 0; k < states.size(); ++k)
      carried.push_back(function.make_argument(region, k == 0 ? "h" : "c", state_info));

    GraphBuilder body(b_.module(), b_.table(), function.make_block(region, true), b_.diag());
    body.location = b_.location;
    std::vector<Value*> next = step(body, weights, product, carried, time);
    if (failed_) return {};
    region->yield->add_operand(nullptr);
    for (Value* value : next) region->yield->add_operand(value);
    for (size_t k = 0; k < states.size(); ++k) function.make_result(loop, {}, state_info);
    function.make_result(loop, {}, tensor_info(context(), Dims{seq_, batch_, hidden_}, dtype_));
    std::vector<Value*> results{loop->results.back()};
    results.insert(results.end(), loop->results.begin(), loop->results.end() - 1);
    return results;
  }

  GraphBuilder& b_;
  const Op& op_;
  ExpansionBuilder chain_;
  Cell cell_;
  std::vector<Activation> all_;
  DType dtype_;
  bool batch_first_ = false, failed_ = false;
  Expr seq_, batch_, input_, hidden_;
};

Values expand(GraphBuilder& b, const Op& op) {
  return Recurrence(b, op).run();
}

constexpr OpDef kOps[] = {
    {.name = "nn.lstm",
     .operands = kLstm,
     .attrs = kLstmAttrs,
     .infer = infer,
     .expand = expand,
     .doc = "ONNX LSTM: all hidden states, the last hidden state, the last cell state"},
    {.name = "nn.gru",
     .operands = kGru,
     .attrs = kGruAttrs,
     .infer = infer,
     .expand = expand,
     .doc = "ONNX GRU: all hidden states, the last one"},
    {.name = "nn.rnn",
     .operands = kGru,
     .attrs = kRnnAttrs,
     .infer = infer,
     .expand = expand,
     .doc = "ONNX RNN: all hidden states, the last one"},
};

}  // namespace
}  // namespace relaxc::ops::recurrent_family

RELAXC_OPERATORS(recurrent, kOps)
