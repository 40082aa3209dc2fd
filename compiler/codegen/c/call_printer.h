// call_printer.h: prints the calls of one function: of prim funcs, of functions that the linking program or the runtime
// defines, and of the context's hooks.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/value_printer.h"

namespace relaxc::codegen_c {

/// The caller's context and error record as C expressions that calls pass on: names, or NULL.
struct Handed {
  std::string context = "context", error = "error";
};

class CallPrinter {
 public:
  CallPrinter(const tir::PrimFunc& function, const Conventions& conventions, const interface::Hooks& hooks,
              const Handed& handed, Names& names, ValuePrinter& values, TextLines& out)
      : function_(function),
        conventions_(conventions),
        hooks_(hooks),
        handed_(handed),
        names_(names),
        values_(values),
        out_(out) {}

  /// Prints a scope with the call, its hooks, and the test of its status.
  void print(const tir::Invoke& node);

 private:
  Convention convention_of(const tir::Invoke& node) const;
  std::string arguments(const tir::Invoke& node, std::vector<std::string>& results);
  void leave_if_failed(const tir::Invoke& node);
  void trace(int32_t node, bool begin);
  void poll(int32_t node);
  std::string handle_argument(tir::BufferRef buffer, int32_t node, std::vector<std::string>& results);
  std::string failed(const std::string& status, int32_t node);
  std::string tensor_record(tir::BufferRef buffer);

  const tir::PrimFunc& function_;
  const Conventions& conventions_;
  const interface::Hooks& hooks_;
  const Handed& handed_;
  Names& names_;
  ValuePrinter& values_;
  TextLines& out_;
};

}  // namespace relaxc::codegen_c
