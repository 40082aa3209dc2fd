// traffic.cpp: counts loads and stores in the loops that run.
//
// A load counts as often as the scheduled program executes it: a value that a tile keeps in registers is loaded
// once. Caches are not modelled, since the machines that use this have none. Extents are evaluated as in
// kernel_work.cpp.
#include "compiler/analysis/traffic.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;
using tir::BufferRef;
using Find = std::function<const tir::PrimFunc*(const std::string&)>;

class Counting {
 public:
  Counting(Numbers numbers, const Find& find, std::set<std::string> open = {})
      : numbers_(std::move(numbers)), find_(find), open_(std::move(open)) {}

  std::map<BufferRef, double> run(tir::Stmt body) {
    walk(body, 1);
    return std::move(bytes_);
  }

 private:
  void walk(tir::Stmt s, double times) {
    while (s) {
      if (const auto* seq = s.as<tir::Seq>()) {
        for (size_t i = 0; i + 1 < seq->body.size(); ++i) walk(seq->body[i], times);
        s = seq->body.empty() ? tir::Stmt() : seq->body.back();
        continue;
      }
      loads(s, times);
      if (const auto* let = s.as<tir::Let>()) {
        numbers_.let(let->var, let->value);
        s = let->body;
      } else if (const auto* view = s.as<tir::View>()) {
        roots_[view->buffer] = root(view->base);
        s = view->body;
      } else if (const auto* alloc = s.as<tir::Alloc>()) {
        s = alloc->body;
      } else {
        return other(s, times);
      }
    }
  }

  void other(tir::Stmt s, double times) {
    if (const auto* store = s.as<tir::Store>()) count(store->buffer, store->buffer->dtype, times);
    if (const auto* invoke = s.as<tir::Invoke>()) return call(*invoke, times);
    if (const auto* loop = s.as<tir::For>()) {
      int64_t trips = std::max<int64_t>(0, numbers_.of(loop->extent));
      numbers_.set(loop->var, numbers_.of(loop->min) + trips / 2);
      times *= static_cast<double>(trips);
    }
    for (tir::Stmt child : tir::children(s)) walk(child, times);
  }

  void loads(tir::Stmt s, double times) {
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) count(load->buffer, load->buffer->dtype, times);
      });
  }

  void call(const tir::Invoke& invoke, double times) {
    const tir::PrimFunc* callee = find_(invoke.callee);
    std::set<std::string> open = open_;
    if (callee == nullptr || !open.insert(invoke.callee).second) {
      for (const tir::Argument& argument : invoke.args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) count_whole(*buffer, times);
      return;
    }
    std::map<BufferRef, double> theirs =
        Counting(inside_call(*callee, invoke, numbers_), find_, std::move(open)).run(callee->body);
    for (size_t i = 0; i < std::min(callee->params.size(), invoke.args.size()); ++i) {
      const auto* buffer = std::get_if<BufferRef>(&invoke.args[i]);
      auto moved = callee->params[i].buffer == nullptr ? theirs.end() : theirs.find(callee->params[i].buffer);
      if (buffer != nullptr && moved != theirs.end()) bytes_[root(*buffer)] += times * moved->second;
    }
  }

  void count(BufferRef buffer, DType dtype, double times) {
    bytes_[root(buffer)] += times * static_cast<double>(dtype.bytes());
  }
  void count_whole(BufferRef buffer, double times) {
    for (Expr dim : buffer->shape) times *= static_cast<double>(std::max<int64_t>(0, numbers_.of(dim)));
    count(buffer, buffer->dtype, times);
  }
  BufferRef root(BufferRef buffer) const {
    auto found = roots_.find(buffer);
    return found == roots_.end() ? buffer : found->second;
  }

  Numbers numbers_;
  const Find& find_;
  std::set<std::string> open_;            ///< functions being visited: a recursive call counts as an unknown one
  std::map<BufferRef, BufferRef> roots_;  // looked up only
  std::map<BufferRef, double> bytes_;     // looked up only
};

}  // namespace

std::map<BufferRef, double> traffic(tir::Stmt body, Numbers numbers, const Find& find) {
  return Counting(std::move(numbers), find).run(body);
}

}  // namespace relaxc::analysis
