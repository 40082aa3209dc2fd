// memory.h: memory for runs over terms: each cell holds a term, and which iterations wrote and read it.
//
// The cells of a memory have the size of its elements. An access of another size joins cells to a word, or takes bytes
// of one cell. Parameters have given contents until they are written; other memory is unwritten.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/proof/kernels/algebra.h"

namespace relaxc::proof {

/// Returns the initial contents of a parameter's element, by its index.
using Contents = std::function<Term(int64_t index)>;

/// The running iteration of a parallel loop. Numbers are unique, and those of one execution of a loop are above `loop`.
struct Task {
  uint32_t loop = 0, iteration = 0;  ///< 0 if no parallel loop runs
};

class Memory {
 public:
  explicit Memory(Algebra& algebra) : algebra_(algebra) {}

  /// Adds a parameter of `count` elements, and returns its number.
  uint64_t add(DType dtype, int64_t count, Contents contents);
  /// Allocates unwritten memory, and returns its number.
  uint64_t allocate(int64_t bytes, Task task);
  void release(uint64_t memory) { all_[memory] = {}, free_.push_back(memory); }

  /// Loads a value of `dtype` from a byte offset; returns kOutside if that is beyond the memory.
  Term load(uint64_t memory, int64_t byte, DType dtype, Task task);
  /// Stores a value at a byte offset; returns false if that is beyond the memory.
  bool store(uint64_t memory, int64_t byte, DType dtype, const Term& value, Task task);
  /// Loads or stores `count` values of `dtype`, `step` bytes apart, as load() and store() do one by one. Returns false,
  /// and does nothing, if an element is beyond the memory or is not one cell of it.
  bool load(uint64_t memory, int64_t byte, int64_t step, int64_t count, DType dtype, Task task, Term* to);
  /// Loads `count` values at these distances, in elements, from `byte` on. Returns false in the same cases.
  bool gather(uint64_t memory, int64_t byte, const int64_t* elements, int64_t count, DType dtype, Task task, Term* to);
  bool store(uint64_t memory, int64_t byte, int64_t step, int64_t count, DType dtype, const Term* from,
             size_t from_step, Task task);
  /// Describes two iterations of a parallel loop that accessed one element, of which one wrote it; "" if none did.
  const std::string& race() const { return race_; }
  /// Returns the current value of element `index` of a parameter.
  Term element(uint64_t memory, int64_t index);
  bool is_written(uint64_t memory) const { return all_[memory].written; }

 private:
  struct Cell {
    Term value;
    uint32_t writer = 0, reader = 0;  ///< iterations; the reader is Task::loop if several iterations have read the cell
  };
  struct Piece {
    int64_t cell_bytes = 0, bytes = 0;  ///< in bytes; cell_bytes is 0 before the first store
    uint32_t maker = 0;                 ///< iteration that allocated it
    bool written = false;
    Contents contents;
    std::vector<Cell> cells;
  };

  /// Returns whether a piece has its cells now; one with given contents and very many elements has none until a store.
  static bool has_cells(Piece& piece);
  static void add_cells(Piece& piece) {
    if (piece.cells.empty()) piece.cells.resize(static_cast<size_t>(piece.bytes / piece.cell_bytes));
  }
  /// Whether it matters which iteration of a parallel loop accesses the piece.
  static bool is_watched(const Piece& piece, Task task) { return task.loop != 0 && piece.maker != task.iteration; }
  void note_read(Cell& one, Task task);
  void note_write(Cell& one, Task task);
  Term cell(Piece& piece, int64_t index, Task task);
  /// Loads the cells `place(i)` of a piece whose cells have the size of `dtype`.
  template <typename Place>
  void load_cells(Piece& piece, int64_t count, DType dtype, Task task, Term* to, Place place);
  void put(Piece& piece, int64_t index, const Term& value, Task task);
  /// Returns whether each of the elements is one cell.
  static bool are_cells(const Piece& piece, int64_t byte, int64_t step, int64_t count, int64_t bytes);
  void refine(Piece& piece, int64_t bytes);
  void note_race(const char* what);

  Algebra& algebra_;
  std::vector<Piece> all_;
  std::vector<uint64_t> free_;  ///< indices in `all_` that were released
  std::string race_;
};

}  // namespace relaxc::proof
