// packed.cpp: several values as one, in the types that TVM has.
#include "compiler/transform/tvm/packed.h"

#include <algorithm>

#include "compiler/relax/print_info.h"

namespace relaxc {

using namespace relax;

namespace {

/// Returns the value of a scalar that is also a symbol or made of symbols; null for any other type.
Expr symbolic_value(Info info) {
  const auto* prim = info->as<PrimInfo>();
  bool whole = prim != nullptr && (prim->dtype.is_index() || prim->dtype == DType::i(64));
  return whole ? prim->value : Expr();
}

}  // namespace

Info travelling_info(Context& context, Info info) {
  if (Expr value = symbolic_value(info)) return shape_info(context, {arith::cast(DType::index(), value)});
  const auto* tuple = info->as<TupleInfo>();
  return tuple == nullptr ? info : tuple_info(context, travelling_infos(context, tuple->fields));
}

std::vector<Info> travelling_infos(Context& context, const std::vector<Info>& infos) {
  std::vector<Info> made;
  for (Info info : infos) made.push_back(travelling_info(context, info));
  return made;
}

Info packed_info(Context& context, const std::vector<Info>& travelling) {
  return travelling.size() == 1 ? travelling[0] : tuple_info(context, travelling);
}

Result<Value*> to_travel(GraphBuilder& builder, Value* value) {
  if (Expr number = symbolic_value(value->info)) return builder.shape({arith::cast(DType::index(), number)});
  const auto* tuple = value->info->as<TupleInfo>();
  if (tuple == nullptr || same(travelling_info(builder.context(), value->info), value->info)) return value;
  std::vector<Value*> fields;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    RELAXC_TRY(Value * field, builder.tuple_get(value, static_cast<int64_t>(i)));
    RELAXC_TRY(field, to_travel(builder, field));
    fields.push_back(field);
  }
  return builder.tuple(std::move(fields));
}

Result<Value*> arrived(GraphBuilder& builder, Value* value, Info info) {
  if (Expr number = symbolic_value(info)) return builder.prim(number);
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr || same(travelling_info(builder.context(), info), info)) return value;
  std::vector<Value*> fields;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    RELAXC_TRY(Value * field, builder.tuple_get(value, static_cast<int64_t>(i)));
    RELAXC_TRY(field, arrived(builder, field, tuple->fields[i]));
    fields.push_back(field);
  }
  return builder.tuple(std::move(fields));
}

Result<Value*> pack(GraphBuilder& builder, const std::vector<Value*>& values) {
  std::vector<Value*> fields;
  for (Value* value : values) {
    RELAXC_TRY(Value * field, to_travel(builder, value));
    fields.push_back(field);
  }
  return fields.size() == 1 ? fields[0] : builder.tuple(std::move(fields));
}

Result<std::vector<Value*>> unpack(GraphBuilder& builder, Value* packed, const std::vector<Info>& infos,
                                   const std::vector<Var>& binds) {
  Info whole = packed_info(builder.context(), travelling_infos(builder.context(), infos));
  if (!same(packed->info, whole)) {
    std::vector<Var> mentioned = symbols_of(whole), read;
    std::copy_if(mentioned.begin(), mentioned.end(), std::back_inserter(read),
                 [&](Var var) { return std::find(binds.begin(), binds.end(), var) != binds.end(); });
    RELAXC_TRY(packed, builder.match_cast(packed, whole, std::move(read)));
  }
  std::vector<Value*> values;
  for (size_t i = 0; i < infos.size(); ++i) {
    Value* field = packed;
    if (infos.size() != 1) {
      RELAXC_TRY(field, builder.tuple_get(packed, static_cast<int64_t>(i)));
    }
    RELAXC_TRY(field, arrived(builder, field, infos[i]));
    values.push_back(field);
  }
  return values;
}

GraphBuilder builder_after(Module& module, const OpTable& ops, Op& op, Diagnostics& diag) {
  std::vector<Op*>& all = op.block->ops;
  auto next = std::find(all.begin(), all.end(), &op) + 1;
  GraphBuilder made =
      next == all.end() ? GraphBuilder(module, ops, op.block, diag) : GraphBuilder(module, ops, *next, diag);
  made.location = op.location;
  return made;
}

Info without(Context& context, Info info, const std::vector<Var>& symbols) {
  return erase_unknown(context, info,
                       [&](Var var) { return std::find(symbols.begin(), symbols.end(), var) == symbols.end(); });
}

}  // namespace relaxc
