// function.cpp: lowers a prim func's parameters and body, and returns the status.
#include "compiler/codegen/llvm/lower/function.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

void FunctionLowering::run() {
  bind_parameters();
  source_.memory.copies ? lower_copy() : parts_.statements.lower(source_.body);
  llvm::IRBuilder<>& b = frame_.builder();
  if (frame_.signature().may_fail)
    b.CreateRet(b.getInt32(0));
  else
    b.CreateRetVoid();
}

/// Copies a state's next value, unless both are in the same memory: then it is where it should be.
void FunctionLowering::lower_copy() {
  llvm::IRBuilder<>& b = frame_.builder();
  llvm::BasicBlock *apart = frame_.block("apart"), *done = frame_.block("done");
  auto address = [&](size_t i) { return parts_.addresses.at(source_.params[i].buffer).address; };
  b.CreateCondBr(b.CreateICmpNE(address(0), address(1)), apart, done);
  b.SetInsertPoint(apart);
  parts_.statements.lower(source_.body);
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

void FunctionLowering::bind_parameters() {
  llvm::Function* function = frame_.function();
  unsigned at = 0;
  if (frame_.signature().needs_context) frame_.set_context(function->getArg(at++));
  for (const tir::Param& param : source_.params) {
    llvm::Argument* argument = function->getArg(at++);
    if (param.buffer != nullptr) {
      bind_buffer(param.buffer, argument);
    } else {
      argument->setName(param.var.name());
      const Lanes given{frame_.numeric().from_memory(param.var.dtype(), argument)};
      parts_.bindings.bind(param.var, parts_.lanes.indices().as(param.var, given));
    }
  }
  for (const arith::Var& symbol : source_.symbols) {
    llvm::Argument* argument = function->getArg(at++);
    argument->setName(symbol.name());
    parts_.bindings.bind(symbol, parts_.lanes.indices().as(symbol, {argument}));
  }
  if (source_.c_function)
    bind_c_function(*source_.c_function);
  else if (frame_.signature().may_fail)
    parts_.failures.set_error(function->getArg(at));
}

void FunctionLowering::bind_buffer(tir::BufferRef buffer, llvm::Argument* argument) {
  argument->setName(buffer->name);
  parts_.addresses.put(buffer, argument);
  if (source_.c_function) return;  // nothing is known of buffers that C passes
  for (arith::Expr dim : buffer->shape)
    if (const auto* symbol = dim.as<arith::VarNode>()) parts_.bindings.assume_size(arith::Var(symbol));
  uint64_t natural = static_cast<uint64_t>(buffer->dtype.bytes());
  uint64_t align = buffer->alignment != 0 ? buffer->alignment : natural;
  argument->addAttr(llvm::Attribute::getWithAlignment(argument->getContext(), llvm::Align(align)));
  if (source_.is_apart(buffer)) argument->addAttr(llvm::Attribute::NoAlias);
  if (buffer->scope == tir::Scope::kWeights) argument->addAttr(llvm::Attribute::ReadOnly);
}

void FunctionLowering::bind_c_function(const tir::CFunction& function) {
  for (const tir::ObjectData& data : function.data) parts_.addresses.put(data.buffer, data_->at(data.name));
  frame_.set_context(function.context != nullptr ? parts_.addresses.at(function.context).address : frame_.null());
}

}  // namespace relaxc::codegen_llvm
