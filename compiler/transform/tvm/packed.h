// packed.h: several values as one, in the types that TVM has.
//
// An If of TVM gives one value, and a call of a function gives one. A type of TVM says no more of a scalar than its
// dtype, so a scalar that is also a symbol travels as a shape of one element, from which the other side reads it.
#pragma once

#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Returns the type in which a value of type `info` travels: a scalar with a value is a shape of one element, also
/// inside of tuples.
relax::Info travelling_info(relax::Context& context, relax::Info info);
std::vector<relax::Info> travelling_infos(relax::Context& context, const std::vector<relax::Info>& infos);

/// Returns the type of several values as one: that of a tuple, or of the only value.
relax::Info packed_info(relax::Context& context, const std::vector<relax::Info>& travelling);

/// Returns `value` in the type in which it travels.
Result<relax::Value*> to_travel(relax::GraphBuilder& builder, relax::Value* value);
/// The reverse: returns a value of type `info`, whose symbols have their values.
Result<relax::Value*> arrived(relax::GraphBuilder& builder, relax::Value* value, relax::Info info);

/// Returns the values as one, each in the type in which it travels.
Result<relax::Value*> pack(relax::GraphBuilder& builder, const std::vector<relax::Value*>& values);
/// The reverse: returns values of the types `infos`. If `packed` is declared with fewer dims than they have, a
/// match_cast reads these and binds `binds`.
Result<std::vector<relax::Value*>> unpack(relax::GraphBuilder& builder, relax::Value* packed,
                                          const std::vector<relax::Info>& infos, const std::vector<relax::Var>& binds);

/// Makes a builder that inserts after `op`, with its location.
relax::GraphBuilder builder_after(relax::Module& module, const relax::OpTable& ops, relax::Op& op, Diagnostics& diag);

/// Returns `info` without the dims that mention one of `symbols`.
relax::Info without(relax::Context& context, relax::Info info, const std::vector<relax::Var>& symbols);

}  // namespace relaxc
