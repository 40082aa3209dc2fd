// summary.cpp: summarizes an object in a few lines, and finds pairs of names that are a state.
#include "compiler/driver/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <span>

#include "compiler/interface/quantization.h"
#include "compiler/support/quote.h"
#include "compiler/transform/lower/weight_stream.h"

namespace relaxc::driver {
namespace {

std::string arena_text(const interface::Entry& entry) {
  if (entry.arena_max == UINT64_MAX) return "arena unbounded";
  return fmt::format("arena {}{} bytes", entry.symbols.empty() ? "" : "at most ", entry.arena_max);
}

std::string pools_text(const interface::Entry& entry) {
  std::string text;
  for (const interface::Pool& pool : entry.pools) text += fmt::format(", pool {} {} bytes", pool.name, pool.bytes);
  return text;
}

std::string count(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// Describes a tensor, for example "image: float32 [n, 1, 8, 8]".
std::string tensor_text(const interface::Tensor& tensor) {
  std::string dims;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (i != 0) dims += ", ";
    dims += tensor.dims[i] >= 0          ? std::to_string(tensor.dims[i])
            : i < tensor.dim_text.size() ? tensor.dim_text[i]
                                         : "?";
  }
  return fmt::format("{}: {} [{}]{}{}{}", tensor.name, to_string(tensor.dtype), dims,
                     tensor.data_dependent ? ", its size depends on data" : "",
                     tensor.append_axis >= 0 ? fmt::format(", a state that grows along axis {}", tensor.append_axis)
                     : tensor.pair >= 0      ? ", a state"
                                             : "",
                     tensor.quant ? ", represents " + interface::formula_text(*tensor.quant) : "");
}

/// Describes a symbol, for example "n: 1..12, a multiple of 4".
std::string symbol_text(const interface::Symbol& symbol) {
  return fmt::format("{}: {}..{}{}", symbol.name, symbol.lower,
                     symbol.upper == INT64_MAX ? "" : std::to_string(symbol.upper),
                     symbol.multiple_of == 1 ? "" : fmt::format(", a multiple of {}", symbol.multiple_of));
}

/// Splits a name into words: "hiddenState_out" gives hidden, state, out.
std::vector<std::string> words(const std::string& name) {
  std::vector<std::string> out(1);
  char before = ' ';
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    bool hump = std::isupper(byte) != 0 && std::islower(static_cast<unsigned char>(before)) != 0;
    if (std::isalnum(byte) == 0 || hump) out.emplace_back();
    if (std::isalnum(byte) != 0) out.back() += static_cast<char>(std::tolower(byte));
    before = c;
  }
  return out;
}

bool same_type(const interface::Tensor& a, const interface::Tensor& b) {
  return a.kind == interface::Tensor::kTensor && b.kind == a.kind && a.dtype == b.dtype && a.dims == b.dims &&
         a.dim_text == b.dim_text && !b.data_dependent;
}

bool fits(const interface::Tensor& input, const interface::Tensor& output) {
  std::string stem = state_stem(input.name);
  return input.pair < 0 && output.pair < 0 && input.name != output.name && !stem.empty() &&
         stem == state_stem(output.name) && same_type(input, output);
}

using WeightPiece = lower::WeightStream::Piece;
using Bytes = std::span<const std::byte>;

/// Orders by size, then by content; the same memory is equal to itself without a comparison.
struct Order {
  bool operator()(Bytes a, Bytes b) const {
    if (a.size() != b.size() || a.empty() || a.data() == b.data()) return a.size() < b.size();
    return std::memcmp(a.data(), b.data(), a.size()) < 0;
  }
};

/// "the weights of 'table' are stored 2 times: 4096 bytes as they are, 4096 bytes by pack [32, 32] in panels of 32 …"
std::string forms_text(const std::vector<const WeightPiece*>& forms) {
  auto named = std::find_if(forms.begin(), forms.end(), [](const WeightPiece* piece) { return !piece->name.empty(); });
  std::string of = named == forms.end() ? "" : fmt::format(" of '{}'", (*named)->name), text;
  for (const WeightPiece* piece : forms) {
    std::string made_by = piece->data->made_by();
    text += fmt::format("{} {} bytes {}", text.empty() ? "" : ",", piece->data->byte_size(),
                        made_by.empty() ? "as they are" : "by " + made_by);
  }
  return fmt::format("the weights{} are stored {} times:{}", of, forms.size(), text);
}

}  // namespace

std::vector<std::string> summary(const interface::Object& object, const Target& target) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("target {}, CPU {}{}{}, {}", target.triple, target.cpu,
                              target.features.empty() ? "" : ", features ", target.features,
                              count(static_cast<size_t>(target.task_slots), "task slot")));
  for (const interface::Entry& entry : object.entries)
    lines.push_back(fmt::format("{}: {}, {}, {}, {}, {}{}{}", entry.name, count(entry.inputs.size(), "input"),
                                count(entry.outputs.size(), "output"), count(entry.symbols.size(), "symbol"),
                                count(entry.num_kernels, "kernel"), arena_text(entry), pools_text(entry),
                                entry.needs_allocator ? ", uses the allocator" : ""));
  lines.push_back(fmt::format("weights {} bytes", object.weights.bytes));
  return lines;
}

std::vector<std::string> several_forms(const interface::Weights& weights) {
  const auto* stream = weights.stream.target<lower::WeightStream>();
  if (stream == nullptr) return {};
  std::map<Bytes, std::vector<const WeightPiece*>, Order> forms;  // never iterated
  for (const WeightPiece& piece : stream->pieces) forms[piece.data->origin()].push_back(&piece);
  std::vector<std::string> lines;
  for (const WeightPiece& piece : stream->pieces) {
    const std::vector<const WeightPiece*>& all = forms.at(piece.data->origin());
    if (all.size() > 1 && all.front() == &piece) lines.push_back(forms_text(all));
  }
  return lines;
}

std::string contents(const interface::Object& object, const Target& target) {
  std::string text =
      fmt::format("  target   {}, CPU {}\n  weights  {} bytes\n", target.triple, target.cpu, object.weights.bytes);
  for (const interface::Entry& entry : object.entries) {
    text += printable(entry.name) + "\n";
    for (const interface::Tensor& tensor : entry.inputs) text += "  input    " + printable(tensor_text(tensor)) + "\n";
    for (const interface::Tensor& tensor : entry.outputs) text += "  output   " + printable(tensor_text(tensor)) + "\n";
    for (const interface::Symbol& symbol : entry.symbols) text += "  dim      " + printable(symbol_text(symbol)) + "\n";
    text += fmt::format("  memory   {}{}, aligned to {}{}\n", arena_text(entry), pools_text(entry), entry.arena_align,
                        entry.needs_allocator ? ", uses the allocator" : "");
  }
  return text;
}

std::string work(const EntryProfile& profile) {
  std::string at;
  for (const auto& [name, value] : profile.symbols)
    at += fmt::format("{}{} = {}", at.empty() ? ", " : " and ", printable(name), value);
  std::string text = fmt::format("{}{}: arena {} bytes\n  {:>5} {:>14} {:>14} {:>6}  kernel\n", printable(profile.name),
                                 at, profile.arena_bytes, "calls", "operations", "bytes", "share");
  for (const KernelCost& kernel : profile.kernels)
    text += fmt::format("  {:>5} {:>14.0f} {:>14.0f} {:>5.1f}%  {}\n", kernel.calls, kernel.flops + kernel.integer_ops,
                        kernel.bytes, 100 * kernel.share, printable(kernel.name));
  return text;
}

std::string state_stem(const std::string& name) {
  static constexpr std::string_view kEnds[] = {"in",   "input", "out",  "output", "prev",    "previous",
                                               "next", "past",  "old",  "new",    "present", "n",
                                               "0",    "init",  "last", "final",  "initial"};
  std::string stem;
  for (const std::string& word : words(name)) {
    if (std::find(std::begin(kEnds), std::end(kEnds), word) != std::end(kEnds)) continue;
    bool number = word.find_first_not_of("0123456789") == std::string::npos;
    if (stem.empty() && number) continue;  // input_1 and output_1 need not belong together
    bool one_letter = word.size() == 2 && (word[1] == '0' || word[1] == 'n');  // as in h0 and hn
    stem += (stem.empty() || word.empty() ? "" : "_") + (one_letter ? word.substr(0, 1) : word);
  }
  return stem;
}

std::vector<StateProposal> propose_states(const interface::Object& object) {
  std::vector<StateProposal> proposals;
  for (const interface::Entry& entry : object.entries)
    for (const interface::Tensor& input : entry.inputs)
      for (const interface::Tensor& output : entry.outputs) {
        if (!fits(input, output)) continue;
        auto inputs = std::count_if(entry.inputs.begin(), entry.inputs.end(),
                                    [&](const interface::Tensor& other) { return fits(other, output); });
        auto outputs = std::count_if(entry.outputs.begin(), entry.outputs.end(),
                                     [&](const interface::Tensor& other) { return fits(input, other); });
        if (inputs == 1 && outputs == 1) proposals.push_back({entry.name, {input.name, output.name}});
      }
  return proposals;
}

}  // namespace relaxc::driver
