// memory.h: the memory of a run over terms: cells that hold a term each, and who wrote and read them.
//
// A memory has cells as large as its elements. An access of another size joins cells to a word, or takes bytes of one.
// Parameters have contents from outside until something is written there; other memory is unwritten.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/proof/kernels/algebra.h"

namespace relaxc::proof {

/// The contents of a parameter at entry, by the number of the element.
using Contents = std::function<Term(int64_t index)>;

/// Which iteration of a parallel loop runs: numbers never repeat, and those of one run of a loop follow `loop`.
struct Task {
  uint32_t loop = 0, iteration = 0;  ///< 0: no parallel loop runs
};

class Memory {
 public:
  explicit Memory(Algebra& algebra) : algebra_(algebra) {}

  /// A parameter of `count` elements.
  uint64_t add(DType dtype, int64_t count, Contents contents);
  /// Memory of its own, which nothing has written.
  uint64_t allocate(int64_t bytes, Task task);
  void release(uint64_t memory) { all_[memory] = {}, free_.push_back(memory); }

  /// The value of `dtype` at a byte. kOutside beyond the memory.
  Term load(uint64_t memory, int64_t byte, DType dtype, Task task);
  /// False: beyond the memory.
  bool store(uint64_t memory, int64_t byte, DType dtype, const Term& value, Task task);
  /// Two iterations of a parallel loop that met in one element, of which one writes; "": none did.
  const std::string& race() const { return race_; }
  /// Element `index` of a parameter as it is now.
  Term element(uint64_t memory, int64_t index);
  bool is_written(uint64_t memory) const { return all_[memory].written; }

 private:
  struct Cell {
    Term value;
    uint32_t writer = 0, reader = 0;  ///< iterations; a reader that is Task::loop: several
  };
  struct Piece {
    int64_t cell_bytes = 0, bytes = 0;  ///< 0: no access has said yet
    uint32_t maker = 0;                 ///< the iteration that allocated it
    bool written = false;
    Contents contents;
    std::vector<Cell> cells;
  };

  Term cell(Piece& piece, int64_t index, Task task);
  void put(Piece& piece, int64_t index, const Term& value, Task task);
  void refine(Piece& piece, int64_t bytes);
  void note_race(const char* what);

  Algebra& algebra_;
  std::vector<Piece> all_;
  std::vector<uint64_t> free_;  ///< places in `all_` that memory has left
  std::string race_;
};

}  // namespace relaxc::proof
