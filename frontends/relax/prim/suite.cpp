// suite.cpp: collects the statements of a suite and nests them.
#include "frontends/relax/prim/suite.h"

#include "compiler/tir/visit.h"

namespace relaxc::frontend {

namespace {

/// Returns whether `stmt` may use `buffer`; calls count as uses of any.
bool may_use(tir::Stmt stmt, tir::BufferRef buffer) {
  bool uses = false;
  tir::for_each_stmt(stmt, [&](tir::Stmt one) {
    if (const auto* store = one.as<tir::Store>()) uses |= store->buffer == buffer;
    if (const auto* view = one.as<tir::View>()) uses |= view->base == buffer;
    uses |= one.as<tir::Invoke>() != nullptr;
    for (arith::Expr e : tir::expressions(one))
      arith::for_each_node(e, [&](arith::Expr node) {
        const auto* load = node.as<arith::Load>();
        uses |= load != nullptr && load->buffer == buffer;
      });
  });
  return uses;
}

}  // namespace

Suite::Suite(PrimNames& names, tir::Builder& builder, Open& open)
    : builder_(builder), open_(open), names_(names), pieces_(1) {
  ++open_.suites;
}

Suite::~Suite() {
  open_.scopes -= pieces_.size() - 1;
  --open_.suites;
}

void Suite::open(Wrap wrap, std::vector<tir::Stmt> first, tir::BufferRef view) {
  pieces_.push_back({std::move(wrap), std::move(first), view});
  ++open_.scopes;
}

Status Suite::check_room(SourceText& source, Place place) const {
  constexpr size_t kMostOpenScopes = 200'000;
  if (open_.scopes < kMostOpenScopes) return Done{};
  return source.error(place, Kind::unsupported, "more than {} buffers and names in one scope", kMostOpenScopes);
}

size_t Suite::find(tir::BufferRef view) const {
  size_t at = 1;
  while (at < pieces_.size() && pieces_[at].view != view) ++at;
  return at;
}

/// Closes pieces until `left` are left; each becomes a statement of the one around it.
void Suite::close(size_t left) {
  for (; pieces_.size() > left; pieces_.pop_back(), --open_.scopes) {
    Piece& last = pieces_.back();
    tir::Stmt inner = last.wrap(builder_.seq(std::move(last.stmts)));
    pieces_[pieces_.size() - 2].stmts.push_back(inner);
  }
}

void Suite::end(tir::BufferRef view) {
  size_t left = find(view);
  std::vector<Piece> fresh;
  for (; pieces_.size() > left + 1 && pieces_.back().stmts.empty(); pieces_.pop_back())
    fresh.push_back(std::move(pieces_.back()));
  close(left);
  for (; !fresh.empty(); fresh.pop_back()) pieces_.push_back(std::move(fresh.back()));
}

tir::Stmt Suite::with_views(tir::Stmt stmt) const {
  for (size_t i = pieces_.size(); i-- > 1;)
    if (pieces_[i].view != nullptr && may_use(stmt, pieces_[i].view)) stmt = pieces_[i].wrap(stmt);
  return stmt;
}

tir::Stmt Suite::finish() {
  close(1);
  return builder_.seq(std::move(pieces_[0].stmts));
}

}  // namespace relaxc::frontend
