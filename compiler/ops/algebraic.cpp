// algebraic.cpp: values of algebraic data types: tagged nodes, made, asked for their tag, and taken apart.
//
// A node is written once and never changes, and nobody can ask whether two values are one node. So all three operators
// are functions of their operands: equal nodes may be merged, unused ones dropped, and the order between them is that
// of their operands, though nodes live in memory that grows while the program runs. A value is an int64 scalar: a node,
// or, where a constructor has no fields, that constructor itself.
//
// What a value is there decides whether a field can be read, so nothing may read it where the program does not: the
// definitions below say that they fail, which keeps them from being folded, and from leaving loops. Nodes exist while
// the program runs alone; lower/host/nodes.cpp and relax/interpret_nodes.cpp have what they are.
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::algebraic_family {
namespace {

constexpr int64_t kMostTags = 1 << 20;

constexpr OperandDef kFields[] = {{"fields", OperandDef::kVariadic}};
constexpr OperandDef kValue[] = {{"value"}};
constexpr OperandDef kFieldOf[] = {{"value"}, {"shape"}};
constexpr AttrDef kConstruct[] = {{"tag", AttrType::kInt, true}};
constexpr AttrDef kField[] = {
    {"tag", AttrType::kInt, true}, {"index", AttrType::kInt, true}, {"dtype", AttrType::kDType, false, "float32"}};

Info value_info(InferContext& c) {
  return tensor_info(c.context, Dims{}, DType::i(64));
}

relaxc::Status require_value(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->ndim != 0 || x->dtype != DType::i(64))
    return c.error(Kind::dtype_mismatch, "'{}' takes a value of an algebraic data type, an int64 scalar; found {}",
                   c.op.def->name, to_string(c.op.operand(0)->info));
  return Done{};
}

relaxc::Status require_tag(InferContext& c, int64_t tag, int64_t least) {
  if (tag < least || tag >= kMostTags)
    return c.error(Kind::invalid_value, "'{}' with tag {}; tags are 0 to {}", c.op.def->name, tag, kMostTags - 1);
  return Done{};
}

InferResult infer_construct(InferContext& c) {
  RELAXC_DO(require_tag(c, c.op.attrs.integer("tag"), 0));
  for (size_t k = 0; k < c.operands(); ++k) RELAXC_DO(c.tensor(k));
  return one(value_info(c));
}

InferResult infer_tag(InferContext& c) {
  RELAXC_DO(require_value(c));
  return one(value_info(c));
}

/// Tag -1 is that of no value: reading a field of it fails.
InferResult infer_field(InferContext& c) {
  RELAXC_DO(require_value(c));
  RELAXC_DO(require_tag(c, c.op.attrs.integer("tag"), -1));
  int64_t index = c.op.attrs.integer("index");
  if (index < 0 || index >= kMostTags)
    return c.error(Kind::invalid_value, "'{}' with index {}, fields count from 0", c.op.def->name, index);
  RELAXC_TRY(Dims shape, c.shape_value(1));
  for (Expr dim : shape)
    RELAXC_DO(c.require(arith::le(c.context.index(0), dim), kDerivedDim, c.context.index(0), dim,
                        {Finding::kAtLeast, "a dim"},
                        fmt::format("'{}' of shape {}: {} is negative", c.op.def->name, text(shape), to_string(dim))));
  return one(tensor_info(c.context, std::move(shape), c.op.attrs.dtype("dtype")));
}

/// There are no nodes where a definition is computed alone.
Stmt define_failure(DefineContext& d) {
  return d.require(d.context().boolean(false), kAssertion);
}

constexpr OpDef kOps[] = {
    {.name = "adt.construct",
     .operands = kFields,
     .attrs = kConstruct,
     .infer = infer_construct,
     .define = define_failure,
     .role = relax::Role::kNode,
     .doc = "a value of an algebraic data type, an int64 scalar: constructor number tag with these fields"},
    {.name = "adt.tag",
     .operands = kValue,
     .infer = infer_tag,
     .define = define_failure,
     .role = relax::Role::kNode,
     .doc = "the number of the constructor that made value"},
    {.name = "adt.field",
     .operands = kFieldOf,
     .attrs = kField,
     .infer = infer_field,
     .define = define_failure,
     .role = relax::Role::kNode,
     .doc = "field number index of value; fails unless constructor number tag made it, with a field of this size"},
};

}  // namespace
}  // namespace relaxc::ops::algebraic_family

RELAXC_OPERATORS(algebraic, kOps)
