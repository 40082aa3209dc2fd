// interpret_external.h: calls of code that is not of the module: the program's functions, and those of the runtime that
// compiled code calls in their place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/interpret_values.h"

namespace relaxc::relax::interpreter {

class ExternalCalls {
 public:
  /// `external` may be empty: then there are none.
  ExternalCalls(const tir::CallExternal& external, FrameValues& values) : external_(external), values_(values) {}

  /// In destination passing style, or of a function that makes its results itself.
  bool run(const Op& op);
  bool run_shape_function(const Op& op);
  /// What an object holds, which the owner of the external functions knows.
  bool read_object(const Op& op);
  /// Printing is a call out, one for each piece of the line, as it is in an emitted object.
  bool print(const Op& op);
  /// Calls the op's function with these operands, then with memory for results.
  bool run_inplace(const Op& op, const std::vector<Parts>& operands,
                   const std::vector<std::shared_ptr<HostTensor>>& results);

 private:
  std::vector<tir::ExternalArg> arguments(const Op& op);
  bool call(const Op& op, const std::vector<tir::ExternalArg>& args);
  bool run_maker(const Op& op);
  bool take_result(const Op& op, Info info, const tir::ExternalResult& result, Parts& outputs);

  const tir::CallExternal& external_;
  FrameValues& values_;
};

}  // namespace relaxc::relax::interpreter
