// scalars.cpp: reads the scalar expressions of a prim func.
#include "frontends/relax/prim/scalars.h"

#include <unordered_set>

#include "compiler/arith/visit.h"
#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/statements.h"
#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/prim/vector.h"
#include "frontends/relax/scalars/scalar_calls.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

PrimScalars::PrimScalars(PrimParts& parts) : ScalarReader(parts.context(), parts.source), parts_(parts) {}

Result<Scalar> PrimScalars::name(const ast::Expr& e) {
  const PrimNames::Binding* known = parts_.names.find(e.text);
  if (known == nullptr) return parts_.names.unbound(e);
  switch (known->value.kind) {
    case PrimName::kPoison:
      return source_.diag().failed();
    case PrimName::kScalar:
      RELAXC_DO(check_visible(known->value, e));
      return Scalar{known->value.scalar};
    case PrimName::kBuffer:
      return source_.error(e.place, Kind::invalid_value, "'{}' is a buffer; read an element, as in {}[i]", e.text,
                           e.text);
    case PrimName::kLoops:
      return source_.error(e.place, Kind::invalid_value, "'{}' names {} loops; one of them is {}[0]", e.text,
                           known->value.loops.size(), e.text);
    case PrimName::kLanes:
      return value_of_lane(parts_, e);
    case PrimName::kHandle:
      break;
  }
  return source_.error(e.place, Kind::invalid_value, "'{}' is a handle; T.match_buffer gives it elements", e.text);
}

bool PrimScalars::is_long(arith::Expr e) const {
  return parts_.names.is_long(e);
}

/// Reports the variable of a loop around the block in the block's body.
Status PrimScalars::check_visible(const PrimName& name, const ast::Expr& e) {
  if (name.loop_level == 0 || name.loop_level > parts_.blocks.with_axes() || in_head_) return Done{};
  Failure failure =
      source_.error(e.place, Kind::ill_formed,
                    "'{}' is the variable of a loop around the block, whose body sees its axes only", e.text);
  source_.hint("bind an axis to it, as in v{0} = T.axis.spatial(extent, {0})", e.text);
  return failure;
}

/// Reads `axes[0]`, where `axes` names several loops.
Result<Scalar> PrimScalars::loop_of(const PrimName& name, const ast::Expr& e) {
  RELAXC_DO(check_visible(name, *e.items[0]));
  RELAXC_TRY(arith::Expr which, index(*e.items[1]));
  auto count = static_cast<int64_t>(name.loops.size());
  const int64_t* number = which.constant();
  if (number == nullptr || *number < -count || *number >= count)
    return source_.error(e.items[1]->place, Kind::invalid_value, "'{}' names {} loops, which numbers choose from",
                         e.items[0]->text, count);
  return Scalar{name.loops[static_cast<size_t>(*number + (*number < 0 ? count : 0))]};
}

Result<Scalar> PrimScalars::subscript(const ast::Expr& e) {
  if (const auto* known = e.items[0]->is(AstKind::kName) ? parts_.names.find(e.items[0]->text) : nullptr)
    if (known->value.kind == PrimName::kLoops && e.items.size() == 2) return loop_of(known->value, e);
  tir::BufferRef shaped = parts_.names.described(*e.items[0], "shape");
  if (shaped != nullptr && e.items.size() == 2) return dim_of(shaped, e);
  tir::BufferRef stepped = parts_.names.described(*e.items[0], "strides");
  if (stepped != nullptr && e.items.size() == 2) return stride_of(stepped, e);
  RELAXC_TRY(Element found, element_of(parts_, *e.items[0], {e.items.begin() + 1, e.items.end()}, e.place));
  return Scalar{parts_.builder.load(found.buffer, std::move(found.indices))};
}

/// Reads `B.elem_offset`: where B begins in the buffer that it is a part of, in elements; 0 for any other buffer.
Result<Scalar> PrimScalars::attribute(const ast::Expr& e) {
  tir::BufferRef buffer = parts_.names.described(e, "elem_offset");
  if (buffer == nullptr) return ScalarReader::attribute(e);
  arith::Expr offset = parts_.views.offset_of(buffer);
  return Scalar{offset ? offset : parts_.context().index(0)};
}

/// Reads B.strides[0], in elements.
Result<Scalar> PrimScalars::stride_of(tir::BufferRef buffer, const ast::Expr& e) {
  tir::Buffer steps = *buffer;
  steps.shape = buffer->strides.empty() ? compact_strides(parts_.context(), buffer->shape) : buffer->strides;
  return dim_of(&steps, e);
}

/// Reads A.shape[0].
Result<Scalar> PrimScalars::dim_of(tir::BufferRef buffer, const ast::Expr& e) {
  RELAXC_TRY(arith::Expr axis, index(*e.items[1]));
  auto rank = static_cast<int64_t>(buffer->shape.size());
  const int64_t* number = axis.constant();
  if (number == nullptr || *number < -rank || *number >= rank)
    return source_.error(e.items[1]->place, Kind::invalid_value, "'{}' has {} dims, which numbers choose from",
                         buffer->name, rank);
  return Scalar{buffer->shape[static_cast<size_t>(*number + (*number < 0 ? rank : 0))]};
}

Result<Scalar> PrimScalars::other_call(const ast::Expr& e, const std::string& given) {
  std::string callee = callee_of(&e);
  const Lanes& lanes = parts_.lanes;
  if (const Global* prim = called_prim_func(parts_, e)) return value_of_call(parts_, *prim, e);
  if (is_plain(callee)) return external_value(parts_, e);
  if (callee == "T.Broadcast" && lanes.any() && e.items.size() == 3) return read(*e.items[1]);
  if (callee == "T.Ramp" && lanes.any()) {
    RELAXC_TRY(arith::Expr at, lane_subscript(parts_, e, {}));
    return Scalar{at};
  }
  if (callee == "T.Shuffle") return shuffle(parts_, e);
  if (std::string_view why = why_unsupported_aot(callee); !why.empty())
    return source_.error(e.place, Kind::unsupported, "'{}' {}", callee, why);
  if (callee == "T.Ramp" || callee == "T.Broadcast") return lanes_alone(e);
  if (is_packed(callee))
    return source_.error(e.place, Kind::unsupported, "a packed function gives no scalar; T.call_extern does");
  const ast::Expr& head = *e.items[0];
  if (size_t x = callee.rfind('x'); lanes.any() && x != std::string::npos && callee.rfind("T.", 0) == 0)
    if (std::optional<DType> dtype = parse_dtype(callee.substr(2, x - 2)))
      return ScalarCalls(*this).conversion(e, *dtype);
  bool old_load = callee == "T.load" && e.items.size() == 4;
  if (old_load) return buffer_element(parts_, *e.items[2], *e.items[3]);
  if (head.is(AstKind::kAttribute) && head.text == "vload" && e.items.size() >= 2) return vector_load(parts_, e);
  if (callee == "T.get_active_lane_mask" && lanes.any()) return active_lane(parts_, e);
  if (callee == "T.isnullptr")
    return source_.error(e.place, Kind::unsupported, "a buffer is never null here; the guards of the entry check that");
  return ScalarReader::other_call(e, given);
}

/// Reports T.Ramp or T.Broadcast outside of a store.
Failure PrimScalars::lanes_alone(const ast::Expr& e) {
  const ast::Expr& last = *e.items.back();
  if (e.items.size() >= 2 && !last.is(AstKind::kInt)) {
    Result<arith::Expr> count = index(last);
    if (!count) return source_.diag().failed();
    if (count->constant() == nullptr)
      return source_.error(last.place, Kind::unsupported, "a number of lanes is a constant");
  }
  return source_.error(e.place, Kind::unsupported,
                       "a value of several lanes can only be stored, as in A[T.Ramp(i, 1, 4)] = …");
}

/// Returns a dtype: A.dtype is the buffer's; in a store of as many lanes, "float32x4" is float32.
Result<DType> PrimScalars::element_dtype(const ast::Expr& e) {
  if (tir::BufferRef buffer = parts_.names.described(e, "dtype")) return buffer->dtype;
  int64_t lanes = e.is(AstKind::kString) ? dtype_lanes(e.text) : 0;
  if (lanes > 0 && lanes == parts_.lanes.count()) return *parse_dtype(e.text.substr(0, e.text.rfind('x')));
  return ScalarReader::element_dtype(e);
}

Result<Scalar> PrimScalars::with_parts(const std::function<Result<Scalar>()>& read_parts) {
  PrimNames::Inner names(parts_.names);
  return read_parts();
}

void PrimScalars::name_part(const std::string& name, const Scalar& part, Place place) {
  parts_.names.bind(name, {.kind = PrimName::kScalar, .scalar = part.expr}, place);
}

Status PrimScalars::check_reached(arith::Expr e, Place place) {
  std::vector<arith::Expr> waiting{e};
  std::unordered_set<arith::Expr> seen;
  while (!waiting.empty()) {
    arith::Expr node = waiting.back();
    waiting.pop_back();
    if (!seen.insert(node).second) continue;
    if (const auto* load = node.as<arith::Load>())
      for (size_t axis = 0; axis < load->indices.size(); ++axis)
        RELAXC_DO(parts_.ranges.check(load->buffer, axis, load->indices[axis], certain(), place));
    std::vector<arith::Expr> parts = arith::operands(node);
    bool chooses = node->kind == arith::ExprKind::kSelect || node->kind == arith::ExprKind::kAnd ||
                   node->kind == arith::ExprKind::kOr;
    waiting.insert(waiting.end(), parts.begin(), chooses ? parts.begin() + 1 : parts.end());
  }
  return Done{};
}

void PrimScalars::use_as_index(arith::Expr e) {
  parts_.index_parameters.use(e);
}

}  // namespace relaxc::frontend
