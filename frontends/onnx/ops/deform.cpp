// deform.cpp: DeformConv: a convolution whose taps are at positions in the data.
//
// grid_sample, which is 0 outside of the image as the standard requires, reads the samples under each tap. They become
// the columns of a matrix, which is multiplied with the weight. Positions are float64, so that converting them to the
// coordinates of a grid (-1 to 1 over the image) loses nothing.
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::deform_family {
namespace {

using Ints = std::vector<int64_t>;

constexpr DType kPlace = DType::f(64);

class DeformConverter {
 public:
  explicit DeformConverter(Node& node) : node_(node) {}

  Status run() {
    RELAXC_DO(read());
    RELAXC_TRY(Value * grid, grid_of_taps());
    RELAXC_TRY(Value * columns, sampled(grid));
    RELAXC_TRY(Value * y, product(columns));
    if (node_.has(3)) {
      RELAXC_TRY(Value * bias, node_.input(3));
      RELAXC_DO(expect_rank(node_, bias, 1, "the bias"));
      std::vector<Expr> dims(spatial_ + 1, node_.index(1));
      dims[0] = bias->shape()[0];
      RELAXC_TRY(bias, reshape(node_, bias, std::move(dims)));
      RELAXC_TRY(y, node_.call("add", {y, bias}));
    }
    return node_.set(0, y);
  }

 private:
  Result<Ints> list(const char* name, int64_t fallback, size_t count) {
    Ints list = node_.ints_attr(name, Ints(count, fallback));
    if (list.size() != count)
      return node_.error(Kind::invalid_attribute, "{} has {} numbers for {} spatial dims", name, list.size(), spatial_);
    return list;
  }

  Status read() {
    RELAXC_TRY(x_, node_.input(0));
    RELAXC_TRY(weight_, node_.input(1));
    RELAXC_TRY(offset_, node_.input(2));
    size_t rank = x_->shape().size();
    if (rank < 3 || weight_->shape().size() != rank || offset_->shape().size() != rank)
      return node_.error(Kind::rank_mismatch,
                         "data, weight and offset must have one rank of at least 3, found {}, {} "
                         "and {}",
                         relax::to_string(x_->info), relax::to_string(weight_->info), relax::to_string(offset_->info));
    spatial_ = rank - 2;
    if (Ints given = node_.ints_attr("kernel_shape"); given.size() == spatial_) {
      std::vector<Expr> dims(weight_->shape().begin(), weight_->shape().begin() + 2);
      for (int64_t extent : given) dims.push_back(node_.index(extent));
      RELAXC_TRY(weight_, with_shape(node_, weight_, std::move(dims), "kernel_shape"));
    }
    for (size_t i = 0; i < spatial_; ++i) {
      const int64_t* extent = weight_->shape()[i + 2].constant();
      if (extent == nullptr)
        return node_.error(Kind::unsupported, "the kernel must have a known size, found {}",
                           relax::to_string(weight_->info));
      kernel_.push_back(*extent);
      taps_ *= *extent;
    }
    RELAXC_TRY(strides_, list("strides", 1, spatial_));
    RELAXC_TRY(dilations_, list("dilations", 1, spatial_));
    RELAXC_TRY(pads_, list("pads", 0, 2 * spatial_));
    group_ = node_.int_attr("group", 1);
    sections_ = node_.int_attr("offset_group", 1);
    if (group_ < 1 || sections_ < 1)
      return node_.error(Kind::invalid_attribute, "group and offset_group must be positive, found {} and {}", group_,
                         sections_);
    batch_ = node_.simplify(x_->shape()[0] * sections_);
    places_ = node_.index(1);
    for (size_t i = 0; i < spatial_; ++i) places_ = node_.simplify(places_ * offset_->shape()[i + 2]);
    Expr expected = node_.index(static_cast<int64_t>(spatial_) * taps_ * sections_), found = offset_->shape()[1];
    if (found.constant() != nullptr && !arith::prove_equal(found, expected))
      return node_.error(Kind::shape_mismatch, "offset has {} channels, {} are needed", arith::to_string(found),
                         arith::to_string(expected));
    return Done{};
  }

  /// Returns the tap positions before offsets along a spatial dim: [taps, 1…, positions along the dim, 1…].
  Result<Value*> regular(size_t axis) {
    int64_t inner = 1;
    for (size_t i = axis + 1; i < spatial_; ++i) inner *= kernel_[i];
    std::vector<std::byte> bytes;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      double at = static_cast<double>(tap / inner % kernel_[axis] * dilations_[axis] - pads_[axis]);
      const auto* raw = reinterpret_cast<const std::byte*>(&at);
      bytes.insert(bytes.end(), raw, raw + sizeof at);
    }
    std::vector<int64_t> shape(spatial_ + 1, 1);
    shape[0] = taps_;
    Value* first = node_.builder().constant(relax::ConstantData::inline_bytes(kPlace, shape, std::move(bytes)));
    Expr count = offset_->shape()[axis + 2];
    RELAXC_TRY(Value * steps,
               node_.call("arange", {node_.shape({node_.index(0), count, node_.index(strides_[axis])})}));
    std::vector<Expr> dims(spatial_ + 1, node_.index(1));
    dims[axis + 1] = count;
    RELAXC_TRY(steps, reshape(node_, steps, std::move(dims)));
    RELAXC_TRY(steps, astype(node_, steps, kPlace));
    return node_.call("add", {first, steps});
  }

  /// Returns [batch * sections, taps, positions, 1…, spatial]; the last dim is innermost axis first, as in grid_sample.
  Result<Value*> grid_of_taps() {
    std::vector<Expr> dims{batch_, node_.index(taps_), node_.index(static_cast<int64_t>(spatial_))};
    for (size_t i = 0; i < spatial_; ++i) dims.push_back(offset_->shape()[i + 2]);
    RELAXC_TRY(Value * offset, astype(node_, offset_, kPlace));
    RELAXC_TRY(offset, reshape(node_, offset, std::move(dims)));
    std::vector<Value*> parts;
    for (size_t axis = spatial_; axis-- > 0;) {
      Expr begin = node_.index(static_cast<int64_t>(axis)), end = node_.index(static_cast<int64_t>(axis) + 1);
      RELAXC_TRY(Value * part,
                 node_.call("strided_slice", {offset, node_.shape({begin}), node_.shape({end})}, {{"axes", Ints{2}}}));
      RELAXC_TRY(part, node_.call("squeeze", {part}, {{"axis", Ints{2}}}));
      RELAXC_TRY(Value * place, regular(axis));
      RELAXC_TRY(place, node_.call("add", {part, place}));
      // Normalize to grid_sample's coordinates: (2 * place + 1) / extent - 1, since pixel i has its centre at i.
      RELAXC_TRY(Value * extent, node_.call("shape_to_tensor", {node_.shape({x_->shape()[axis + 2]})}));
      RELAXC_TRY(extent, astype(node_, extent, kPlace));
      RELAXC_TRY(place, node_.call("multiply", {place, node_.scalar(kPlace, 2)}));
      RELAXC_TRY(place, node_.call("add", {place, node_.scalar(kPlace, 1)}));
      RELAXC_TRY(place, node_.call("divide", {place, extent}));
      RELAXC_TRY(place, node_.call("subtract", {place, node_.scalar(kPlace, 1)}));
      std::vector<Expr> flat(spatial_ + 2, node_.index(1));
      flat[0] = batch_, flat[1] = node_.index(taps_);
      (spatial_ > 1 ? flat[2] : flat[1]) = spatial_ > 1 ? places_ : node_.simplify(places_ * taps_);
      RELAXC_TRY(place, reshape(node_, place, std::move(flat)));
      parts.push_back(place);
    }
    return node_.call("concat", parts, {{"axis", int64_t{-1}}});
  }

  /// Returns the samples as [batch, group, channels / group * taps, positions].
  Result<Value*> sampled(Value* grid) {
    std::vector<Expr> dims = x_->shape();
    Expr channels = dims[1];
    dims[0] = batch_, dims[1] = node_.simplify(arith::floordiv(channels, sections_));
    Expr depth = dims[1];
    RELAXC_TRY(Value * image, reshape(node_, x_, std::move(dims)));
    RELAXC_TRY(Value * columns, node_.call("grid_sample", {image, grid},
                                           {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", false}}));
    RELAXC_TRY(columns, reshape(node_, columns, {batch_, depth, node_.index(taps_), places_}));
    if (node_.has(4)) {
      RELAXC_TRY(Value * mask, node_.input(4));
      RELAXC_TRY(mask, reshape(node_, mask, {batch_, node_.index(1), node_.index(taps_), places_}));
      RELAXC_TRY(columns, node_.call("multiply", {columns, mask}));
    }
    Expr rows = node_.simplify(arith::floordiv(channels, group_) * taps_);
    return reshape(node_, columns, {x_->shape()[0], node_.index(group_), rows, places_});
  }

  Result<Value*> product(Value* columns) {
    Expr out = node_.simplify(arith::floordiv(weight_->shape()[0], group_));
    RELAXC_TRY(Value * matrix, reshape(node_, weight_, {node_.index(group_), out, columns->shape()[2]}));
    RELAXC_TRY(Value * y, node_.call("matmul", {matrix, columns}));
    std::vector<Expr> dims{x_->shape()[0], weight_->shape()[0]};
    for (size_t i = 0; i < spatial_; ++i) dims.push_back(offset_->shape()[i + 2]);
    return reshape(node_, y, std::move(dims));
  }

  Node& node_;
  Value *x_ = nullptr, *weight_ = nullptr, *offset_ = nullptr;
  size_t spatial_ = 0;
  Ints kernel_, strides_, dilations_, pads_;
  int64_t taps_ = 1, group_ = 1, sections_ = 1;
  Expr batch_, places_;  ///< number of images times offset groups; number of output positions per image
};

Status deform_conv(Node& node) {
  return DeformConverter(node).run();
}

constexpr Converter kRows[] = {
    {.name = "DeformConv", .convert = deform_conv, .note = "the kernel must have a known size"}};

}  // namespace
}  // namespace relaxc::frontend::deform_family

RELAXC_CONVERTERS(deform, kRows)
