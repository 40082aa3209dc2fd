// image.cpp: operators on images and on regions of interest.
#include <cmath>

#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relay/operators.h"

namespace relaxc::relay::image_family {
namespace {

/// Returns a dim's extent times the attribute `param`, rounded; a symbolic extent needs an integer scale.
Result<arith::Expr> scaled(TvmCall& c, std::string_view param, arith::Expr extent) {
  RELAXC_TRY(double scale, c.real(param, 1));
  if (!(scale > 0 && scale < 65536)) return c.error(param, Kind::invalid_attribute, "a scale of {}", scale);
  if (const int64_t* number = extent.constant())
    return c.context().index(static_cast<int64_t>(std::round(static_cast<double>(*number) * scale)));
  if (scale == std::floor(scale)) return extent * c.context().index(static_cast<int64_t>(scale));
  return c.error(param, Kind::unsupported, "a scale of {} for the symbol {}", scale, arith::to_string(extent));
}

/// upsampling(data, scale_h, scale_w, layout, method, align_corners), and upsampling3d with scale_d and
/// coordinate_transformation_mode. Without align_corners, nearest_neighbor rounds coordinates down.
Result<Term> upsample(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  std::string first = frontend::channels_first(c);
  RELAXC_TRY(Ints axes, frontend::layout(c, "layout", "NC", first));
  RELAXC_TRY(std::string method, c.text("method", "nearest_neighbor"));
  RELAXC_TRY(bool corners, c.flag("align_corners", false));
  RELAXC_TRY(std::string mode, c.text("coordinate_transformation_mode", corners ? "align_corners" : "asymmetric"));
  if (x->shape().size() != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, axes));
  Exprs sizes{x->shape()[0], x->shape()[1]};
  constexpr std::string_view kScales[] = {"scale_d", "scale_h", "scale_w"};
  for (size_t i = 2; i < axes.size(); ++i) {
    RELAXC_TRY(arith::Expr extent, scaled(c, kScales[3 - axes.size() + i], x->shape()[i]));
    sizes.push_back(extent);
  }
  std::string kind = method.find("nearest") == 0                 ? "nearest"
                     : method.find("cubic") != std::string::npos ? "cubic"
                                                                 : "linear";
  RELAXC_TRY(x, c.op("resize", {x, c.build().shape(std::move(sizes))},
                     {{"mode", kind},
                      {"coordinate_mode", mode},
                      {"nearest_mode", std::string(mode == "align_corners" ? "round_prefer_ceil" : "floor")}}));
  return c.term(c.permute(x, frontend::inverse(axes)));
}

constexpr std::string_view kResize =
    "data, size, roi, layout, method, coordinate_transformation_mode, rounding_method=round_prefer_ceil, "
    "cubic_alpha=-0.5, cubic_exclude, extrapolation_value, out_dtype";

constexpr Row kRows[] = {
    {"image.resize1d", kResize, "image.resize1d"},
    {"image.resize2d", kResize, "image.resize2d"},
    {"image.resize3d", kResize, "image.resize3d"},
    {"image.grid_sample", "data, grid, method, layout, padding_mode, align_corners", "image.grid_sample"},
    {"image.affine_grid", "data, target_shape:size", "image.affine_grid"},
    {"nn.upsampling", "data, scale_h, scale_w, layout, method, align_corners", "nn.upsampling2d", upsample},
    {"nn.upsampling3d", "data, scale_d, scale_h, scale_w, layout, method, coordinate_transformation_mode=half_pixel",
     "nn.upsampling3d", upsample},
    {"vision.get_valid_counts", "data, score_threshold, id_index=0, score_index=1", "vision.get_valid_counts"},
    {"vision.all_class_non_max_suppression",
     "boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold, output_format",
     "vision.all_class_non_max_suppression"},
    {"vision.roi_align", "data, rois, pooled_size, spatial_scale, sample_ratio=-1, layout, mode", "vision.roi_align"},
    {"vision.roi_pool", "data, rois, pooled_size, spatial_scale, layout", "vision.roi_pool"},
};

}  // namespace
}  // namespace relaxc::relay::image_family

RELAXC_RELAY_OPERATORS(image, kRows)
