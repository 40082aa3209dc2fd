// call_contract.cpp: contracts of the functions that C calls.
//
// Such a function has pointers to structs of pointers. Where it reports a null pointer as an error (the structs, the
// arena) or does without (the error record), clauses hold unless that pointer is null; tensors must be there. Sizes are
// those that the called prim func has, or a field of the struct (`arena_bytes` of `arena`).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/codegen/c/contracts.h"
#include "compiler/codegen/c/effects.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

using tir::BufferRef;

/// Memory that a pointer gives, as text.
struct Place {
  std::string pointer;             ///< an expression that is the pointer
  std::vector<std::string> given;  ///< what must not be null for it to exist
  std::string last;                ///< the last index; empty for a single struct
  bool is_written = false;

  std::string range() const { return last.empty() ? pointer : fmt::format("{} + (0 .. {})", pointer, last); }
  std::string assigned() const { return last.empty() ? "*" + pointer : fmt::format("{}[0 .. {}]", pointer, last); }
};

class CallContract {
 public:
  CallContract(const tir::PrimFunc& function, const Conventions& callees, Names& names)
      : function_(function), callees_(callees), names_(names), effects_(effects_of(function.body, callees)) {}

  std::optional<std::vector<Place>> places() {
    if (!effects_.known) return std::nullopt;
    collect_sizes();
    std::vector<Place> found;
    for (const tir::Param& param : function_.params)
      if (param.buffer != nullptr && !add_parameter(param.buffer, found)) return std::nullopt;
    for (const tir::View* view : effects_.addressed)
      if (!add_view(*view, found)) return std::nullopt;
    return found;
  }

 private:
  /// Notes how many elements calls take of each buffer.
  void collect_sizes() {
    std::map<BufferRef, const tir::View*> views;
    tir::for_each_stmt(function_.body, [&](tir::Stmt s) {
      if (const auto* view = s.as<tir::View>(); view != nullptr && view->base != nullptr) views[view->buffer] = view;
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke == nullptr) return;
      const Convention& callee = callees_.at(invoke->callee);
      for (size_t i = 0; i < invoke->args.size(); ++i) {
        const auto* buffer = std::get_if<BufferRef>(&invoke->args[i]);
        if (buffer == nullptr || *buffer == nullptr || i >= callee.elements.size() || !callee.elements[i]) continue;
        const auto view = views.find(*buffer);
        if (view == views.end())
          needed_[*buffer] = std::max(needed_[*buffer], *callee.elements[i]);
        else if (view->second->byte_offset.is_constant(0) &&
                 view->second->base->dtype.bytes() == (*buffer)->dtype.bytes())
          needed_[view->second->base] = std::max(needed_[view->second->base], *callee.elements[i]);
      }
    });
  }

  bool is_stored(BufferRef buffer) const {
    return std::find(effects_.stored.begin(), effects_.stored.end(), buffer) != effects_.stored.end();
  }

  bool add_parameter(BufferRef buffer, std::vector<Place>& found) {
    Place place{names_.of(buffer), {}, "", is_stored(buffer)};
    if (buffer->record == nullptr) {
      const auto count = needed_.find(buffer);
      if (count == needed_.end()) return false;
      place.last = fmt::format("{}", count->second - 1);
    } else {
      place.given = {place.pointer};
    }
    found.push_back(std::move(place));
    return true;
  }

  /// Adds the memory at an address that a field of a struct holds.
  bool add_view(const tir::View& view, std::vector<Place>& found) {
    const auto* cast = view.byte_offset.as<arith::Cast>();
    const auto* load = (cast != nullptr ? cast->value : view.byte_offset).as<arith::Load>();
    if (load == nullptr || load->buffer->record == nullptr || load->indices[1].constant() == nullptr) return false;
    const tir::Record& record = *load->buffer->record;
    const bool is_param = std::any_of(function_.params.begin(), function_.params.end(),
                                      [&](const tir::Param& param) { return param.buffer == load->buffer; });
    if (!is_param || !load->indices[0].is_constant(0)) return false;
    const std::string owner = names_.of(load->buffer);
    const std::string_view field = record.fields[static_cast<size_t>(*load->indices[1].constant())].name;
    Place place{fmt::format("{}->{}", owner, field), {owner}, "", is_stored(view.buffer)};
    if (view.buffer->record == nullptr) {
      const std::string bytes = fmt::format("{}_bytes", field);
      const bool sized = std::any_of(record.fields.begin(), record.fields.end(),
                                     [&](const tir::Field& one) { return one.name == bytes; });
      const auto count = needed_.find(view.buffer);
      if (!sized && count == needed_.end()) return false;
      if (sized) place.given.push_back(place.pointer);
      if (sized) place.pointer = fmt::format("(({}*){})", memory_type(view.buffer->dtype), place.pointer);
      place.last = sized ? fmt::format("{}->{} - 1", owner, bytes) : fmt::format("{}", count->second - 1);
    } else {
      place.given.push_back(place.pointer);
      place.is_written = place.is_written || function_.c_function->error == view.buffer;
    }
    found.push_back(std::move(place));
    return true;
  }

  const tir::PrimFunc& function_;
  const Conventions& callees_;
  Names& names_;
  Effects effects_;
  std::map<BufferRef, int64_t> needed_;  ///< elements that calls take
};

/// Returns the clause for a predicate that holds unless one of `given` is null.
std::string required(const std::vector<std::string>& given, const std::string& predicate) {
  std::string clause = "requires ";
  for (const std::string& pointer : given) clause += fmt::format("{} != \\null ==> ", pointer);
  return clause + predicate + ";";
}

}  // namespace

std::vector<std::string> call_contract(const tir::PrimFunc& function, const Conventions& callees,
                                       const interface::Hooks& hooks, Names& names, bool apart) {
  const std::optional<std::vector<Place>> places = CallContract(function, callees, names).places();
  if (!places) return {};
  std::vector<std::string> clauses, assigned;
  for (const Place& place : *places) {
    clauses.push_back(
        required(place.given, fmt::format("\\valid{}({})", place.is_written ? "" : "_read", place.range())));
    if (place.is_written) assigned.push_back(place.assigned());
  }
  for (size_t i = 0; apart && i < places->size(); ++i)
    for (size_t j = 0; j < places->size(); ++j) {
      const Place &one = (*places)[i], &other = (*places)[j];
      if (!one.is_written || (other.is_written && j <= i)) continue;
      std::vector<std::string> given = one.given;
      for (const std::string& pointer : other.given)
        if (std::find(given.begin(), given.end(), pointer) == given.end()) given.push_back(pointer);
      clauses.push_back(required(given, fmt::format("\\separated({}, {})", one.range(), other.range())));
    }
  clauses.push_back(assigns_clause(assigned));
  if (const std::optional<std::set<int32_t>> statuses = statuses_of(function, callees, hooks))
    clauses.push_back(ensures_clause(*statuses));
  return comment(clauses);
}

}  // namespace relaxc::codegen_c
