// identity.h: sets the name and the hashes of an object.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/plan.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::api {

/// Sets the object's name, its producer, the hash of everything that determines it (inputs, flags, target, compiler)
/// and the hash of its interface. Fails (usage) if it would define a symbol that it also calls as an external function.
Status name_object(const CompileOptions& options, const OutputPlan& plan, const Target& target,
                   const std::vector<relax::FileRef>& files, interface::Object& object, Diagnostics& diag);

}  // namespace relaxc::api
