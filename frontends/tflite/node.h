// node.h: an operator of a subgraph as its converter sees it: operands, options, and functions that emit operators.
//
// The parts are base classes: errors (report.h), what the file says of the operator (operands.h), and emitting
// operators (formula.h, tensor_formula.h, stored_formula.h). A function that needs only one part takes that base class.
#pragma once

#include "frontends/tflite/operands.h"
#include "frontends/tflite/stored_formula.h"

namespace relaxc::tflite {

class Node : public StoredFormula, public Operands {
 public:
  Node(Importer& importer, const Subgraph& graph, const Operator& op, Location location)
      : StoredFormula(importer, location), Operands(static_cast<Report&>(*this), importer, graph, op) {}

  // Activations that are fused into another operator.
  using Activation = tflite_schema::ActivationFunctionType;
  /// Returns the bounds of a quantized output: those of the activation, within those of the dtype.
  Limits activation_limits(Activation activation, const Tensor& tensor);
  /// Applies the activation to a value of floats or integers; reports an error for one that is not supported.
  Value* activate(Value* x, Activation activation);

  // Sets the value of an output; fails if an error was reported or the value is null.
  Status set(size_t i, Value* value);
  Status set(Value* value) { return set(0, value); }
};

}  // namespace relaxc::tflite
