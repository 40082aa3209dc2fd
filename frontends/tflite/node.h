// node.h: an operator of a subgraph as its converter sees it: operands, options, and a way to emit operators of ours.
//
// Each part has a class: how it failed (report.h), what the file says of it (operands.h), and what can be made of
// values (formula.h, tensor_formula.h, stored_formula.h). What needs one part alone takes that part.
#pragma once

#include "frontends/tflite/operands.h"
#include "frontends/tflite/stored_formula.h"

namespace relaxc::tflite {

class Node : public StoredFormula, public Operands {
 public:
  Node(Importer& importer, const Subgraph& graph, const Operator& op, Location location)
      : StoredFormula(importer, location), Operands(static_cast<Report&>(*this), importer, graph, op) {}

  // Activations that are part of another operator.
  using Activation = tflite_schema::ActivationFunctionType;
  /// The bounds that the activation and the dtype set for a quantized output.
  Limits activation_limits(Activation activation, const Tensor& tensor);
  /// The activation of a float or integer value.
  Value* activate(Value* x, Activation activation);

  // Results.
  Status set(size_t i, Value* value);
  Status set(Value* value) { return set(0, value); }
};

}  // namespace relaxc::tflite
