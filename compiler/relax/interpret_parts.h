// interpret_parts.h: values as the interpreter holds them.
//
// A value is the list of its leaves: a tuple's fields flattened; a shape is a vector of int64, a scalar a tensor of
// rank 0, a function a closure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::relax::interpreter {

using Part = std::shared_ptr<const HostTensor>;
using Parts = std::vector<Part>;

/// A function as a value: one leaf, which is not a tensor but travels as one.
struct Closure : HostTensor {
  const Function* function = nullptr;
  Parts captured;
};

/// How many leaves a value of this info has.
size_t leaves(Info info);
Part vector_of(const std::vector<int64_t>& values);
std::vector<int64_t> values_of(const HostTensor& t);
/// The address of a tensor's elements; never null.
void* address(const HostTensor& t);
/// A number as the environment holds it: an integer, or the bits of a double for floats.
int64_t cell_of(const HostTensor& t);
Part part_of(DType dtype, int64_t cell);
/// An operand as an external function is given it.
void add_arguments(const Parts& parts, Info info, std::vector<tir::ExternalArg>& args);
/// Leaves of an operand: tensors, and scalars of shapes and prims.
void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars);
/// The tensor infos of a result, tuples flattened.
void collect_tensors(Info info, std::vector<const TensorInfo*>& out);
/// What an op is called in a fault.
std::string label(const Op& op);

}  // namespace relaxc::relax::interpreter
