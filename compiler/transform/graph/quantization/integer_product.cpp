// integer_product.cpp: the arithmetic behind recognize_quantization.
//
// With weights w of a column, sum (x - zx) (w - zw) = sum x w' - zx sum w' + rest (sum x - K zx), where w' = w - zw
// - rest fits int8. The second term is a constant if zx is one; the third vanishes if w - zw fits int8, which it
// does for symmetric weights; in groups, which are small, w - zw is stored as int16 instead. All of it is exact
// modulo 2^32, so the order does not matter, and the result is correct if it fits int32. Signed data is shifted by
// 128 into uint8, and its zero point with it; for targets that multiply bytes of one sign best, data of uint8
// becomes int8.
//
// Data is padded with its zero point, which contributes nothing, so data is padded before the product. For targets
// whose vectors take four products of bytes at a time, channels (and the inner dim of a matrix product) are padded to
// whole words with weights of 0; elsewhere that would only add work.
#include "compiler/transform/graph/quantization/integer_product.h"

#include <algorithm>
#include <cstring>

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr int64_t kMostTerms = 33000;  // terms of at most 255 * 255, whose sum fits int32

template <typename T>
Value* vector_constant(GraphBuilder& b, DType dtype, const std::vector<int64_t>& shape, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return b.constant(ConstantData::inline_bytes(dtype, shape, std::move(bytes)));
}

Value* int32s(GraphBuilder& b, const std::vector<int64_t>& values) {
  std::vector<int32_t> wrapped;
  for (int64_t value : values) wrapped.push_back(static_cast<int32_t>(static_cast<uint32_t>(value)));
  return vector_constant(b, DType::i(32), {static_cast<int64_t>(values.size())}, wrapped);
}

/// Returns the permutation that moves axis 1 to the end, or (`back`) the last axis to position 1.
std::vector<int64_t> channels_last(size_t rank, bool back) {
  std::vector<int64_t> axes{0};
  if (back) axes.push_back(static_cast<int64_t>(rank) - 1);
  for (size_t i = back ? 1 : 2; i + (back ? 1 : 0) < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (!back) axes.push_back(1);
  return axes;
}

int64_t groups_of(const Op& op) {
  if (!op.is("nn.conv")) return 1;
  int64_t groups = op.attrs.integer("groups");
  const int64_t* channels = op.operand(0)->shape()[1].constant();
  return groups == 0 ? (channels != nullptr ? *channels : 0) : groups;
}

/// Returns the pads of the spatial dims: all begins, then all ends.
std::vector<int64_t> padding_of(const Op& op, size_t spatial) {
  std::vector<int64_t> pads = op.attrs.ints("padding");
  if (pads.empty()) return std::vector<int64_t>(2 * spatial, 0);
  if (pads.size() == 1) return std::vector<int64_t>(2 * spatial, pads[0]);
  if (pads.size() == spatial)
    pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  return pads;
}

bool is_window_of_one(const Op& op, const std::vector<int64_t>& weights) {
  auto one = [](int64_t n) { return n == 1; };
  const auto& strides = op.attrs.ints("strides");
  return std::all_of(weights.begin(), weights.end() - 2, one) && std::all_of(strides.begin(), strides.end(), one) &&
         groups_of(op) == 1;
}

/// Returns a zero point for each output; nothing if they are not known.
std::optional<std::vector<int64_t>> zeros_of(const Value* zero, size_t outputs) {
  if (zero == nullptr) return std::vector<int64_t>(outputs, 0);
  auto known = known_integers(zero);
  if (!known || known->empty()) return std::nullopt;
  std::vector<int64_t> zeros(known->begin(), known->end());
  zeros.resize(outputs, zeros[0]);
  return zeros;
}

/// Returns the shape [window…, I, O] of a convolution's [O, I, window…]; that of a matrix unchanged.
std::vector<int64_t> outputs_last(const std::vector<int64_t>& dims, bool conv) {
  if (!conv) return dims;
  std::vector<int64_t> shape(dims.begin() + 2, dims.end());
  shape.push_back(dims[1]), shape.push_back(dims[0]);
  return shape;
}

/// Constant weights less their zero points, as [terms, outputs].
class CenteredWeights {
 public:
  CenteredWeights(const std::vector<int32_t>& stored, const std::vector<int64_t>& zero,
                  const std::vector<int64_t>& dims, bool conv)
      : stored_(stored),
        zero_(zero),
        conv_(conv),
        outputs_(conv ? dims[0] : dims[1]),
        terms_(static_cast<int64_t>(stored.size()) / outputs_),
        inputs_(conv ? dims[1] : 1) {}

  /// Returns for each output what must be subtracted from its weights to make them int8, which is 0 unless `allowed`;
  /// nothing if the weights of an output are further apart than those of a byte.
  std::optional<std::vector<int64_t>> rest(bool allowed) const {
    std::vector<int64_t> low(zero_.size(), INT64_MAX), high(zero_.size(), INT64_MIN), rest(zero_.size(), 0);
    each([&](size_t o, int64_t, int64_t value) {
      low[o] = std::min(low[o], value), high[o] = std::max(high[o], value);
    });
    for (size_t o = 0; o < rest.size(); ++o) {
      if (high[o] - low[o] > 255) return std::nullopt;
      if (allowed) rest[o] = low[o] < -128 ? low[o] + 128 : high[o] > 127 ? high[o] - 127 : 0;
    }
    return rest;
  }

  /// Returns the weights less each output's rest, as [terms, outputs].
  std::vector<int16_t> less(const std::vector<int64_t>& rest) const {
    std::vector<int16_t> values(stored_.size());
    each([&](size_t o, int64_t term, int64_t value) {
      values[static_cast<size_t>(term) * rest.size() + o] = static_cast<int16_t>(value - rest[o]);
    });
    return values;
  }

 private:
  /// Returns the stored index. Of a convolution, element (o, i, k) of [O, I, window…] is (k, i, o) of [window…, I, O].
  int64_t source(int64_t term, int64_t o) const {
    int64_t window = terms_ / inputs_;
    return conv_ ? (o * inputs_ + term % inputs_) * window + term / inputs_ : term * outputs_ + o;
  }

  /// Visits the weights in the order in which they are stored, since reading them is what takes time.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (int64_t outer = 0; outer < (conv_ ? outputs_ : terms_); ++outer)
      for (int64_t inner = 0; inner < (conv_ ? terms_ : outputs_); ++inner) {
        int64_t o = conv_ ? outer : inner, term = conv_ ? inner : outer;
        auto at = static_cast<size_t>(o);
        visit(at, term, stored_[static_cast<size_t>(source(term, o))] - zero_[at]);
      }
  }

  const std::vector<int32_t>& stored_;
  const std::vector<int64_t>& zero_;
  const bool conv_;
  const int64_t outputs_, terms_, inputs_;
};

}  // namespace

/// Returns the number of channels to add so that words of four bytes are full; 0 for grouped convolutions.
int64_t IntegerProducts::word_padding(const Op& op, const Weights& w) const {
  const int64_t inputs = w.shape[w.shape.size() - 2];
  return form_.whole_words && groups_of(op) == 1 ? (4 - inputs % 4) % 4 : 0;
}

/// Returns the weights with outputs last; nothing unless they are constant bytes with one zero point, or one an output.
std::optional<IntegerProducts::Weights> IntegerProducts::weights_of(Op& op) const {
  auto found = quantized_operand(op.operand(1));
  if (!found) return std::nullopt;
  bool conv = op.is("nn.conv");
  if (!conv && found->stored->shape().size() != 2) return std::nullopt;
  auto values = known_integers(found->stored);
  if (!values || values->empty()) return std::nullopt;
  std::vector<int64_t> dims;
  for (arith::Expr dim : found->stored->shape()) dims.push_back(*dim.constant());
  int64_t output_axis = conv ? 0 : 1, outputs = dims[static_cast<size_t>(output_axis)];
  auto by_output = [&](const Value* p) {
    return p == nullptr || is_single(*p) ||
           (found->axis == output_axis && (p->shape().size() == 1 || found->scale == nullptr));
  };
  int64_t terms = static_cast<int64_t>(values->size()) / outputs;
  if (!by_output(found->scale) || !by_output(found->zero) || terms > kMostTerms) return std::nullopt;
  std::optional<std::vector<int64_t>> zero = zeros_of(found->zero, static_cast<size_t>(outputs));
  if (!zero) return std::nullopt;
  const CenteredWeights centered(*values, *zero, dims, conv);
  std::optional<std::vector<int64_t>> rest = centered.rest(groups_of(op) == 1);
  if (!rest) return std::nullopt;
  Weights w;
  w.shape = outputs_last(dims, conv);
  w.scale = found->scale;
  w.values = centered.less(*rest);
  if (std::any_of(rest->begin(), rest->end(), [](int64_t r) { return r != 0; })) w.rest = std::move(*rest);
  return w;
}

std::optional<QuantizedOperand> IntegerProducts::data_of(Op& op) const {
  // Bytes that were widened to int32 and then permuted are read as permuted bytes.
  Value* value = op.operand(0);
  const Op* moved = value->dtype() == DType::i(32) ? producer_of(value, "permute_dims") : nullptr;
  auto found = quantized_operand(moved != nullptr ? moved->operand(0) : value);
  bool whole = found && (found->scale == nullptr || is_single(*found->scale)) &&
               (found->zero == nullptr || is_single(*found->zero));
  if (!whole || found->stored->dtype().bits != 8 || found->stored->shape().size() < 2) return std::nullopt;
  found->moved = moved;
  return found;
}

namespace {

/// Returns what is added to a stored byte to make it one of the other dtype.
int64_t shift_between(DType from, DType to) {
  return from == to ? 0 : to.is_uint() ? 128 : -128;
}

}  // namespace

/// Returns the same tensor in bytes of this dtype.
Result<Value*> IntegerProducts::stored_as(GraphBuilder& b, Value* stored, DType bytes) {
  if (stored->dtype() == bytes) return stored;
  if (auto found = siblings_.find(stored); found != siblings_.end()) return found->second;
  if (stored->op != nullptr && stored->op->is("quantize")) {
    bool known = stored->op->operand(2) == nullptr || known_integer(stored->op->operand(2)).has_value();
    if (known) return sibling_as(*stored->op, bytes);
  }
  const auto shift = static_cast<double>(shift_between(stored->dtype(), bytes));
  RELAXC_TRY(Value * wide, b.call("astype", {stored}, {{"dtype", DType::i(32)}}));
  RELAXC_TRY(wide, b.call("add", {wide, b.scalar(DType::i(32), shift)}));
  return b.call("astype", {wide}, {{"dtype", bytes}});
}

/// Adds a quantization to bytes of the other sign, which dequantizations of the old one then read.
Result<Value*> IntegerProducts::sibling_as(Op& quantize, DType bytes) {
  Value* stored = quantize.result();
  const int64_t shift = shift_between(stored->dtype(), bytes);
  GraphBuilder b(module_, ops_, &quantize, diag_);
  int64_t zero = (quantize.operand(2) == nullptr ? 0 : *known_integer(quantize.operand(2))) + shift;
  Value* point = b.scalar(bytes, static_cast<double>(zero));
  RELAXC_TRY(Value * made, b.call("quantize", {quantize.operand(0), quantize.operand(1), point},
                                  {{"axis", quantize.attrs.integer("axis")}, {"out_dtype", bytes}}, stored->name));
  siblings_[stored] = made;
  const std::vector<Use> uses = stored->uses();
  for (const Use& use : uses) {
    Op& user = *use.user;
    if (!user.is("dequantize") || use.index != 0) continue;
    std::optional<int64_t> own =
        user.operand(2) == nullptr ? std::optional<int64_t>(0) : known_integer(user.operand(2));
    if (!own) continue;
    GraphBuilder before(module_, ops_, &user, diag_);
    user.set_operand(0, made);
    Value* shifted = before.scalar(bytes, static_cast<double>(*own + shift));
    if (user.operands().size() > 2)
      user.set_operand(2, shifted);
    else
      user.add_operand(shifted);
  }
  return made;
}

Result<IntegerProducts::Data> IntegerProducts::data_as(GraphBuilder& b, const QuantizedOperand& x, DType bytes) {
  Data data;
  const int64_t shift = shift_between(x.stored->dtype(), bytes);
  data.zero = x.zero == nullptr ? std::optional<int64_t>(0) : known_integer(x.zero);
  if (data.zero)
    *data.zero += shift;
  else {
    RELAXC_TRY(data.zero_value, b.call("reshape", {x.zero, b.shape({})}));
    RELAXC_TRY(data.zero_value, b.call("astype", {data.zero_value}, {{"dtype", DType::i(32)}}));
    if (shift != 0) {
      RELAXC_TRY(data.zero_value, b.call("add", {data.zero_value, b.scalar(DType::i(32), static_cast<double>(shift))}));
    }
  }
  data.scale = x.scale;
  RELAXC_TRY(data.stored, stored_as(b, x.stored, bytes));
  if (x.moved != nullptr) {
    RELAXC_TRY(data.stored, b.call("permute_dims", {data.stored}, {{"axes", x.moved->attrs.ints("axes")}}));
  }
  return data;
}

Result<Value*> IntegerProducts::zero_as_byte(GraphBuilder& b, const Data& data) {
  const DType bytes = data.stored->dtype();
  if (data.zero) return b.scalar(bytes, static_cast<double>(*data.zero));
  return b.call("astype", {data.zero_value}, {{"dtype", bytes}});
}

Result<Value*> IntegerProducts::padded(GraphBuilder& b, Value* x, const std::vector<int64_t>& pads, const Data& data) {
  if (std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; })) return x;
  std::vector<arith::Expr> dims;
  for (int64_t pad : pads) dims.push_back(b.context().index(pad));
  RELAXC_TRY(Value * zero, zero_as_byte(b, data));
  return b.call("pad", {x, b.shape(dims), zero}, {{"mode", std::string("constant")}});
}

/// Returns the sum of the products of bytes in int32; `x` is padded already.
Result<Value*> IntegerProducts::product(GraphBuilder& b, const Op& op, Value* x, const Weights& w) {
  size_t inputs_at = w.shape.size() - 2;
  int64_t inputs = w.shape[inputs_at];
  int64_t more = word_padding(op, w);
  std::vector<int64_t> shape = w.shape;
  std::vector<int16_t> values = w.values;
  if (more > 0) {
    shape[inputs_at] += more;
    size_t row = static_cast<size_t>(inputs * w.outputs()), wide = static_cast<size_t>((inputs + more) * w.outputs());
    values.assign(w.values.size() / row * wide, 0);
    for (size_t i = 0; i * row < w.values.size(); ++i)
      std::copy_n(w.values.begin() + static_cast<std::ptrdiff_t>(i * row), row,
                  values.begin() + static_cast<std::ptrdiff_t>(i * wide));
  }
  bool matrix = !op.is("nn.conv") || is_window_of_one(op, w.shape);
  if (matrix && shape.size() > 2) shape.erase(shape.begin(), shape.end() - 2);
  bool bytes = std::all_of(values.begin(), values.end(), [](int16_t v) { return v >= -128 && v <= 127; });
  std::vector<int8_t> narrow(bytes ? values.begin() : values.end(), values.end());
  Value* weight =
      bytes ? vector_constant(b, DType::i(8), shape, narrow) : vector_constant(b, DType::i(16), shape, values);
  if (matrix) return b.call("matmul", {x, weight}, {{"out_dtype", std::string("int32")}});
  return b.call(
      "nn.conv_integer", {x, weight},
      {{"strides", op.attrs.ints("strides")}, {"dilation", op.attrs.ints("dilation")}, {"groups", groups_of(op)}});
}

Result<Value*> IntegerProducts::compensated(GraphBuilder& b, const Op& op, Value* x, const Data& data,
                                            const Weights& w) {
  DType i32 = DType::i(32);
  RELAXC_TRY(Value * sum, product(b, op, x, w));
  std::vector<int64_t> columns(static_cast<size_t>(w.outputs()), 0);
  for (size_t i = 0; i < w.values.size();)
    for (int64_t& column : columns) column += w.values[i++];
  if (data.zero) {
    for (int64_t& column : columns) column *= -*data.zero;
    bool any = std::any_of(columns.begin(), columns.end(), [](int64_t c) { return c != 0; });
    if (any) {
      RELAXC_TRY(sum, b.call("add", {sum, int32s(b, columns)}));
    }
  } else {
    RELAXC_TRY(Value * part, b.call("multiply", {data.zero_value, int32s(b, columns)}));
    RELAXC_TRY(sum, b.call("subtract", {sum, part}));
  }
  if (w.rest.empty()) return sum;
  Weights ones = w;
  ones.shape.back() = 1;
  ones.values.assign(static_cast<size_t>(w.per_output()), 1);
  RELAXC_TRY(Value * rows, product(b, op, x, ones));
  Value* zeros = b.scalar(i32, static_cast<double>(data.zero.value_or(0) * w.per_output()));
  if (!data.zero) {
    RELAXC_TRY(zeros, b.call("multiply", {data.zero_value, b.scalar(i32, static_cast<double>(w.per_output()))}));
  }
  RELAXC_TRY(rows, b.call("subtract", {rows, zeros}));
  RELAXC_TRY(rows, b.call("multiply", {rows, int32s(b, w.rest)}));
  return b.call("add", {sum, rows});
}

/// Returns the sum times both scales, in float32.
Result<Value*> IntegerProducts::scaled(GraphBuilder& b, Value* sum, Value* x_scale, Value* w_scale) {
  mark_rounding(b.function());  // an exact sum is rounded once, instead of each term
  RELAXC_TRY(Value * real, b.call("astype", {sum}, {{"dtype", DType::f(32)}}));
  RELAXC_TRY(x_scale, b.call("reshape", {x_scale, b.shape({})}));
  if (is_single(*w_scale)) {
    RELAXC_TRY(w_scale, b.call("reshape", {w_scale, b.shape({})}));
  }
  RELAXC_TRY(Value * scale, b.call("multiply", {x_scale, w_scale}));
  return b.call("multiply", {real, scale});
}

Result<Value*> IntegerProducts::rewrite(Op& op, std::vector<Op*>& transposed) {
  bool conv = op.is("nn.conv");
  if ((!conv && !op.is("matmul")) || op.result()->unused() || groups_of(op) == 0) return nullptr;
  GraphBuilder b(module_, ops_, &op, diag_);
  b.location = op.location;
  auto x = data_of(op);
  if (!x) return nullptr;
  auto w = weights_of(op);
  if (!w && !conv) return of_activations(b, op);
  bool real = x->scale != nullptr;
  DType f32 = DType::f(32);
  if (!w || real != (w->scale != nullptr)) return nullptr;
  if (op.result()->dtype() != (real ? f32 : DType::i(32))) return nullptr;
  if (real && (x->scale->dtype() != f32 || w->scale->dtype() != f32)) return nullptr;

  RELAXC_TRY(Data data, data_as(b, *x, form_.data));
  size_t rank = data.stored->shape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  Value* bytes = data.stored;
  if (conv) {
    RELAXC_TRY(bytes, b.call("permute_dims", {bytes}, {{"axes", channels_last(rank, false)}}));
    std::vector<int64_t> spatial = padding_of(op, rank - 2);
    for (size_t k = 0; k < rank - 2; ++k) pads[1 + k] = spatial[k], pads[rank + 1 + k] = spatial[rank - 2 + k];
  }
  pads.back() = word_padding(op, *w);
  RELAXC_TRY(bytes, padded(b, bytes, pads, data));
  RELAXC_TRY(Value * y, compensated(b, op, bytes, data, *w));
  if (real) {
    RELAXC_TRY(y, scaled(b, y, data.scale, w->scale));
  }
  if (!conv) return y;
  RELAXC_TRY(y, b.call("permute_dims", {y}, {{"axes", channels_last(rank, true)}}));
  transposed.push_back(y->op);
  return y;
}

}  // namespace relaxc
