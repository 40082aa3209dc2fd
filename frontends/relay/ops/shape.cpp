// shape.cpp: operators that change a tensor's shape, and tensors made from sizes.
#include <algorithm>
#include <cmath>

#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relay/sizes.h"

namespace relaxc::relay::shape_family {
namespace {

/// Reads the numbers of `newshape`, of which some are codes: 0 copies a dim, -1 is inferred, -2 copies all remaining
/// dims, -3 joins two dims, -4 splits one into the two numbers that follow.
class NewShape {
 public:
  NewShape(TvmCall& c, const Exprs& from, const Ints& numbers, bool allow_zero)
      : c_(c), from_(from), numbers_(numbers), allow_zero_(allow_zero) {}

  /// Returns the dims; one of them may be -1.
  Result<Exprs> read() {
    for (size_t i = 0; i < numbers_.size(); ++i) {
      int64_t number = numbers_[i];
      bool fits = true;
      if (number == 0 && !allow_zero_) {
        fits = copy(1);
      } else if (number == -2) {
        fits = copy(from_.size() - std::min(at_, from_.size()));
      } else if (number == -3) {
        fits = at_ + 1 < from_.size();
        if (fits) dims_.push_back(from_[at_] * from_[at_ + 1]);
        at_ += 2;
      } else if (number == -4) {
        fits = i + 2 < numbers_.size() && at_ < from_.size() && split(numbers_[i + 1], numbers_[i + 2]);
        i += 2;
      } else {
        fits = number >= -1;
        dims_.push_back(c_.context().index(number));
        ++at_;
      }
      if (!fits)
        return c_.error("newshape", Kind::invalid_attribute,
                        "the number {} of the new shape does not fit a tensor of {} dims", number, from_.size());
    }
    return dims_;
  }

 private:
  bool copy(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (at_ >= from_.size()) return false;
      dims_.push_back(from_[at_++]);
    }
    return true;
  }

  bool split(int64_t first, int64_t second) {
    arith::Expr whole = from_[at_++];
    if ((first == -1) == (second == -1) && first == -1) return false;
    if (first < -1 || second < -1 || first == 0 || second == 0) return false;
    arith::Context& context = c_.context();
    dims_.push_back(first == -1 ? arith::simplify(arith::floordiv(whole, second)) : context.index(first));
    dims_.push_back(second == -1 ? arith::simplify(arith::floordiv(whole, first)) : context.index(second));
    return true;
  }

  TvmCall& c_;
  const Exprs& from_;
  const Ints& numbers_;
  bool allow_zero_;
  Exprs dims_;
  size_t at_ = 0;  ///< the next dim of the tensor
};

/// reshape(data, newshape, allowzero), and contrib_reverse_reshape, which reads the codes from the end.
Result<Term> reshape(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints numbers, c.ints("newshape", {}));
  RELAXC_TRY(bool allow_zero, c.flag("allowzero", false));
  bool reverse = c.spelled == "contrib_reverse_reshape";
  Exprs from = x->shape();
  if (reverse) {
    std::reverse(from.begin(), from.end());
    std::reverse(numbers.begin(), numbers.end());
  }
  RELAXC_TRY(Exprs dims, NewShape(c, from, numbers, allow_zero).read());
  if (reverse) std::reverse(dims.begin(), dims.end());
  return c.term(c.reshape(x, std::move(dims)));
}

/// reshape_like(data, shape_like, lhs_begin, lhs_end, rhs_begin, rhs_end)
Result<Term> reshape_like(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * like, c.tensor("shape_like"));
  auto bounds = [&](std::string_view first, std::string_view last,
                    const Exprs& dims) -> Result<std::pair<int64_t, int64_t>> {
    auto rank = static_cast<int64_t>(dims.size());
    RELAXC_TRY(int64_t begin, c.integer(first, 0));
    RELAXC_TRY(int64_t end, c.integer(last, rank));
    if (begin < 0) begin += rank;
    if (end < 0) end += rank;
    if (begin < 0 || end > rank || begin > end)
      return c.error(first, Kind::invalid_attribute, "dims {} to {} of {}", begin, end, rank);
    return std::pair(begin, end);
  };
  RELAXC_TRY(auto own, bounds("lhs_begin", "lhs_end", x->shape()));
  RELAXC_TRY(auto other, bounds("rhs_begin", "rhs_end", like->shape()));
  Exprs dims(x->shape().begin(), x->shape().begin() + own.first);
  dims.insert(dims.end(), like->shape().begin() + other.first, like->shape().begin() + other.second);
  dims.insert(dims.end(), x->shape().begin() + own.second, x->shape().end());
  return c.term(c.reshape(x, std::move(dims)));
}

/// dyn.reshape(data, newshape, allowzero): a 0 copies a dim if the shape is known at compile time.
Result<Term> dynamic_reshape(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * wanted, c.tensor("newshape"));
  RELAXC_TRY(Value * shape, shape_from(c, wanted));
  const auto* info = shape->info->as<relax::ShapeInfo>();
  if (info != nullptr && info->dims) {
    Exprs dims = *info->dims;
    for (size_t i = 0; i < dims.size() && i < x->shape().size(); ++i)
      if (dims[i].is_constant(0)) dims[i] = x->shape()[i];
    shape = c.build().shape(std::move(dims));
  }
  return c.term(c.op("reshape", {x, shape}));
}

/// expand_dims(data, axis, num_newaxis)
Result<Term> expand_dims(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axis, known_integers(c, "axis"));
  RELAXC_TRY(int64_t count, c.integer("num_newaxis", 1));
  auto rank = static_cast<int64_t>(x->shape().size());
  int64_t first = axis.empty() ? 0 : axis[0] < 0 ? axis[0] + rank + 1 : axis[0];
  if (first < 0 || first > rank || count < 0 || count > 64)
    return c.error("axis", Kind::invalid_attribute, "{} new axes at {} of {}", count, first, rank);
  Exprs dims = x->shape();
  dims.insert(dims.begin() + first, static_cast<size_t>(count), c.context().index(1));
  return c.term(c.reshape(x, std::move(dims)));
}

/// squeeze(data, axis)
Result<Term> squeeze(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, known_integers(c, "axis"));
  return c.term(c.op("squeeze", {x}, {{"axis", axes}}));
}

/// shape_of(data, dtype)
Result<Term> shape_of(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(32)));
  RELAXC_TRY(Value * sizes, c.op("shape_to_tensor", {c.build().shape(x->shape())}));
  return c.term(c.cast(sizes, dtype));
}

/// ndarray_size(data, dtype)
Result<Term> size_of(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(32)));
  arith::Expr elements = c.context().index(1);
  for (arith::Expr dim : x->shape()) elements = elements * dim;
  RELAXC_TRY(Value * count, c.op("shape_to_tensor", {c.build().shape({arith::simplify(elements)})}));
  RELAXC_TRY(count, c.reshape(count, {}));
  return c.term(c.cast(count, dtype));
}

/// broadcast_to(data, shape, dtype), dyn.broadcast_to, broadcast_to_like(data, broadcast_type)
Result<Term> broadcast(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  Value* shape = nullptr;
  if (c.has("like")) {
    RELAXC_TRY(Value * like, c.tensor("like"));
    shape = c.build().shape(like->shape());
  } else if (c.is_value("shape")) {
    RELAXC_TRY(Value * sizes, c.value("shape"));
    RELAXC_TRY(shape, shape_from(c, sizes));
  } else {
    RELAXC_TRY(shape, c.shape("shape"));
  }
  return c.term(c.op("broadcast_to", {x, shape}));
}

/// full(fill_value, shape, dtype), full_like, zeros(shape, dtype), ones, zeros_like, ones_like, and their dyn. forms.
Result<Term> filled(TvmCall& c) {
  Value* shape = nullptr;
  DType fallback = DType::f(32);
  if (c.has("like")) {
    RELAXC_TRY(Value * like, c.tensor("like"));
    shape = c.build().shape(like->shape());
    fallback = like->dtype();
  } else if (c.is_value("shape")) {
    RELAXC_TRY(Value * sizes, c.value("shape"));
    RELAXC_TRY(shape, shape_from(c, sizes));
  } else {
    RELAXC_TRY(shape, c.shape("shape"));
  }
  Value* value = nullptr;
  if (c.has("fill_value")) {
    RELAXC_TRY(value, c.tensor("fill_value"));
    if (!c.has("like")) fallback = value->dtype();
  }
  RELAXC_TRY(DType dtype, c.dtype("dtype", fallback));
  if (value == nullptr) value = c.build().scalar(dtype, c.spelled.find("ones") == std::string::npos ? 0 : 1);
  RELAXC_TRY(value, c.cast(value, dtype));
  return c.term(c.op("full", {shape, value}));
}

/// arange(start, stop, step, dtype): the three are tensors of one element.
Result<Term> arange(TvmCall& c) {
  Value* bounds[3] = {};
  std::optional<double> numbers[3];
  constexpr std::string_view kNames[] = {"first", "last", "stride"};
  for (size_t i = 0; i < 3; ++i) {
    RELAXC_TRY(bounds[i], c.tensor(kNames[i]));
    RELAXC_TRY(bounds[i], c.reshape(bounds[i], {}));
    RELAXC_TRY(Value * plain, c.tensor(kNames[i]));
    numbers[i] = known_number(plain);
  }
  RELAXC_TRY(DType dtype, c.dtype("dtype", bounds[0]->dtype()));
  relax::GraphBuilder& b = c.build();
  Value* extent = nullptr;
  if (numbers[0] && numbers[1] && numbers[2]) {
    double count = std::ceil((*numbers[1] - *numbers[0]) / *numbers[2]);
    if (!(count < 1e15)) return c.error("stride", Kind::invalid_value, "{} steps by {}", c.spelled, *numbers[2]);
    extent = b.shape({c.context().index(static_cast<int64_t>(std::max(count, 0.0)))});
  } else {
    RELAXC_TRY(Value * count, c.op("subtract", {bounds[1], bounds[0]}));
    RELAXC_TRY(count, c.cast(count, DType::f(64)));
    RELAXC_TRY(Value * step, c.cast(bounds[2], DType::f(64)));
    RELAXC_TRY(count, c.op("divide", {count, step}));
    RELAXC_TRY(count, c.op("ceil", {count}));
    RELAXC_TRY(count, c.op("maximum", {count, b.scalar(DType::f(64), 0)}));
    RELAXC_TRY(count, c.cast(count, DType::i(64)));
    std::optional<Exprs> first = known_elements(c.context(), bounds[0]), last = known_elements(c.context(), bounds[1]);
    bool plain = first && last && numbers[2] == 1.0;
    RELAXC_TRY(
        extent,
        plain ? Result<Value*>(b.shape({arith::simplify(arith::max((*last)[0] - (*first)[0], c.context().index(0)))}))
              : c.op("tensor_to_shape", {count}));
  }
  RELAXC_TRY(bounds[0], c.cast(bounds[0], dtype));
  RELAXC_TRY(bounds[2], c.cast(bounds[2], dtype));
  return c.term(c.op("range_of", {bounds[0], bounds[2], extent}));
}

/// transpose(data, axes)
Result<Term> transpose(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, c.ints("axes", {}));
  return c.term(c.op("permute_dims", {x}, {{"axes", axes}}));
}

/// layout_transform(data, src_layout, dst_layout): permutes axes named by letters, and joins and splits blocks.
Result<Term> layout_transform(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::string from, c.text("src_layout", ""));
  RELAXC_TRY(std::string to, c.text("dst_layout", ""));
  auto letters = [](const std::string& layout) {
    std::string whole;
    for (char l : layout)
      if (l >= 'A' && l <= 'Z') whole += l;
    return whole;
  };
  std::string source = letters(from), target = letters(to);
  RELAXC_TRY(x, frontend::join_blocks(c, x, "src_layout", from));
  Ints axes;
  for (char l : target) {
    size_t at = source.find(l);
    if (at == std::string::npos || source.size() != target.size() || source.size() != x->shape().size())
      return c.error("dst_layout", Kind::unsupported, "{} from \"{}\" to \"{}\" of {}", c.spelled, from, to,
                     relax::to_string(x->info));
    axes.push_back(static_cast<int64_t>(at));
  }
  RELAXC_TRY(x, c.permute(x, axes));
  return c.term(frontend::split_blocks(c, x, "dst_layout", to));
}

/// tile(data, reps), dyn.tile
Result<Term> tile(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  Value* repeats = nullptr;
  if (c.is_value("reps")) {
    RELAXC_TRY(Value * counts, c.value("reps"));
    RELAXC_TRY(repeats, shape_from(c, counts));
  } else {
    RELAXC_TRY(repeats, c.shape("reps"));
  }
  const auto* info = repeats->info->as<relax::ShapeInfo>();
  size_t rank = info != nullptr && info->ndim >= 0 ? static_cast<size_t>(info->ndim) : 0;
  if (info != nullptr && info->dims && rank < x->shape().size()) {
    Exprs counts(x->shape().size() - rank, c.context().index(1));
    counts.insert(counts.end(), info->dims->begin(), info->dims->end());
    repeats = c.build().shape(std::move(counts));
  } else if (rank > x->shape().size()) {
    Exprs dims(rank - x->shape().size(), c.context().index(1));
    dims.insert(dims.end(), x->shape().begin(), x->shape().end());
    RELAXC_TRY(x, c.reshape(x, std::move(dims)));
  }
  return c.term(c.op("tile", {x, repeats}));
}

/// meshgrid(data, indexing): "xy" exchanges the first two axes.
Result<Term> meshgrid(TvmCall& c) {
  RELAXC_TRY(std::vector<Value*> tensors, c.values("tensors"));
  RELAXC_TRY(std::string indexing, c.text("indexing", "ij"));
  bool swap = indexing == "xy" && tensors.size() >= 2;
  Exprs all;
  for (Value*& tensor : tensors) {
    RELAXC_TRY(tensor, c.op("flatten", {tensor}));
    all.push_back(tensor->shape()[0]);
  }
  if (swap) std::swap(all[0], all[1]);
  std::vector<Term> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t axis = swap && i < 2 ? 1 - i : i;
    Exprs own(tensors.size(), c.context().index(1));
    own[axis] = all[axis];
    RELAXC_TRY(Value * column, c.reshape(tensors[i], std::move(own)));
    RELAXC_TRY(Value * grid, c.op("broadcast_to", {column, c.build().shape(all)}));
    grids.push_back(Term::of(grid));
  }
  return Term::sequence(std::move(grids));
}

/// space_to_batch_nd(data, block_shape, paddings, pad_value)
Result<Term> space_to_batch(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints block, c.ints("block_shape", {1, 1}));
  RELAXC_TRY(std::vector<Ints> borders, c.int_lists("paddings"));
  RELAXC_TRY(double filling, c.real("pad_value", 0));
  size_t rank = x->shape().size(), count = block.size();
  if (count + 1 > rank || borders.size() != count)
    return c.error("block_shape", Kind::invalid_attribute, "{} blocks of {} dims", count, rank);
  relax::GraphBuilder& b = c.build();
  Exprs pads(2 * rank, c.context().index(0));
  for (size_t k = 0; k < count; ++k) {
    if (borders[k].size() != 2 || block[k] < 1)
      return c.error("paddings", Kind::invalid_attribute, "not pairs of borders");
    pads[k + 1] = c.context().index(borders[k][0]);
    pads[rank + k + 1] = c.context().index(borders[k][1]);
  }
  RELAXC_TRY(x, c.op("pad", {x, b.shape(std::move(pads)), b.scalar(x->dtype(), filling)}));
  Exprs split{x->shape()[0]}, result{x->shape()[0]};
  Ints order, outer{0};
  for (size_t k = 0; k < count; ++k) {
    arith::Expr part = arith::simplify(arith::floordiv(x->shape()[k + 1], block[k]));
    order.push_back(static_cast<int64_t>(split.size()) + 1);
    outer.push_back(static_cast<int64_t>(split.size()));
    split.push_back(part);
    split.push_back(c.context().index(block[k]));
    result[0] = result[0] * c.context().index(block[k]);
    result.push_back(part);
  }
  order.insert(order.end(), outer.begin(), outer.end());
  for (size_t k = count + 1; k < rank; ++k) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x->shape()[k]);
    result.push_back(x->shape()[k]);
  }
  RELAXC_TRY(x, c.reshape(x, std::move(split)));
  RELAXC_TRY(x, c.permute(x, order));
  return c.term(c.reshape(x, std::move(result)));
}

/// batch_to_space_nd(data, block_shape, crops)
Result<Term> batch_to_space(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints block, c.ints("block_shape", {1, 1}));
  RELAXC_TRY(std::vector<Ints> crops, c.int_lists("crops"));
  size_t rank = x->shape().size(), count = block.size();
  int64_t blocks = 1;
  bool fits = count < rank && crops.size() == count;
  for (int64_t size : block) {
    fits &= size >= 1 && size <= 1 << 20 && blocks <= 1 << 20;
    blocks *= fits ? size : 1;
  }
  if (!fits) return c.error("block_shape", Kind::invalid_attribute, "{} blocks of {} dims", count, rank);
  Exprs split, result{arith::simplify(arith::floordiv(x->shape()[0], blocks))};
  for (int64_t size : block) split.push_back(c.context().index(size));
  split.push_back(result[0]);
  Ints order{static_cast<int64_t>(count)};
  for (size_t k = 1; k < rank; ++k) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x->shape()[k]);
    if (k <= count) order.push_back(static_cast<int64_t>(k) - 1);
    result.push_back(k <= count ? x->shape()[k] * c.context().index(block[k - 1]) : x->shape()[k]);
  }
  RELAXC_TRY(x, c.reshape(x, std::move(split)));
  RELAXC_TRY(x, c.permute(x, order));
  RELAXC_TRY(x, c.reshape(x, result));
  relax::GraphBuilder& b = c.build();
  for (size_t k = 0; k < count; ++k) {
    if (crops[k].size() != 2) return c.error("crops", Kind::invalid_attribute, "not pairs of borders");
    if (crops[k][0] == 0 && crops[k][1] == 0) continue;
    Value* begin = b.shape({c.context().index(crops[k][0])});
    Value* end = b.shape({arith::simplify(result[k + 1] - c.context().index(crops[k][1]))});
    RELAXC_TRY(x, c.op("strided_slice", {x, begin, end}, {{"axes", Ints{static_cast<int64_t>(k) + 1}}}));
  }
  return Term::of(x);
}

constexpr Row kRows[] = {
    {"reshape", "data, newshape, allowzero=False", {}, reshape},
    {"contrib_reverse_reshape", "data, newshape, allowzero=False", {}, reshape},
    {"vm.reshape_tensor", "data, shape, newshape", {}, reshape},
    {"reshape_like", "data, shape_like, lhs_begin, lhs_end, rhs_begin, rhs_end", {}, reshape_like},
    {"dyn.reshape", "data, newshape, allowzero=False", {}, dynamic_reshape, "a 0 in a computed shape is the extent 0"},
    {"expand_dims", "data, axis, num_newaxis=1", {}, expand_dims},
    {"dyn.expand_dims", "data, axis, num_newaxis=1", {}, expand_dims, "axes that are known when compiling"},
    {"squeeze", "data, axis", {}, squeeze},
    {"dyn.squeeze", "data, axis", {}, squeeze, "axes that are known when compiling"},
    {"shape_of", "data, dtype", {}, shape_of},
    {"vm.shape_of", "data, dtype", {}, shape_of},
    {"ndarray_size", "data, dtype", {}, size_of},
    {"broadcast_to", "data, shape, dtype", {}, broadcast},
    {"dyn.broadcast_to", "data, shape", {}, broadcast},
    {"broadcast_to_like", "data, broadcast_type:like", {}, broadcast},
    {"collapse_sum_like", "data, collapse_type:target", "collapse_sum_like"},
    {"collapse_sum_to", "data, shape", "collapse_sum_to"},
    {"full", "fill_value, shape, dtype", {}, filled},
    {"dyn.full", "fill_value, shape, dtype", {}, filled},
    {"full_like", "data:like, fill_value", {}, filled},
    {"zeros", "shape, dtype", {}, filled},
    {"dyn.zeros", "shape, dtype", {}, filled},
    {"zeros_like", "data:like", {}, filled},
    {"ones", "shape, dtype", {}, filled},
    {"dyn.ones", "shape, dtype", {}, filled},
    {"ones_like", "data:like", {}, filled},
    {"arange", "a:first, b:last, c:stride, start, stop, step, dtype", {}, arange},
    {"transpose", "data, axes", {}, transpose},
    {"layout_transform", "data, src_layout, dst_layout", {}, layout_transform},
    {"tile", "data, reps", {}, tile},
    {"dyn.tile", "data, reps", {}, tile},
    {"repeat", "data, repeats, axis", "repeat"},
    {"reverse", "data:x, axis=0", "flip"},
    {"concatenate", "data:tensors, axis=0", "concat"},
    {"stack", "data:tensors, axis=0", "stack"},
    {"meshgrid", "data:tensors, indexing", {}, meshgrid},
    {"nn.space_to_batch_nd", "data, block_shape, paddings, pad_value", {}, space_to_batch},
    {"nn.batch_to_space_nd", "data, block_shape, crops", {}, batch_to_space},
};

}  // namespace
}  // namespace relaxc::relay::shape_family

RELAXC_RELAY_OPERATORS(shape, kRows)
