// integer_product.h: products of quantized tensors as products of bytes.
#pragma once

#include <map>
#include <vector>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"

namespace relaxc {

/// Rewrites matmul and nn.conv of a quantized tensor by constant weights, and matmul of two quantized tensors, as
/// products of bytes.
class IntegerProducts {
 public:
  /// The form of operands that the target multiplies fastest.
  struct Form {
    bool whole_words = false;  ///< channels are padded to whole words, for dot products of vectors
    DType data = DType::u(8);  ///< dtype of the data, which is multiplied by int8 weights
  };
  IntegerProducts(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag, Form form)
      : module_(module), ops_(ops), diag_(diag), form_(form) {}

  /// Returns a value that replaces the result of `op`; null if `op` is none of these products. Adds each permute_dims
  /// from channels last to channels second that it makes to `transposed`.
  Result<relax::Value*> rewrite(relax::Op& op, std::vector<relax::Op*>& transposed);

 private:
  /// stored - zero, as `values` plus a `rest` that is the same for all weights of one output. Without the rest they fit
  /// into int8; in groups, which have no rest, they may need int16.
  struct Weights {
    std::vector<int64_t> shape;  ///< [window…, C/groups, O], for a matrix [K, N]
    std::vector<int16_t> values;
    std::vector<int64_t> rest;  ///< for each output; empty: all 0
    relax::Value* scale = nullptr;
    int64_t outputs() const { return shape.back(); }
    int64_t per_output() const { return static_cast<int64_t>(values.size()) / shape.back(); }
  };
  /// A quantized tensor whose stored values are bytes of the requested sign.
  struct Data {
    relax::Value* stored = nullptr;
    std::optional<int64_t> zero;
    relax::Value* zero_value = nullptr;  ///< int32, if it is known only at run time
    relax::Value* scale = nullptr;
  };

  std::optional<Weights> weights_of(relax::Op& op) const;
  int64_t word_padding(const relax::Op& op, const Weights& w) const;
  std::optional<QuantizedOperand> data_of(relax::Op& op) const;
  Result<Data> data_as(relax::GraphBuilder& b, const QuantizedOperand& x, DType bytes);
  Result<relax::Value*> stored_as(relax::GraphBuilder& b, relax::Value* stored, DType bytes);
  Result<relax::Value*> sibling_as(relax::Op& quantize, DType bytes);
  Result<relax::Value*> padded(relax::GraphBuilder& b, relax::Value* x, const std::vector<int64_t>& pads,
                               const Data& data);
  Result<relax::Value*> zero_as_byte(relax::GraphBuilder& b, const Data& data);
  Result<relax::Value*> product(relax::GraphBuilder& b, const relax::Op& op, relax::Value* x, const Weights& w);
  Result<relax::Value*> compensated(relax::GraphBuilder& b, const relax::Op& op, relax::Value* x, const Data& data,
                                    const Weights& w);
  Result<relax::Value*> scaled(relax::GraphBuilder& b, relax::Value* sum, relax::Value* x_scale, relax::Value* w_scale);

  // activation_product.cpp
  Result<relax::Value*> of_activations(relax::GraphBuilder& b, relax::Op& op);
  Result<relax::Value*> point(relax::GraphBuilder& b, const QuantizedOperand& x, int64_t shift);

  relax::Module& module_;
  const relax::OpTable& ops_;
  Diagnostics& diag_;
  Form form_;
  std::map<relax::Value*, relax::Value*> siblings_;  // of the other sign; never iterated
};

/// Returns a value that replaces sums of products of int8 data by constant int8 weights, `op`: sums of products of the
/// data as uint8, less a constant. Null if `op` is no such product.
Result<relax::Value*> as_unsigned_product(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
