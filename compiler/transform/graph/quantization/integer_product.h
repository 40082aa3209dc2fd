// integer_product.h: products of quantized tensors as products of bytes.
#pragma once

#include <map>
#include <vector>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"

namespace relaxc {

/// Writes matmul and nn.conv of a quantized tensor and constant weights, and matmul of two quantized tensors, anew, by
/// bytes alone.
class IntegerProducts {
 public:
  /// What the target multiplies best.
  struct Form {
    bool whole_words = false;  ///< channels are padded to whole words, for dot products of vectors
    DType data = DType::u(8);  ///< what is multiplied by int8 weights
  };
  IntegerProducts(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag, Form form)
      : module_(module), ops_(ops), diag_(diag), form_(form) {}

  /// What can stand for the result of `op`; null where `op` is none of these products. `transposed` gets every
  /// permute_dims from channels last to channels second that was made.
  Result<relax::Value*> rewrite(relax::Op& op, std::vector<relax::Op*>& transposed);

 private:
  /// stored - zero as numbers plus a rest that is the same for all weights of one output. With the rest taken off they
  /// fit into int8; in groups, where there is no rest, they may need int16.
  struct Weights {
    std::vector<int64_t> shape;  ///< [window…, C/groups, O], for a matrix [K, N]
    std::vector<int16_t> values;
    std::vector<int64_t> rest;  ///< by output; empty: all 0
    relax::Value* scale = nullptr;
    int64_t outputs() const { return shape.back(); }
    int64_t per_output() const { return static_cast<int64_t>(values.size()) / shape.back(); }
  };
  /// A quantized tensor whose stored values are bytes of the sign that is asked for.
  struct Data {
    relax::Value* stored = nullptr;
    std::optional<int64_t> zero;
    relax::Value* zero_value = nullptr;  ///< int32, where it is known at run time only
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
  std::map<relax::Value*, relax::Value*> siblings_;  // of the other sign; looked up, never walked
};

/// What can stand for the sums of products of int8 data by constant int8 weights, `op`: those of the data as uint8,
/// less a constant. Null where `op` is no such product.
Result<relax::Value*> as_unsigned_product(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
