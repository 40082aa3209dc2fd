// stack_bound.cpp: sums stack frames over the call graph.
//
// The graph is that of the machine code, which has calls that instruction selection added and functions that it split
// off. A call through a pointer may reach each function that the caller's IR refers to.
#include "compiler/codegen/llvm/stack_bound.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/codegen/llvm/library_stack.h"
#include "compiler/support/check.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::codegen_llvm {
namespace {

StackDepth everywhere(std::optional<uint64_t> bytes) {
  StackDepth out;
  out.fill(bytes);
  return out;
}

/// Functions that `function` mentions, in instructions or in constants.
std::vector<std::string> mentioned(const llvm::Function& function) {
  std::vector<std::string> found;
  std::vector<const llvm::Value*> waiting;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block)
      waiting.insert(waiting.end(), instruction.op_begin(), instruction.op_end());
  while (!waiting.empty()) {
    const llvm::Value* value = waiting.back();
    waiting.pop_back();
    if (const auto* callee = llvm::dyn_cast<llvm::Function>(value); callee != nullptr && !callee->isIntrinsic())
      found.push_back(callee->getName().str());
    else if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value))
      waiting.insert(waiting.end(), expression->op_begin(), expression->op_end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

void mark_of_program(llvm::Function& function) {
  bool runtime = function.getName().starts_with(tir::kRuntimePrefix);  // no function of a program has this prefix
  if (!runtime && function.isDeclaration()) function.addFnAttr(kOfProgram);
}

std::optional<uint64_t> deepest(const StackDepth& depth) {
  uint64_t most = 0;
  for (std::optional<uint64_t> one : depth) {
    if (!one) return std::nullopt;
    most = std::max(most, *one);
  }
  return most;
}

StackDepth StackFrames::of(const std::string& name) const {
  if (auto found = known_.find(name); found != known_.end()) return found->second;
  const llvm::Function* function = module_.getFunction(name);
  bool open = function != nullptr && !function->isDeclaration();  // open: it calls itself
  if (open || (function != nullptr && function->hasFnAttribute(kOfProgram))) return everywhere(std::nullopt);
  return everywhere(library_stack(name, module_.getTargetTriple()));
}

std::optional<uint64_t> StackFrames::below(const StackDepth& callee, size_t place, uint64_t depth) const {
  uint64_t at = (place * frames_.alignment + kLargestAlignment * (depth / kLargestAlignment + 1) - depth);
  if (at % frames_.alignment != 0) {  // not aligned as the convention asks: the place is unknown
    std::optional<uint64_t> most = deepest(callee);
    return most ? std::optional(*most + depth) : std::nullopt;
  }
  std::optional<uint64_t> found = callee[at % kLargestAlignment / frames_.alignment];
  return found ? std::optional(*found + depth) : std::nullopt;
}

std::optional<uint64_t> StackFrames::from_place(const FrameAtPlace& frame, size_t place,
                                                const std::vector<std::string>& addressed) const {
  if (!frame.known) return std::nullopt;
  std::optional<uint64_t> most = frame.deepest;
  auto add = [&](std::optional<uint64_t> bytes) {
    most = most && bytes ? std::optional(std::max(*most, *bytes)) : std::nullopt;
  };
  for (const FrameAtPlace::Call& call : frame.calls) {
    if (!call.callee.empty()) {
      add(below(of(call.callee), place, call.depth));
      continue;
    }
    for (const std::string& name : addressed) {  // at any place: a frame of the host may be in between
      std::optional<uint64_t> callee = deepest(of(name));
      add(callee ? std::optional(*callee + call.depth) : std::nullopt);
    }
  }
  return most;
}

StackDepth StackFrames::through_calls(const llvm::Function& function, const std::vector<std::string>& addressed) const {
  auto frame = frames_.functions.find(function.getName());
  if (frame == frames_.functions.end()) return everywhere(std::nullopt);
  StackDepth out;
  for (size_t i = 0; i < kPlaces; ++i)
    out[i] = from_place(frame->second.places[i], i % (kLargestAlignment / frames_.alignment), addressed);
  return out;
}

StackDepth StackFrames::chain(const llvm::Function& asked) {
  // Depth first with a list of what is open: a function that is met while it is open calls itself.
  struct Open {
    const llvm::Function* function;
    std::vector<std::string> mentioned, callees;
    size_t next = 0;
  };
  std::vector<Open> open;
  std::set<std::string> inside;
  auto enter = [&](const llvm::Function& function) {
    Open one{&function, mentioned(function), {}};
    one.callees = one.mentioned;
    if (auto frame = frames_.functions.find(function.getName()); frame != frames_.functions.end())
      for (const FrameAtPlace::Call& call : frame->second.places[0].calls) one.callees.push_back(call.callee);
    inside.insert(function.getName().str());
    open.push_back(std::move(one));
  };
  auto settled = [&](const llvm::Function& function) {
    std::string name = function.getName().str();
    return function.isDeclaration() || known_.count(name) != 0 || inside.count(name) != 0;
  };
  if (!settled(asked)) enter(asked);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next < top.callees.size()) {
      const llvm::Function* callee = module_.getFunction(top.callees[top.next++]);
      if (callee != nullptr && !settled(*callee)) enter(*callee);
      continue;
    }
    StackDepth found = through_calls(*top.function, top.mentioned);
    inside.erase(top.function->getName().str());
    known_[top.function->getName().str()] = found;
    open.pop_back();
  }
  return of(asked.getName().str());
}

}  // namespace relaxc::codegen_llvm
