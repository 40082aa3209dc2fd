// write_reports.h: what is told of a compiled program besides the program.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/driver/output/outputs.h"
#include "compiler/driver/output/plan.h"
#include "compiler/driver/output/write_object.h"
#include "compiler/driver/run_pipeline.h"
#include "compiler/interface/object.h"

namespace relaxc::driver {

/// A program behind the passes, and how it got there.
struct Compiled {
  const relax::Module& module;
  const interface::Object& object;
  const Target& target;
  const Observations& observed;
};

/// Holds the written object against its budgets, and writes the report and the manifest, as far as they are wanted.
Status write_reports(const Options& options, const OutputPlan& plan, const Compiled& compiled,
                     const WrittenObject& written, Outputs& outputs, Diagnostics& diag);

/// `relaxc inspect`: prints interface, memory and kernels.
void print_contents(const Options& options, const Compiled& compiled);

}  // namespace relaxc::driver
