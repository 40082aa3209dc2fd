// split_tuples.cpp: passes tuples through branches and loops as their parts.
//
// Memory is planned for tensors; a tuple only groups several. If a branch yields one, or a loop carries one from one
// iteration to the next, its parts are yielded or carried separately and put together again on the other side. There,
// users of a part use the part itself. Nested tuples are taken apart down to their leaves.
#include <algorithm>

#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

class Splitting {
 public:
  explicit Splitting(Function& function) : function_(function) {}

  Changed run() {
    for (Op* op : ops_of(function_.body(), true)) {
      if (op->kind == OpKind::kIf && has_tuple(op->results)) split_if(*op);
      if (op->kind == OpKind::kLoop && has_tuple(op->results)) split_loop(*op);
    }
    return changed_;
  }

 private:
  static bool has_tuple(const std::vector<Value*>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const Value* value) { return value->info->as<TupleInfo>() != nullptr; });
  }

  /// The position of new ops: in `block`, before its op number `at`.
  struct Place {
    Block* block = nullptr;
    size_t at = 0;
  };
  static Place before(const Op& op) {
    const std::vector<Op*>& ops = op.block->ops;
    return {op.block, static_cast<size_t>(std::find(ops.begin(), ops.end(), &op) - ops.begin())};
  }
  static Place after(const Op& op) {
    Place place = before(op);
    ++place.at;
    return place;
  }
  Place first(Region& region) {
    if (region.blocks.empty()) function_.make_block(&region, false);
    return {region.blocks.front(), 0};
  }
  Place last(Region& region) {
    if (region.blocks.empty()) function_.make_block(&region, false);
    return {region.blocks.back(), region.blocks.back()->ops.size()};
  }

  Value* insert(Op* op, Info info, const std::string& name, Place& place) {
    op->block = place.block;
    place.block->ops.insert(place.block->ops.begin() + static_cast<std::ptrdiff_t>(place.at++), op);
    return function_.make_result(op, name, info);
  }

  /// Appends the leaves of `value`; ops that take them out of tuples are inserted at `place`.
  void unpack_tuples(Value* value, Place& place, std::vector<Value*>& leaves) {
    const auto* tuple = value == nullptr ? nullptr : value->info->as<TupleInfo>();
    if (tuple == nullptr) return leaves.push_back(value);
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      if (value->op != nullptr && value->op->kind == OpKind::kTuple) {
        unpack_tuples(value->op->operand(i), place, leaves);
        continue;
      }
      Op* get = function_.make_op(OpKind::kTupleGet, value->op == nullptr ? nullptr : value->op->location);
      get->add_operand(value);
      get->attrs.set("index", static_cast<int64_t>(i));
      unpack_tuples(insert(get, tuple->fields[i], value->name + "_" + std::to_string(i), place), place, leaves);
    }
  }

  /// Returns a value of `info` that is made of the leaves from `next` on.
  Value* pack_tuple(Info info, const std::vector<Value*>& leaves, size_t& next, const std::string& name, Place& place) {
    const auto* tuple = info->as<TupleInfo>();
    if (tuple == nullptr) return leaves.at(next++);
    std::vector<Value*> fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(pack_tuple(tuple->fields[i], leaves, next, name + "_" + std::to_string(i), place));
    Op* op = function_.make_op(OpKind::kTuple, leaves.empty() || !leaves[0]->op ? nullptr : leaves[0]->op->location);
    for (Value* field : fields) op->add_operand(field);
    return insert(op, info, name, place);
  }

  /// Replaces `old` by `made`; ops that take a field of it are replaced by the field.
  void replace(Value* old, Value* made) {
    std::vector<Use> uses = old->uses();
    old->replace_all_uses_with(made);
    if (made->op == nullptr || made->op->kind != OpKind::kTuple) return;
    for (const Use& use : uses)
      if (!use.user->is_yield && use.user->kind == OpKind::kTupleGet)
        replace(use.user->result(), made->op->operand(static_cast<size_t>(use.user->attrs.integer("index"))));
  }

  /// Replaces the op's results by their leaves, which are packed again after the op.
  void split_results(Op& op) {
    std::vector<Value*> old = std::move(op.results);
    op.results.clear();
    for (Value* value : old) add_leaves(op, value->info, value->name);
    Place place = after(op);
    size_t next = 0;
    for (Value* value : old) replace(value, pack_tuple(value->info, op.results, next, value->name, place));
    changed_ = Changed::kYes;
  }

  void add_leaves(Op& op, Info info, const std::string& name) {
    const auto* tuple = info->as<TupleInfo>();
    if (tuple == nullptr) {
      function_.make_result(&op, name, info);
      return;
    }
    for (size_t i = 0; i < tuple->fields.size(); ++i) add_leaves(op, tuple->fields[i], name + "_" + std::to_string(i));
  }

  void split_yield(Region& region) {
    std::vector<Value*> old = region.results(), leaves;
    Place place = last(region);
    for (Value* value : old) unpack_tuples(value, place, leaves);
    region.yield->drop_operands();
    for (Value* leaf : leaves) region.yield->add_operand(leaf);
  }

  void split_if(Op& op) {
    for (Region* region : op.regions) split_yield(*region);
    split_results(op);
  }

  void split_loop(Op& op) {
    Place place = before(op);
    std::vector<Value*> initial = op.operands(), leaves;
    for (Value* value : initial) unpack_tuples(value, place, leaves);
    op.drop_operands();
    for (Value* leaf : leaves) op.add_operand(leaf);

    Region& body = *op.regions[0];
    std::vector<Value*> old = std::move(body.arguments), made;
    body.arguments.clear();
    for (Value* argument : old) add_arguments(body, argument->info, argument->name);
    Place begin = first(body);
    size_t next = 0;
    for (Value* argument : old)
      replace(argument, pack_tuple(argument->info, body.arguments, next, argument->name, begin));
    split_yield(body);
    split_results(op);
  }

  void add_arguments(Region& body, Info info, const std::string& name) {
    const auto* tuple = info->as<TupleInfo>();
    if (tuple == nullptr) {
      function_.make_argument(&body, name, info);
      return;
    }
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      add_arguments(body, tuple->fields[i], name + "_" + std::to_string(i));
  }

  Function& function_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> split_tuples(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Splitting(*function).run();
  return changed;
}

}  // namespace relaxc
