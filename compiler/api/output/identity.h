// identity.h: what an object is called and what it is known by.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/plan.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::api {

/// Gives the object its name, its producer, the hash of all that decides what it is (inputs, flags, target, compiler)
/// and the hash of its interface. Fails (usage) if it would define what it calls as an external function.
Status name_object(const CompileOptions& options, const OutputPlan& plan, const Target& target,
                   const std::vector<relax::FileRef>& files, interface::Object& object, Diagnostics& diag);

}  // namespace relaxc::api
