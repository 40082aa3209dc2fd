// run_golden.cpp: runs tests written in the text IR: run_golden [--update] FILE...
//
// For every file: parse, print, parse again and print again give the same text. Then the listed passes run, and the
// module is what the file expects, compared as it prints, so that a test may be written in any spelling. A file that
// lists errors must give exactly those.
// --update rewrites what a file expects.
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <stdexcept>

#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "compiler/relax/print.h"
#include "compiler/transform/graph/external/pattern_file.h"
#include "frontends/relax/parser.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/module_difference.h"
#include "tests/sanitized.h"

namespace relaxc::test {
namespace {

/// A test that fails; the text says why.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The first line in which two texts differ.
std::string difference(const std::string& wanted, const std::string& found) {
  std::stringstream a(wanted), b(found);
  for (int number = 1;; ++number) {
    std::string x, y;
    bool more_x = bool(std::getline(a, x)), more_y = bool(std::getline(b, y));
    if (!more_x && !more_y) return "no difference";
    if (x != y || more_x != more_y)
      return fmt::format("line {}:\n  wanted: {}\n  found:  {}\n\nall that was found:\n{}", number,
                         more_x ? x : "(nothing)", more_y ? y : "(nothing)", found);
  }
}

/// `3:9: unbound_name: the name 'a' is not bound`, and its notes below, indented.
std::string error_lines(const Diagnostics& diag) {
  auto place = [](Location location) {
    const auto* span = location == nullptr ? nullptr : std::get_if<TextSpan>(location);
    if (span == nullptr) return std::string();
    LineColumn at = line_column(*span);
    return fmt::format("{}:{}: ", at.line, at.column);
  };
  std::string text;
  for (const Diagnostic& message : diag.all()) {
    text += place(message.location) + std::string(kind_name(message.kind)) + ": " + message.text + "\n";
    for (const Note& note : message.notes) text += "  note: " + place(note.location) + note.text + "\n";
  }
  return text;
}

class Runner {
 public:
  explicit Runner(bool update) : update_(update), ops_(ops::op_table()) {
    target_.dots.bits128 = DotProduct::kMixed;  // so that products of bytes are padded to whole words
  }

  void run(const std::string& path) {
    GoldenFile golden = read_golden(path);
    if (golden.kind == GoldenFile::kErrors) return errors(golden);
    relax::Module module = parse(golden.path, golden.input);
    round_trip(module, "the input");
    interface::Object object = transform(module, golden);
    relax::Module before = parse(golden.path, golden.input);
    // What sanitizers see of the passes and of the interpreter they see in the first of four inputs.
    std::string changed = difference_of_modules(before, module, ops_, object, testing::sample(4));
    if (!changed.empty()) throw Failed("the meaning changed: " + changed);
    round_trip(module, "the output");
    if (golden.kind == GoldenFile::kRoundTrip) return;
    std::string found = relax::to_string(module);
    if (update_ && golden.kind == GoldenFile::kExpect) return write_golden(golden, found);
    relax::Module wanted = parse(golden.path, golden.wanted);
    if (golden.kind == GoldenFile::kEquiv) transform(wanted, golden);
    std::string wanted_text = relax::to_string(wanted);
    if (found != wanted_text) throw Failed(difference(wanted_text, found));
  }

 private:
  relax::Module parse(const std::string& path, const std::string& text,
                      std::span<const relax::ConstantRef> constants = {}) {
    Diagnostics diag;
    Result<relax::Module> module = frontend::parse_module(path, text, ops_, diag, constants);
    if (!module) throw Failed("does not parse:\n" + render(diag) + "\n" + text);
    return std::move(*module);
  }

  void round_trip(const relax::Module& module, const std::string& what) {
    std::string first = relax::to_string(module);
    relax::Module again = parse(module.name + ".relax", first, relax::large_constants(module));
    std::string second = relax::to_string(again);
    if (first != second) throw Failed(what + " is no fixpoint of print and parse: " + difference(first, second));
  }

  /// Gives what the passes say of the module's entries; it refers to the module.
  interface::Object transform(relax::Module& module, const GoldenFile& golden) {
    interface::Object object;
    if (golden.passes.empty()) return object;
    std::vector<Pass> passes;
    for (const std::string& name : golden.passes) {
      if (name == "all") {
        passes.assign(compile_pipeline().begin(), compile_pipeline().end());
        continue;
      }
      const Pass* pass = find_pass(name);
      if (pass == nullptr) throw Failed("there is no pass '" + name + "'");
      passes.push_back(*pass);
    }
    Diagnostics diag;
    Target target = target_;
    target.pointer_bits = golden.pointer_bits;
    PassContext context{ops_, target, diag, *evaluator_};
    context.object = &object;
    context.options = golden.options;
    for (const auto& [name, bytes] : golden.pools) context.pools.push_back({name, bytes});
    ExternalPatterns patterns = external_patterns(module, golden);
    if (!golden.external.empty()) context.external_patterns = &patterns;
    if (!run_passes(passes, module, context, {})) throw Failed("the passes failed:\n" + render(diag));
    return object;
  }

  ExternalPatterns external_patterns(const relax::Module& module, const GoldenFile& golden) {
    if (golden.external.empty()) return {};
    Diagnostics diag;
    Result<ExternalPatterns> read = read_external_patterns(golden.path, golden.external, ops_, module.sources(), diag);
    if (!read) throw Failed("its external patterns cannot be read:\n" + render(diag));
    return std::move(*read);
  }

  void errors(const GoldenFile& golden) {
    Diagnostics diag;
    Result<relax::Module> module = frontend::parse_module(golden.path, golden.input, ops_, diag);
    if (module && !golden.passes.empty()) {
      std::vector<Pass> passes;
      for (const std::string& name : golden.passes)
        if (const Pass* pass = find_pass(name)) passes.push_back(*pass);
      PassContext context{ops_, target_, diag, *evaluator_};
      interface::Object object;
      context.object = &object;
      context.options = golden.options;
      (void)run_passes(passes, *module, context, {});
    }
    if (!diag.has_errors()) throw Failed("gave no error");
    render(diag);
    std::string found = error_lines(diag);
    if (update_) return write_golden(golden, found);
    if (found != golden.wanted) throw Failed(difference(golden.wanted, found));
  }

  bool update_;
  relax::OpTable ops_;
  Target target_;
  std::unique_ptr<tir::Evaluator> evaluator_ = tir::make_interpreter();
};

int run_all(int argc, char** argv) {
  bool update = argc > 1 && std::string_view(argv[1]) == "--update";
  int failures = 0, files = 0;
  Runner runner(update);
  for (int i = update ? 2 : 1; i < argc; ++i, ++files) {
    try {
      runner.run(argv[i]);
    } catch (const std::exception& failure) {
      std::cerr << argv[i] << ": " << failure.what() << "\n";
      ++failures;
    }
  }
  if (files == 0) std::cerr << "usage: run_golden [--update] FILE...\n";
  return failures > 0 || files == 0 ? 1 : 0;
}

}  // namespace
}  // namespace relaxc::test

int main(int argc, char** argv) {
  return relaxc::test::run_all(argc, argv);
}
