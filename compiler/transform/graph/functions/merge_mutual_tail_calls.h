// merge_mutual_tail_calls.h: merges functions that tail-call each other into one.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Makes one private function of `members`, which all call each other in tail position, directly or by way of others.
/// Its first parameter says which member runs; a tail call of a member becomes a call of the function itself, so that
/// make_tail_loop() can make a loop of it. The members keep their names, and call it. Returns null if a parameter of
/// one has no placeholder while another runs (a function, an R.Any).
Result<relax::Function*> merge_mutual_tail_calls(relax::Module& module, const std::vector<relax::Function*>& members,
                                                 PassContext& context);

}  // namespace relaxc
