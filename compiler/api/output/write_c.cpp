// write_c.cpp: writes C text and its further files.
#include "compiler/api/output/write_c.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/api/output/names.h"
#include "compiler/codegen/c/emit.h"
#include "compiler/transform/lower/weight_stream.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

class CFiles {
 public:
  CFiles(const OutputPlan& plan, const std::string& first, std::vector<std::string>& targets, Outputs& outputs,
         Diagnostics& diag)
      : plan_(plan), first_(first), targets_(targets), outputs_(outputs), diag_(diag) {}

  codegen_c::Write open(const std::string& extension) {
    complete();
    shown_ = plan_.output;
    std::string path = extension == ".c" ? first_ : beside(extension);
    errno = 0;
    if (!path.empty()) out_.open(path, std::ios::binary);
    return [this](std::string_view text) { return !failed_ && static_cast<bool>(out_ << text); };
  }

  /// Closes the last file. Reports an error and returns false if this file or one before could not be written.
  bool complete() {
    if (out_.is_open()) out_.close();
    if (!out_ && !diag_.has_errors())
      (void)diag_.error(nullptr, Kind::io, "cannot write {}: {}", shown_,
                        errno == 0 ? "writing failed" : std::strerror(errno));
    failed_ = failed_ || !out_;  // the next open() resets the stream's state
    return !failed_;
  }

 private:
  /// Returns the path for a file next to the output; if there is none, returns "" and sets the stream's failbit.
  std::string beside(const std::string& extension) {
    shown_ = fs::path(plan_.output).replace_extension().string() + extension;
    Result<std::string> made = outputs_.add(shown_);
    if (made) targets_.push_back(shown_);
    if (!made) out_.setstate(std::ios::failbit);
    return made ? *made : std::string();
  }

  const OutputPlan& plan_;
  const std::string& first_;
  std::vector<std::string>& targets_;
  Outputs& outputs_;
  Diagnostics& diag_;
  std::ofstream out_;
  std::string shown_;
  bool failed_ = false;
};

/// Whether the target has the vectors of a Cortex-M, with eight registers; larger ARMs have sixteen in Thumb code.
bool has_helium_vectors(const Target& target) {
  return target.triple.starts_with("thumb") && target.vector_bits != 0 && target.vector_registers == 8;
}

std::vector<codegen_c::ElementRun> element_runs(const interface::Weights& weights) {
  std::vector<codegen_c::ElementRun> runs;
  if (const auto* stream = weights.stream.target<lower::WeightStream>())
    for (const lower::WeightStream::Piece& piece : stream->pieces)
      runs.push_back({piece.offset, static_cast<uint64_t>(piece.data->byte_size()),
                      static_cast<uint32_t>(piece.data->dtype().bytes())});
  return runs;
}

}  // namespace

Status write_c(const CompileOptions& options, const OutputPlan& plan, const interface::Object& object,
               const Target& target, const std::string& path, std::vector<std::string>& targets, Outputs& outputs,
               Diagnostics& diag) {
  bool misra = options.c_style.profile == codegen_c::Profile::kMisra;
  if (std::string why = misra ? codegen_c::misra_obstacle(object) : ""; !why.empty())
    return diag.error(nullptr, Kind::unsupported, "--c-profile=misra: {}", why);
  codegen_c::Style style = options.c_style;
  // GCC 12 miscompiles the combination of two predicates of Helium: the larger of two numbers was wrong.
  if (!style.vectors && has_helium_vectors(target)) style.vectors = false;
  CFiles files(plan, path, targets, outputs, diag);
  RenamedFunctions renamed;
  interface::Object called = with_names(object, std::min(options.names, Names::kIo), renamed);
  interface::Object shown = with_names(object, options.names, renamed);
  bool fine = codegen_c::emit_c(
      called, fs::path(plan.header).stem().string(),
      [&](const std::string& extension) { return files.open(extension); }, style, &shown, element_runs(object.weights),
      target.pointer_bits == 32);
  fine = files.complete() && fine;
  return fine ? Status(Done{}) : Status(diag.failed());
}

}  // namespace relaxc::api
