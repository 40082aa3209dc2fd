// identity.cpp: computes names and hashes of an object.
#include "compiler/api/output/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/api/version.h"
#include "compiler/codegen/llvm/hash.h"
#include "compiler/interface/header.h"
#include "compiler/interface/identifiers.h"
#include "compiler/interface/typed_call.h"
#include "compiler/relax/mapped_file.h"

namespace relaxc::api {
namespace {

/// Hashes the header: objects with equal headers have the same interface, and so the same hash.
std::array<uint8_t, 8> interface_hash(const interface::Object& object) {
  std::array<uint8_t, 32> full = codegen_llvm::hash_of({interface::c_header(object)});
  std::array<uint8_t, 8> part{};
  std::copy_n(full.begin(), part.size(), part.begin());
  return part;
}

/// Reports an error if an external function has the name of a symbol that the object defines.
Status check_externals(const interface::Object& object, Diagnostics& diag) {
  std::set<std::string> own = interface::global_names(object);
  for (const interface::Entry& entry : object.entries)
    own.insert({interface::run_symbol(object, entry), interface::arena_symbol(object, entry)});
  for (const interface::External& external : object.externals)
    if (own.count(external.name) != 0)
      return diag.error(nullptr, Kind::usage,
                        "the object defines '{}', which the program calls as an external function; --name gives the "
                        "object another prefix than '{}'",
                        external.name, object.name);
  return Done{};
}

}  // namespace

Status name_object(const CompileOptions& options, const OutputPlan& plan, const Target& target,
                   const std::vector<relax::FileRef>& files, interface::Object& object, Diagnostics& diag) {
  object.name = plan.name;
  interface::assign_identifiers(object);
  object.producer = std::string("relaxc ") + kVersion;
  std::vector<std::string> parts{object.producer, target.triple, target.cpu, target.features,
                                 fmt::format("{} task slots", target.task_slots)};
  parts.insert(parts.end(), options.object_flags.begin(), options.object_flags.end());
  std::vector<codegen_llvm::FileContent> contents;
  for (const relax::FileRef& file : files)
    contents.push_back([&](const auto& use) { relax::for_each_piece(*file, use); });
  object.hash = codegen_llvm::hash_of_files(contents, parts);
  object.interface_hash = interface_hash(object);
  return check_externals(object, diag);
}

}  // namespace relaxc::api
