// interpreter_guards.h: the error records of guards and of index arithmetic that overflows.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/interpreter_assembler.h"

namespace relaxc::tir::interpreter {

class GuardTable {
 public:
  GuardTable(const PrimFunc& function, Assembler& code) : function_(function), code_(code) {}

  /// Returns the record's index in the table.
  int64_t add(const GuardRecord& record);
  /// Returns the index of the record for an overflow at this point of the code.
  int64_t overflow();
  /// Makes overflows belong to `guard`, which may be null, until `end`.
  void begin(const Guard* guard) { guard_ = guard; }
  void end();

  std::vector<GuardRecord> take() { return std::move(records_); }

 private:
  const PrimFunc& function_;
  Assembler& code_;
  std::vector<GuardRecord> records_;
  const Guard* guard_ = nullptr;               ///< the guard whose condition is computed
  std::map<const Guard*, int64_t> overflows_;  ///< indices in `records_`
};

}  // namespace relaxc::tir::interpreter
