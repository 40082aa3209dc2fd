// closure_resolver.h: turns functions as values into calls, one function at a time; resolve_closures.cpp says why.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/transform/graph/functions/known_closure.h"
#include "compiler/transform/pass.h"

namespace relaxc::closures {

using namespace relax;

/// A function specialized for function arguments of known forms.
struct Resolved {
  Function* function = nullptr;
  std::vector<KnownRef> results;  ///< what is known of its results, over values of `function`
  bool done = false;
};

class FunctionResolver;

class Resolver {
 public:
  Resolver(Module& module, PassContext& context);
  ~Resolver();

  Status run();
  Changed changed() const { return changed_; }

  /// Returns `callee` specialized for arguments of these forms. Its body is resolved at once only if it returns
  /// functions and is not being resolved already; else it waits for that.
  Result<Resolved*> find(const std::string& callee, const std::vector<KnownRef>& args, Location call);

 private:
  friend class FunctionResolver;
  Status check_interface(const Function& function);

  Module& module_;
  PassContext& context_;
  Changed changed_ = Changed::kNo;
  std::map<std::string, Resolved> resolved_;  ///< by name and forms of the arguments
  std::deque<std::unique_ptr<FunctionResolver>> waiting_;
  size_t copies_ = 0;
  int depth_ = 0;
};

class FunctionResolver {
 public:
  FunctionResolver(Resolver& all, Resolved& into)
      : all_(all), into_(into), function_(*into.function), module_(all.module_), diag_(all.context_.diag) {}

  /// Replaces function parameters by parameters for the values in `args`.
  void unpack_arguments(const std::vector<KnownRef>& args);
  Status run();

 private:
  KnownRef known(Value* value) const {
    auto it = known_.find(value);
    return it == known_.end() ? plain(value) : it->second;
  }
  KnownRef expand(const Known& form, Info info, const std::string& name);
  std::vector<Info> captured_infos(const std::string& callee, size_t count);
  std::vector<KnownRef> known_operands(const Op& op) const;
  KnownRef known_field(const Op& op) const;
  void bind(Op& op, KnownRef result);
  Status region(Region& region);
  Status op(Op& op);
  Status rewrite_call(Op& op);
  Result<std::vector<KnownRef>> call(const Known& callee, const std::vector<KnownRef>& args, const Op& op, Block* to);
  Result<std::vector<KnownRef>> call_known(const std::string& callee, const std::vector<KnownRef>& args, const Op& op,
                                           Block* to);
  Status branch(Op& op);
  Result<KnownRef> join(Op& branch, const KnownRef& yes, const KnownRef& no);
  Value* joined(Op& branch, Value* yes, Value* no);
  void strip(Op& branch);
  Value* cast(Value* value, Info info, const std::vector<arith::Var>& binds, Block* to, Location location);
  Value* zeros_of(Info info, const std::vector<arith::Var>& unknown, Block* to);
  bool inside(const Value* value, const Region& region) const;
  std::vector<Info> results_of_call(const Function& callee, Op& call, const Op& before);
  Op* append(OpKind kind, Location location, Block* to);
  void discard_dead();

  Resolver& all_;
  Resolved& into_;
  Function& function_;
  Module& module_;
  Diagnostics& diag_;
  std::map<const Value*, KnownRef> known_;
  std::vector<Op*> dead_;
  bool in_choice_ = false;  ///< the current call is in a branch of an If
};

}  // namespace relaxc::closures
