// string_permutation.cpp: converts operators that only move elements, for tensors of strings.
//
// Gather, Transpose, Concat, Where and the like do not read the elements that they move. So a number can stand for a
// string: all input strings are put into one list, the node is converted with the positions in that list instead, and
// spans are taken from the list at the resulting positions. No byte is moved, and no such operator needs to support
// strings. Rejected: applying the operator to spans, since each axis, index and shape would have to handle the last dim
// of 2.
#include "frontends/onnx/string_permutation.h"

#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend {
namespace {

class Moving {
 public:
  Moving(const Converter& converter, Node& node) : converter_(converter), c_(node), node_(node), proto_(node.proto) {}

  Status run() {
    for (size_t i = 0; i < node_.inputs(); ++i) {
      if (!is_strings(node_, i)) continue;
      RELAXC_TRY(Strings strings, strings_input(node_, i));
      RELAXC_DO(use_positions_for(i, strings));
    }
    if (proto_.op_type() == "Pad") RELAXC_DO(pad_with_nothing());
    Node moved(node_.importer(), proto_, node_.opset, node_.location);
    RELAXC_DO(converter_.convert(moved));
    if (converter_.strings == Converter::Strings::kSized) return Done{};
    if (spans_.size() > 1) spans_ = {c_.concat(spans_, 0)}, bytes_ = {c_.concat(bytes_, 0)};
    for (const std::string& output : proto_.output())
      if (!output.empty()) RELAXC_DO(set(output));
    return Done{};
  }

 private:
  /// Appends the strings to the list, and replaces the input by the positions that they have there.
  Status use_positions_for(size_t input, const Strings& strings) {
    Expr count = node_.index(1), two = node_.index(2);
    for (Expr extent : strings.dims()) count = node_.simplify(count * extent);
    Value* spans = c_.reshape(strings.spans, {count, two});
    if (count_) {
      Value* shift = c_.call("shape_to_tensor", {node_.shape({size_, node_.index(0)})});
      spans = c_.add(spans, shift);
    }
    Value* positions = c_.reshape(c_.arange(count_ ? count_ : node_.index(0), count), strings.dims());
    if (!c_.ok()) return c_.failed();
    spans_.push_back(spans);
    bytes_.push_back(strings.bytes);
    count_ = count_ ? node_.simplify(count_ + count) : count;
    size_ = size_ ? node_.simplify(size_ + strings.bytes->shape()[0]) : strings.bytes->shape()[0];
    std::string name = node_.proto.input(0) + ".positions" + std::to_string(input);
    node_.importer().scope().slots[name].value = positions;
    proto_.set_input(static_cast<int>(input), name);
    return Done{};
  }

  /// Pads with the empty string if the node gives no value to pad with.
  Status pad_with_nothing() {
    if (node_.has(2)) return Done{};
    while (proto_.input_size() < 3) proto_.add_input();
    Strings nothing{c_.call("zeros", {node_.shape({node_.index(2)})}, {{"dtype", DType::i(64)}}),
                    c_.call("zeros", {node_.shape({node_.index(0)})}, {{"dtype", DType::u(8)}})};
    RELAXC_DO(use_positions_for(2, nothing));
    return Done{};
  }

  /// Sets the output to the strings at the positions that the converter computed.
  Status set(const std::string& output) {
    RELAXC_TRY(Value * positions, node_.importer().materialize(output));
    Strings moved{c_.call("take", {spans_[0], positions}, {{"axis", int64_t{0}}}), bytes_[0]};
    if (!c_.ok()) return c_.failed();
    node_.importer().scope().slots[output] = strings_slot(moved);
    return Done{};
  }

  const Converter& converter_;
  ConversionBuilder c_;
  Node& node_;
  onnx::NodeProto proto_;  ///< the node, with string inputs replaced by positions
  std::vector<Value*> spans_, bytes_;
  Expr count_, size_;  ///< numbers of strings and of bytes in the list so far
};

}  // namespace

Status convert_on_positions(const Converter& converter, Node& node) {
  return Moving(converter, node).run();
}

}  // namespace relaxc::frontend
