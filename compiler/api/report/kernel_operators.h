// kernel_operators.h: what a kernel computes, as a function of the operators that the program had when it was read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/api/report/value_names.h"
#include "frontends/onnx/viewer_model.h"

namespace relaxc::api {

class KernelOperators {
 public:
  /// `names` are of the values of `after`. All three must outlive this.
  KernelOperators(const GraphView& before, const GraphView& after, const ValueNames& names);

  /// Returns the function of the node `kernel` of `after`: its inputs have the names that the kernel's operands have.
  /// It has no nodes where a pass made the kernel and no operator of the program.
  frontend::ViewerGraph of(size_t kernel) const;

 private:
  std::string value_outside(size_t node) const;

  const GraphView& before_;
  const GraphView& after_;
  const ValueNames& names_;
  ValueNames names_before_;
  std::vector<int32_t> groups_;           ///< nodes of `after` that do the work of those of `before`, or -1
  std::map<std::string, size_t> inputs_;  ///< inputs of `after` by function and label
};

}  // namespace relaxc::api
