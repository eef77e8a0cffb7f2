"""ONNX models of one or a few nodes, imported into Relax: a function a case or contrast."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from onnx import ModelProto, NodeProto, ValueInfoProto, helper, numpy_helper
from tvm.relax.frontend.onnx import from_onnx

Shape = tuple[int, ...]


def imported(
    nodes: list[NodeProto],
    inputs: dict[str, tuple[str, Shape]],
    constants: dict[str, Any] | None = None,
    opset: int = 18,
) -> tvm.IRModule:
    """The module of a graph that returns what its last node makes.

    `inputs` are dtypes and shapes by name, `constants` arrays by name.
    """
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        for name, (dtype, shape) in inputs.items()
    ]
    weights = [
        numpy_helper.from_array(np.asarray(value), name)
        for name, value in (constants or {}).items()
    ]
    outputs = [ValueInfoProto(name=name) for name in nodes[-1].output]
    graph = helper.make_graph(nodes, "model", infos, outputs, weights)
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return from_onnx(model)


def node(op: str, *inputs: str, to: str = "z", **attributes: Any) -> NodeProto:
    """A node with one output."""
    return helper.make_node(op, inputs, [to], **attributes)


def _div(a: int, b: int) -> tvm.IRModule:
    constants = {"a": np.array([a], "int64"), "b": np.array([b], "int64")}
    nodes = [node("Div", "a", "b", to="q"), node("Add", "x", "q")]
    return imported(nodes, {"x": ("int64", (1,))}, constants)


def div_of_large_constants() -> tvm.IRModule:
    return _div(2**53 + 1, 1)


def div_of_small_constants() -> tvm.IRModule:
    return _div(-7, 2)


def div_of_inputs() -> tvm.IRModule:
    return imported([node("Div", "x", "y")], {"x": ("int64", (1,)), "y": ("int64", (1,))})


def gather_elements() -> tvm.IRModule:
    inputs = {"x": ("float32", (2, 3)), "i": ("int64", (2, 2))}
    return imported([node("GatherElements", "x", "i", axis=1)], inputs)


def gather() -> tvm.IRModule:
    inputs = {"x": ("float32", (2, 3)), "i": ("int64", (2,))}
    return imported([node("Gather", "x", "i", axis=1)], inputs)


def one_hot() -> tvm.IRModule:
    constants = {"depth": np.array(4, "int64"), "values": np.array([0, 1], "int64")}
    return imported([node("OneHot", "i", "depth", "values")], {"i": ("int64", (3,))}, constants)


def one_hot_with_depth_in_a_list() -> tvm.IRModule:
    constants = {"depth": np.array([4], "int64"), "values": np.array([0, 1], "int64")}
    return imported([node("OneHot", "i", "depth", "values")], {"i": ("int64", (3,))}, constants)


def _scatter(shape: Shape, axis: int) -> tvm.IRModule:
    inputs = {"x": ("float32", (2, 2, 2)), "i": ("int64", shape), "u": ("float32", shape)}
    return imported([node("ScatterElements", "x", "i", "u", axis=axis)], inputs)


def scatter_elements_of_one_column() -> tvm.IRModule:
    return _scatter((1, 2, 1), 0)


def scatter_elements_of_one_row() -> tvm.IRModule:
    return _scatter((2, 1, 1), 2)


def scatter_elements_of_a_slice() -> tvm.IRModule:
    return _scatter((1, 2, 2), 0)


def _resize(width: int, **attributes: Any) -> tvm.IRModule:
    resize = node("Resize", "x", "", "scales", mode="nearest", **attributes)
    constants = {"scales": np.array([1, 1, 1, 1.5], "float32")}
    return imported([resize], {"x": ("float32", (1, 1, 1, width))}, constants)


def resize_three() -> tvm.IRModule:
    return _resize(3, coordinate_transformation_mode="half_pixel")


def resize_three_from_the_left() -> tvm.IRModule:
    return _resize(3, coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def resize_four() -> tvm.IRModule:
    return _resize(4, coordinate_transformation_mode="half_pixel")


def _resize_corners(height: int) -> tvm.IRModule:
    corners = {"coordinate_transformation_mode": "align_corners"}
    resize = node("Resize", "x", "", "", "sizes", mode="linear", **corners)
    constants = {"sizes": np.array([1, 1, height, 3], "int64")}
    return imported([resize], {"x": ("float32", (1, 1, height, 2))}, constants)


def resize_one_row_by_corners() -> tvm.IRModule:
    return _resize_corners(1)


def resize_two_rows_by_corners() -> tvm.IRModule:
    return _resize_corners(2)


def squeeze_by_attribute() -> tvm.IRModule:
    return imported([node("Squeeze", "x", axes=[0])], {"x": ("float32", (1, 2, 1))}, opset=11)


def squeeze_by_input() -> tvm.IRModule:
    constants = {"axes": np.array([0], "int64")}
    return imported([node("Squeeze", "x", "axes")], {"x": ("float32", (1, 2, 1))}, constants)


def _prelu(slope: Any) -> tvm.IRModule:
    constants = {"slope": np.array(slope, "float32")}
    return imported([node("PRelu", "x", "slope")], {"x": ("float32", (1, 2, 2, 2))}, constants)


def prelu_by_channel() -> tvm.IRModule:
    return _prelu([[[0.5]], [[0.25]]])


def prelu_by_column() -> tvm.IRModule:
    return _prelu([0.5, 0.25])


def prelu_by_one_number() -> tvm.IRModule:
    return _prelu([0.5])


def _reduced(op: str) -> tvm.IRModule:
    constants = {"a": np.array([1, 5], "float32"), "b": np.array([4, 2], "float32")}
    nodes = [node(op, "a", "b", to="m"), node("Add", "x", "m")]
    return imported(nodes, {"x": ("float32", (2,))}, constants)


def max_of_constants() -> tvm.IRModule:
    return _reduced("Max")


def mean_of_constants() -> tvm.IRModule:
    return _reduced("Mean")


def _one_reduced(op: str) -> tvm.IRModule:
    nodes = [node(op, "a", to="m"), node("Add", "x", "m")]
    return imported(nodes, {"x": ("float32", (2,))}, {"a": np.array([1, 5], "float32")})


def max_of_one_constant() -> tvm.IRModule:
    return _one_reduced("Max")


def mean_of_one_constant() -> tvm.IRModule:
    return _one_reduced("Mean")


def max_with_an_input() -> tvm.IRModule:
    constants = {"a": np.array([1, 5], "float32")}
    return imported([node("Max", "x", "a")], {"x": ("float32", (2,))}, constants)


def pad_on_one_axis() -> tvm.IRModule:
    constants = {
        "pads": np.array([1, 2], "int64"),
        "value": np.array(7, "float32"),
        "axes": np.array([1], "int64"),
    }
    pad = node("Pad", "x", "pads", "value", "axes")
    return imported([pad], {"x": ("float32", (2, 2))}, constants)


def pad_on_all_axes() -> tvm.IRModule:
    constants = {"pads": np.array([0, 1, 0, 2], "int64"), "value": np.array(7, "float32")}
    return imported([node("Pad", "x", "pads", "value")], {"x": ("float32", (2, 2))}, constants)


def reshape_to_nothing() -> tvm.IRModule:
    constants = {"shape": np.array([3, 0], "int64")}
    reshape = node("Reshape", "x", "shape", allowzero=1)
    return imported([reshape], {"x": ("float32", (0, 3))}, constants)


def reshape_of_constant_keeping_a_size() -> tvm.IRModule:
    constants = {"a": np.array([[1, 2]], "float32"), "shape": np.array([0, 2], "int64")}
    nodes = [node("Reshape", "a", "shape", to="r"), node("Add", "x", "r")]
    return imported(nodes, {"x": ("float32", (1, 2))}, constants)


def reshape_keeping_a_size() -> tvm.IRModule:
    constants = {"shape": np.array([0, 2], "int64")}
    return imported([node("Reshape", "x", "shape")], {"x": ("float32", (1, 2))}, constants)


def is_positive_inf() -> tvm.IRModule:
    return imported([node("IsInf", "x", detect_negative=0)], {"x": ("float32", (3,))})


def is_negative_inf() -> tvm.IRModule:
    return imported([node("IsInf", "x", detect_positive=0)], {"x": ("float32", (3,))})


def is_inf() -> tvm.IRModule:
    return imported([node("IsInf", "x")], {"x": ("float32", (3,))})


def slice_by_attributes() -> tvm.IRModule:
    slicing = node("Slice", "x", starts=[1], ends=[3], axes=[0])
    return imported([slicing], {"x": ("float32", (4,))}, opset=9)


def slice_by_inputs() -> tvm.IRModule:
    constants = {"start": np.array([1], "int64"), "end": np.array([3], "int64")}
    return imported([node("Slice", "x", "start", "end")], {"x": ("float32", (4,))}, constants)


def _conv_transpose(**attributes: Any) -> tvm.IRModule:
    inputs = {"x": ("float32", (1, 1, 2)), "w": ("float32", (1, 1, 3))}
    return imported([node("ConvTranspose", "x", "w", strides=[2], **attributes)], inputs)


def conv_transpose_to_a_shape() -> tvm.IRModule:
    return _conv_transpose(output_shape=[3])


def conv_transpose_with_pads() -> tvm.IRModule:
    """What the shape above stands for: one element less on each side."""
    return _conv_transpose(pads=[1, 1])


def pow_of_integers() -> tvm.IRModule:
    inputs = {"x": ("int64", (3,)), "y": ("int64", (3,))}
    return imported([node("Pow", "x", "y")], inputs)


def pow_of_float_by_integer() -> tvm.IRModule:
    inputs = {"x": ("float32", (3,)), "y": ("int64", (3,))}
    return imported([node("Pow", "x", "y")], inputs)


def pow_of_floats() -> tvm.IRModule:
    inputs = {"x": ("float32", (3,)), "y": ("float32", (3,))}
    return imported([node("Pow", "x", "y")], inputs)
