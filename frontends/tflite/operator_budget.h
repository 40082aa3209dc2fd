// operator_budget.h: limits the number of operators that an import converts.
//
// Subgraphs are converted wherever an operator calls them. A file of a few kilobytes can have subgraphs that call each
// other twice, thirty levels deep; so the operators of a call are counted before any of them is converted.
#pragma once

#include <map>

#include "compiler/support/diagnostics.h"
#include "frontends/tflite/model.h"

namespace relaxc::tflite {

class OperatorBudget {
 public:
  OperatorBudget(const Model& model, int64_t most, Diagnostics& diagnostics)
      : model_(model), most_(most), diag(diagnostics) {}

  /// Counts an operator that is converted; false, and reported the first time, if that is one too many.
  bool take(Location where);
  /// Returns whether the operators of a subgraph, with those of all that it calls, are within the budget; reports the
  /// first time that they are not.
  bool allows(int64_t subgraph, Location where);
  /// Converts no subgraph from here on, since an error was found that all further calls would run into again.
  void stop() { stopped_ = true; }

 private:
  int64_t size_of(int64_t subgraph);
  int64_t size_of(const Operator& op);
  bool refuse(int64_t operators, Location where);

  const Model& model_;
  const int64_t most_;
  Diagnostics& diag;
  std::map<int64_t, int64_t> sizes_;  ///< of subgraphs
  int64_t converted_ = 0;
  bool stopped_ = false;
};

}  // namespace relaxc::tflite
