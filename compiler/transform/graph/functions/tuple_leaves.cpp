// tuple_leaves.cpp: takes tuples apart and makes them again.
#include "compiler/transform/graph/functions/tuple_leaves.h"

#include "compiler/relax/callable.h"

namespace relaxc {

using namespace relax;

Op* append_op(OpKind kind, Block* to, Location location) {
  Op* made = to->parent->function->make_op(kind, location);
  made->block = to;
  to->ops.push_back(made);
  return made;
}

void add_leaves(Info info, std::vector<Info>& leaves) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) add_leaves(field, leaves);
  else
    leaves.push_back(info);
}

std::vector<Info> leaves_of(const std::vector<Info>& infos) {
  std::vector<Info> leaves;
  for (Info info : infos) add_leaves(info, leaves);
  return leaves;
}

void unpack_tuples(Value* value, Block* to, std::vector<Value*>& leaves) {
  const auto* tuple = value->info->as<TupleInfo>();
  if (tuple == nullptr) return leaves.push_back(value);
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (value->op != nullptr && value->op->kind == OpKind::kTuple) {
      unpack_tuples(value->op->operand(i), to, leaves);
      continue;
    }
    Op* get = append_op(OpKind::kTupleGet, to, to->parent->function->location);
    get->add_operand(value);
    get->attrs.set("index", static_cast<int64_t>(i));
    unpack_tuples(to->parent->function->make_result(get, value->name, tuple->fields[i]), to, leaves);
  }
}

Value* pack_tuple(Info info, const std::vector<Value*>& leaves, size_t& next, const std::string& name, Block* to) {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return leaves[next++];
  std::vector<Value*> fields;
  for (Info field : tuple->fields) fields.push_back(pack_tuple(field, leaves, next, name, to));
  Function& function = *to->parent->function;
  Op* made = append_op(OpKind::kTuple, to, function.location);
  std::vector<Info> infos;
  for (Value* field : fields) {
    made->add_operand(field);
    infos.push_back(field->info);
  }
  return function.make_result(made, name, tuple_info(function.context(), std::move(infos)));
}

std::vector<Value*> as_declared(const std::vector<Value*>& values, const std::vector<Info>& declared, Block* to) {
  Function& function = *to->parent->function;
  arith::Substitution found;
  for (arith::Var var : function.symbols) found.emplace(var, var);
  for (size_t i = 0; i < values.size(); ++i) solve_symbols(declared[i], values[i]->info, found);
  std::vector<Value*> made;
  for (size_t i = 0; i < values.size(); ++i) {
    Info wanted = substitute(function.context(), declared[i], found);
    bool is_exact = subsumes(wanted, values[i]->info, function.facts);
    made.push_back(values[i]);
    if (is_exact) continue;
    Op* cast = append_op(OpKind::kMatchCast, to, function.location);
    cast->add_operand(values[i]);
    made.back() = function.make_result(cast, values[i]->name, wanted);
  }
  return made;
}

}  // namespace relaxc
