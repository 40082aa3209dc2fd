// flat_views.cpp: views of memory whose dims are computed on the way, as TVM can have them.
#include "compiler/transform/tvm/flat_views.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

using tir::BufferRef;

class Flattening {
 public:
  explicit Flattening(arith::Context& context) : context_(context), build_(context) {}

  void run(tir::PrimFunc& function) {
    tir::for_each_stmt(function.body, [&](tir::Stmt s) { look(s); });
    if (flat_.empty()) return;
    tir::Rewriter rewriter;
    rewriter.on_expr = [&](arith::Expr e) {
      return arith::rewrite(e, [&](arith::Expr node) { return flattened(node); });
    };
    rewriter.on_stmt = [&](tir::Stmt s) { return statement(s); };
    function.body = tir::rewrite(context_, function.body, rewriter);
  }

 private:
  /// Notes the variables of lets, and views that have them in their dims.
  void look(tir::Stmt s) {
    if (const auto* let = s.as<tir::Let>()) lets_.insert(let->var.node());
    const auto* view = s.as<tir::View>();
    if (view == nullptr || view->base == nullptr || !computed(*view->buffer)) return;
    BufferRef base = mapped(view->base);
    arith::Expr room = tir::element_count(context_, *base);
    flat_[view->buffer] = build_.buffer(view->buffer->name, view->buffer->dtype, {room}, view->buffer->scope);
  }

  bool computed(const tir::Buffer& buffer) const {
    return std::any_of(buffer.shape.begin(), buffer.shape.end(), [&](arith::Expr dim) {
      std::vector<arith::Var> vars = arith::free_vars(dim);
      return std::any_of(vars.begin(), vars.end(), [&](arith::Var var) { return lets_.count(var.node()) != 0; });
    });
  }

  BufferRef mapped(BufferRef buffer) const {
    auto at = flat_.find(buffer);
    return at == flat_.end() ? buffer : at->second;
  }

  arith::Expr flattened(arith::Expr node) {
    const auto* read = node.as<arith::Load>();
    if (read == nullptr || flat_.count(read->buffer) == 0) return node;
    return build_.load(mapped(read->buffer), {tir::element_offset(context_, *read->buffer, read->indices)});
  }

  tir::Stmt statement(tir::Stmt s) {
    if (const auto* store = s.as<tir::Store>(); store != nullptr && flat_.count(store->buffer) != 0)
      return build_.store(mapped(store->buffer), {tir::element_offset(context_, *store->buffer, store->indices)},
                          store->value);
    if (const auto* view = s.as<tir::View>(); view != nullptr)
      return build_.view(mapped(view->buffer), mapped(view->base), view->byte_offset, view->body, view->round_up);
    const auto* block = s.as<tir::Block>();
    if (block == nullptr) return s;
    tir::Block made = *block;
    auto flat = [&](const tir::BufferRegion& region) { return flat_.count(region.buffer) != 0; };
    if (std::any_of(made.reads.begin(), made.reads.end(), flat)) made.reads.clear();  // derived where needed
    if (std::any_of(made.writes.begin(), made.writes.end(), flat)) made.writes.clear();
    return build_.block(std::move(made));
  }

  arith::Context& context_;
  tir::Builder build_;
  std::unordered_set<const arith::Node*> lets_;
  std::map<BufferRef, BufferRef> flat_;  // looked up only
};

}  // namespace

void flatten_views(arith::Context& context, tir::PrimFunc& function) {
  Flattening(context).run(function);
}

}  // namespace relaxc
