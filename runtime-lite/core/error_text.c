/* error_text.c: an error record as a sentence, for programs that print.
 *
 * A record tells the place by tables of the object (nodes, tensors, dims), and the fault by its status and two numbers.
 * If the text of a node has a slot for one of the numbers, it is a whole sentence; otherwise it is only a place, and
 * the sentence comes from the table below; tests/bindings checks that each status has one. This is a file of its own,
 * since the strings are larger than the guards. relax_rt.py has the same sentences. */
#include "relax_rt.h"

typedef struct writer {
  const rlx_model* model;
  const rlx_function* function;
  const rlx_error* error;
  char* text;
  size_t size, length;
} writer;

static void put_char(writer* w, char c) {
  if (w->length + 1 < w->size) w->text[w->length] = c;
  ++w->length;
}

static void put(writer* w, const char* text) {
  while (*text != '\0') put_char(w, *text++);
}

static void put_number(writer* w, int64_t value) {
  char digits[20];
  uint32_t count = 0;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (value < 0) put_char(w, '-');
  do {
    digits[count++] = (char)('0' + (char)(left % 10));
    left /= 10;
  } while (left != 0);
  while (count > 0) put_char(w, digits[--count]);
}

static void put_quoted(writer* w, const char* before, const char* name) {
  put(w, before);
  put(w, " '");
  put(w, name);
  put(w, "'");
}

static int has_tensor(const writer* w, int64_t tensor) {
  return tensor >= 0 && tensor < (int64_t)w->function->num_inputs + (int64_t)w->function->num_outputs;
}

static const rlx_symbol* symbol_of(const writer* w) {
  const int64_t symbol = w->error->symbol;
  return symbol >= 0 && symbol < (int64_t)w->function->num_symbols ? &w->function->symbols[symbol] : NULL;
}

static const char* node_of(const writer* w) {
  const int64_t node = w->error->node;
  const char* text = node >= 0 && node < (int64_t)w->function->num_nodes ? w->function->nodes[node] : NULL;
  return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Writes "input 'x'", or the tensor's number if names were left out. */
static void put_tensor(writer* w, uint32_t tensor) {
  const uint32_t inputs = w->function->num_inputs, index = tensor < inputs ? tensor : tensor - inputs;
  const rlx_tensor_spec* first = tensor < inputs ? w->function->inputs : w->function->outputs;
  const char *kind = tensor < inputs ? "input" : "output",
             *name = ((const rlx_tensor_spec*)(const void*)((const char*)first + (size_t)index * w->model->spec_size))
                         ->name;
  if (name != NULL && name[0] != '\0') {
    put_quoted(w, kind, name);
    return;
  }
  put(w, kind);
  put(w, " ");
  put_number(w, index);
}

/* Writes "dim 2" of a tensor, or "dim 'n'" if the record has no axis. */
static void put_dim(writer* w) {
  const rlx_symbol* symbol = symbol_of(w);
  const char* name = symbol != NULL && symbol->name != NULL ? symbol->name : "";
  if (w->error->axis < 0 && name[0] != '\0') {
    put_quoted(w, "dim", name);
  } else {
    put(w, "dim ");
    put_number(w, w->error->axis >= 0 ? w->error->axis : w->error->symbol);
  }
}

static void put_symbol(writer* w) {
  const rlx_symbol* symbol = symbol_of(w);
  if (symbol != NULL && symbol->name != NULL && symbol->name[0] != '\0')
    put_quoted(w, "dim", symbol->name);
  else
    put(w, "the same dim");
}

/* Writes the relation that a dim must have to its bound. */
static void put_relation(writer* w) {
  const rlx_symbol* symbol = symbol_of(w);
  const int64_t actual = w->error->actual;
  if (symbol != NULL && actual >= symbol->lower && actual <= symbol->upper && symbol->multiple_of > 1)
    put(w, "a multiple of");
  else
    put(w, actual < w->error->expected ? "at least" : "at most");
}

static void put_dtype(writer* w, int64_t dtype) {
  static const char* const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const int64_t code = dtype & 255, bits = dtype >> 8 & 255, lanes = dtype >> 16 & 65535;
  if (code < 7) {
    put(w, names[code]);
  } else {
    put(w, "code ");
    put_number(w, code);
    put(w, " of bits ");
  }
  if (code != RLX_DTYPE_BOOL) put_number(w, bits);
  if (lanes == 1) return;
  put(w, "x");
  put_number(w, lanes);
}

/* Writes what shares memory with the tensor or with other memory of the caller. */
static void put_other(writer* w) {
  const int64_t other = w->error->actual;
  if (has_tensor(w, other)) {
    put_tensor(w, (uint32_t)other);
  } else if (other == -1) {
    put(w, "the arena");
  } else if (other == -2) {
    put(w, "the weights");
  } else {
    put(w, "pool ");
    put_number(w, -3 - other);
  }
}

/* Writes the value of the slot with this name; returns 0 if there is no such slot. */
static int fill(writer* w, const char* slot, size_t length) {
  static const char* const names[] = {"expected", "actual", "axis",          "dim",        "symbol",
                                      "relation", "other",  "expected_type", "actual_type"};
  uint32_t which = 0;
  for (; which < sizeof names / sizeof *names; ++which) {
    const char* name = names[which];
    size_t same = 0;
    while (same < length && name[same] == slot[same]) ++same;
    if (same == length && name[same] == '\0') break;
  }
  switch (which) {
    case 0:
      return put_number(w, w->error->expected), 1;
    case 1:
      return put_number(w, w->error->actual), 1;
    case 2:
      return put_number(w, w->error->axis), 1;
    case 3:
      return put_dim(w), 1;
    case 4:
      return put_symbol(w), 1;
    case 5:
      return put_relation(w), 1;
    case 6:
      return put_other(w), 1;
    case 7:
      return put_dtype(w, w->error->expected), 1;
    case 8:
      return put_dtype(w, w->error->actual), 1;
    default:
      return 0;
  }
}

/* Writes `text` with its slots filled. Returns whether it had one. */
static int expand(writer* w, const char* text) {
  int filled = 0;
  while (*text != '\0') {
    size_t length = 0;
    if (*text == '{')
      while (text[length] != '\0' && text[length] != '}') ++length;
    if (length > 1 && text[length] == '}' && fill(w, text + 1, length - 1)) {
      filled = 1;
      text += length + 1;
    } else {
      put_char(w, *text++);
    }
  }
  return filled;
}

/* The sentence for each status. */
static const char* const sentences[] = {
    [RLX_OK] = "nothing is wrong",
    [RLX_NULL_POINTER] = "a pointer that is needed is null",
    [RLX_TENSOR_COUNT] = "the number of tensors is {actual}, must be {expected}",
    [RLX_DEVICE] = "the device's type or id is {actual}, must be {expected}",
    [RLX_DTYPE] = "its elements are {actual_type}, must be {expected_type}",
    [RLX_RANK] = "the number of dims is {actual}, must be {expected}",
    [RLX_STATIC_DIM] = "{dim} is {actual}, must be {expected}",
    [RLX_DERIVED_DIM] = "{dim} is {actual}, must be {expected}",
    [RLX_SYMBOL_EQUALITY] = "{dim} is {actual} where {symbol} is {expected}",
    [RLX_DIM_BOUNDS] = "{dim} is {actual}, must be {relation} {expected}",
    [RLX_STRIDES] = "a stride is {actual}, must be {expected}",
    [RLX_ALIGNMENT] = "its address is {actual} bytes past a multiple of {expected}",
    [RLX_CAPACITY] = "it has room for {actual} elements and needs {expected}",
    [RLX_DATA_CAPACITY] = "it has room for {actual} elements and needs {expected}",
    [RLX_OVERLAP] = "it shares memory with {other}",
    [RLX_ARENA_SIZE] = "the arena has {actual} bytes, must have {expected}",
    [RLX_ARENA_ALIGNMENT] = "the arena's address is {actual} bytes past a multiple of {expected}",
    [RLX_WEIGHTS_SIZE] = "the weights have {actual} bytes, must have {expected}",
    [RLX_WEIGHTS_HASH] =
        "the weights are those of another model: byte {axis} of the hash is {actual}, must be {expected}",
    [RLX_WEIGHTS_ALIGNMENT] = "the address of the weights is {actual} bytes past a multiple of {expected}",
    [RLX_ABI_MISMATCH] =
        "the version or size of the context, the tables or the weights is {actual}, must be {expected}",
    [RLX_SIZE_OVERFLOW] = "a size of {actual} elements does not fit the address space",
    [RLX_BROADCAST] = "dims {expected} and {actual} are neither equal nor 1",
    [RLX_NEEDS_DATA] = "the answer depends on data that was not given",
    [RLX_CPU_FEATURES] = "the CPU has the features {actual} (RLX_CPU_* bits), the code needs {expected}",
    [RLX_POOL_SIZE] = "pool {axis} has {actual} bytes, must have {expected}",
    [RLX_POOL_ALIGNMENT] = "the address of pool {axis} is {actual} bytes past a multiple of {expected}",
    [RLX_INDEX_RANGE] = "index {actual} is outside of an axis of {expected}",
    [RLX_ASSERTION] = "does not hold",
    [RLX_EXTERNAL_FAILED] = "an external function returned {actual}",
    [RLX_RECURSION_DEPTH] = "calls are {actual} deep, the limit is {expected}",
    [RLX_NO_ALLOCATOR] = "{expected} bytes are needed, and the context has no allocator",
    [RLX_OUT_OF_MEMORY] = "{expected} bytes are needed, and the allocator does not have them",
    [RLX_POLLED] = "the poll hook ended the run with {actual}",
    [RLX_DATA_BOUND] = "{actual} was found in the data, the limit is {expected}",
    [RLX_OBJECT_KIND] = "the object is of kind {actual}, must be of kind {expected}",
    [RLX_SELFTEST] = "the self-test found another answer: {actual}, must be {expected}",
    [RLX_NODE_LIMIT] = "there are {actual} nodes of data, the limit is {expected}",
    [RLX_FILE_IO] = "the file of weights cannot be opened, sized or mapped: errno is {actual}",
    [RLX_FILE_FORMAT] = "this is not a file of weights",
};

/* Returns the sentence, which depends on the record for some statuses: whether it has a place or numbers. */
static const char* sentence(const rlx_error* error) {
  const char* text =
      error->code >= 0 && (size_t)error->code < sizeof sentences / sizeof *sentences ? sentences[error->code] : NULL;
  if (error->code == RLX_ASSERTION && error->expected != error->actual)
    return "does not hold, with {actual} and {expected} as its sides";
  if (error->tensor < 0) {
    if (error->code == RLX_OVERLAP) return "memory of the caller overlaps {other}";
    if (error->code == RLX_SIZE_OVERFLOW && error->node < 0)
      return "the arena of this call does not fit the address space";
    if (error->code == RLX_SELFTEST)
      return "the self-test found other weights: their CRC-32 is {actual}, must be {expected}";
  }
  return text != NULL ? text : "unknown status";
}

/* Writes the place in front of the sentence. Returns 1 if that is already a whole sentence. */
static int put_place(writer* w) {
  const rlx_error* error = w->error;
  const char* node = node_of(w);
  if (node != NULL) {
    if (expand(w, node) && error->code != RLX_ASSERTION) return 1;
  } else if (error->node >= 0) {
    put(w, "node ");
    put_number(w, error->node);
  } else if (has_tensor(w, error->tensor)) {
    put_tensor(w, (uint32_t)error->tensor);
  } else {
    return 0;
  }
  put(w, ": ");
  return 0;
}

size_t rlx_error_text(const rlx_model* model, const rlx_function* function, const rlx_error* error, char* text,
                      size_t size) {
  writer w = {model, function, error, text, size, 0};
  if (!put_place(&w)) (void)expand(&w, sentence(error));
  if (size > 0) text[w.length < size ? w.length : size - 1] = '\0';
  return w.length;
}
