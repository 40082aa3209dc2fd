// reader.h: the tree of an @R.function to the graph.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

class RelaxFunctionReader {
 public:
  RelaxFunctionReader(ModuleScope& scope, const ast::Stmt& definition, relax::Function& function)
      : parts_(scope, definition, function) {}
  /// Of a function that is in the body of `outer`.
  RelaxFunctionReader(FunctionParts& outer, const ast::Stmt& definition, relax::Function& function);

  /// Parameters and the declared result; false if they were reported.
  bool signature();
  /// The body; once. Calls of this function before it ends see the declared result only.
  bool body();
  /// What a call of this function gives, over its own symbols; nothing if neither body nor annotation says so yet.
  Result<std::vector<relax::Info>> results(Place call);

  relax::Function& function() const { return parts_.function; }
  const ast::Stmt& definition() const { return parts_.definition; }
  /// Of a nested function.
  Captures& captures() { return *parts_.captures; }

 private:
  bool read_body(std::vector<relax::Value*>& returned);

  FunctionParts parts_;
  bool signature_ok_ = false;
  enum class State : uint8_t { kNew, kRunning, kDone, kFailed } state_ = State::kNew;
};

}  // namespace relaxc::frontend
