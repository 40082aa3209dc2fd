// prim_func.cpp: parameters in the order of docs/abi.md, and bounds of data-dependent outputs.
#include "compiler/transform/lower/host/prim_func.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host/entry_record.h"

namespace relaxc::lower {

using namespace relax;

namespace {

std::set<BufferRef> named_buffers(Context& context, tir::Stmt body) {
  std::set<BufferRef> named;
  tir::Rewriter look;
  look.on_buffer = [&](BufferRef buffer) {
    named.insert(buffer);
    return buffer;
  };
  (void)tir::rewrite(context, body, look);
  return named;
}

/// Returns `info` with the symbols that are only names of other expressions replaced by these.
Info known(Context& context, const Symbols& symbols, Info info) {
  arith::Substitution values;
  for (Var var : symbols_of(info))
    if (Expr value = symbols.known(Expr(var)); !(value == var)) values.emplace(var, value);
  return values.empty() ? info : substitute(context, info, values);
}

/// Makes a prim func of a lowered body, and records what its callers need to know.
class Publication {
 public:
  Publication(HostLowering& host, tir::Stmt body)
      : host_(host),
        symbols_(host.shapes.symbols()),
        announced_(host.is_recursive() ? &host.shared.callees.at(host.function.name) : nullptr),
        body_(host.memory.with_constants(body)) {}

  void run() {
    relax::Module& module = host_.shared.module;
    const std::string& name = host_.function.name;
    callee_.function = &host_.function;
    callee_.name = announced_ != nullptr ? host_.shared.bodies.at(name) : module.unique_name(name + "_call");
    callee_.guards = host_.shapes.guards();
    callee_.symbols = symbols_.entry(), callee_.values = host_.entry.values();
    for (const Input& input : host_.signature.inputs()) callee_.inputs.push_back(input.buffer);
    for (Output& output : host_.signature.outputs()) bound_output(output);
    see_bounded();
    if (host_.heap.is_needed() && host_.form == Form::kEntry) body_ = host_.heap.begun_around(body_);
    callee_.needs_heap = host_.heap.is_needed();
    callee_.read = named_buffers(host_.context(), body_);
    module.add_prim_func(host_prim_func(host_, callee_.name, body_));
    if (!host_.function.is_private && !host_.entry_is_missing()) add_entry(host_, callee_.name);
    if (host_.form == Form::kShared && announced_ == nullptr) host_.shared.callees.emplace(name, std::move(callee_));
  }

 private:
  /// Records the bounds of the next output, and gives it the buffer that callers pass.
  void bound_output(Output& output) {
    tir::Builder& build = host_.at.build();
    size_t index = callee_.outputs.size(), first = callee_.bounds.size();
    std::vector<Expr> shape;
    for (Expr dim : host_.signature.output_dims(output)) {
      callee_.bounds.push_back(announced_ != nullptr ? announced_->bounds[callee_.bounds.size()]
                                                     : symbols_.bounded(dim));
      shape.push_back(callee_.bounds.back() ? callee_.bounds.back() : build.index(INT64_MAX));
    }
    callee_.outputs.push_back(known(host_.context(), symbols_, output.info));  // symbols that only data gives stay
    callee_.numbers.emplace_back();
    if (output.info->as<TensorInfo>() == nullptr)
      for (Expr number : numbers(output.info)) callee_.numbers.back().push_back(symbols_.bounded(number));
    if (host_.form == Form::kShared && callee_.claims(index, first)) {
      BufferRef block = host_.heap.block_buffer(output.name);
      body_ = host_.heap.claim_views(body_, output.buffer, block);
      output.buffer = block;
      return;
    }
    if (shape == output.buffer->shape) return;
    bounded_[output.buffer] = build.buffer(output.name, output.buffer->dtype, shape);
    output.buffer = bounded_[output.buffer];
  }

  /// Replaces outputs in the body by buffers with the shapes of their bounds.
  void see_bounded() {
    if (bounded_.empty()) return;
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](BufferRef b) { return bounded_.count(b) != 0 ? bounded_.at(b) : b; };
    body_ = tir::rewrite(host_.context(), body_, rewriter);
  }

  HostLowering& host_;
  const Symbols& symbols_;
  const HostCallee* announced_;  ///< what callers already know of a recursive function; null for others
  tir::Stmt body_;
  HostCallee callee_;
  std::map<BufferRef, BufferRef> bounded_;
};

}  // namespace

bool HostCallee::claims(size_t index, size_t first_dim) const {
  const auto* tensor = outputs[index]->as<TensorInfo>();
  size_t rank = tensor == nullptr ? 0 : tensor->shape->size();
  return std::any_of(bounds.begin() + static_cast<std::ptrdiff_t>(first_dim),
                     bounds.begin() + static_cast<std::ptrdiff_t>(first_dim + rank), [](Expr e) { return !e; });
}

tir::PrimFunc host_prim_func(HostLowering& host, const std::string& name, tir::Stmt body) {
  const Signature& signature = host.signature;
  const Function& function = host.function;
  tir::PrimFunc made;
  made.name = name;
  made.host.arena = signature.inputs().size() + signature.outputs().size();
  made.rounding = function.rounding;
  made.noalias = false;  // a state's output may be its input's memory
  for (const Input& input : signature.inputs()) made.params.push_back({input.buffer, {}});
  for (const Output& output : signature.outputs()) made.params.push_back({output.buffer, {}});
  for (BufferRef memory : {signature.arena(), host.shared.weights_buffer, signature.out_dims()})
    made.params.push_back({memory, {}});
  if (host.heap.is_needed() && host.form == Form::kShared) made.params.push_back({host.heap.buffer(), {}});
  // A size without a bound that overflows is more than any memory has; any other is more than was planned. plan_memory
  // removes the checks where no size can overflow.
  made.checks.overflow_code = host.heap.is_needed() ? kOutOfMemory : kDataBound;
  for (Var var : host.shapes.symbols().entry()) made.params.push_back({nullptr, var});
  made.body = body;
  made.location = function.location;
  tir::collect_symbols(made);
  RELAXC_CHECK(made.symbols.empty(),
               "'" + made.symbols.front().name() + "' is not an entry symbol of " + function.name);
  return made;
}

void publish(HostLowering& host, tir::Stmt body) {
  Publication(host, body).run();
}

}  // namespace relaxc::lower
