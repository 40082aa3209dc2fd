// vision.cpp: operators on images: grids of points, regions, crops, unpooling, folding of blocks.
#include "frontends/onnx/axes.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::vision_family {
namespace {

using Ints = std::vector<int64_t>;

/// Converts GridSample, whose modes were named bilinear and bicubic before opset 20.
Status grid_sample(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * grid, node.input(1));
  std::string mode = node.string_attr("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  std::string padding = node.string_attr("padding_mode", "zeros");
  bool corners = node.int_attr("align_corners", 0) != 0;
  return node.set(
      0, node.call("grid_sample", {x, grid}, {{"mode", mode}, {"padding_mode", padding}, {"align_corners", corners}}));
}

/// Returns coordinates of `count` points between the borders -1 and 1: at pixel centres, or with `corners`, the first
/// and last are on the borders. A single point is then the first, as in ONNX's reference; ONNX Runtime takes it for the
/// last, PyTorch for the middle.
Result<Value*> coordinates(Node& node, Expr count, DType dtype, bool corners) {
  RELAXC_TRY(Value * at, node.call("arange", {node.shape({node.index(0), count, node.index(1)})}));
  RELAXC_TRY(at, astype(node, at, dtype));
  RELAXC_TRY(Value * total,
             node.call("shape_to_tensor", {node.shape({corners ? arith::max(count - 1, node.index(1)) : count})}));
  RELAXC_TRY(total, astype(node, total, dtype));
  RELAXC_TRY(Value * twice, node.call("multiply", {at, node.scalar(dtype, 2)}));
  if (!corners) {
    RELAXC_TRY(twice, node.call("add", {twice, node.scalar(dtype, 1)}));
  }
  RELAXC_TRY(Value * part, node.call("divide", {twice, total}));
  return node.call("subtract", {part, node.scalar(dtype, 1)});
}

/// Applies the matrices to every point of a grid of the given size.
Status affine_grid(Node& node) {
  RELAXC_TRY(Value * theta, node.input(0));
  // The matrices determine the number of spatial dims.
  const int64_t* spatial_dims = theta->shape().size() == 3 ? theta->shape()[1].constant() : nullptr;
  RELAXC_TRY(std::vector<Expr> size,
             node.ints(1, spatial_dims == nullptr ? std::nullopt : std::optional<int64_t>(*spatial_dims + 2)));
  if (size.size() < 4 || size.size() > 5 || theta->shape().size() != 3)
    return node.error(Kind::rank_mismatch, "it takes matrices [N, 2, 3] or [N, 3, 4] and a size of 4 or 5, found {}",
                      relax::to_string(theta->info));
  DType dtype = theta->dtype();
  std::vector<Expr> spatial(size.begin() + 2, size.end());
  std::vector<Value*> point;  // x, y, …, 1
  for (size_t k = spatial.size(); k-- > 0;) {
    RELAXC_TRY(Value * list, coordinates(node, spatial[k], dtype, node.int_attr("align_corners", 0) != 0));
    std::vector<Expr> dims(spatial.size(), node.index(1));
    dims[k] = spatial[k];
    RELAXC_TRY(list, reshape(node, list, std::move(dims)));
    RELAXC_TRY(list, node.call("broadcast_to", {list, node.shape(spatial)}));
    point.push_back(list);
  }
  RELAXC_TRY(Value * one, node.call("ones", {node.shape(spatial)}, {{"dtype", dtype}}));
  point.push_back(one);
  RELAXC_TRY(Value * grid, node.call("stack", point, {{"axis", static_cast<int64_t>(spatial.size())}}));
  Expr points = node.index(1);
  for (Expr extent : spatial) points = points * extent;
  int64_t rank = static_cast<int64_t>(spatial.size());
  RELAXC_TRY(grid, reshape(node, grid, {node.simplify(points), node.index(rank + 1)}));
  RELAXC_TRY(theta, node.call("permute_dims", {theta}, {{"axes", Ints{0, 2, 1}}}));
  RELAXC_TRY(Value * y, node.call("matmul", {grid, theta}));
  std::vector<Expr> dims{y->shape()[0]};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  dims.push_back(node.index(rank));
  return node.set(0, reshape(node, y, std::move(dims)));
}

/// Converts RoiAlign, which has no half-pixel shift in opset 10.
Status roi_align(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  std::string mode =
      node.string_attr("coordinate_transformation_mode", node.opset < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "half_pixel" && mode != "output_half_pixel")
    return node.error(Kind::invalid_attribute, "coordinate_transformation_mode '{}' is not known", mode);
  return node.set(0,
                  node.call("roi_align", operands,
                            {{"pooled_size", Ints{node.int_attr("output_height", 1), node.int_attr("output_width", 1)}},
                             {"spatial_scale", node.float_attr("spatial_scale", 1)},
                             {"sample_ratio", node.int_attr("sampling_ratio", 0)},
                             {"mode", node.string_attr("mode", "avg")},
                             {"half_pixel", mode == "half_pixel"}}));
}

/// Converts MaxRoiPool; its regions are (batch, x1, y1, x2, y2).
Status max_roi_pool(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * rois, node.input(1));
  if (rois->shape().size() != 2)
    return node.error(Kind::rank_mismatch, "regions must be [count, 5], found {}", relax::to_string(rois->info));
  RELAXC_TRY(rois, with_shape(node, rois, {rois->shape()[0], node.index(5)}, "regions (batch and two corners)"));
  auto columns = [&](int64_t begin, int64_t count) {
    return node.call("slice_part", {rois, node.shape({node.index(begin)}), node.shape({node.index(count)})},
                     {{"axis", int64_t{1}}});
  };
  RELAXC_TRY(Value * corners, columns(1, 4));
  RELAXC_TRY(Value * batches, columns(0, 1));
  RELAXC_TRY(batches, reshape(node, batches, {rois->shape()[0]}));
  RELAXC_TRY(batches, astype(node, batches, DType::i(64)));
  return node.set(0, node.call("roi_max_pool", {x, corners, batches},
                               {{"pooled_size", node.ints_attr("pooled_shape")},
                                {"spatial_scale", node.float_attr("spatial_scale", 1)}}));
}

/// Converts NonMaxSuppression. Without a maximum number of boxes none is kept; without a threshold every score passes.
Status non_max_suppression(Node& node) {
  RELAXC_TRY(Value * boxes, node.input(0));
  RELAXC_TRY(Value * scores, node.input(1));
  Expr most = node.index(0);
  if (node.has(2)) {
    RELAXC_TRY(most, number_in(node, 2));
  }
  std::vector<Value*> operands{boxes, scores, node.shape({most})};
  for (size_t i : {3, 4}) {
    RELAXC_TRY(Value * threshold, node.optional_input(i));
    if (threshold != nullptr) {
      RELAXC_TRY(threshold, reshape(node, threshold, {}));
    }
    operands.push_back(threshold);
  }
  bool centers = node.int_attr("center_point_box", 0) != 0;
  return node.set(0, node.call("non_max_suppression", operands, {{"center_point_box", centers}}));
}

/// Crops each axis around the middle to the given extent, or pads it with zeros.
Status center_crop_pad(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  int64_t rank = static_cast<int64_t>(x->shape().size());
  Ints axes = node.ints_attr("axes");
  if (!node.has_attr("axes"))
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  RELAXC_TRY(axes, normal_axes(node, axes, rank));
  RELAXC_TRY(std::vector<Expr> target, node.ints(1, static_cast<int64_t>(axes.size())));
  std::vector<Expr> pads(static_cast<size_t>(2 * rank), node.index(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = static_cast<size_t>(axes[i]);
    Expr more = target[i] - x->shape()[axis], zero = node.index(0);
    const Expr half = arith::floordiv(more, 2), cropped = zero - arith::floordiv(zero - more, 2);
    Expr begin = arith::select(arith::lt(more, zero), cropped, half);
    pads[axis] = node.simplify(begin);
    pads[axis + static_cast<size_t>(rank)] = node.simplify(more - begin);
  }
  return node.set(0, node.call("pad", {x, node.shape(std::move(pads))}));
}

/// Scatters x to the indices, each of which may occur only once, into zeros.
Status max_unpool(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * indices, node.input(1));
  const std::vector<Expr> dims = x->shape();
  Ints kernel = node.ints_attr("kernel_shape");
  size_t spatial = kernel.size();
  if (dims.size() != spatial + 2)
    return node.error(Kind::rank_mismatch, "a kernel of {} dims does not fit {}", spatial, relax::to_string(x->info));
  Ints strides = node.ints_attr("strides", Ints(spatial, 1)), pads = node.ints_attr("pads", Ints(2 * spatial, 0));
  if (strides.size() != spatial || pads.size() != 2 * spatial)
    return node.error(Kind::invalid_attribute, "strides and pads must fit {} spatial dims", spatial);
  std::vector<Expr> natural{dims[0], dims[1]};
  for (size_t k = 0; k < spatial; ++k)
    natural.push_back(node.simplify((dims[k + 2] - 1) * strides[k] + kernel[k] - pads[k] - pads[k + spatial]));
  Expr all = node.index(1), given = node.index(1);
  for (size_t k = 0; k < dims.size(); ++k) all = all * natural[k], given = given * dims[k];
  RELAXC_TRY(Value * y, node.call("zeros", {node.shape({node.simplify(all)})}, {{"dtype", x->dtype()}}));
  RELAXC_TRY(x, reshape(node, x, {node.simplify(given)}));
  RELAXC_TRY(indices, reshape(node, indices, {node.simplify(given)}));
  RELAXC_TRY(y, node.call("scatter_elements", {y, indices, x}, {{"axis", int64_t{0}}}));
  RELAXC_TRY(y, reshape(node, y, natural));
  if (!node.has(2)) return node.set(0, y);
  RELAXC_TRY(std::vector<Expr> wanted, node.ints(2, static_cast<int64_t>(dims.size())));
  std::vector<Expr> more(2 * dims.size(), node.index(0));
  for (size_t k = 0; k < dims.size(); ++k) more[k + dims.size()] = node.simplify(wanted[k] - natural[k]);
  return node.set(0, node.call("pad", {y, node.shape(std::move(more))}));
}

Status col2im(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(std::vector<Expr> image, node.ints(1));
  RELAXC_TRY(std::vector<Expr> block, node.ints(2));
  return node.set(0, node.call("fold_windows", {x, node.shape(std::move(image)), node.shape(std::move(block))},
                               {{"strides", node.ints_attr("strides")},
                                {"padding", node.ints_attr("pads")},
                                {"dilation", node.ints_attr("dilations")}}));
}

Status det(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("det", {x}));
}

constexpr Converter kRows[] = {
    {.name = "NonMaxSuppression", .convert = non_max_suppression},
    {.name = "AffineGrid", .convert = affine_grid},
    {.name = "CenterCropPad", .convert = center_crop_pad},
    {.name = "Col2Im", .convert = col2im},
    {.name = "Det", .convert = det},
    {.name = "GridSample", .convert = grid_sample},
    {.name = "MaxRoiPool", .convert = max_roi_pool},
    {.name = "MaxUnpool", .convert = max_unpool},
    {.name = "RoiAlign", .convert = roi_align},
};

}  // namespace
}  // namespace relaxc::frontend::vision_family

RELAXC_CONVERTERS(vision, kRows)
