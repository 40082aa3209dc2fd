// interpret_external.h: calls of code outside of the module: external functions of the program, and functions of the
// runtime that compiled code would call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/interpret_values.h"

namespace relaxc::relax::interpreter {

class ExternalCalls {
 public:
  /// `external` may be empty: then external functions do not exist.
  ExternalCalls(const tir::CallExternal& external, FrameValues& values) : external_(external), values_(values) {}

  /// Calls a function in destination passing style, or one that makes its results itself.
  bool run(const Op& op);
  bool run_shape_function(const Op& op);
  /// Reads what an object handle refers to, by asking the owner of the external functions.
  bool read_object(const Op& op);
  /// Calls out for each piece of the line, as an emitted object does.
  bool print(const Op& op);
  /// Calls the op's function with these operands, followed by the memory of results.
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
