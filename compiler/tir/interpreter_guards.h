// interpreter_guards.h: what failing guards report, and where index arithmetic overflows.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/interpreter_assembler.h"

namespace relaxc::tir::interpreter {

class GuardTable {
 public:
  GuardTable(const PrimFunc& function, Assembler& code) : function_(function), code_(code) {}

  /// Gives the record's place in the table.
  int64_t add(const GuardRecord& record);
  /// The place of what is reported where the index arithmetic of now overflows.
  int64_t overflow();
  /// What is compiled from now on belongs to `guard`, which may be null, until `end`.
  void begin(const Guard* guard) { guard_ = guard; }
  void end();

  std::vector<GuardRecord> take() { return std::move(records_); }

 private:
  const PrimFunc& function_;
  Assembler& code_;
  std::vector<GuardRecord> records_;
  const Guard* guard_ = nullptr;               ///< whose condition is being computed
  std::map<const Guard*, int64_t> overflows_;  ///< places in `records_`
};

}  // namespace relaxc::tir::interpreter
