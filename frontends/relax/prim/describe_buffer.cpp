// describe_buffer.cpp: reads the arguments of T.Buffer, T.match_buffer, T.alloc_buffer and the like.
#include "frontends/relax/prim/buffers.h"

#include <algorithm>
#include <span>

#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

constexpr std::string_view kBufferArguments[] = {
    "shape",       "dtype",           "data",        "strides",  "elem_offset", "scope", "align", "offset_factor",
    "buffer_type", "axis_separators", "byte_offset", "round_up", "annotations"};
constexpr std::string_view kAllocateArguments[] = {"shape", "dtype", "scope", "condition", "annotations"};

/// Returns the alignment in bytes; 0 leaves it to the compiler.
Result<uint32_t> read_alignment(PrimParts& fn, const ast::Expr& e) {
  if (e.is(AstKind::kUnary)) return uint32_t{0};  // -1
  if (!e.is(AstKind::kInt)) return fn.source.error(e.place, Kind::invalid_value, "expected an alignment in bytes");
  RELAXC_TRY(int64_t bytes, integer_value(fn.source, e));
  if (bytes > 4096 || (bytes & (bytes - 1)) != 0)
    return fn.source.error(e.place, Kind::invalid_value, "an alignment is a power of two up to 4096");
  return static_cast<uint32_t>(bytes);
}

using Given = std::map<std::string_view, const ast::Expr*>;

/// Returns the strides of `layout=T.TileLayout(T.S[(10, 11):(1, 10)])`, which has one for each dim of `shape`; null for
/// any other layout.
const ast::Expr* strides_of_layout(const ast::Expr& layout, const ast::Expr* shape) {
  const bool tiles = callee_of(&layout) == "T.TileLayout" && layout.items.size() == 2;
  const ast::Expr* parts = tiles && layout.items[1]->is(AstKind::kSubscript) ? layout.items[1] : nullptr;
  if (parts == nullptr || parts->items.size() != 2 || dotted_path(*parts->items[0]) != "T.S") return nullptr;
  const ast::Expr& slice = *parts->items[1];
  if (!slice.is(AstKind::kSlice) || slice.items.size() < 2 || slice.items[0] == nullptr || slice.items[1] == nullptr)
    return nullptr;
  if (slice.items.size() > 2 && slice.items[2] != nullptr) return nullptr;
  const ast::Expr &dims = *slice.items[0], &strides = *slice.items[1];
  const bool fits = shape != nullptr && shape->is_sequence() && dims.is_sequence() && strides.is_sequence() &&
                    dims.items.size() == shape->items.size() && strides.items.size() == dims.items.size();
  for (size_t i = 0; fits && i < dims.items.size(); ++i)
    if (!dims.items[i]->is(AstKind::kInt) || !shape->items[i]->is(AstKind::kInt) ||
        dims.items[i]->text != shape->items[i]->text)
      return nullptr;
  return fits ? &strides : nullptr;
}

/// Sorts the arguments of a call into `given` by their names.
Status read_given(PrimParts& fn, const ast::Expr& call, size_t first, const std::string& callee, Given& given) {
  std::span<const std::string_view> names = kBufferArguments;
  if (callee == "T.allocate") names = kAllocateArguments;
  if (call.items.size() > first + names.size())
    return fn.source.error(call.place, Kind::wrong_arity, "a buffer takes at most {} arguments", names.size());
  for (size_t i = first; i < call.items.size(); ++i) given[names[i - first]] = call.items[i];
  for (const ast::Keyword& keyword : call.keywords) {
    if (keyword.name == "name") continue;  // the name that it is bound to is the one in use
    if (keyword.name == "layout") {
      if (keyword.value->is(AstKind::kNone)) continue;  // row-major, or as strides say
      given["strides"] = strides_of_layout(*keyword.value, given["shape"]);
      if (given["strides"] != nullptr) continue;
      return fn.source.error(keyword.place, Kind::unsupported,
                             "a layout that is more than a stride for each dim is not supported; without one, elements "
                             "are in row-major order");
    }
    std::string_view name = keyword.name;
    if (name == "extents") name = "shape";
    if (name == "type") name = "buffer_type";
    if (name == "dtypes") name = "dtype";  // TVM 0.8 took any argument
    auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      Failure failure =
          fn.source.error(keyword.place, Kind::invalid_attribute, "a buffer has no argument '{}'", keyword.name);
      suggest(fn.source, keyword.name, std::vector<std::string>(names.begin(), names.end()));
      return failure;
    }
    given[*known] = keyword.value;
  }
  return Done{};
}

/// Reports arguments that have no meaning for memory of a CPU.
Status check_unsupported(PrimParts& fn, Given& given) {
  const ast::Expr *type = given["buffer_type"], *separators = given["axis_separators"], *condition = given["condition"];
  // "auto" has a stride of 0 along dims of 1, whose only subscript is 0.
  const bool known = !is_none(type) && type->is(AstKind::kString) &&
                     (type->text == "default" || type->text == "auto" || type->text.empty());
  if (!is_none(type) && !known)
    return fn.source.error(type->place, Kind::unsupported, "a buffer's type is \"default\" or \"auto\"");
  // They divide the dims among the axes of a memory that has several; here it has one, whose order is that of the dims.
  if (!is_none(separators) && !separators->is_sequence())
    return fn.source.error(separators->place, Kind::invalid_value, "axis_separators is a list of axes");
  if (!is_none(condition) && !condition->is(AstKind::kTrue) && callee_of(condition) != "T.bool")
    return fn.source.error(condition->place, Kind::unsupported,
                           "an allocation has no condition; write an 'if' around it");
  return Done{};
}

}  // namespace

Result<Description> describe_buffer(PrimParts& fn, const ast::Expr& call, size_t first, const std::string& callee) {
  Given given;
  RELAXC_DO(read_given(fn, call, first, callee, given));
  Description out;
  out.place = call.place;
  out.shape = given["shape"], out.dtype = given["dtype"], out.data = given["data"], out.strides = given["strides"];
  out.elem_offset = given["elem_offset"], out.byte_offset = given["byte_offset"], out.scope = given["scope"];
  bool part = callee == "T.match_buffer" && call.items.size() > 1 && call.items[1]->is(AstKind::kSubscript);
  if (is_none(out.shape) && !part) return fn.source.error(call.place, Kind::wrong_arity, "a buffer needs a shape");
  if (!is_none(given["align"])) {
    RELAXC_TRY(out.alignment, read_alignment(fn, *given["align"]));
  }
  if (!is_none(given["round_up"])) {
    RELAXC_TRY(out.round_up, read_alignment(fn, *given["round_up"]));
  }
  RELAXC_DO(check_unsupported(fn, given));
  return out;
}

}  // namespace relaxc::frontend
