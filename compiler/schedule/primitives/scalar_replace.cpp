// scalar_replace.cpp: see scalar_replace.h.
#include "compiler/schedule/primitives/scalar_replace.h"

#include <fmt/format.h>

#include <optional>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;

namespace {

/// Whether two lists of subscripts are the same element; a dim of 1 does not count.
bool same_place(const tir::Buffer& buffer, const Indices& a, const Indices& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!buffer.shape[i].is_constant(1) && !arith::prove_equal(a[i], b[i])) return false;
  return a.size() == b.size();
}

}  // namespace

Legal<ScalarReplace::Facts> ScalarReplace::legal(const Tree& tree) const {
  const For& body_of = tree.loop(loop);
  Indices at;
  bool one_place = true;
  for_each_access(body_of.body, [&](const Access& access) {
    const bool same = access.buffer == buffer ? at.empty() || same_place(*buffer, at, access.indices)
                                              : tree.memory_of(access.buffer) != tree.memory_of(buffer);
    one_place &= same;
    if (access.buffer == buffer && at.empty()) at = access.indices;
  });
  RELAXC_REQUIRE(one_place, buffer->name + " is used at two places of one iteration");
  for (Expr index : at)
    RELAXC_REQUIRE(!uses_variable_of(index, body_of.body),
                   buffer->name + " is used at another place in each iteration of a loop inside");
  RELAXC_REQUIRE(is_plain(body_of.body) && first_use(body_of.body, buffer) == FirstUse::kStore,
                 fmt::format("loop '{}' does not begin with a store to {}", loop_name(tree, loop), buffer->name));
  RELAXC_REQUIRE(!drop || !is_read_besides(tree, buffer, {body_of.body}),
                 buffer->name + " is needed outside of the loop as well; 'store' it");
  return at;
}

ScalarReplace::Made ScalarReplace::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tree.edit_loop(loop, [&](const For& from) {
    BufferRef scalar = build.buffer(buffer->name + "_local", buffer->dtype, {}, tir::Scope::kLocal);
    Stmt body =
        redirect(tree.context(), from.body, buffer, scalar, [](const Indices&) { return std::optional(Indices{}); });
    if (!drop) {
      Block store;
      store.name = buffer->name + "_store";
      store.body = build.store(buffer, facts, build.load(scalar, {}));
      body = build.seq({body, build.block(std::move(store))});
    }
    For to = from;
    to.body = build.alloc(scalar, body);
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
