"""respelling.py: programs as trees of Python, for the changes of spelling in older_tir.py and older_relax.py.

TVMScript is Python's syntax in each of its forms, so a change of spelling is a change of that tree. `dtype_of` knows the
dtypes that the printers of 0.8 to 0.11 wrote beside each call and today's leave out.
"""

import ast
import io
import json
import re
import tokenize


class Absent(Exception):
    """A release has no form of what the program says."""


DTYPE = re.compile(r"(bool|u?int\d+|b?float\d+|handle)(x\d+)?$")
TRUTHS = {"isnan", "isinf", "isfinite", "likely", "EQ", "NE", "LT", "LE", "GT", "GE", "And", "Or", "Not", "all", "any"}
DTYPE_FIRST = {"Cast", "reinterpret", "call_extern", "call_pure_extern", "call_intrin", "call_llvm_intrin", "call_llvm_pure_intrin"}


def parse(text):
    return ast.parse(text)


def unparse(tree, header):
    """The text, with the quotes that TVM writes."""
    text = ast.unparse(ast.fix_missing_locations(tree))
    out, at = [], (1, 0)
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.STRING or not token.string.startswith("'"):
            continue
        out.append(between(lines, at, token.start) + json.dumps(ast.literal_eval(token.string)))
        at = token.end
    return header + "\n" + "".join(out) + between(lines, at, (len(lines) + 1, 0)) + "\n"


def between(lines, start, end):
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return lines[first - 1][left:] + "".join(lines[first : last - 1]) + (lines[last - 1][:right] if last <= len(lines) else "")


def expression(text):
    return ast.parse(text, mode="eval").body


def statement(text):
    return ast.parse(text).body[0]


def name_of(node):
    """"T.exp" of a call of T.exp or of T.exp itself; "" of what has no such name."""
    if isinstance(node, ast.Call):
        node = node.func
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def call(name, *args, **keywords):
    return ast.Call(expression(name), list(args), [ast.keyword(key, value) for key, value in keywords.items()])


def constant(value):
    return ast.Constant(value)


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def is_prim_func(function):
    return any(name_of(decorator) == "T.prim_func" for decorator in function.decorator_list)


def keyword(node, name):
    return next((item for item in node.keywords if item.arg == name), None)


class Calls(ast.NodeTransformer):
    """Replaces calls, from the inside out: `table` maps a name to a function of the call."""

    def __init__(self, table):
        self.table = table

    def visit_Call(self, node):
        self.generic_visit(node)
        change = self.table.get(name_of(node))
        return change(node) if change else node


def renamed(names):
    """A change that gives T.x, R.x and the like other names."""

    class Names(ast.NodeTransformer):
        def visit_Attribute(self, node):
            self.generic_visit(node)
            new = names.get(name_of(node))
            return expression(new) if new else node

    return lambda tree: Names().visit(tree)


class Dtypes(ast.NodeVisitor):
    """The dtypes of the names of a prim func."""

    def __init__(self, function):
        self.of = {}
        for arg in function.args.args:
            if arg.annotation is not None:
                self.bind(arg.arg, arg.annotation)
        self.visit(function)

    def bind(self, name, value):
        self.of[name] = self.dtype_of(value)

    def visit_Assign(self, node):
        target = node.targets[0]
        if isinstance(target, ast.Name):
            self.bind(target.id, node.value)
        elif isinstance(target, ast.Tuple) and name_of(node.value) == "T.axis.remap":
            for one, value in zip(target.elts, node.value.args[1].elts):
                self.bind(one.id, value)

    def visit_AnnAssign(self, node):
        self.of[node.target.id] = self.dtype_of(node.value)

    def visit_For(self, node):
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        values = node.iter.args if len(targets) > 1 else [node.iter.args[-1]]
        for target, value in zip(targets, values):
            self.bind(target.id, value)
        self.generic_visit(node)

    def dtype_of(self, node):
        known = self.known(node)
        return known or ("float32" if isinstance(node, ast.Constant) and isinstance(node.value, float) else "int32")

    def known(self, node):
        """None for a literal, which takes the dtype of what stands beside it."""
        if isinstance(node, ast.Constant):
            return "bool" if isinstance(node.value, bool) else "handle" if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.of.get(node.id)
        if isinstance(node, ast.Subscript):
            return self.known(node.value)
        if isinstance(node, (ast.Compare, ast.BoolOp)) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return "bool"
        if isinstance(node, ast.UnaryOp):
            return self.known(node.operand)
        if isinstance(node, ast.BinOp):
            return self.known(node.left) or self.known(node.right)
        if isinstance(node, ast.Attribute):
            return "handle" if node.attr == "data" else "int32" if DTYPE.match(node.attr) is None else node.attr
        return self.of_call(node) if isinstance(node, ast.Call) else None

    def of_call(self, node):
        name = name_of(node).split(".")[-1]
        if DTYPE.match(name):
            return name
        named = keyword(node, "dtype")
        if named is not None:
            return named.value.value
        if name in ("Buffer", "alloc_buffer", "sblock_alloc_buffer", "decl_buffer", "allocate", "alloc_local"):
            return node.args[1].value if len(node.args) > 1 else "float32"
        if name == "match_buffer":
            return node.args[2].value if len(node.args) > 2 else "float32"
        if name in TRUTHS:
            return "bool"
        if name in DTYPE_FIRST:
            return node.args[0].value
        if name in ("popcount", "clz"):
            return "int32"
        if name in ("address_of", "handle", "tvm_stack_make_array", "tvm_stack_make_shape"):
            return "handle"
        if name in ("call_packed", "evaluate"):
            return "int32"
        values = node.args[1:] if name in ("Select", "if_then_else") else node.args
        return next((dtype for dtype in map(self.known, values) if dtype), None)
