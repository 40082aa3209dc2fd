"""older_tir.py: changes of TIR's spelling, each from the form of a release to that of the release before it.

The forms were read in TVM's printers of these releases; ages.py says which change of TVM made each.
"""

import ast

from respelling import (DTYPE, Absent, Calls, Dtypes, call, constant, expression, functions, is_prim_func, keyword, name_of,
                        renamed, statement)

OPERATORS = {ast.LShift: "T.shift_left", ast.RShift: "T.shift_right", ast.BitAnd: "T.bitwise_and", ast.BitOr: "T.bitwise_or",
             ast.BitXor: "T.bitwise_xor"}
LITERAL_OPERATORS = {"T.Div": ast.Div, "T.Add": ast.Add, "T.Sub": ast.Sub, "T.Mul": ast.Mult, "T.FloorDiv": ast.FloorDiv,
                     "T.FloorMod": ast.Mod}
LITERAL_COMPARISONS = {"T.EQ": ast.Eq, "T.NE": ast.NotEq, "T.LT": ast.Lt, "T.LE": ast.LtE, "T.GT": ast.Gt, "T.GE": ast.GtE}
# Nodes of the tree of 0.8 to 0.11 that are no calls, so that no dtype is printed with them.
NO_CALLS = {"min", "max", "Cast", "Select", "Let", "Div", "truncdiv", "truncmod", "Mul", "Add", "Sub", "FloorDiv", "FloorMod",
            "Ramp", "Broadcast", "Shuffle", "Not", "And", "Or", "grid", "serial", "parallel", "vectorized", "unroll", "thread_binding",
            "block", "init", "where", "reads", "writes", "block_attr", "func_attr", "alloc_buffer", "match_buffer",
            "decl_buffer", "Buffer", "var", "attr", "allocate", "evaluate", "comm_reducer", "axis", "handle", "prim_func"}


def prim_funcs(change):
    """A change of each prim func by itself."""

    def changed(tree):
        for function in functions(tree):
            if is_prim_func(function):
                change(function)
        return tree

    return changed


def bits_by_calls(tree):
    class Bits(ast.NodeTransformer):
        def visit_BinOp(self, node):
            self.generic_visit(node)
            name = OPERATORS.get(type(node.op))
            return call(name, node.left, node.right) if name else node

    return Bits().visit(tree)


@prim_funcs
def symbols_of_types(function):
    """n of `n = TypeVar("n")` is "n" where a parameter first has it, and a variable of the body."""
    names = [name for name in function.symbols if uses(function, name)]
    for name in names:
        for arg in function.args.args:
            if uses(arg.annotation, name):
                arg.annotation = FirstUse(name).visit(arg.annotation)
                break
    function.body[:0] = [statement(f"{name} = T.int64()") for name in names]
    for arg in function.args.args:
        if name_of(arg.annotation) == "T.Buffer":  # "n * 2" after "n" is an expression
            shape = arg.annotation.args[0]
            shape.elts = [expression(dim.value) if is_text(dim) and not dim.value.isidentifier() else dim for dim in shape.elts]


@prim_funcs
def attributes_before_symbols(function):
    at = next((i for i, node in enumerate(function.body) if is_attributes(node)), 0)
    function.body.insert(0, function.body.pop(at))


class FirstUse(ast.NodeTransformer):
    def __init__(self, name):
        self.name, self.found = name, False

    def visit_Name(self, node):
        if node.id != self.name or self.found:
            return node
        self.found = True
        return constant(node.id)


def uses(node, name):
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def is_attributes(node):
    return isinstance(node, ast.Expr) and name_of(node.value) in ("T.func_attr", "R.func_attr")


@prim_funcs
def symbols_of_handles(function):
    """Buffers of symbolic shape, and with more than a shape and a dtype, are T.match_buffer of a handle."""
    matched = []
    for arg in function.args.args:
        type_ = arg.annotation
        if name_of(type_) != "T.Buffer":
            continue
        shape = type_.args[0]
        if not type_.keywords and all(isinstance(dim, (ast.Constant, ast.Call)) and not is_text(dim) for dim in shape.elts):
            continue
        shape.elts = [ast.Name(dim.value) if is_text(dim) else dim for dim in shape.elts]
        dtype = [] if type_.args[1].value == "float32" else [type_.args[1]]
        handle = f"var_{arg.arg}"
        offset = keyword(type_, "elem_offset")
        if offset is not None and isinstance(offset.value, (ast.Name, ast.Constant)) and keyword(type_, "offset_factor") is not None:
            type_.keywords.remove(offset)  # a name of its own, of which nothing is said
            name = offset.value.value if is_text(offset.value) else offset.value.id
            function.body = [node for node in function.body if not (is_symbol(node) and node.targets[0].id == name)]
        value = ast.Call(expression("T.match_buffer"), [ast.Name(handle), shape, *dtype], type_.keywords)
        matched.append(ast.Assign([ast.Name(arg.arg)], value))
        arg.arg, arg.annotation = handle, expression("T.handle")
    at = 1 if is_attributes(function.body[0]) else 0
    while at < len(function.body) and is_symbol(function.body[at]):
        at += 1
    function.body[at:at] = matched


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_symbol(node):
    return isinstance(node, ast.Assign) and name_of(node.value) in ("T.int64", "T.int32") and not node.value.args


def no_s_tir(tree):
    for function in functions(tree):
        for index, decorator in enumerate(function.decorator_list):
            if isinstance(decorator, ast.Call) and name_of(decorator) == "T.prim_func":
                decorator.keywords = [item for item in decorator.keywords if item.arg != "s_tir"]
                if not decorator.keywords:
                    function.decorator_list[index] = decorator.func
    return tree


def lets_without_a_word(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript) and name_of(node.annotation.value) == "T.let":
            node.annotation = node.annotation.slice

    in_blocks = any(name_of(node) == "T.sblock" for node in ast.walk(tree) if isinstance(node, ast.Call))

    def local(node):
        node.func = expression("T.sblock_alloc_buffer" if in_blocks else "T.alloc_buffer")
        node.keywords.append(ast.keyword("scope", constant("local")))
        return node

    return Calls({"T.alloc_local": local}).visit(tree)


def attributes_of_tir(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("tirx."):
            node.value = "tir." + node.value[len("tirx."):]
    return tree


def plain_assertions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Tuple):
            node.msg = constant("".join(part.value for part in node.msg.elts[1].elts))
    return tree


allocations_declared = renamed({"T.alloc_buffer": "T.decl_buffer"})
blocks = renamed({"T.sblock": "T.block", "T.sblock_attr": "T.block_attr", "T.sblock_alloc_buffer": "T.alloc_buffer"})


def boxed_truths(tree):
    """In dictionaries: T.bool(True)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            node.values = [call("T.bool", one) if isinstance(one, ast.Constant) and isinstance(one.value, bool) else one for one in node.values]
    return tree


def plain_truths(tree):
    return Calls({"T.bool": lambda node: node.args[0] if node.args else node}).visit(tree)


def global_symbols(tree):
    """A public function says its symbol; a private one is a function without."""
    for function in functions(tree):
        private = False
        for index, decorator in enumerate(function.decorator_list):
            if isinstance(decorator, ast.Call) and name_of(decorator) == "T.prim_func":
                private = True
                function.decorator_list[index] = decorator.func
        if not is_prim_func(function) or private:
            continue
        if not is_attributes(function.body[0]):
            function.body.insert(0, statement("T.func_attr({})"))
        table = function.body[0].value.args[0]
        if "global_symbol" not in [key.value for key in table.keys]:
            table.keys.insert(0, constant("global_symbol"))
            table.values.insert(0, constant(function.name))
    return tree


def buffers_in_brackets(tree):
    for function in functions(tree):
        for arg in function.args.args:
            if name_of(arg.annotation) == "T.Buffer":
                shape, dtype = arg.annotation.args
                shape = shape.elts[0] if len(shape.elts) == 1 else shape
                arg.annotation = ast.Subscript(expression("T.Buffer"), ast.Tuple([shape, dtype]))
    return tree


@prim_funcs
def dtypes_of_calls(function):
    """T.exp(x, dtype="float32"), and T.evaluate of a call that is a statement."""
    dtypes = Dtypes(function)

    class Typed(ast.NodeTransformer):
        def visit_Call(self, node):
            name = name_of(node)
            short = name[2:].split(".")[0]
            plain = not name.startswith("T.") or short in NO_CALLS or DTYPE.match(short) or (not node.args and short == "int64")
            dtype = None if plain else dtypes.dtype_of(node)
            self.generic_visit(node)
            if plain:
                return node
            if short in ("reinterpret", "call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin", "call_intrin"):
                node.args = node.args[1:]
            node.keywords = [item for item in node.keywords if item.arg != "dtype"] + [ast.keyword("dtype", constant(dtype))]
            return node

        def visit_Expr(self, node):
            name = name_of(node.value)
            self.generic_visit(node)
            if name.startswith("T.") and name[2:].split(".")[0] not in NO_CALLS:
                node.value = call("T.evaluate", node.value)
            return node

    Typed().visit(function)


@prim_funcs
def shapes_in_lists(function):
    """T.alloc_buffer([4, 8], dtype="float32")."""
    dtypes = Dtypes(function)

    def listed(node, at):
        dtype = dtypes.dtype_of(node)
        node.args[at] = ast.List(node.args[at].elts)
        node.keywords = [ast.keyword("dtype", constant(dtype))] + [item for item in node.keywords if item.arg != "dtype"]
        del node.args[at + 1:]
        strides = keyword(node, "strides")
        if strides is not None:
            strides.value = ast.List(strides.value.elts)
        return node

    Calls({"T.alloc_buffer": lambda node: listed(node, 0), "T.decl_buffer": lambda node: listed(node, 0),
           "T.match_buffer": lambda node: listed(node, 1)}).visit(function)


@prim_funcs
def symbols_before_all(function):
    """n = T.var("int64"), after the attributes and before all else, wherever it is used."""
    found = []

    class Symbols(ast.NodeTransformer):
        def visit_Assign(self, node):
            if not is_symbol(node):
                return node
            found.append(ast.Assign(node.targets, call("T.var", constant(name_of(node.value)[2:]))))
            return None

    Symbols().visit(function)
    at = 1 if is_attributes(function.body[0]) else 0
    function.body[at:at] = found


@prim_funcs
def loops_by_kind(function):
    """range(n) is T.serial(n); numbers without a fraction have no point."""

    def shorter(node):
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, float) and node.args[0].value.is_integer() and abs(node.args[0].value) < 1e6:
            node.args[0].value = int(node.args[0].value)
        return node

    table = {f"T.{dtype}": shorter for dtype in ("float16", "float32", "float64", "bfloat16")}
    for node in ast.walk(function):
        if isinstance(node, ast.For) and name_of(node.iter) == "range":
            node.iter.func = expression("T.serial")
    Calls(table).visit(function)


@prim_funcs
def pointers_in_brackets(function):
    def pointer(node):
        if not node.args:
            return node
        parts = [expression(f"T.{node.args[0].value}"), *node.args[1:]]
        return ast.Subscript(expression("T.Ptr"), parts[0] if len(parts) == 1 else ast.Tuple(parts))

    def let(node):
        [(name, value)] = zip(keyword(node, "where").value.keys, keyword(node, "where").value.values)
        return call("T.let", name, value, node.args[0])

    Calls({"T.handle": pointer, "T.Let": let}).visit(function)


@prim_funcs
def memory_by_parts(function):
    """`A = T.decl_buffer(…)` without data is a T.allocate and a T.buffer_decl of it."""

    class Parts(ast.NodeTransformer):
        def visit_Assign(self, node):
            if name_of(node.value) != "T.decl_buffer":
                return node
            made, name = node.value, node.targets[0].id
            if keyword(made, "data") is not None:
                made.func = expression("T.buffer_decl")
                return node
            dtype, scope = keyword(made, "dtype").value, keyword(made, "scope")
            memory = call("T.allocate", made.args[0], dtype, scope.value if scope else constant("global"))
            declared = call("T.buffer_decl", made.args[0], dtype=dtype, data=ast.Name(f"{name}_data"))
            return [ast.Assign([ast.Name(f"{name}_data")], memory), ast.Assign(node.targets, declared)]

    Parts().visit(function)


@prim_funcs
def memory_is_a_buffer(function):
    """`A = T.allocate(…)` is the buffer."""
    made = {}

    class Whole(ast.NodeTransformer):
        def visit_Assign(self, node):
            name = name_of(node.value)
            if name == "T.allocate":
                made[node.targets[0].id] = node.value
                return None
            if name == "T.buffer_decl" and isinstance(keyword(node.value, "data").value, ast.Name) and keyword(node.value, "data").value.id in made:
                return ast.Assign(node.targets, made[keyword(node.value, "data").value.id])
            return node

    Whole().visit(function)


def casts_last(tree):
    """T.cast(x, "float32"); operators of literals; an if in the else for elif, which Python's tree has anyway."""
    class Literals(ast.NodeTransformer):
        def visit_Call(self, node):
            self.generic_visit(node)
            name = name_of(node)
            if name == "T.Cast":
                return call("T.cast", node.args[1], node.args[0])
            if name in LITERAL_OPERATORS:
                return ast.BinOp(node.args[0], LITERAL_OPERATORS[name](), node.args[1])
            if name in LITERAL_COMPARISONS:
                return ast.Compare(node.args[0], [LITERAL_COMPARISONS[name]()], [node.args[1]])
            return node

    return Literals().visit(tree)


@prim_funcs
def nothing_returned(function):
    if function.returns is None:
        function.returns = constant(None)


@prim_funcs
def all_by_handles(function):
    """0.8: every buffer is T.match_buffer of a handle; T.reads([…]), T.serial(0, n)."""
    matched = []
    for arg in function.args.args:
        if isinstance(arg.annotation, ast.Subscript) and name_of(arg.annotation.value) == "T.Buffer":
            shape, dtype = arg.annotation.slice.elts
            dims = ast.List(shape.elts if isinstance(shape, ast.Tuple) else [shape])
            value = call("T.match_buffer", ast.Name(f"var_{arg.arg}"), dims, dtype=dtype)
            matched.append(ast.Assign([ast.Name(arg.arg)], value))
            arg.arg, arg.annotation = f"var_{arg.arg}", expression("T.handle")
    at = 1 if is_attributes(function.body[0]) else 0
    while at < len(function.body) and isinstance(function.body[at], ast.Assign) and name_of(function.body[at].value) == "T.var":
        at += 1
    function.body[at:at] = matched

    def listed(node):
        node.args = [ast.List(node.args)]
        return node

    def from_zero(node):
        node.args = [constant(0), *node.args] if len(node.args) == 1 else node.args
        return node

    kinds = {f"T.{kind}": from_zero for kind in ("serial", "parallel", "vectorized", "unroll")}
    Calls({"T.reads": listed, "T.writes": listed, **kinds}).visit(function)


@prim_funcs
def loads_and_stores(function):
    """0.8: memory of T.allocate is read and written by T.load and T.store."""
    dtypes, memory = Dtypes(function), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and name_of(node.value) == "T.allocate":
            memory.add(node.targets[0].id)
            if len(node.value.args[0].elts) != 1:
                raise Absent("memory of more than one dim")

    def index_of(node):
        return node.elts[0] if isinstance(node, ast.Tuple) else node

    class Accesses(ast.NodeTransformer):
        def visit_Subscript(self, node):
            self.generic_visit(node)
            if isinstance(node.value, ast.Name) and node.value.id in memory and isinstance(node.ctx, ast.Load):
                return call("T.load", constant(dtypes.of[node.value.id]), node.value, index_of(node.slice))
            return node

        def visit_Assign(self, node):
            self.generic_visit(node)
            target = node.targets[0]
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in memory:
                return ast.Expr(call("T.store", target.value, index_of(target.slice), node.value, constant(True)))
            return node

    if memory:
        Accesses().visit(function)
