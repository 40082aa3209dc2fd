"""older_relax.py: changes of Relax's spelling, each from the form of a release to that of the release before it.

The forms were read in TVM's printers and operators of these releases; ages.py says which change of TVM made each.
"""

import ast

from respelling import Absent, Calls, call, constant, expression, functions, is_prim_func, keyword, name_of, renamed, statement

# Calls of Relax whose arguments are no values of the program.
NOT_VALUES = {"R.const", "R.shape", "R.Tensor", "R.Shape", "R.Tuple", "R.func_attr", "R.prim_value", "R.str", "R.dtype", "R.Prim",
              "R.output", "R.function", "R.Object", "R.call_tir", "R.call_dps_packed", "R.call_tir_inplace", "R.match_cast"}


def relax_functions(change):
    def changed(tree):
        for function in functions(tree):
            if not is_prim_func(function):
                change(function)
        return tree

    return changed


class Strings(ast.NodeTransformer):
    """The symbols of a signature are strings: ("n", 4), ("n * 4",)."""

    def __init__(self, names):
        self.names = names

    def visit_Tuple(self, node):
        return self.visit_dims(node)

    def visit_List(self, node):
        return self.visit_dims(node)

    def visit_dims(self, node):
        self.generic_visit(node)
        node.elts = [constant(ast.unparse(one)) if self.is_symbol(one) else one for one in node.elts]
        return node

    def is_symbol(self, node):
        return isinstance(node, (ast.Name, ast.BinOp)) and any(isinstance(one, ast.Name) and one.id in self.names for one in ast.walk(node))


@relax_functions
def symbols_of_signatures(function):
    """n of `n = TypeVar("n")` is "n" in the signature and a variable of the body."""
    names = [name for name in function.symbols if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(function))]
    for arg in function.args.args:
        arg.annotation = Strings(names).visit(arg.annotation)
    if function.returns is not None:
        function.returns = Strings(names).visit(function.returns)
    function.body[:0] = [statement(f"{name} = T.int64()") for name in names]


def take_type_variables(tree):
    """The names of `n = TypeVar("n")`, which each function keeps as `symbols`; the statements go."""
    names = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign) and name_of(node.value) == "TypeVar"]
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Assign) and name_of(node.value) == "TypeVar")]
    for function in functions(tree):
        function.symbols = names
    return tree


def struct_info(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            node.arg = {"out_ty": "out_sinfo", "ty_args": "sinfo_args"}.get(node.arg, node.arg)
            if node.arg in ("out_dtype", "dtype") and isinstance(node.value, ast.Constant) and node.value.value is None:
                node.value = constant("void")
    return renamed({"R.Any": "R.Object"})(tree)


def is_number(node):
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return True
    return (isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))) or name_of(node).startswith(("T.int", "T.float"))


@relax_functions
def prim_values(function):
    """Numbers among the arguments of operators, and as values, are R.prim_value(…); their type is R.Prim."""
    symbols = {node.targets[0].id for node in ast.walk(function) if isinstance(node, ast.Assign) and name_of(node.value) in ("T.int64", "T.int32") and not node.value.args}

    def value(node):
        if isinstance(node, ast.Tuple):
            node.elts = [value(one) for one in node.elts]
            return node
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            node = constant(int(node.value))
        number = is_number(node) or (isinstance(node, ast.Name) and node.id in symbols)
        return call("R.prim_value", node) if number else node

    class Values(ast.NodeTransformer):
        def visit_Call(self, node):
            self.generic_visit(node)
            if name_of(node).startswith("R.") and name_of(node) not in NOT_VALUES:
                node.args = [value(one) for one in node.args]
            return node

        def visit_AnnAssign(self, node):
            self.generic_visit(node)
            node.value = value(node.value) if name_of(node.annotation).startswith("T.") else node.value
            node.annotation = Types().visit(node.annotation)
            return node

    class Types(ast.NodeTransformer):
        def visit_Attribute(self, node):
            name = name_of(node)
            return call("R.Prim", constant(name[2:])) if name.startswith("T.") else node

        def visit_Call(self, node):
            if name_of(node).startswith("T."):
                return node
            self.generic_visit(node)
            return node

    for arg in function.args.args:
        arg.annotation = Types().visit(arg.annotation)
    function.returns = Types().visit(function.returns) if function.returns is not None else None
    function.body = [Values().visit(node) for node in function.body]


def without_keyword(name, attribute, default):
    """A change of an operator that had no such attribute: a program that sets it has no older form."""

    def change(node):
        found = keyword(node, attribute)
        if found is not None and not (isinstance(found.value, ast.Constant) and found.value.value in default):
            raise Absent(f"{name} had no {attribute}")
        node.keywords = [item for item in node.keywords if item.arg != attribute]
        return node

    return lambda tree: Calls({name: change}).visit(tree)


take_without_mode = without_keyword("R.take", "mode", ("fast", "clip"))
affine_grid_aligned = without_keyword("R.image.affine_grid", "align_corners", (True,))
batch_norm_without_training = without_keyword("R.nn.batch_norm", "training", (True, False))


def pads_by_argument(tree):
    """R.nn.pad(x, R.const(0.0, "float32"), pad_width=…)."""

    def change(node):
        value = keyword(node, "pad_value")
        number = value.value if value is not None else constant(0.0)
        node.args.append(call("R.const", number, constant("float32")))
        node.keywords = [item for item in node.keywords if item.arg != "pad_value"]
        return node

    return Calls({"R.nn.pad": change}).visit(tree)


def slices_by_attributes(tree):
    """R.strided_slice(x, axes=[0], begin=[1], end=[3], strides=[1])."""

    def change(node):
        names = ("axes", "begin", "end", "strides")
        plain = [ast.List([one.args[0] for one in part.elts]) for part in node.args[1:]]
        node.args = node.args[:1]
        node.keywords = [ast.keyword(name, part) for name, part in zip(names, plain)] + node.keywords
        return node

    return Calls({"R.strided_slice": change}).visit(tree)


@relax_functions
def void_results_named(function):
    """A call without a result is a binding: _: R.Tuple = cls.f(x, y)."""
    for node in ast.walk(function):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list):
                body[:] = [bound(one) for one in body]


def bound(node):
    plain = not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or name_of(node.value) in ("R.func_attr", "R.output")
    return node if plain else ast.AnnAssign(ast.Name("_"), expression("R.Tuple()"), node.value, 1)


def no_privacy(tree):
    for function in functions(tree):
        for index, decorator in enumerate(function.decorator_list):
            if isinstance(decorator, ast.Call) and name_of(decorator) == "R.function":
                decorator.keywords = [item for item in decorator.keywords if item.arg != "private"]
                if not decorator.keywords:
                    function.decorator_list[index] = decorator.func
    return tree


def no_purity(tree):
    for function in functions(tree):
        for index, decorator in enumerate(function.decorator_list):
            if isinstance(decorator, ast.Call) and name_of(decorator) == "R.function":
                decorator.keywords = [item for item in decorator.keywords if item.arg != "pure"]
                if not decorator.keywords:
                    function.decorator_list[index] = decorator.func
    for node in ast.walk(tree):
        if name_of(node) in ("R.call_pure_packed", "R.call_tir_inplace"):
            raise Absent("calls of packed functions within a dataflow block")
    return tree


def names_without_module(tree):
    """double for cls.double, without cls = Module."""

    class Names(ast.NodeTransformer):
        def visit_Assign(self, node):
            if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "cls":
                return None
            self.generic_visit(node)
            return node

        def visit_Attribute(self, node):
            self.generic_visit(node)
            return ast.Name(node.attr) if isinstance(node.value, ast.Name) and node.value.id == "cls" else node

    return Names().visit(tree)


def calls_of_2022(tree):
    """R.call_tir(f, (x,), (4, 8), dtype="float32"); R.call_tir("packed", …)."""

    def change(node):
        if name_of(node) == "R.call_dps_packed":
            node.func = expression("R.call_tir")
        out = keyword(node, "out_sinfo").value
        if isinstance(out, ast.List):
            raise Absent("one result of call_tir")
        node.args.append(out.args[0])
        node.keywords = [ast.keyword("dtype", keyword(out, "dtype").value)] + [item for item in node.keywords if item.arg != "out_sinfo"]
        return node

    return Calls({"R.call_tir": change, "R.call_dps_packed": change}).visit(tree)


def tensors_in_brackets(tree):
    """R.Tensor[(4, 8), "float32"], R.outputs."""

    def change(node):
        dtype = keyword(node, "dtype")
        if not node.args or dtype is None:
            raise Absent("a tensor of unknown shape")
        return ast.Subscript(expression("R.Tensor"), ast.Tuple([node.args[0], dtype.value]))

    return renamed({"R.output": "R.outputs"})(Calls({"R.Tensor": change}).visit(tree))


def names_of_2021(tree):
    """@tvm.script.tir, tir.match_buffer, tir.block; relax.call_tir, @relax.function."""

    class Names(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Name({"T": "tir", "R": "relax"}.get(node.id, node.id))

    for function in functions(tree):
        function.decorator_list = [expression("tvm.script.tir") if name_of(one) == "T.prim_func" else one for one in function.decorator_list]
    tree = renamed({"T.handle": "ty.handle", "I.ir_module": "tvm.script.ir_module"})(tree)
    return Names().visit(tree)
