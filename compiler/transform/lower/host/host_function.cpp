// host_function.cpp: runs the parts of a host function in order.
#include "compiler/transform/lower/host/host_function.h"

#include <string_view>

#include "compiler/transform/lower/host/op_lowering.h"
#include "compiler/transform/lower/host/prim_func.h"
#include "compiler/transform/lower/host/results.h"
#include "compiler/transform/lower/host/states.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns which part of a tensor or shape in `info` is unknown; empty if none is.
std::string_view unknown_part(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) return !tensor->dtype ? "dtype" : !tensor->shape ? "shape" : "";
  if (const auto* shape = info->as<ShapeInfo>()) return shape->dims ? "" : "rank";
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields)
      if (std::string_view part = unknown_part(field); !part.empty()) return part;
  return "";
}

}  // namespace

/// Reports sizes and dtypes that neither the program nor a pass has determined: the program must give them.
Status HostFunction::check_known() const {
  Diagnostics& diag = parts_.diag();
  const Function& function = parts_.function;
  size_t errors = diag.error_count();
  auto check = [&](const Value& value, Location location) {
    const std::string_view part = unknown_part(value.info);
    if (part.empty()) return;
    diag.error(location, part == "dtype" ? Kind::dtype_mismatch : Kind::unbounded,
               "'{}' is {}: its {} must be known to compile it; an annotation or a match_cast can give it", value.name,
               to_string(value.info), part);
  };
  for (const Value* argument : function.body().arguments) check(*argument, function.location);
  for (const Op* op : ops_of(function.body(), true))
    for (const Value* result : op->results) check(*result, op->location);
  if (diag.error_count() > errors) return diag.failed();
  return Done{};
}

Status HostFunction::run() {
  RELAXC_DO(check_known());
  const bool recursive = parts_.is_recursive();
  InsertionPoint::Nested whole(parts_.at, recursive ? 1 : 0);  // guards of a recursive call run inside of it
  if (recursive) static_cast<void>(parts_.heap.buffer());
  parts_.signature.add_parameters(parts_.function, parts_.values);
  RELAXC_DO(parts_.entry.add(recursive));
  parts_.signature.list_outputs(parts_.function);
  RELAXC_DO(pair_states(parts_.function, parts_.signature, parts_.diag()));
  parts_.signature.make_outputs();
  parts_.destinations.choose_outputs(parts_.function);
  RELAXC_DO(lower_region(parts_, parts_.function.body()));
  write_outputs(parts_);
  publish(parts_, whole.finish());
  return Done{};
}

Status HostFunction::announce() {
  RELAXC_DO(check_known());
  InsertionPoint::Nested before(parts_.at, 0);
  parts_.signature.add_parameters(parts_.function, parts_.values);
  RELAXC_DO(parts_.entry.add(parts_.is_recursive()));
  parts_.signature.list_outputs(parts_.function);
  parts_.signature.make_outputs();
  lower::announce(parts_);
  return Done{};
}

}  // namespace relaxc::lower
