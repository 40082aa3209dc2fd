// tuple_leaves.h: tuples as lists of their leaves, for passes that carry these one by one.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Appends a new op without operands and results to `to`.
relax::Op* append_op(relax::OpKind kind, relax::Block* to, Location location);

/// Appends the leaves of a value of `info` in order: itself, or the leaves of its fields.
void add_leaves(relax::Info info, std::vector<relax::Info>& leaves);
std::vector<relax::Info> leaves_of(const std::vector<relax::Info>& infos);

/// Appends the leaves of `value`; adds the ops that unpack tuples to `to`.
void unpack_tuples(relax::Value* value, relax::Block* to, std::vector<relax::Value*>& leaves);

/// Returns a value of `info` made of `leaves`, from index `next` on; adds the ops that make tuples to `to`.
relax::Value* pack_tuple(relax::Info info, const std::vector<relax::Value*>& leaves, size_t& next,
                         const std::string& name, relax::Block* to);

/// Returns results of a function as values of the infos that callers know; adds casts to `to` where less is known.
/// Symbols that are not the function's own get the numbers that `values` have in their place.
std::vector<relax::Value*> as_declared(const std::vector<relax::Value*>& values,
                                       const std::vector<relax::Info>& declared, relax::Block* to);

}  // namespace relaxc
