// interpret_parts.h: the interpreter's representation of values.
//
// A value is the list of its leaves: a tuple is flattened; a shape is a vector of int64, a scalar a tensor of rank 0, a
// function a closure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::relax::interpreter {

using Part = std::shared_ptr<const HostTensor>;
using Parts = std::vector<Part>;

/// A function as a value: one leaf, passed like a tensor although it is none.
struct Closure : HostTensor {
  const Function* function = nullptr;
  Parts captured;
};

/// Returns the number of leaves of a value of this info.
size_t leaves(Info info);
Part vector_of(const std::vector<int64_t>& values);
std::vector<int64_t> values_of(const HostTensor& t);
/// Returns the address of a tensor's elements; never null.
void* address(const HostTensor& t);
/// Returns a number in the form of SymbolValues: an integer, or the bits of a double for floats.
int64_t cell_of(const HostTensor& t);
Part part_of(DType dtype, int64_t cell);
/// Adds an operand to the arguments of an external function.
void add_arguments(const Parts& parts, Info info, std::vector<tir::ExternalArg>& args);
/// Appends the leaves of an operand: tensors, and the numbers of shapes and prims as scalars.
void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars);
/// Appends the tensor infos of a result, tuples flattened.
void collect_tensors(Info info, std::vector<const TensorInfo*>& out);
/// Returns the name of an op in messages.
std::string label(const Op& op);

}  // namespace relaxc::relax::interpreter
