// memory.cpp: see memory.h.
#include "compiler/proof/kernels/memory.h"

#include <algorithm>
#include <utility>

namespace relaxc::proof {

namespace {

/// Contents of parameters with at most this many elements are kept when they are read: 48 MB of cells.
constexpr int64_t kMostKept = int64_t{1} << 20;

}  // namespace

uint64_t Memory::add(DType dtype, int64_t count, Contents contents) {
  Piece piece;
  piece.cell_bytes = dtype.bytes(), piece.bytes = count * dtype.bytes();
  piece.contents = std::move(contents);
  all_.push_back(std::move(piece));
  return all_.size() - 1;
}

uint64_t Memory::allocate(int64_t bytes, Task task) {
  Piece piece;
  piece.bytes = bytes, piece.maker = task.iteration;
  if (!free_.empty()) {
    const uint64_t place = free_.back();
    free_.pop_back();
    all_[place] = std::move(piece);
    return place;
  }
  all_.push_back(std::move(piece));
  return all_.size() - 1;
}

void Memory::note_race(const char* what) {
  if (race_.empty()) race_ = what;
}

bool Memory::has_cells(Piece& piece) {
  if (!piece.cells.empty()) return true;
  if (!piece.contents || piece.bytes / piece.cell_bytes > kMostKept) return false;
  add_cells(piece);
  return !piece.cells.empty();
}

void Memory::note_read(Cell& one, Task task) {
  if (one.writer > task.loop && one.writer != task.iteration)
    note_race("one iteration of a parallel loop reads what another writes");
  one.reader = one.reader >= task.loop && one.reader != task.iteration ? task.loop : task.iteration;
}

void Memory::note_write(Cell& one, Task task) {
  if (one.writer > task.loop && one.writer != task.iteration)
    note_race("two iterations of a parallel loop write one element");
  if (one.reader >= task.loop && one.reader != task.iteration)
    note_race("one iteration of a parallel loop writes what another reads");
  one.writer = task.iteration;
}

Term Memory::cell(Piece& piece, int64_t index, Task task) {
  if (!has_cells(piece)) return piece.contents ? piece.contents(index) : Term();
  Cell& one = piece.cells[static_cast<size_t>(index)];
  if (is_watched(piece, task)) note_read(one, task);
  if (one.value.kind == TermKind::kUnwritten && piece.contents) one.value = piece.contents(index);
  return one.value;
}

void Memory::put(Piece& piece, int64_t index, const Term& value, Task task) {
  piece.written = true;
  add_cells(piece);
  Cell& one = piece.cells[static_cast<size_t>(index)];
  if (is_watched(piece, task)) note_write(one, task);
  one.value = value;
}

/// Splits the cells of a piece into cells of `bytes` each.
void Memory::refine(Piece& piece, int64_t bytes) {
  const int64_t parts = piece.cell_bytes / bytes, count = piece.bytes / piece.cell_bytes;
  std::vector<Cell> cells(static_cast<size_t>(count * parts));
  for (int64_t i = 0; i < count; ++i) {
    const Term whole = cell(piece, i, {});
    for (int64_t part = 0; part < parts; ++part)
      cells[static_cast<size_t>(i * parts + part)].value =
          algebra_.bytes_of(whole, piece.cell_bytes, part * bytes, bytes, false);
  }
  piece.cells = std::move(cells), piece.cell_bytes = bytes;
  piece.contents = nullptr;
}

Term Memory::load(uint64_t memory, int64_t byte, DType dtype, Task task) {
  Piece& piece = all_[memory];
  const int64_t bytes = dtype.bytes();
  if (byte < 0 || byte + bytes > piece.bytes) return Term{.kind = TermKind::kOutside};
  if (piece.cell_bytes == 0) return Term();
  if (piece.cell_bytes == bytes && byte % bytes == 0) {
    const Term value = cell(piece, byte / bytes, task);
    const bool plain = dtype.is_float() ? value.is_real() : value.is_number();
    return plain ? value : algebra_.loaded(value, dtype);
  }
  const bool is_signed = dtype.is_int();
  if (piece.cell_bytes > bytes) {
    const Term whole = cell(piece, byte / piece.cell_bytes, task);
    const int64_t begin = byte % piece.cell_bytes;
    if (begin + bytes > piece.cell_bytes) return Term();
    return algebra_.loaded(algebra_.bytes_of(whole, piece.cell_bytes, begin, bytes, is_signed), dtype);
  }
  if (byte % piece.cell_bytes != 0) return Term();
  std::vector<Term> parts;
  for (int64_t at = byte; at < byte + bytes; at += piece.cell_bytes)
    parts.push_back(cell(piece, at / piece.cell_bytes, task));
  return algebra_.loaded(algebra_.word(std::move(parts), piece.cell_bytes, is_signed), dtype);
}

bool Memory::store(uint64_t memory, int64_t byte, DType dtype, const Term& value, Task task) {
  Piece& piece = all_[memory];
  const int64_t bytes = dtype.bytes();
  if (byte < 0 || byte + bytes > piece.bytes) return false;
  if (piece.cell_bytes == 0) {
    piece.cell_bytes = bytes;
    piece.bytes -= piece.bytes % bytes;
  }
  if (piece.cell_bytes > bytes || byte % piece.cell_bytes != 0) {
    int64_t smaller = bytes;
    while (byte % smaller != 0) smaller /= 2;
    refine(piece, smaller);
  }
  if (piece.cell_bytes == bytes) {
    put(piece, byte / bytes, value, task);
    return true;
  }
  for (int64_t at = 0; at < bytes; at += piece.cell_bytes)
    put(piece, (byte + at) / piece.cell_bytes, algebra_.bytes_of(value, bytes, at, piece.cell_bytes, false), task);
  return true;
}

bool Memory::are_cells(const Piece& piece, int64_t byte, int64_t step, int64_t count, int64_t bytes) {
  const int64_t last = byte + (count - 1) * step;
  return piece.cell_bytes == bytes && byte % bytes == 0 && step % bytes == 0 && std::min(byte, last) >= 0 &&
         std::max(byte, last) + bytes <= piece.bytes;
}

template <typename Place>
void Memory::load_cells(Piece& piece, int64_t count, DType dtype, Task task, Term* to, Place place) {
  const bool is_float = dtype.is_float(), kept = has_cells(piece), watched = kept && is_watched(piece, task);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = place(i);
    if (kept) {
      Cell& one = piece.cells[static_cast<size_t>(at)];
      if (watched) note_read(one, task);
      if (one.value.kind == TermKind::kUnwritten && piece.contents) one.value = piece.contents(at);
      to[i] = one.value;
    } else {
      to[i] = piece.contents ? piece.contents(at) : Term();
    }
    if (!(is_float ? to[i].is_real() : to[i].is_number())) to[i] = algebra_.loaded(to[i], dtype);
  }
}

bool Memory::load(uint64_t memory, int64_t byte, int64_t step, int64_t count, DType dtype, Task task, Term* to) {
  Piece& piece = all_[memory];
  const int64_t bytes = dtype.bytes();
  if (!are_cells(piece, byte, step, count, bytes)) return false;
  const int64_t first = byte / bytes, stride = step / bytes;
  load_cells(piece, count, dtype, task, to, [&](int64_t i) { return first + i * stride; });
  return true;
}

bool Memory::gather(uint64_t memory, int64_t byte, const int64_t* elements, int64_t count, DType dtype, Task task,
                    Term* to) {
  Piece& piece = all_[memory];
  const auto [low, high] = std::minmax_element(elements, elements + count);
  const int64_t bytes = dtype.bytes(), first = byte / bytes;
  if (!are_cells(piece, byte + *low * bytes, (*high - *low) * bytes, 2, bytes)) return false;
  load_cells(piece, count, dtype, task, to, [&](int64_t i) { return first + elements[i]; });
  return true;
}

bool Memory::store(uint64_t memory, int64_t byte, int64_t step, int64_t count, DType dtype, const Term* from,
                   size_t from_step, Task task) {
  Piece& piece = all_[memory];
  const int64_t bytes = dtype.bytes();
  if (!are_cells(piece, byte, step, count, bytes)) return false;
  piece.written = true;
  add_cells(piece);
  const bool watched = is_watched(piece, task);
  const int64_t stride = step / bytes;
  for (int64_t i = 0, at = byte / bytes; i < count; ++i, at += stride) {
    Cell& one = piece.cells[static_cast<size_t>(at)];
    if (watched) note_write(one, task);
    one.value = from[static_cast<size_t>(i) * from_step];
  }
  return true;
}

Term Memory::element(uint64_t memory, int64_t index) {
  return cell(all_[memory], index, {});
}

}  // namespace relaxc::proof
