// externals.cpp: the C functions that the linking program must define, with their prototypes.
//
// A C function has one type. Two calls that disagree about it would each be right on their own and wrong in one object,
// so this pass, which sees all calls, refuses them. Parameters have the names that the first call gives them.
#include "compiler/transform/lower/externals.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/arith/angle.h"
#include "compiler/interface/c_type.h"
#include "compiler/interface/identifiers.h"
#include "compiler/tir/runtime_functions.h"
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
      if (invoke != nullptr && invoke->external && !invoke->runtime) add(prototype(*invoke));
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* call = node.as<arith::Extern>(); call != nullptr && !arith::is_angle_call(node))
            add(prototype(*call));
        });
    });
  }

 private:
  struct Parameter {
    std::string type, name;  ///< the type includes the blank or star before the name
  };
  struct Prototype {
    std::string result, callee;
    std::vector<Parameter> params;
    std::string text(bool named) const {
      std::string list;
      for (const Parameter& param : params) list += (list.empty() ? "" : ", ") + param.type + (named ? param.name : "");
      return result + " " + callee + "(" + (list.empty() ? "void" : list) + ")";
    }
  };

  void add(const Prototype& made) {
    if (made.callee == tir::runtime_name(tir::RuntimeFunction::kPrint)) {  // the runtime's header declares it
      object_.prints = true;
      return;
    }
    auto [known, fresh] = prototypes_.emplace(made.callee, made);
    if (fresh) {
      if (name_is_free(made.callee)) object_.externals.push_back({made.callee, made.text(true)});
      return;
    }
    if (known->second.text(false) == made.text(false)) return;
    diag_.error(location_, Kind::ill_formed, "the external function '{}' is called as '{}' and as '{}'", made.callee,
                known->second.text(true), made.text(true));
  }

  /// Reports a name that C cannot share with the object: one that is no identifier, that has the runtime's prefix, or
  /// that is a function that objects rely on.
  bool name_is_free(const std::string& name) {
    auto refuse = [&](const std::string& why) {
      diag_.error(location_, Kind::ill_formed, "an external function cannot be called '{}': {}", name, why);
      return false;
    };
    if (name.rfind("rlx", 0) == 0 || name.rfind("RLX", 0) == 0)
      return refuse("names that begin with 'rlx' are the runtime's");
    if (!interface::is_function_name(name)) return refuse("that is not the name of a function in C");
    for (const char* taken : {"memcpy", "memmove", "memset", "main"})
      if (name == taken) return refuse("that function of C has another type");
    return true;
  }

  /// Adds a parameter with the program's name, made unique in this prototype; if there is none, with `fallback`.
  static void add_param(std::vector<Parameter>& params, const std::string& type, const std::string& name,
                        const std::string& fallback) {
    std::string stem = name.empty() ? fallback : interface::readable_identifier(name, "p", params.size());
    std::string chosen = stem;
    auto taken = [&](const Parameter& other) { return other.name == chosen; };
    for (int i = 1; std::any_of(params.begin(), params.end(), taken); ++i) chosen = stem + "_" + std::to_string(i);
    params.push_back({type, chosen});
  }

  static std::string name_of(Expr scalar) {
    while (const auto* cast = scalar.as<arith::Cast>()) scalar = cast->value;
    const auto* var = scalar.as<arith::VarNode>();
    return var == nullptr ? "" : arith::Var(var).name();
  }

  static Prototype prototype(const tir::Invoke& call) {
    Prototype made;
    made.callee = call.callee;
    bool nothing = call.plain && call.result == DType::handle();
    made.result = nothing ? "void" : call.plain ? interface::c_type(call.result) : "int32_t";
    if (!call.plain) made.params.push_back({"rlx_context *", "context"});
    int tensors = 0, scalars = 0, handles = 0, results = 0;
    for (const tir::Argument& argument : call.args) {
      if (const auto* scalar = std::get_if<Expr>(&argument)) {
        std::string type = call.plain ? interface::c_type(scalar->dtype()) : "int64_t";
        add_param(made.params, type + " ", name_of(*scalar), "s" + std::to_string(scalars++));
        continue;
      }
      const tir::Buffer& buffer = *std::get<tir::BufferRef>(argument);
      if (call.plain)
        add_param(made.params, std::string(interface::c_type(buffer.dtype)) + " *", buffer.name,
                  "t" + std::to_string(tensors++));
      else if (buffer.dtype != DType::handle())
        add_param(made.params, "const rlx_tensor *", buffer.name, "t" + std::to_string(tensors++));
      else if (buffer.shape.empty())
        add_param(made.params, "rlx_object *", buffer.name, "h" + std::to_string(handles++));
      else
        add_param(made.params, buffer.shape[0].is_constant(1) ? "rlx_object **" : "rlx_tensor *", buffer.name,
                  "r" + std::to_string(results++));
    }
    return made;
  }

  static Prototype prototype(const arith::Extern& call) {
    Prototype made;
    made.callee = call.name;
    made.result = interface::c_type(call.dtype);
    for (Expr arg : call.args)
      add_param(made.params, std::string(interface::c_type(arg.dtype())) + " ", name_of(arg),
                "s" + std::to_string(made.params.size()));
    return made;
  }

  interface::Object& object_;
  Diagnostics& diag_;
  Location location_ = nullptr;
  std::map<std::string, Prototype> prototypes_;
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
