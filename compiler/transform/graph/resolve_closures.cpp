// resolve_closures.cpp: removes functions as values.
//
// The problem: a call of a value jumps to whatever function the value is. That needs a record at run time, memory for
// it, and a call that no pass can see through.
//
// The method: when compiling, it is known of every function value which lambda it is, or between which ones a condition
// chooses. Calls of it become calls of that function with the captured values as further arguments, or an If on the
// condition. A function that takes a function is copied for each lambda passed to it; the copy takes the captured
// values. A function that returns a closure returns the captured values instead, and its callers know the lambda. The
// copy is chosen by the form of its arguments, so a recursion that passes its closure on calls the same copy and ends.
//
// Rejected: closure records in the arena with an integer tag and one apply function (Reynolds), because captured
// tensors of all sizes would have to live in them; inlining until no closure is left, because recursion does not end.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "compiler/relax/copy.h"
#include "compiler/transform/graph/functions/closure_resolver.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace closures {

namespace {

constexpr size_t kMostCopies = 256;
constexpr int kDeepest = 256;

}  // namespace

Resolver::Resolver(Module& module, PassContext& context) : module_(module), context_(context) {}
Resolver::~Resolver() = default;

Status Resolver::run() {
  Diagnostics& diag = context_.diag;
  size_t errors = diag.error_count();
  for (Function* function : module_.functions())
    if (!function->is_private) static_cast<void>(bool(check_interface(*function)));
  if (diag.error_count() > errors) return diag.failed();
  for (Function* function : module_.functions()) {
    if (function->is_private) continue;
    std::vector<KnownRef> args;
    for (Value* argument : function->body().arguments) args.push_back(plain(argument));
    RELAXC_TRY(Resolved * done, find(function->name, args, function->location));
    (void)done;
  }
  while (!waiting_.empty()) {
    std::unique_ptr<FunctionResolver> next = std::move(waiting_.front());
    waiting_.pop_front();
    RELAXC_DO(next->run());
  }
  return Done{};
}

Status Resolver::check_interface(const Function& function) {
  Diagnostics& diag = context_.diag;
  for (const Value* argument : function.body().arguments)
    if (holds_callable(argument->info))
      return diag.error(function.location, Kind::unsupported,
                        "parameter '{}' of '{}' is a function, and the caller of an object has none to give; make '{}' "
                        "private or let it name the function",
                        argument->name, function.name, function.name);
  for (const Value* result : function.body().results())
    if (holds_callable(result->info))
      return diag.error(function.location, Kind::unsupported,
                        "'{}' returns a function, which no caller of an object can call; make '{}' private or return "
                        "what the function gives",
                        function.name, function.name);
  return Done{};
}

Result<Resolved*> Resolver::find(const std::string& callee, const std::vector<KnownRef>& args, Location call) {
  Diagnostics& diag = context_.diag;
  Function* function = module_.find_function(callee);
  RELAXC_CHECK(function != nullptr, "no function " + callee);
  std::string key = callee;
  bool functions = false;
  for (const KnownRef& arg : args) {
    key += ' ' + form_of(*arg);
    functions |= arg->kind != Known::kPlain;
  }
  auto [at, inserted] = resolved_.try_emplace(key);
  Resolved& found = at->second;
  if (!inserted) return &found;
  auto too_much = [&](std::string_view what) {
    Failure failure =
        diag.error(call, Kind::unbounded, "the functions that '{}' is handed never repeat: {}", callee, what);
    diag.note(call, "a recursion may hand a function on, but not wrap a new one around it each time");
    return failure;
  };
  if (functions && ++copies_ > kMostCopies) return too_much(fmt::format("more than {} copies", kMostCopies));
  found.function = functions ? relax::copy_function(module_, *function, module_.unique_name(callee)) : function;
  auto resolver = std::make_unique<FunctionResolver>(*this, found);
  if (functions) resolver->unpack_arguments(args);
  const std::vector<Value*>& results = function->body().results();
  if (std::none_of(results.begin(), results.end(), [](const Value* v) { return holds_callable(v->info); })) {
    waiting_.push_back(std::move(resolver));
    return &found;
  }
  if (depth_ >= kDeepest) return too_much(fmt::format("more than {} calls deep", kDeepest));
  ++depth_;
  RELAXC_DO(resolver->run());
  --depth_;
  return &found;
}

/// Returns the infos of the last `count` parameters of `callee` with new symbols, which only the values themselves
/// give: each dim that is no constant becomes a symbol.
std::vector<Info> FunctionResolver::captured_infos(const std::string& callee, size_t count) {
  Context& context = module_.context();
  const std::vector<Value*>& params = module_.find_function(callee)->body().arguments;
  arith::Substitution renamed;
  auto own = [&](Expr dim) {
    if (dim.constant() != nullptr) return dim;
    auto it = renamed.find(dim);
    if (it != renamed.end()) return it->second;
    const auto* var = dim.as<arith::VarNode>();
    arith::Var fresh = context.var(var != nullptr ? arith::Var(var).name() : "d", dim.dtype());
    function_.symbols.push_back(fresh);
    if (var != nullptr) renamed[dim] = fresh;
    return static_cast<Expr>(fresh);
  };
  auto rename = [&](Info info, auto&& self) -> Info {
    auto all = [&](std::vector<Expr> dims) {
      for (Expr& dim : dims) dim = own(dim);
      return dims;
    };
    if (const auto* tensor = info->as<TensorInfo>(); tensor && tensor->shape)
      return tensor_info(context, all(*tensor->shape), tensor->dtype);
    if (const auto* shape = info->as<ShapeInfo>(); shape && shape->dims) return shape_info(context, all(*shape->dims));
    if (const auto* prim = info->as<PrimInfo>(); prim && prim->value)
      return prim_info(context, prim->dtype, own(prim->value));
    if (const auto* tuple = info->as<TupleInfo>()) {
      std::vector<Info> fields = tuple->fields;
      for (Info& field : fields) field = self(field, self);
      return tuple_info(context, std::move(fields));
    }
    return info;
  };
  std::vector<Info> infos;
  for (size_t i = params.size() - count; i < params.size(); ++i) infos.push_back(rename(params[i]->info, rename));
  return infos;
}

/// Adds parameters for the values in a tree of this form, and returns the tree of the parameters.
KnownRef FunctionResolver::expand(const Known& form, Info info, const std::string& name) {
  Region& body = function_.body();
  switch (form.kind) {
    case Known::kPlain:
      return plain(function_.make_argument(&body, name, info));
    case Known::kTuple: {
      std::vector<KnownRef> fields;
      for (size_t i = 0; i < form.parts.size(); ++i)
        fields.push_back(expand(*form.parts[i], info->as<TupleInfo>()->fields[i], name + "_" + std::to_string(i)));
      return known_tuple(std::move(fields));
    }
    case Known::kChoice: {
      Value* condition = function_.make_argument(&body, name + "_chosen", form.value->info);
      KnownRef yes = expand(*form.parts[0], info, name), no = expand(*form.parts[1], info, name);
      return known_choice(condition, std::move(yes), std::move(no));
    }
    case Known::kClosure: {
      std::vector<Info> infos = captured_infos(form.callee, form.parts.size());
      const std::vector<Value*>& params = module_.find_function(form.callee)->body().arguments;
      std::vector<KnownRef> captured;
      for (size_t i = 0; i < form.parts.size(); ++i)
        captured.push_back(expand(*form.parts[i], infos[i], params[params.size() - infos.size() + i]->name));
      return known_closure(form.callee, std::move(captured));
    }
  }
  RELAXC_UNREACHABLE();
}

void FunctionResolver::unpack_arguments(const std::vector<KnownRef>& args) {
  Region& body = function_.body();
  std::vector<Value*> before = std::move(body.arguments);
  body.arguments.clear();
  for (size_t i = 0; i < before.size(); ++i) {
    if (args[i]->kind != Known::kPlain) {
      known_[before[i]] = expand(*args[i], before[i]->info, before[i]->name);
      continue;
    }
    before[i]->index = static_cast<uint32_t>(body.arguments.size());
    body.arguments.push_back(before[i]);
  }
}

}  // namespace closures

Result<Changed> resolve_closures(relax::Module& module, PassContext& context) {
  closures::Resolver resolver(module, context);
  RELAXC_DO(resolver.run());
  return resolver.changed();
}

}  // namespace relaxc
