// externals.cpp: the C functions that the linking program must define, with their prototypes.
//
// A C function has one type. Two calls that disagree about it would each be right on their own and wrong in one object,
// so they are refused here, where all of them are seen.
#include "compiler/transform/lower/externals.h"

#include <map>

#include "compiler/interface/c_type.h"
#include "compiler/tir/visit.h"

namespace relaxc::lower {
namespace {

using arith::Expr;

class Externals {
 public:
  Externals(interface::Object& object, Diagnostics& diag) : object_(object), diag_(diag) {}

  void add(const tir::PrimFunc& function) {
    location_ = function.location;
    tir::for_each_stmt(function.body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && invoke->external && !invoke->runtime) add(invoke->callee, prototype(*invoke));
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* call = node.as<arith::Extern>()) add(call->name, prototype(*call));
        });
    });
  }

 private:
  void add(const std::string& name, const std::string& prototype) {
    if (name == "rlx_print") {  // the runtime's, and declared by its header
      object_.prints = true;
      return;
    }
    auto [known, fresh] = prototypes_.emplace(name, prototype);
    if (fresh) return object_.externals.push_back({name, prototype});
    if (known->second == prototype) return;
    diag_.error(location_, Kind::ill_formed, "the external function '{}' is called as '{}' and as '{}'", name,
                known->second, prototype);
  }

  static std::string prototype(const tir::Invoke& call) {
    std::string params = call.plain ? "" : "rlx_context *context";
    int tensors = 0, scalars = 0, handles = 0, results = 0;
    for (const tir::Argument& argument : call.args) {
      const auto* buffer = std::get_if<tir::BufferRef>(&argument);
      if (!params.empty()) params += ", ";
      bool handle = !call.plain && buffer != nullptr && (*buffer)->dtype == DType::handle();
      if (handle && (*buffer)->shape.empty())
        params += "rlx_object *h" + std::to_string(handles++);
      else if (handle)
        params += ((*buffer)->shape[0].is_constant(1) ? "rlx_object **r" : "rlx_tensor *r") + std::to_string(results++);
      else if (buffer != nullptr)
        params += (call.plain ? std::string(interface::c_type((*buffer)->dtype)) + " *t" : "const rlx_tensor *t") +
                  std::to_string(tensors++);
      else
        params += std::string(call.plain ? interface::c_type(std::get<Expr>(argument).dtype()) : "int64_t") + " s" +
                  std::to_string(scalars++);
    }
    bool nothing = call.plain && call.result == DType::handle();
    std::string result = nothing ? "void" : call.plain ? interface::c_type(call.result) : "int32_t";
    return result + " " + call.callee + "(" + (params.empty() ? "void" : params) + ")";
  }

  static std::string prototype(const arith::Extern& call) {
    std::string params;
    for (size_t i = 0; i < call.args.size(); ++i)
      params += (i == 0 ? "" : ", ") + std::string(interface::c_type(call.args[i].dtype())) + " s" + std::to_string(i);
    return std::string(interface::c_type(call.dtype)) + " " + call.name + "(" + (params.empty() ? "void" : params) +
           ")";
  }

  interface::Object& object_;
  Diagnostics& diag_;
  Location location_ = nullptr;
  std::map<std::string, std::string> prototypes_;
};

}  // namespace

Status list_externals(relax::Module& module, interface::Object& object, Diagnostics& diag) {
  size_t errors = diag.error_count();
  Externals externals(object, diag);
  for (const tir::PrimFunc* function : module.prim_funcs()) externals.add(*function);
  if (diag.error_count() > errors) return diag.failed();
  return Done{};
}

}  // namespace relaxc::lower
