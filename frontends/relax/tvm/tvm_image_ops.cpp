// tvm_image_ops.cpp: converts TVM's operators on images to operators of relaxc.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// image.resize2d(data, size, roi, layout, method, coordinate_transformation_mode, rounding_method, cubic_alpha,
/// cubic_exclude, extrapolation_value, out_dtype)
Result<Term> resize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, layout(c, "layout", "NC", channels_first(c)));
  RELAXC_TRY(std::string written, c.text("layout", channels_first(c)));
  RELAXC_TRY(x, join_blocks(c, x, "layout", written));
  if (x->shape().size() != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(std::string method, c.text("method", "linear"));
  RELAXC_TRY(std::string mode, c.text("coordinate_transformation_mode", "half_pixel"));
  RELAXC_TRY(std::string rounding, c.text("rounding_method", "round"));
  if (rounding.empty()) rounding = mode == "align_corners" ? "round" : "floor";
  RELAXC_TRY(double alpha, c.real("cubic_alpha", -0.75));
  RELAXC_TRY(bool exclude, c.flag("cubic_exclude", false));
  RELAXC_TRY(double outside, c.real("extrapolation_value", 0));
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", x->dtype()));
  if (mode == "tf_crop_and_resize")
    return c.error("coordinate_transformation_mode", Kind::unsupported, "{} of a region is not known", c.spelled);
  RELAXC_TRY(x, c.permute(x, axes));
  Exprs sizes = {x->shape()[0], x->shape()[1]};
  if (c.is_number("size")) {
    RELAXC_TRY(arith::Expr size, c.index("size", {}));
    sizes.resize(axes.size(), size);
  } else {
    RELAXC_TRY(Exprs size, c.dims("size"));
    sizes.insert(sizes.end(), size.begin(), size.end());
  }
  relax::Attrs attrs{{"mode", method.rfind("nearest", 0) == 0 ? std::string("nearest") : method},
                     {"coordinate_mode", mode},
                     {"nearest_mode", rounding},
                     {"cubic_coeff_a", alpha},
                     {"exclude_outside", exclude},
                     {"extrapolation_value", outside}};
  RELAXC_TRY(x, c.op("resize", {x, c.build().shape(std::move(sizes))}, std::move(attrs)));
  RELAXC_TRY(x, c.permute(x, inverse(axes)));
  RELAXC_TRY(x, split_blocks(c, x, "layout", written));
  return c.term(c.cast(x, dtype));
}

/// image.grid_sample(data, grid, method, layout, padding_mode, align_corners): the grid is [N, rank, spatial…].
Result<Term> grid_sample(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * grid, c.tensor("grid"));
  RELAXC_TRY(std::string mode, c.text("method", "bilinear"));
  RELAXC_TRY(std::string padding, c.text("padding_mode", "zeros"));
  RELAXC_TRY(bool corners, c.flag("align_corners", true));
  RELAXC_TRY(std::string written, c.text("layout", "NCHW"));
  size_t rank = grid->shape().size();
  if ((written != "NCHW" && written != "NCDHW") || rank != written.size() || x->shape().size() != rank)
    return c.error("layout", Kind::unsupported, "{} takes NCHW or NCDHW, found \"{}\" of {} by {}", c.spelled, written,
                   relax::to_string(x->info), relax::to_string(grid->info));
  Ints last{0};
  for (size_t i = 2; i < rank; ++i) last.push_back(static_cast<int64_t>(i));
  last.push_back(1);
  RELAXC_TRY(grid, c.permute(grid, last));
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  return c.term(
      c.op("grid_sample", {x, grid}, {{"mode", mode}, {"padding_mode", padding}, {"align_corners", corners}}));
}

/// Returns `count` coordinates from -1 to 1: with `corners` including both ends, else the middles of equal parts.
Result<Value*> coordinates(TvmCall& c, int64_t count, DType dtype, bool corners) {
  auto parts = static_cast<double>(corners ? std::max<int64_t>(count - 1, 1) : count);
  relax::GraphBuilder& b = c.build();
  Value* first = b.scalar(dtype, corners ? -1 : 1 / parts - 1);
  return c.op("range_of", {first, b.scalar(dtype, 2 / parts), b.shape({c.context().index(count)})});
}

/// image.affine_grid(data, size, align_corners): matrices [N, rank, rank + 1] applied to the points of a grid, x first.
Result<Term> affine_grid(TvmCall& c) {
  RELAXC_TRY(Value * theta, c.tensor("data"));
  RELAXC_TRY(Ints size, c.ints("size", {}));
  RELAXC_TRY(bool corners, c.flag("align_corners", true));
  if (theta->shape().size() != 3 || size.empty() ||
      !theta->shape()[2].is_constant(static_cast<int64_t>(size.size()) + 1))
    return c.error("data", Kind::rank_mismatch, "{} takes matrices [N, {}, {}], found {}", c.spelled, size.size(),
                   size.size() + 1, relax::to_string(theta->info));
  relax::GraphBuilder& b = c.build();
  Exprs extents;
  for (int64_t extent : size) extents.push_back(c.context().index(extent));
  std::vector<Value*> rows;
  for (size_t k = size.size(); k-- > 0;) {
    RELAXC_TRY(Value * list, coordinates(c, size[k], theta->dtype(), corners));
    Exprs along(size.size(), c.context().index(1));
    along[k] = extents[k];
    RELAXC_TRY(list, c.reshape(list, std::move(along)));
    RELAXC_TRY(list, c.op("broadcast_to", {list, b.shape(extents)}));
    rows.push_back(list);
  }
  RELAXC_TRY(Value * ones, c.op("ones", {b.shape(extents)}, {{"dtype", theta->dtype()}}));
  rows.push_back(ones);
  RELAXC_TRY(Value * grid, c.op("stack", std::move(rows), {{"axis", int64_t{0}}}));
  RELAXC_TRY(grid, c.op("flatten", {grid}, {{"start", int64_t{1}}}));
  RELAXC_TRY(Value * points, c.op("matmul", {theta, grid}));
  Exprs shape{theta->shape()[0], theta->shape()[1]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return c.term(c.reshape(points, std::move(shape)));
}

constexpr std::string_view kResize =
    "data, size, roi, layout, method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude, "
    "extrapolation_value, out_dtype";

constexpr TvmOperator kImageRows[] = {
    {"image.resize1d", kResize, resize},
    {"image.resize2d", kResize, resize},
    {"image.resize3d", kResize, resize},
    {"image.grid_sample", "data, grid, method, layout, padding_mode, align_corners", grid_sample},
    {"image.affine_grid", "data, size, align_corners", affine_grid},
};

}  // namespace

std::span<const TvmOperator> tvm_image_operators() {
  return kImageRows;
}

}  // namespace relaxc::frontend
