// harness.h: programs in the text IR, run twice: at the Relax level, and as the prim funcs that lowering made of them.
//
// The lowered side is called as runtime-lite calls it (compiler/equivalence/entry_call.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/interpret.h"
#include "compiler/support/diagnostics.h"
#include "targets/target.h"
#include "tests/host_tensors.h"

namespace relaxc::test {

/// How a run ended.
struct Ended {
  int32_t code = 0;  ///< 0 or an rlx_status
  std::vector<HostTensor> outputs;
};

class Program {
 public:
  /// Parses `text` and runs the compile pipeline's graph passes up to legalize, then lowering and planning. `state`:
  /// pairs "input:output" of `main`. For targets of 32 bits kernels are scheduled, and results may overlap operands.
  explicit Program(std::string text, std::vector<std::string> state = {}, Target target = {});

  bool ok() const { return !diag_.has_errors(); }
  /// All messages, with the kinds' names.
  std::string messages() const;

  Ended interpreted(const std::vector<HostTensor>& inputs) const;
  /// `capacity`: elements given to each output (default: what `shapes` says). With `in_place`, outputs paired with an
  /// input get its memory.
  Ended lowered(const std::vector<HostTensor>& inputs, std::optional<int64_t> capacity = {},
                bool in_place = false) const;

  const interface::Entry& entry() const { return object_.entries.at(0); }
  const interface::Object& object() const { return object_; }
  const relax::Module& module() const { return *lowered_; }
  uint64_t arena_bytes(const std::vector<int64_t>& symbols) const;
  /// The text of a prim func of the lowered module.
  std::string text_of(const std::string& name) const;

  tir::CallExternal external;

 private:
  std::optional<relax::Module> parse();

  std::string text_;
  std::vector<std::string> state_;
  Target target_;
  Diagnostics diag_;
  std::optional<relax::Module> original_, lowered_;
  interface::Object object_;
};

/// Both ways give the same bits.
void check_same(const Program& program, const std::vector<HostTensor>& inputs);

}  // namespace relaxc::test
