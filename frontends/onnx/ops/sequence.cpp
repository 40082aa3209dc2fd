// sequence.cpp: operators on sequences and optionals.
//
// composite.cpp and composite_sequences.cpp implement them on lists and packed sequences. SequenceMap of lists is its
// body for each of their elements, and of other sequences the loop by which the standard defines it.
#include <set>

#include "frontends/onnx/composite.h"

#include "frontends/onnx/load.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::sequence_family {
namespace {

/// Maximum number of elements for which a split makes a list instead of a packed sequence.
constexpr int64_t kLongestList = 64;

const NamedValue* slot_of(Node& node, size_t index) {
  return node.has(index) ? node.importer().find(node.proto.input(static_cast<int>(index))) : nullptr;
}

Result<Sequence> sequence_input(Node& node, size_t index) {
  const NamedValue* slot = slot_of(node, index);
  if (slot == nullptr) return node.error(Kind::wrong_arity, "input {} is missing", index);
  if (const Sequence* sequence = sequence_in(*slot)) return *sequence;
  return node.error(Kind::dtype_mismatch, "input '{}' must be a sequence", node.proto.input(static_cast<int>(index)));
}

void set_slot(Node& node, size_t index, NamedValue slot) {
  if (node.wants(index)) node.importer().scope().slots[node.proto.output(static_cast<int>(index))] = std::move(slot);
}

Status set_sequence(Node& node, Result<Sequence> sequence) {
  RELAXC_TRY(Sequence made, std::move(sequence));
  set_slot(node, 0, sequence_slot(std::move(made)));
  return Done{};
}

/// Returns the position in an input; a null Expr if the input is absent.
Result<Expr> position(Node& node, size_t input) {
  if (!node.has(input)) return Expr();
  RELAXC_TRY(std::vector<Expr> list, node.ints(input, 1));
  return list[0];
}

// ---- strings: a sequence of spans, which share one tensor of bytes

Result<Sequence> no_strings(Node& node) {
  Sequence made{DType::i(64), true, {}, nullptr, nullptr};
  RELAXC_TRY(made.bytes, node.call("zeros", {node.shape({node.index(0)})}, {{"dtype", DType::u(8)}}));
  return made;
}

/// Returns the spans of strings that become an element of `sequence`, and appends their bytes to those of the sequence.
Result<Value*> adopted(Node& node, Sequence& sequence, size_t input) {
  if (!is_strings(node, input))
    return node.error(Kind::dtype_mismatch, "a tensor of numbers cannot be an element of a sequence of strings");
  RELAXC_TRY(Strings strings, strings_input(node, input));
  if (strings.bytes == sequence.bytes) return strings.spans;
  Expr size = sequence.bytes->shape()[0];
  if (size.is_constant(0)) {
    sequence.bytes = strings.bytes;
    return strings.spans;
  }
  RELAXC_TRY(Value * shift, node.call("shape_to_tensor", {node.shape({size, node.index(0)})}));
  RELAXC_TRY(sequence.bytes, node.call("concat", {sequence.bytes, strings.bytes}, {{"axis", int64_t{0}}}));
  return node.call("add", {strings.spans, shift});
}

Status construct_of_strings(Node& node) {
  RELAXC_TRY(Sequence made, no_strings(node));
  for (size_t i = 0; i < node.inputs(); ++i) {
    RELAXC_TRY(Value * item, adopted(node, made, i));
    made.items.push_back(item);
  }
  return set_sequence(node, std::move(made));
}

/// Returns an axis of joined strings as an axis of their spans, which have one more dim at the end.
Result<int64_t> axis_of_spans(Node& node, const Sequence& sequence, int64_t axis, bool new_axis) {
  const int64_t* known = sequence.listed ? nullptr : sequence.shapes->shape()[1].constant();
  int64_t rank = known != nullptr ? *known : -1;
  if (sequence.listed && !sequence.items.empty()) rank = static_cast<int64_t>(sequence.items[0]->shape().size());
  if (rank < 0) return axis;  // the join reports the error
  return normal_axis(node, axis, rank - 1 + (new_axis ? 1 : 0));
}

Status construct(Node& node) {
  if (is_strings(node, 0)) return construct_of_strings(node);
  RELAXC_TRY(std::vector<Value*> items, node.all_inputs());
  if (items.empty()) return node.error(Kind::wrong_arity, "it needs at least one input");
  for (Value* item : items)
    if (item->dtype() != items[0]->dtype())
      return node.error(Kind::dtype_mismatch, "elements of {} and {} are in one sequence", to_string(items[0]->dtype()),
                        to_string(item->dtype()));
  DType dtype = items[0]->dtype();
  return set_sequence(node, Sequence{dtype, true, std::move(items), nullptr, nullptr});
}

Status empty(Node& node) {
  Diagnostics& diag = node.diag;
  if (node.int_attr("dtype", onnx::TensorProto::FLOAT) == onnx::TensorProto::STRING)
    return set_sequence(node, no_strings(node));
  RELAXC_TRY(DType dtype,
             dtype_of(static_cast<int32_t>(node.int_attr("dtype", onnx::TensorProto::FLOAT)), node.location, diag));
  return set_sequence(node, Sequence{dtype, true, {}, nullptr, nullptr});
}

Status at(Node& node) {
  RELAXC_TRY(Sequence sequence, sequence_input(node, 0));
  RELAXC_TRY(Expr where, position(node, 1));
  if (!where) return node.error(Kind::wrong_arity, "the position is missing");
  RELAXC_TRY(Value * item, Composites(node.importer()).at(sequence, where));
  if (sequence.bytes == nullptr) return node.set(0, item);
  set_strings(node, 0, {item, sequence.bytes});
  return Done{};
}

Status length(Node& node) {
  RELAXC_TRY(Sequence sequence, sequence_input(node, 0));
  node.set_known(0, Known{DType::i(64), {}, {Composites(node.importer()).length(sequence)}});
  return Done{};
}

Status insert(Node& node) {
  RELAXC_TRY(Sequence sequence, sequence_input(node, 0));
  Value* item = nullptr;
  if (sequence.bytes != nullptr) {
    RELAXC_TRY(item, adopted(node, sequence, 1));
  } else {
    RELAXC_TRY(item, node.input(1));
  }
  RELAXC_TRY(Expr where, position(node, 2));
  return set_sequence(node, Composites(node.importer()).inserted(sequence, item, where));
}

Status erase(Node& node) {
  RELAXC_TRY(Sequence sequence, sequence_input(node, 0));
  RELAXC_TRY(Expr where, position(node, 1));
  return set_sequence(node, Composites(node.importer()).erased(sequence, where));
}

Status concat(Node& node) {
  RELAXC_TRY(Sequence sequence, sequence_input(node, 0));
  if (!node.has_attr("axis")) return node.error(Kind::invalid_attribute, "axis is missing");
  int64_t axis = node.int_attr("axis", 0);
  bool new_axis = node.int_attr("new_axis", 0) != 0;
  if (sequence.bytes != nullptr) {
    RELAXC_TRY(axis, axis_of_spans(node, sequence, axis, new_axis));
  }
  RELAXC_TRY(Value * joined, Composites(node.importer()).joined(sequence, axis, new_axis));
  if (sequence.bytes == nullptr) return node.set(0, joined);
  set_strings(node, 0, {joined, sequence.bytes});
  return Done{};
}

/// Converts SplitToSequence, which splits along an axis.
class Splitting {
 public:
  explicit Splitting(Node& node) : node_(node) {}

  Status run() {
    auto rank = [&] { return static_cast<int64_t>(x_->shape().size()); };
    if (is_strings(node_, 0)) {
      RELAXC_TRY(Strings strings, strings_input(node_, 0));
      x_ = strings.spans, bytes_ = strings.bytes;
    } else {
      RELAXC_TRY(x_, node_.input(0));
    }
    RELAXC_TRY(axis_, normal_axis(node_, node_.int_attr("axis", 0), rank() - (bytes_ != nullptr ? 1 : 0)));
    extent_ = x_->shape()[static_cast<size_t>(axis_)];
    if (!node_.has(1)) return singles(node_.int_attr("keepdims", 1) != 0);
    RELAXC_TRY(const TensorInfo* type, node_.info(1));
    bool scalar = type->ndim == 0;
    if (type->ndim == 1 && (*type->shape)[0].constant() == nullptr) return of_lengths();
    RELAXC_TRY(std::vector<Expr> sizes, node_.ints(1));
    return scalar ? chunks(sizes[0], true) : list(std::move(sizes));
  }

 private:
  Status finish(Sequence made) {
    made.bytes = bytes_;
    return set_sequence(node_, std::move(made));
  }

  Result<Sequence> parts(std::vector<Expr> sizes) {
    Sequence made{x_->dtype(), true, {}, nullptr, nullptr};
    RELAXC_TRY(made.items, node_.call_many("split", {x_, node_.shape(std::move(sizes))}, {{"axis", axis_}}));
    return made;
  }

  Status list(std::vector<Expr> sizes) {
    RELAXC_TRY(Sequence made, parts(std::move(sizes)));
    return finish(std::move(made));
  }

  /// Splits into parts of given lengths, whose number is known only at run time.
  Status of_lengths() {
    if (axis_ != 0)
      return node_.error(Kind::unsupported,
                         "a number of parts that only the run gives, along axis {}; it must be along the first axis",
                         axis_);
    RELAXC_TRY(Value * lengths, node_.input(1));
    RELAXC_TRY(lengths, astype(node_, lengths, DType::i(64)));
    Expr count = lengths->shape()[0], one = node_.index(1);
    RELAXC_TRY(Value * sum, node_.call("sum", {lengths}, {{"axis", std::vector<int64_t>{0}}, {"keepdims", true}}));
    RELAXC_TRY(std::vector<Expr> all, values_of(node_, sum));
    Value* holds = node_.shape({arith::select(arith::eq(all.at(0), extent_), one, node_.index(0))});
    RELAXC_DO(node_.builder().match_cast(holds, relax::shape_info(node_.context(), {one}), {}));
    RELAXC_TRY(lengths, reshape(node_, lengths, {count, one}));
    return packed(x_, count, {lengths});
  }

  /// Splits into slices of one element, with the axis (`keep`) or without it.
  Status singles(bool keep) {
    const int64_t* count = extent_.constant();
    if (keep) return chunks(node_.index(1), true);
    if (count != nullptr && *count > 0 && *count <= kLongestList) {
      RELAXC_TRY(Sequence made, parts(std::vector<Expr>(static_cast<size_t>(*count), node_.index(1))));
      for (Value*& item : made.items) {
        RELAXC_TRY(item, node_.call("squeeze", {item}, {{"axis", std::vector<int64_t>{axis_}}}));
      }
      return finish(std::move(made));
    }
    RELAXC_TRY(Value * turned, axis_first());
    RELAXC_DO(packed_rows(turned, node_.index(1), false));
    return Done{};
  }

  /// Splits into parts of `size` elements; the last part may be smaller.
  Status chunks(Expr size, bool keep) {
    const int64_t *each = size.constant(), *count = extent_.constant();
    if (each != nullptr && *each <= 0) return node_.error(Kind::invalid_value, "parts of {} elements", *each);
    if (each != nullptr && count != nullptr && *count > 0 && (*count + *each - 1) / *each <= kLongestList) {
      std::vector<Expr> sizes;
      for (int64_t left = *count; left > 0; left -= *each) sizes.push_back(node_.index(std::min(left, *each)));
      return list(std::move(sizes));
    }
    if (axis_ == 0) return packed_rows(x_, size, keep);
    return collected(size);
  }

  /// Splits into an unknown number of parts along an axis other than 0, by a loop that carries the sequence.
  Status collected(Expr size) {
    Composites composites(node_.importer());
    relax::Function& function = node_.importer().function();
    Expr count = node_.simplify(arith::ceildiv(extent_, size));
    arith::Context& context = node_.context();
    arith::Var total = context.var("total"), length = context.var("length"), iteration = context.var("iteration");
    Expr all = node_.index(1);
    for (Expr dim : x_->shape()) all = all * dim;
    function.facts.bound(iteration, arith::Range::at_least(0));
    function.facts.bound(total, {0, arith::bounds(all, node_.facts()).upper});
    function.facts.bound(length, {0, arith::bounds(extent_, node_.facts()).upper});
    Expr rank = node_.index(static_cast<int64_t>(x_->shape().size()));
    std::vector<relax::Info> infos{relax::tensor_info(context, {Expr(total)}, x_->dtype()),
                                   relax::tensor_info(context, {Expr(length), rank}, DType::i(64))};
    RELAXC_TRY(Value * elements, node_.call("zeros", {node_.shape({node_.index(0)})}, {{"dtype", x_->dtype()}}));
    RELAXC_TRY(Value * shapes, node_.call("zeros", {node_.shape({node_.index(0), rank})}, {{"dtype", DType::i(64)}}));
    relax::Op* loop =
        node_.builder().append(relax::OpKind::kLoop, {node_.builder().prim(count), nullptr, elements, shapes});
    loop->binds = {iteration, total, length};
    relax::Region* region = function.make_region(loop);
    function.make_argument(region, "iteration", relax::prim_info(context, DType::index(), iteration));
    Sequence so_far{x_->dtype(), false, {}, nullptr, nullptr};
    so_far.elements = function.make_argument(region, "elements", infos[0]);
    so_far.shapes = function.make_argument(region, "shapes", infos[1]);
    {
      GraphImporter::Inside inside(node_.importer(), function.make_block(region, true));
      Expr begin = node_.simplify(iteration * size), extent = node_.simplify(arith::min(size, extent_ - begin));
      RELAXC_TRY(Value * part,
                 node_.call("slice_part", {x_, node_.shape({begin}), node_.shape({extent})}, {{"axis", axis_}}));
      RELAXC_TRY(so_far, composites.inserted(so_far, part, {}));
    }
    for (Value* value : {static_cast<Value*>(nullptr), so_far.elements, so_far.shapes})
      region->yield->add_operand(value);
    Sequence made{x_->dtype(), false, {}, nullptr, nullptr};
    made.elements = function.make_result(loop, {}, infos[0]);
    made.shapes = function.make_result(loop, {}, infos[1]);
    return finish(std::move(made));
  }

  Result<Value*> axis_first() {
    if (axis_ == 0) return x_;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < static_cast<int64_t>(x_->shape().size()); ++i)
      if (i != axis_) order.push_back(i);
    order.insert(order.begin(), axis_);
    return node_.call("permute_dims", {x_}, {{"axes", order}});
  }

  /// Splits along axis 0, where the packed elements of the parts are those of `x` in the same order.
  Status packed_rows(Value* x, Expr size, bool keep) {
    Expr count = node_.simplify(arith::ceildiv(extent_, size));
    std::vector<Value*> columns;
    if (keep) {
      RELAXC_TRY(Value * first, node_.call("arange", {node_.shape({node_.index(0), count, size})}));
      RELAXC_TRY(Value * whole, one(extent_));
      RELAXC_TRY(Value * each, one(size));
      RELAXC_TRY(Value * left, node_.call("subtract", {whole, first}));
      RELAXC_TRY(left, node_.call("minimum", {left, each}));
      RELAXC_TRY(left, reshape(node_, left, {count, node_.index(1)}));
      columns.push_back(left);
    }
    return packed(x, count, std::move(columns));
  }

  /// Sets the output to the rows of `x` as `count` parts; `columns`: the parts' lengths, if they keep the axis.
  Status packed(Value* x, Expr count, std::vector<Value*> columns) {
    std::vector<Expr> dims = x->shape();
    Expr total = node_.index(1);
    for (Expr dim : dims) total = node_.simplify(total * dim);
    Sequence made{x->dtype(), false, {}, nullptr, nullptr};
    RELAXC_TRY(made.elements, reshape(node_, x, {total}));
    if (dims.size() > 1) {
      std::vector<Expr> rest(dims.begin() + 1, dims.end());
      Expr width = node_.index(static_cast<int64_t>(rest.size()));
      RELAXC_TRY(Value * row, node_.call("shape_to_tensor", {node_.shape(std::move(rest))}));
      RELAXC_TRY(row, node_.call("broadcast_to", {row, node_.shape({count, width})}));
      columns.push_back(row);
    }
    if (columns.empty()) {
      RELAXC_TRY(Value * nothing,
                 node_.call("zeros", {node_.shape({count, node_.index(0)})}, {{"dtype", DType::i(64)}}));
      columns.push_back(nothing);
    }
    made.shapes = columns[0];
    if (columns.size() > 1) {
      RELAXC_TRY(made.shapes, node_.call("concat", columns, {{"axis", int64_t{1}}}));
    }
    return finish(std::move(made));
  }

  Result<Value*> one(Expr value) { return node_.call("shape_to_tensor", {node_.shape({value})}); }

  Node& node_;
  Value* x_ = nullptr;
  Value* bytes_ = nullptr;  ///< for strings, whose spans are split: the bytes
  int64_t axis_ = 0;
  Expr extent_;
};

Status split_to_sequence(Node& node) {
  return Splitting(node).run();
}

// ---- SequenceMap

onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& op, const std::vector<std::string>& inputs,
                          const std::string& output) {
  onnx::NodeProto& made = *graph.add_node();
  made.set_op_type(op);
  for (const std::string& input : inputs) made.add_input(input);
  made.add_output(output);
  return made;
}

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(name);
  made.set_type(type);
  return made;
}

/// Returns the loop's body: elements of the sequences, and the tensors as they are; the mapped nodes; and their
/// results, appended to the sequences that the loop carries.
onnx::GraphProto mapped_body(Node& node, const onnx::GraphProto& body, const std::string& prefix) {
  onnx::GraphProto graph;
  *graph.mutable_initializer() = body.initializer();
  graph.add_input()->set_name(prefix + "iteration");
  graph.add_input()->set_name(prefix + "again");
  for (int i = 0; i < body.output_size(); ++i) graph.add_input()->set_name(prefix + "so_far" + std::to_string(i));
  for (int i = 0; i < body.input_size(); ++i) {
    bool each = sequence_in(*slot_of(node, static_cast<size_t>(i))) != nullptr;
    std::vector<std::string> from{node.proto.input(i)};
    if (each) from.push_back(prefix + "iteration");
    add_node(graph, each ? "SequenceAt" : "Identity", from, body.input(i).name());
  }
  graph.mutable_node()->MergeFrom(body.node());
  add_node(graph, "Identity", {prefix + "again"}, prefix + "goes_on");
  graph.add_output()->set_name(prefix + "goes_on");
  for (int i = 0; i < body.output_size(); ++i) {
    std::string name = prefix + "more" + std::to_string(i);
    add_node(graph, "SequenceInsert", {prefix + "so_far" + std::to_string(i), body.output(i).name()}, name);
    graph.add_output()->set_name(name);
  }
  return graph;
}

/// Returns the number of elements of the sequences that are mapped if they are lists of one length, which is not 0, and
/// the body is not written out too often; 0 if not.
size_t length_of_lists(Node& node, const onnx::GraphProto& body) {
  constexpr size_t kMostNodes = 1024;
  std::set<size_t> lengths;
  for (size_t i = 0; i < node.inputs(); ++i) {
    const Sequence* sequence = sequence_in(*slot_of(node, i));
    if (sequence != nullptr) lengths.insert(sequence->listed ? sequence->items.size() : 0);
  }
  const size_t length = lengths.size() == 1 ? *lengths.begin() : 0;
  return length * static_cast<size_t>(body.node_size()) <= kMostNodes ? length : 0;
}

/// Maps lists by writing the body out for each element: the elements' shapes, and what the body makes of them, may
/// differ, and nothing needs to say of what dtype the results are.
Status map_lists(Node& node, const onnx::GraphProto& body, size_t length) {
  std::vector<std::vector<NamedValue>> made(static_cast<size_t>(body.output_size()));
  for (size_t k = 0; k < length; ++k) {
    std::vector<NamedValue> arguments;
    for (size_t i = 0; i < node.inputs(); ++i) {
      const NamedValue& slot = *slot_of(node, i);
      const Sequence* sequence = sequence_in(slot);
      NamedValue& argument = arguments.emplace_back();
      if (sequence == nullptr)
        argument = slot;
      else if (sequence->bytes == nullptr)
        argument.value = sequence->items[k];
      else
        argument = strings_slot({sequence->items[k], sequence->bytes});
    }
    RELAXC_TRY(std::vector<NamedValue> results, node.importer().inline_graph(body, std::move(arguments), nullptr));
    for (size_t i = 0; i < made.size(); ++i) made[i].push_back(std::move(results[i]));
  }
  onnx::GraphProto joined;
  std::vector<std::string> elements;
  for (size_t k = 0; k < length; ++k) {
    elements.push_back(node.proto.output(0) + "/element" + std::to_string(k));
    joined.add_input()->set_name(elements.back());
  }
  add_node(joined, "SequenceConstruct", elements, node.proto.output(0) + "/all");
  joined.add_output()->set_name(node.proto.output(0) + "/all");
  for (size_t i = 0; i < made.size(); ++i) {
    RELAXC_TRY(std::vector<NamedValue> all, node.importer().inline_graph(joined, std::move(made[i]), nullptr));
    set_slot(node, i, std::move(all[0]));
  }
  return Done{};
}

Status map(Node& node) {
  const onnx::AttributeProto* attribute = node.attribute("body");
  if (attribute == nullptr || !attribute->has_g())
    return node.error(Kind::invalid_attribute, "it needs the graph body");
  const onnx::GraphProto& body = attribute->g();
  RELAXC_TRY(Sequence first, sequence_input(node, 0));
  if (static_cast<size_t>(body.input_size()) != node.inputs())
    return node.error(Kind::wrong_arity, "the body takes {} values for {} inputs", body.input_size(), node.inputs());
  if (const size_t length = length_of_lists(node, body); length > 0) return map_lists(node, body, length);
  std::string prefix = node.proto.output(0) + "/";
  onnx::GraphProto graph;
  add_node(graph, "SequenceLength", {node.proto.input(0)}, prefix + "length");
  std::vector<std::string> operands{prefix + "length", ""};
  for (int i = 0; i < body.output_size(); ++i) {
    operands.push_back(prefix + "none" + std::to_string(i));
    onnx::NodeProto& none = add_node(graph, "SequenceEmpty", {}, operands.back());
    add_attribute(none, "dtype", onnx::AttributeProto::INT).set_i(body.output(i).type().tensor_type().elem_type());
  }
  onnx::NodeProto& loop = add_node(graph, "Loop", operands, prefix + "all0");
  for (int i = 1; i < body.output_size(); ++i) loop.add_output(prefix + "all" + std::to_string(i));
  *add_attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g() = mapped_body(node, body, prefix);
  for (const std::string& name : loop.output()) graph.add_output()->set_name(name);
  RELAXC_TRY(std::vector<NamedValue> results, node.importer().inline_graph(graph, {}, nullptr));
  for (size_t i = 0; i < results.size(); ++i) set_slot(node, i, results[i]);
  return Done{};
}

// ---- optionals

Status optional(Node& node) {
  if (const NamedValue* slot = slot_of(node, 0)) {
    set_slot(node, 0, optional_slot(*slot, true));
    return Done{};
  }
  const onnx::AttributeProto* type = node.attribute("type");
  if (type == nullptr || !type->has_tp())
    return node.error(Kind::invalid_attribute, "without an input it needs the attribute 'type'");
  RELAXC_TRY(NamedValue content, Composites(node.importer()).empty(type->tp()));
  set_slot(node, 0, optional_slot(std::move(content), false));
  return Done{};
}

Status get_element(Node& node) {
  const NamedValue* slot = slot_of(node, 0);
  if (slot == nullptr) return node.error(Kind::wrong_arity, "the input is missing");
  const Composite* optional = optional_in(*slot);
  if (optional == nullptr) return node.forward(0, 0);
  if (optional->known && !*optional->known)
    return node.error(Kind::invalid_value, "the optional '{}' is always empty", node.proto.input(0));
  set_slot(node, 0, optional->content);
  return Done{};
}

Status has_element(Node& node) {
  const NamedValue* slot = slot_of(node, 0);
  const Composite* optional = slot == nullptr ? nullptr : optional_in(*slot);
  if (optional != nullptr && !optional->known) return node.set(0, optional->present);
  bool there = slot != nullptr && (optional == nullptr || *optional->known);
  node.set_known(0, Known{DType::boolean(), {}, {node.index(there ? 1 : 0)}});
  return Done{};
}

constexpr Converter kRows[] = {
    {.name = "SequenceConstruct", .convert = construct},
    {.name = "SequenceEmpty", .convert = empty},
    {.name = "SequenceAt", .convert = at, .note = "elements must have a known rank"},
    {.name = "SequenceLength", .convert = length},
    {.name = "SequenceInsert", .convert = insert, .note = "if the length is not known, elements must have one rank"},
    {.name = "SequenceErase", .convert = erase},
    {.name = "SequenceMap", .convert = map, .note = "elements must have a known rank"},
    {.name = "SplitToSequence", .convert = split_to_sequence},
    {.name = "ConcatFromSequence", .convert = concat},
    {.name = "Optional", .convert = optional},
    {.name = "OptionalGetElement", .convert = get_element},
    {.name = "OptionalHasElement", .convert = has_element},
};

}  // namespace
}  // namespace relaxc::frontend::sequence_family

RELAXC_CONVERTERS(sequence, kRows)
