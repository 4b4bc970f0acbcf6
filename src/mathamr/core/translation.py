"""`Translation`: a function in the part of Python that `loops` describes, as a function of LLVM."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_ARRAYS = frozenset({"IntArray", "FloatArray", "ByteArray"})
_LOOSE = ("reassoc", "contract", "nsz")
"""What sums of floats may be: added up in another order, and multiplied and added at once."""


class Translation:
    """One function on its way into a module; values are pairs of a kind and LLVM's name for them."""

    def __init__(self, module: Any, function: Callable[..., Any], known: Mapping[str, Translation]) -> None:
        from llvmlite import ir

        self._ir, self._module, self._known = ir, module, known
        self._globals = function.__globals__
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.name = tree.name
        self.kinds = [ast.unparse(each.annotation) for each in tree.args.args if each.annotation]
        self.result = ast.unparse(tree.returns) if tree.returns else "None"
        self._types = {
            "int": ir.IntType(64), "float": ir.FloatType(), "bool": ir.IntType(1), "None": ir.VoidType(),
            "IntArray": ir.IntType(64).as_pointer(), "FloatArray": ir.FloatType().as_pointer(),
            "ByteArray": ir.IntType(8).as_pointer(),
        }  # fmt: skip
        type_ = ir.FunctionType(self._types[self.result], [self._types[kind] for kind in self.kinds])
        self.function = ir.Function(module, type_, self.name)
        if self.name.startswith("_"):
            self.function.linkage = "internal"
        elif self.result != "None":
            raise self._refused(tree.args)
        self._entry = self.function.append_basic_block("entry")
        self._build = ir.IRBuilder(self.function.append_basic_block("begin"))
        self._places: dict[str, tuple[str, Any]] = {}
        self._given: dict[str, tuple[str, Any]] = {}
        self._loops: list[tuple[Any, Any]] = []
        for argument, kind, value in zip(tree.args.args, self.kinds, self.function.args, strict=True):
            if kind in _ARRAYS:
                value.add_attribute("noalias")
                self._given[argument.arg] = kind, value
            else:
                self._set(argument.arg, (kind, value))
        self._block(tree.body)
        if not self._build.block.is_terminated:
            if self.result != "None":
                raise self._refused(tree)
            self._build.ret_void()
        ir.IRBuilder(self._entry).branch(self.function.basic_blocks[1])

    def _refused(self, node: ast.AST) -> NotImplementedError:
        return NotImplementedError(f"{self.name}, line {getattr(node, 'lineno', 0)}: {ast.unparse(node)}")

    # Statements

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self._build.block.is_terminated:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        build = self._build
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call()):
                self._value(node.value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, made in zip(targets, [self._value(each) for each in values], strict=True):
                    self._assign(target, made)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                loaded = ast.parse(ast.unparse(target), mode="eval").body
                self._assign(target, self._operation(node, op, self._value(loaded), self._value(value)))
            case ast.If(test=test, body=body, orelse=otherwise):
                self._branch(self._truth(test), body, otherwise)
            case ast.While(test=test, body=body, orelse=[]):
                with self._loop() as (head, inside, after):
                    build.branch(head)
                    build.position_at_end(head)
                    build.cbranch(self._truth(test), inside, after)
                    build.position_at_end(inside)
                    self._block(body)
                    if not build.block.is_terminated:
                        build.branch(head)
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args), orelse=[]
            ):
                self._for(name, args, node.body)
            case ast.Break() | ast.Continue():
                build.branch(self._loops[-1][isinstance(node, ast.Break)])
            case ast.Return(value=None):
                build.ret_void()
            case ast.Return(value=value) if value is not None:
                build.ret(self._as(self.result, self._value(value), node))
            case _:
                raise self._refused(node)

    def _branch(self, truth: Any, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        build = self._build
        yes, no, after = (build.append_basic_block(name) for name in ("yes", "no", "after"))
        build.cbranch(truth, yes, no)
        for block, statements in ((yes, body), (no, otherwise)):
            build.position_at_end(block)
            self._block(statements)
            if not build.block.is_terminated:
                build.branch(after)
        build.position_at_end(after)

    @contextmanager
    def _loop(self) -> Iterator[tuple[Any, Any, Any]]:
        head, inside, after = (self._build.append_basic_block(name) for name in ("head", "inside", "after"))
        self._loops.append((head, after))
        yield head, inside, after
        self._loops.pop()
        self._build.position_at_end(after)

    def _for(self, name: str, args: list[ast.expr], body: list[ast.stmt]) -> None:
        build, whole = self._build, self._types["int"]
        values = [self._as("int", self._value(each), each) for each in args]
        first, last = (whole(0), values[0]) if len(values) == 1 else values[:2]
        step = values[2] if len(values) == 3 else whole(1)
        rises = not (isinstance(step, self._ir.Constant) and step.constant < 0)
        counter = self._new("int")
        build.store(first, counter)
        with self._loop() as (head, inside, after):
            test = build.append_basic_block("test")
            build.branch(test)
            build.position_at_end(test)
            build.cbranch(build.icmp_signed("<" if rises else ">", build.load(counter), last), inside, after)
            build.position_at_end(inside)
            self._set(name, ("int", build.load(counter)))
            self._block(body)
            if not build.block.is_terminated:
                build.branch(head)
            build.position_at_end(head)  # where `continue` leads
            build.store(build.add(build.load(counter), step, flags=("nsw",)), counter)
            build.branch(test)

    def _assign(self, target: ast.expr, value: tuple[str, Any]) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Subscript):
            kind, place = self._element(target)
            number = self._as(
                "int" if kind == "IntArray" else "float" if kind == "FloatArray" else "bool", value, target
            )
            if kind == "ByteArray":
                number = self._build.zext(number, self._ir.IntType(8))
            self._build.store(number, place)
        else:
            raise self._refused(target)

    def _new(self, kind: str) -> Any:
        return self._ir.IRBuilder(self._entry).alloca(self._types[kind])

    def _set(self, name: str, value: tuple[str, Any]) -> None:
        if name not in self._places:
            self._places[name] = value[0], self._new(value[0])
        kind, place = self._places[name]
        self._build.store(self._as(kind, value, ast.Name(name)), place)

    # Expressions

    def _as(self, kind: str, value: tuple[str, Any], node: ast.AST) -> Any:
        """A value as one of a kind; floats do not become whole numbers by themselves."""
        had, number = value
        if had == kind:
            return number
        if (had, kind) == ("int", "float"):
            return self._build.sitofp(number, self._types["float"])
        if (had, kind) == ("bool", "int"):
            return self._build.zext(number, self._types["int"])
        if (had, kind) == ("int", "bool"):
            return self._build.icmp_signed("!=", number, self._types["int"](0))
        raise self._refused(node)

    def _truth(self, node: ast.expr) -> Any:
        return self._as("bool", self._value(node), node)

    def _element(self, node: ast.Subscript) -> tuple[str, Any]:
        assert isinstance(node.value, ast.Name)
        kind, array = self._given[node.value.id]
        return kind, self._build.gep(array, [self._as("int", self._value(node.slice), node)], inbounds=True)

    def _value(self, node: ast.expr) -> tuple[str, Any]:
        build, types = self._build, self._types
        match node:
            case ast.Constant(value=bool(value)):
                return "bool", types["bool"](int(value))
            case ast.Constant(value=int(value)):
                return "int", types["int"](_signed(value))
            case ast.Constant(value=float(value)):
                return "float", types["float"](value)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.Subscript(value=ast.Name()):
                kind, place = self._element(node)
                loaded = build.load(place)
                if kind == "ByteArray":
                    return "bool", build.icmp_unsigned("!=", loaded, self._ir.IntType(8)(0))
                return "int" if kind == "IntArray" else "float", loaded
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(node, op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                kind, value = self._value(operand)
                if isinstance(value, self._ir.Constant):
                    return kind, types[kind](-value.constant)
                return kind, build.fneg(value) if kind == "float" else build.neg(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return "bool", build.not_(self._truth(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return "bool", self._compared(node, op, self._value(left), self._value(right))
            case ast.BoolOp(op=op, values=values):
                return "bool", self._joined(op, values)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._called(node, name, args)
            case _:
                raise self._refused(node)

    def _named(self, node: ast.expr, name: str) -> tuple[str, Any]:
        if name in self._places:
            kind, place = self._places[name]
            return kind, self._build.load(place)
        if name in self._given:
            return self._given[name]
        value = self._globals.get(name)
        if isinstance(value, int | float):
            return self._value(ast.Constant(value))
        raise self._refused(node)

    def _operation(
        self, node: ast.AST, op: ast.operator, left: tuple[str, Any], right: tuple[str, Any]
    ) -> tuple[str, Any]:
        build = self._build
        if "float" in (left[0], right[0]) or isinstance(op, ast.Div):
            one, other = self._as("float", left, node), self._as("float", right, node)
            of_floats = {ast.Add: build.fadd, ast.Sub: build.fsub, ast.Mult: build.fmul, ast.Div: build.fdiv}
            if type(op) not in of_floats:
                raise self._refused(node)
            return "float", of_floats[type(op)](one, other, flags=_LOOSE)
        one, other = self._as("int", left, node), self._as("int", right, node)
        of_ints = {
            ast.Add: build.add, ast.Sub: build.sub, ast.Mult: build.mul, ast.BitAnd: build.and_,
            ast.BitOr: build.or_, ast.BitXor: build.xor, ast.LShift: build.shl, ast.RShift: build.ashr,
        }  # fmt: skip
        if type(op) not in of_ints:
            raise self._refused(node)
        return "int", of_ints[type(op)](one, other)

    def _compared(self, node: ast.AST, op: ast.cmpop, left: tuple[str, Any], right: tuple[str, Any]) -> Any:
        signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
        if type(op) not in signs:
            raise self._refused(node)
        if "float" in (left[0], right[0]):
            one, other = self._as("float", left, node), self._as("float", right, node)
            return self._build.fcmp_ordered(signs[type(op)], one, other)
        one, other = self._as("int", left, node), self._as("int", right, node)
        return self._build.icmp_signed(signs[type(op)], one, other)

    def _joined(self, op: ast.boolop, values: list[ast.expr]) -> Any:
        """`and` and `or`, whose later parts are only looked at where they matter."""
        build, place = self._build, self._new("bool")
        after = build.append_basic_block("joined")
        for number, value in enumerate(values):
            truth = self._truth(value)
            build.store(truth, place)
            following = after if number + 1 == len(values) else build.append_basic_block("and_or")
            if following is after:
                build.branch(after)
            elif isinstance(op, ast.And):
                build.cbranch(truth, following, after)
            else:
                build.cbranch(truth, after, following)
            build.position_at_end(following)
        return build.load(place)

    def _called(self, node: ast.expr, name: str, args: list[ast.expr]) -> tuple[str, Any]:
        build = self._build
        if name in self._known:
            known = self._known[name]
            passed = [
                self._array(each) if kind in _ARRAYS else self._as(kind, self._value(each), each)
                for each, kind in zip(args, known.kinds, strict=True)
            ]
            return known.result, build.call(known.function, passed)
        values = [self._value(each) for each in args]
        match name, values:
            case "sqrt", [value]:
                real = self._types["float"]
                root = self._module.declare_intrinsic("llvm.sqrt", [real])
                return "float", build.call(root, [self._as("float", value, node)])
            case "float", [value]:
                return "float", self._as("float", value, node)
            case "int", [("float", value)]:
                return "int", build.fptosi(value, self._types["int"])
            case "int", [value]:
                return "int", self._as("int", value, node)
            case (("min" | "max"), [one, other]):
                kind = "float" if "float" in (one[0], other[0]) else "int"
                first, second = self._as(kind, one, node), self._as(kind, other, node)
                sign: ast.cmpop = ast.Lt() if name == "min" else ast.Gt()
                truth = self._compared(node, sign, (kind, second), (kind, first))
                return kind, build.select(truth, second, first)
        raise self._refused(node)

    def _array(self, node: ast.expr) -> Any:
        """An array for another function, whole or from some place on."""
        match node:
            case ast.Name(id=name) if name in self._given:
                return self._given[name][1]
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Slice(lower=lower, upper=None, step=None)
            ) if name in self._given and lower is not None:
                start = self._as("int", self._value(lower), node)
                return self._build.gep(self._given[name][1], [start], inbounds=True)
        raise self._refused(node)


def _signed(value: int) -> int:
    """A number of 64 bits as one with a sign."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
