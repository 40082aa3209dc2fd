// reader.h: converts the tree of an @R.function to the graph.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

class RelaxFunctionReader {
 public:
  RelaxFunctionReader(ModuleScope& scope, const ast::Stmt& definition, relax::Function& function)
      : parts_(scope, definition, function) {}
  /// For a function that is nested in `outer`.
  RelaxFunctionReader(FunctionParts& outer, const ast::Stmt& definition, relax::Function& function);

  /// Reads the parameters and the declared result; false if errors were reported.
  bool signature();
  /// Reads the body; may be called once. Until it ends, calls of this function see only the declared result.
  bool body();
  /// Returns the results of a call, over this function's symbols; fails if neither body nor annotation gives them yet.
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
