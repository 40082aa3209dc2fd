// tuple_leaves.h: tuples as the values that they are made of, for passes that carry those one by one.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// A new op at the end of `to`, without operands and results.
relax::Op* append_op(relax::OpKind kind, relax::Block* to, Location location);

/// What a value of `info` is made of: itself, or the leaves of its fields in order.
void add_leaves(relax::Info info, std::vector<relax::Info>& leaves);
std::vector<relax::Info> leaves_of(const std::vector<relax::Info>& infos);

/// The leaves of `value`; what takes tuples apart is added to `to`.
void unpack_tuples(relax::Value* value, relax::Block* to, std::vector<relax::Value*>& leaves);

/// A value of `info` made of `leaves`, from `next` on; what makes tuples is added to `to`.
relax::Value* pack_tuple(relax::Info info, const std::vector<relax::Value*>& leaves, size_t& next,
                         const std::string& name, relax::Block* to);

/// Results of a function as values of the infos that its callers know: casts, added to `to`, where less is known.
/// Symbols that are not the function's own are what `values` have in their place.
std::vector<relax::Value*> as_declared(const std::vector<relax::Value*>& values,
                                       const std::vector<relax::Info>& declared, relax::Block* to);

}  // namespace relaxc
