#!/usr/bin/env python3
"""Write the small models of tests/known/onnx/small, each about one thing. Needs Debian's python3-onnx (1.12).

    python3 tests/known/onnx/make_small.py
"""
import os

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small")
F, I64, I8, U8, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32
node, info = helper.make_node, helper.make_tensor_value_info


def weights(name, *shape, kind=F):
    """An initializer of zeros."""
    return numpy_helper.from_array(numpy.zeros(shape, helper.mapping.TENSOR_TYPE_TO_NP_TYPE[kind]), name)


def whole(name, *value):
    """An initializer of whole numbers."""
    return numpy_helper.from_array(numpy.array(value, numpy.int64), name)


def number(name, value, kind=numpy.int64):
    """An initializer without dimensions."""
    return numpy_helper.from_array(numpy.array(value, kind), name)


def save(name, nodes, inputs, outputs, initializers=(), value_info=(), opset=13):
    """Write NAME.onnx; outputs without shapes are given by name."""
    outputs = [info(out, F, None) if isinstance(out, str) else out for out in outputs]
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers), value_info=list(value_info))
    model = helper.make_model(graph, producer_name="make_small", opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    onnx.save(model, os.path.join(FOLDER, name + ".onnx"))


def attention(batch, tokens, width, heads, end=()):
    """Attention with one product for queries, keys and values, as exporters write it."""
    nodes = [
        node("MatMul", ["x", "w_qkv"], ["qkv0"], "qkv"), node("Add", ["qkv0", "b_qkv"], ["qkv1"]),
        node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]), node("Gather", ["shape", "one"], ["s"]),
        node("Unsqueeze", ["n", "axis0"], ["n1"]), node("Unsqueeze", ["s", "axis0"], ["s1"]),
        node("Concat", ["n1", "s1", "three", "heads", "head"], ["split"], axis=0),
        node("Reshape", ["qkv1", "split"], ["qkv2"]), node("Transpose", ["qkv2"], ["qkv3"], perm=[2, 0, 3, 1, 4]),
        node("Gather", ["qkv3", "zero"], ["q"], axis=0), node("Gather", ["qkv3", "one"], ["k"], axis=0),
        node("Gather", ["qkv3", "two"], ["v"], axis=0),
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "kt"], ["scores"], "scores"),
        node("Div", ["scores", "root"], ["scaled"]), node("Softmax", ["scaled"], ["soft"], "softmax", axis=-1),
        node("MatMul", ["soft", "v"], ["context"], "context"), node("Transpose", ["context"], ["c2"], perm=[0, 2, 1, 3]),
        node("Concat", ["n1", "s1", "width"], ["joint"], axis=0), node("Reshape", ["c2", "joint"], ["c3"]),
        node("MatMul", ["c3", "w_out"], ["y0"], "out"), node("Add", ["y0", "x"], ["y"], "sum"), *end]
    values = [weights("w_qkv", width, 3 * width), weights("b_qkv", 3 * width), weights("w_out", width, width),
              number("zero", 0), number("one", 1), number("two", 2), whole("axis0", 0), whole("three", 3), whole("heads", heads),
              whole("head", width // heads), whole("width", width), number("root", 8.0, numpy.float32)]
    return nodes, [info("x", F, [batch, tokens, width])], values


def attentions():
    """Free dimensions; a fixed batch."""
    nodes, inputs, values = attention("batch", "seq_len", 16, 4)
    save("free", nodes, inputs, ["y"], values)
    nodes, inputs, values = attention(4, 10, 16, 4)
    save("batch4", nodes, inputs, ["y"], values)
    nodes, inputs, values = attention("batch", "seq len", 16, 4)
    nodes[-1] = node("Add", ["y0", "z"], ["y"], "sum")
    save("free2", nodes, [*inputs, info("z", F, ["batch", None, 16])], ["y"], values)


def decoder(name, rotates):
    """Attention of a decoder's new tokens to those in a cache of keys and values, too; queries and keys by rotated positions."""
    nodes, half = [], {"q": "q2", "k": "k2"}
    for of in "qkv":
        nodes += [node("MatMul", ["x", "w"], [of + "0"], of), node("Reshape", [of + "0", "to_heads"], [of + "1"]),
                  node("Transpose", [of + "1"], [of + "2"], perm=[0, 2, 1, 3])]
    for of in "qk" if rotates else "":
        half[of] = of + "3"
        nodes += [node("Slice", [of + "2", "zero", "two", "last"], [of + "a"]), node("Slice", [of + "2", "two", "four", "last"], [of + "b"]),
                  node("Neg", [of + "b"], [of + "n"]), node("Concat", [of + "n", of + "a"], [of + "r"], axis=-1),
                  node("Mul", [of + "2", "cos"], [of + "c"], of + " cos"), node("Mul", [of + "r", "sin"], [of + "s"], of + " sin"),
                  node("Add", [of + "c", of + "s"], [of + "3"])]
    table = [node("Gather", ["w_" + of, "positions"], [of + "0"]) for of in ("cos", "sin")] + [
        node("Unsqueeze", [of + "0", "one"], [of]) for of in ("cos", "sin")] if rotates else []
    nodes = [*table, *nodes, node("Concat", ["past_k", half["k"]], ["keys"], "keys", axis=2),
             node("Concat", ["past_v", "v2"], ["values"], "values", axis=2), node("Transpose", ["keys"], ["kt"], perm=[0, 1, 3, 2]),
             node("MatMul", [half["q"], "kt"], ["scores0"], "scores"), node("Softmax", ["scores0"], ["soft"], "softmax", axis=-1),
             node("MatMul", ["soft", "values"], ["context0"], "context"), node("Transpose", ["context0"], ["c2"], perm=[0, 2, 1, 3]),
             node("Reshape", ["c2", "to_row"], ["c3"]), node("MatMul", ["c3", "w"], ["y"], "out")]
    past = [info(of, F, ["batch", 2, "past_len", 4]) for of in ("past_k", "past_v")]
    save(name, nodes, [info("x", F, ["batch", "seq_len", 8]), *([info("positions", I64, ["batch", "seq_len"])] if rotates else []), *past],
         ["y", "keys", "values"], [weights("w", 8, 8), weights("w_cos", 64, 4), weights("w_sin", 64, 4), whole("to_heads", 0, 0, 2, 4),
                                   whole("to_row", 0, 0, 8), whole("zero", 0), whole("one", 1), whole("two", 2), whole("four", 4), whole("last", -1)])


def decoders():
    """A cache alone, and with rotated positions."""
    decoder("cache", False)
    decoder("rotary", True)


def convolutions():
    """1-D, transposed, three-dimensional; padding by rule."""
    save("conv1d", [node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1], strides=[2]), node("Relu", ["a"], ["y"])],
         [info("x", F, [1, 8, 20])], [info("y", F, [1, 16, 10])], [weights("w", 16, 8, 3)])
    save("conv_transpose",
         [node("ConvTranspose", ["x", "w"], ["y"], "up", strides=[2, 2], kernel_shape=[3, 3], pads=[1, 1, 1, 1], output_padding=[1, 1])],
         [info("x", F, [1, 8, 7, 7])], [info("y", F, [1, 4, 14, 14])], [weights("w", 8, 4, 3, 3)])
    save("conv3d", [node("Conv", ["x", "w"], ["y"], "volume")], [info("x", F, [1, 2, 8, 8, 8])], ["y"], [weights("w", 4, 2, 3, 3, 3)])
    save("same_pad", [node("Conv", ["x", "w"], ["y"], "conv", auto_pad="SAME_UPPER", strides=[2, 2])],
         [info("x", F, ["N", 3, 224, 224])], [info("y", F, ["N", 8, 112, 112])], [weights("w", 8, 3, 3, 3)])


def quantised():
    """QuantizeLinear and DequantizeLinear round float operators, and the operators that are quantised themselves."""
    scale, zero = number("s", 0.1, numpy.float32), number("z", 0, numpy.int8)
    save("qdq", [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"]), node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        node("DequantizeLinear", ["w", "s", "z"], ["wd"]), node("Conv", ["xd", "wd"], ["a"], "conv", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"]), node("QuantizeLinear", ["b", "s", "z"], ["bq"]), node("DequantizeLinear", ["bq", "s", "z"], ["bd"]),
        node("Flatten", ["bd"], ["c"]), node("DequantizeLinear", ["v", "s", "z"], ["vd"]), node("Gemm", ["c", "vd"], ["y"], "fc", transB=1)],
        [info("x", F, [1, 3, 8, 8])], ["y"], [scale, zero, weights("w", 4, 3, 3, 3, kind=I8), weights("v", 10, 256, kind=I8)])
    zero_u = number("zu", 0, numpy.uint8)
    save("qlinear", [
        node("QLinearConv", ["x", "s", "zu", "w", "s", "z", "s", "zu"], ["a"], "conv"),
        node("Reshape", ["a", "flat"], ["b"]),
        node("QLinearMatMul", ["b", "s", "zu", "v", "s", "z", "s", "zu"], ["c"], "matmul"),
        node("MatMulInteger", ["c", "u"], ["d"], "integer"), node("Cast", ["d"], ["y"], to=F)],
        [info("x", U8, [1, 3, 4, 4])], ["y"],
        [scale, zero, zero_u, weights("w", 8, 3, 1, 1, kind=I8), whole("flat", 1, 128), weights("v", 128, 16, kind=I8),
         weights("u", 16, 5, kind=I8)])
    save("conv_integer", [node("ConvInteger", ["x", "w"], ["y"], "conv", pads=[1, 1, 1, 1])],
         [info("x", U8, [1, 3, 8, 8])], [info("y", I32, [1, 4, 8, 8])], [weights("w", 4, 3, 3, 3, kind=I8)])


def products():
    """Einsum, recurrent networks, Gemm of two activations, weights in front."""
    save("einsum", [node("Einsum", ["q", "k"], ["y"], "scores", equation="bshd,bthd->bhst")],
         [info("q", F, [1, 10, 4, 8]), info("k", F, [1, 12, 4, 8])], [info("y", F, [1, 4, 10, 12])])
    save("einsum_weights", [node("Einsum", ["x", "w"], ["y"], "project", equation="bsd,dhe->bshe")],
         [info("x", F, [1, 10, 32])], [info("y", F, [1, 10, 4, 8])], [weights("w", 32, 4, 8)])
    save("lstm", [node("LSTM", ["x", "w", "r"], ["y", "h", "c"], "lstm", hidden_size=5, direction="bidirectional")],
         [info("x", F, [7, 1, 3])], [info("y", F, [7, 2, 1, 5])], [weights("w", 2, 20, 3), weights("r", 2, 20, 5)])
    save("gru", [node("GRU", ["x", "w", "r"], ["y"], "gru", hidden_size=4)],
         [info("x", F, ["steps", "batch", 8])], ["y"], [weights("w", 1, 12, 8), weights("r", 1, 12, 4)])
    save("weights_first", [node("MatMul", ["w", "x"], ["y"], "mix")], [info("x", F, [1, 16, 9])], [info("y", F, [1, 5, 9])],
         [weights("w", 5, 16)])


def layers():
    """One node for what exporters write as many; splits; squeeze and excitation; embedding."""
    save("native", [
        node("Gather", ["table", "ids"], ["e"], "embed"), node("LayerNormalization", ["e", "g", "g"], ["n"], "norm", axis=-1),
        node("MatMul", ["n", "w"], ["h"], "up"), node("Split", ["h"], ["a", "b"], axis=-1), node("Sigmoid", ["b"], ["s"]),
        node("Mul", ["a", "s"], ["m"], "gate"), node("MatMul", ["m", "v"], ["d"], "down"), node("Add", ["d", "e"], ["y"], "sum")],
        [info("ids", I64, ["batch", 12])], ["y"],
        [weights("table", 100, 16), weights("g", 16), weights("w", 16, 64), weights("v", 32, 16)], opset=17)
    save("rms_norm", [
        node("Pow", ["x", "two"], ["p"]), node("ReduceMean", ["p"], ["m"], axes=[-1]), node("Add", ["m", "eps"], ["e"]),
        node("Sqrt", ["e"], ["r"]), node("Div", ["x", "r"], ["d"], "rms"), node("Mul", ["d", "g"], ["n"]), node("MatMul", ["n", "w"], ["y"], "linear")],
        [info("x", F, [1, 6, 8])], ["y"], [number("two", 2.0, numpy.float32), number("eps", 1e-5, numpy.float32), weights("g", 8), weights("w", 8, 24)])
    save("crop_pad", [
        node("Conv", ["x", "w"], ["a"], "conv"), node("Slice", ["a", "from", "to", "axes"], ["b"], "crop"),
        node("Pad", ["b", "pads"], ["c"], "pad"), node("MaxPool", ["c"], ["d"], "pool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("Resize", ["d", "", "scales"], ["y"], "up", mode="nearest")],
        [info("x", F, [1, 3, 10, 10])], ["y"],
        [weights("w", 8, 3, 3, 3), whole("from", 1, 0), whole("to", 7, 2**62), whole("axes", 2, 3), whole("pads", 0, 0, 0, 1, 0, 0, 1, 0),
         numpy_helper.from_array(numpy.array([1, 1, 2, 3], numpy.float32), "scales")])


def values():
    """Sizes that follow only when every operator on the way is followed."""
    save("values", [
        node("Shape", ["x"], ["s"]), node("Slice", ["s", "one", "three"], ["hw"]),  # 6, 10
        node("Cast", ["hw"], ["hwf"], to=F), node("Mul", ["hwf", "half"], ["h2"]), node("Floor", ["h2"], ["h3"]), node("Cast", ["h3"], ["h4"], to=I64),  # 3, 5
        node("Range", ["zero_s", "two_s", "one_s"], ["r"]), node("Mod", ["r", "two"], ["r2"]),  # 0, 1
        node("Equal", ["r2", "one"], ["eq"]), node("Where", ["eq", "h4", "hw"], ["wh"]),  # 6, 5
        node("ConstantOfShape", ["two"], ["zeros"]), node("Add", ["zeros", "wh"], ["wh2"]),
        node("Unsqueeze", ["r", "one"], ["index"]), node("ScatterND", ["wh2", "index", "wh2"], ["sc"]),
        node("Expand", ["one", "one"], ["lead"]), node("Gather", ["sc", "order"], ["g"]),  # 5, 6
        node("Div", ["g", "two"], ["g2"]), node("Mul", ["g2", "two"], ["g3"]), node("Sub", ["g", "g3"], ["g4"]),  # 2, 3 and 4, 6 and 1, 0
        node("Add", ["g3", "g4"], ["g5"]), node("Neg", ["one"], ["open"]), node("Concat", ["lead", "g5", "open"], ["shape"], axis=0),
        node("Reshape", ["x", "shape"], ["y"], "reshape"), node("MatMul", ["y", "w"], ["z"], "linear")],
        [info("x", F, [1, 6, 10, 4])], [info("z", F, [1, 5, 6, 3])],
        [whole("one", 1), whole("two", 2), whole("three", 3), whole("order", 1, 0), number("half", 0.5, numpy.float32), number("zero_s", 0),
         number("one_s", 1), number("two_s", 2), weights("w", 8, 3)])


def hostile():
    """What has to be refused or made legal."""
    conv = node("Conv", ["x", "w"], ["a"], "conv")
    x, w = info("x", F, [1, 3, 8, 8]), weights("w", 4, 3, 3, 3)
    save("unknown", [conv, node("FooBar", ["a"], ["b"], "foo 1"), node("FooBar", ["b"], ["c"], "foo 2"), node("Baz", ["c"], ["y"], "baz")],
         [x], ["y"], [w])
    save("ignored", [conv, node("FooBar", ["a"], ["b"], "foo"), node("Conv", ["b", "v"], ["y"], "second")], [x], ["y"],
         [w, weights("v", 5, 4, 1, 1)], [info("b", F, [1, 4, 6, 6])])
    save("wrong_info", [conv, node("Relu", ["a"], ["y"])], [x], ["y"], [w], [info("a", F, [1, 4, 7, 6])])
    branch = helper.make_graph([node("Identity", ["a"], ["t"])], "branch", [], [info("t", F, None)])
    save("if", [conv, node("If", ["c"], ["y"], "choice", then_branch=branch, else_branch=branch)],
         [x, info("c", TensorProto.BOOL, [])], ["y"], [w])
    save("cycle", [node("Add", ["x", "b"], ["a"], "one"), node("Relu", ["a"], ["b"], "two")], [x], ["a"])
    save("names", [node("Conv", ["x", "w"], ["a"], "a: \"b\"\n#c"), node("Conv", ["a", "v"], ["b"], "a: 'b'\t#c"),
                   node("Conv", ["b", "v"], ["c"], ""), node("Conv", ["c", "v"], ["y"], "///")],
         [info("x: {", F, [1, 3, 8, 8])], ["y"], [w, weights("v", 4, 4, 1, 1)])
    external = weights("w", 4, 3, 3, 3)
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    entry = external.external_data.add()
    entry.key, entry.value = "location", "no_such_file.bin"
    save("external", [conv], [x], ["a"], [external])
    model = onnx.load(os.path.join(FOLDER, "names.onnx"))
    model.graph.node[0].input[0] = "x: {"
    onnx.save(model, os.path.join(FOLDER, "names.onnx"))


os.makedirs(FOLDER, exist_ok=True)
for make in (attentions, decoders, convolutions, quantised, products, layers, values, hostile):
    make()
