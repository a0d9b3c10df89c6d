#!/usr/bin/env python3
"""ONNX models become the right layers: totals and layers of published networks (tests/known/onnx says where they are from), small models
about one thing each (tests/known/onnx/make_small.py), whose layers follow by hand, and what is refused, in which words.
With `--light FOLDER` instead the nine graphs of the package onnx, layer by layer (make check-onnx).
Tests: onnx_operators.c, onnx_shapes.c, onnx_shapes_move.c, onnx_shapes_size.c, onnx_shapes_work.c, onnx_values.c, onnx_layers.c,
onnx_graph.c, onnx_say_move.c, onnx_say_work.c, onnx_write.c, onnx_network.c.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dse", "run"))
from program import DSE, check, dse, read, run_parts, write  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
KNOWN = os.path.join(ROOT, "tests", "known", "onnx")
LISTS = {"light_shufflenet", "shufflenet_v2_x1_0"}
JOINT = {"encoder2", "vit_b_16"}  # one product for queries, keys and values, which becomes three layers


def out_of(*args):
    """What the program prints; "" when it fails."""
    done = subprocess.run([DSE, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    return done.stdout.decode() if done.returncode == 0 else ""


def known(name):
    with open(os.path.join(KNOWN, name), encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def rows(network, *more):
    """The layers as `dse list layers` has them."""
    return list(csv.DictReader(io.StringIO(out_of("list", "layers", network, "-f", "csv", *more))))


def layers(path):
    """The layers of a network file that we wrote: one mapping a line."""
    text = read(path).decode()
    return [re.sub(r'"', "", line[2:]) for line in text.split("\n") if line.startswith("- {")]


def check_totals(folder, name, path, expected):
    report = out_of("convert", path, "-o", os.path.join(folder, name + ".yaml"), "-f", "json")
    check(f"{name} is read", report != "", dse("convert", path)[1])
    if not report:
        return
    said = json.loads(report)
    check(f"{name}: multiply-accumulates", said["total"]["macs"] == int(expected["macs"]), said["total"])
    check(f"{name}: graph or list", said["kind"] == ("layers" if name in LISTS else "graph"), said.get("reason"))
    check(f"{name}: every node is counted once", all(row["nodes"] == sum(row[key] for key in (
        "read", "folded", "moves", "left_out", "refused")) for row in said["rows"]), said["rows"])
    found = rows(path)
    with_macs = [row for row in found if row["mac"]]
    joint = sum(row["layer"].endswith((".2", ".3")) for row in with_macs)  # of a product in three parts
    check(f"{name}: layers", len(with_macs) - (joint if name in JOINT else 0) == int(expected["mac_layers"]), len(with_macs))
    if expected["weights"]:
        check(f"{name}: weights", sum(int(row["weight_word"] or 0) for row in found) == int(expected["weights"]))
    check(f"{name}: the written file is the same network", rows(os.path.join(folder, name + ".yaml")) == found)


def exports(folder):
    for expected in known("totals.csv"):
        if not expected["model"].startswith("light_"):
            check_totals(folder, expected["model"], os.path.join(KNOWN, expected["model"] + ".onnx"), expected)
    same_layers("resnet50", os.path.join(KNOWN, "resnet50.onnx"), "resnet50_v1_5")


def same_layers(name, path, shipped):
    """Equal to a shipped network, layer by layer, but for names."""
    ours = [{key: value for key, value in row.items() if key != "layer"} for row in rows(path) if row["mac"]]
    theirs = [{key: value for key, value in row.items() if key != "layer"} for row in rows(shipped) if row["mac"]]
    key = lambda row: sorted(row.items())  # the order of branches is free
    check(f"{name} is {shipped}, layer by layer", sorted(ours, key=key) == sorted(theirs, key=key))


# By hand: of a model the lines of its layers, where it is a graph its only input, and the values of free dimensions.
ATTENTION = ["{name: qkv.1, type: linear, C: 16, K: 16, P: %d, from: input}", "{name: qkv.2, type: linear, C: 16, K: 16, P: %d, from: input}",
             "{name: qkv.3, type: linear, C: 16, K: 16, P: %d, from: input}",
             "{name: scores, type: matmul, C: 16, K: %d, P: %d, groups: 4, from: qkv.1, weights_from: qkv.2}",
             "{name: softmax, type: softmax, C: %d, P: %d, groups: 4, from: scores}",
             "{name: context, type: matmul, C: %d, K: 16, P: %d, groups: 4, from: softmax, weights_from: qkv.3}",
             "{name: out, type: linear, C: 16, K: 16, P: %d, from: context}", "{name: sum, type: add, C: 16, P: %d, from: [out, input]}"]


def attention(tokens):
    """Four heads of four channels each: so many keys for every head."""
    return [line % ((4 * tokens, tokens) if line.count("%d") == 2 else tokens) for line in ATTENTION]


def decoder(tokens, past):
    """Its layers for so many new tokens and cached ones: two heads of four channels."""
    product = [f"{{name: {of}, type: linear, C: 8, K: 8, P: {tokens}}}" for of in ("q", "k", "v", "out")]
    both = 2 * (tokens + past)  # of each head
    return [*product[:3], f"{{name: scores, type: matmul, C: 8, K: {both}, P: {tokens}, groups: 2}}",
            f"{{name: context, type: matmul, C: {both}, K: 8, P: {tokens}, groups: 2}}", product[3]]


SMALL = {
    "cache": (decoder(3, 5), ["--set", "network.seq_len=3", "--set", "network.past_len=5"]),
    "rotary": (decoder(2, 30), ["--set", "network.seq_len=2", "--set", "network.past_len=30"]),
    "free": (attention(128), ["--set", "network.seq_len=128"]),
    "batch4": (attention(10), []),
    "conv1d": (["{name: conv, type: conv, C: 8, K: 16, P: 10, R: 3, H: 20, W: 1, stride: [2, 1], pad: [1, 0], from: input}"], []),
    "conv_transpose": (["{name: up, type: conv_transpose, C: 8, K: 4, P: 14, Q: 14, R: 3, S: 3, H: 7, W: 7, stride: 2, pad: 1, from: input}"], []),
    "same_pad": (["{name: conv, type: conv, C: 3, K: 8, P: 112, Q: 112, R: 3, S: 3, H: 224, W: 224, stride: 2, pad: [0, 0, 1, 1], from: input}"], []),
    "conv_integer": (["{name: conv, type: conv, C: 3, K: 4, P: 8, Q: 8, R: 3, S: 3, H: 8, W: 8, pad: 1, from: input}"], []),
    "qdq": (["{name: conv, type: conv, C: 3, K: 4, P: 8, Q: 8, R: 3, S: 3, H: 8, W: 8, pad: 1, from: input}",
             "{name: fc, type: linear, C: 256, K: 10, from: conv}"], []),
    "qlinear": (["{name: conv, type: conv, C: 3, K: 8, P: 4, Q: 4, H: 4, W: 4, from: input}",
                 "{name: matmul, type: linear, C: 128, K: 16, from: conv}", "{name: integer, type: linear, C: 16, K: 5, from: matmul}"], []),
    "external": (["{name: conv, type: conv, C: 3, K: 4, P: 6, Q: 6, R: 3, S: 3, H: 8, W: 8, from: input}"], []),
    "einsum": (["{name: scores, type: matmul, C: 32, K: 48, P: 10, groups: 4, from: q, weights_from: k}"], []),
    "einsum_weights": (["{name: project, type: linear, C: 32, K: 32, P: 10, from: input}"], []),
    "weights_first": (["{name: mix, type: linear, C: 16, K: 5, P: 9, from: input}"], []),
    "lstm": (["{name: lstm.W, type: linear, C: 3, K: 20, P: 7}", "{name: lstm.R, type: linear, C: 5, K: 20, count: 7}",
              "{name: lstm.W.reverse, type: linear, C: 3, K: 20, P: 7}", "{name: lstm.R.reverse, type: linear, C: 5, K: 20, count: 7}"], []),
    "gru": (["{name: gru.W, type: linear, C: 8, K: 12, P: 9}", "{name: gru.R, type: linear, C: 4, K: 12, count: 9}"],
            ["--set", "network.steps=9"]),
    "native": (["{name: embed, type: embedding, C: 100, K: 16, P: 12, from: input}", "{name: norm, type: norm, C: 16, P: 12, from: embed}",
                "{name: up.1, type: linear, C: 16, K: 32, P: 12, from: norm}", "{name: up.2, type: linear, C: 16, K: 32, P: 12, from: norm}",
                "{name: gate, type: mul, C: 32, P: 12, from: [up.1, up.2]}", "{name: down, type: linear, C: 32, K: 16, P: 12, from: gate}",
                "{name: sum, type: add, C: 16, P: 12, from: [down, embed]}"], []),
    "rms_norm": (["{name: rms, type: norm, C: 8, P: 6, from: input}", "{name: linear, type: linear, C: 8, K: 24, P: 6, from: rms}"], []),
    "crop_pad": (["{name: conv, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, H: 10, W: 10, from: input}",
                  "{name: crop, type: crop, C: 8, P: 6, Q: 8, offset: [1, 0], from: conv}",
                  "{name: pad, type: pool, C: 8, P: 7, Q: 9, H: 6, W: 8, pad: [0, 1, 1, 0], from: crop}",
                  "{name: pool, type: pool, C: 8, P: 4, Q: 5, R: 2, S: 2, H: 7, W: 9, stride: 2, pad: [0, 0, 1, 1], from: pad}",
                  "{name: up, type: upsample, C: 8, P: 8, Q: 15, factor: [2, 3], from: pool}"], []),
    "values": (["{name: linear, type: linear, C: 8, K: 3, P: 30}"], []),
    "ignored": (["{name: conv, type: conv, C: 3, K: 4, P: 6, Q: 6, R: 3, S: 3, H: 8, W: 8, from: input}",
                 "{name: second, type: conv, C: 4, K: 5, P: 6, Q: 6, H: 6, W: 6, from: conv}"], ["--ignore", "FooBar"]),
    "names": (["{name: a___b___c, type: conv, C: 3, K: 4, P: 6, Q: 6, R: 3, S: 3, H: 8, W: 8, from: input}",
               "{name: a___b___c-2, type: conv, C: 4, K: 4, P: 6, Q: 6, H: 6, W: 6, from: a___b___c}",
               "{name: Conv, type: conv, C: 4, K: 4, P: 6, Q: 6, H: 6, W: 6, from: a___b___c-2}",
               "{name: Conv-2, type: conv, C: 4, K: 4, P: 6, Q: 6, H: 6, W: 6, from: Conv}"], []),
}
REFUSED = {
    "unknown": "operators that are not read: FooBar (2, first foo 1), Baz (1, first baz); `dse convert MODEL.onnx --ignore OPERATOR -o MODEL.yaml` takes one as free, where the model says the shape of its result, and writes the network to go on with",
    "if": "operators that are not read: If (1, first choice)",
    "conv3d": "operators that are not read: Conv of three dimensions (1, first volume)",
    "free": "1 free dimension without a value: seq_len; give it by --set network.seq_len=128",
    "free2": "2 free dimensions without a value: seq_len, z_1; give them by",
    "wrong_info": "node conv (Conv): its result a is 1 x 4 x 6 x 6, but the model says 1 x 4 x 7 x 6",
    "cycle": "it needs its own result: the graph has a cycle",
}


def small(folder):
    for name, (expected, options) in SMALL.items():
        path = os.path.join(folder, name + ".yaml")
        code, said = dse("convert", os.path.join(KNOWN, "small", name + ".onnx"), "-o", path, *options)
        check(f"{name} is read", code == 0, said)
        found = layers(path) if code == 0 else []
        check(f"{name}: layers", found == expected, found)
    for name, words in (("cache", "node keys (Concat): it puts rows behind rows, as a cache of keys and values does"),
                        ("rotary", "(Concat): it puts channels of each group behind one another, as rotated positions do")):
        check(f"{name} is a list, and why", words in read(os.path.join(folder, name + ".yaml")).decode())
    for name, words in REFUSED.items():
        code, said = dse("check", os.path.join(KNOWN, "small", name + ".onnx"))
        check(f"{name} is refused in these words", code == 2 and words in said and said.count("\n") == 1, said)


def wherever(folder):
    """A path of an ONNX file where a network is expected; free dimensions as axes; the result file alone is enough to compute again."""
    free, small_net = os.path.join(KNOWN, "small", "free.onnx"), os.path.join(KNOWN, "small", "qdq.onnx")
    options = ["--set", "network.seq_len=24", "--max-evaluations", "50"]
    check("map", "qkv.1" in out_of("map", "simba", free, "-l", "qkv.1", *options))
    mapping = write(os.path.join(folder, "mapping.yaml"), out_of("map", "simba", small_net, "-l", "conv", "--max-evaluations", "50", "-f", "yaml"))
    check("eval", "cycles" in out_of("eval", "simba", small_net + ":conv", mapping))
    schedule = out_of("map", "soma_edge", free, "-e", "soma", "-b", "1", "--set", "network.seq_len=24", "--max-evaluations", "20", "-f", "yaml")
    path = write(os.path.join(folder, "schedule.yaml"), schedule)
    check("a schedule of a model with free dimensions is read back", dse("eval", "soma_edge", free, path)[0] == 0, dse("eval", "soma_edge", free, path)[1])
    shuffled = os.path.join(KNOWN, "shufflenet_v2_x1_0.onnx")
    code, said = dse("map", "soma_edge", shuffled, "-e", "soma")
    check("a fused engine names the node in the way", code == 2 and "node /stage2/stage2.1/Slice (Slice)" in said, said)
    check("a mapper takes the list", out_of("map", "simba", shuffled, "--max-evaluations", "5") != "")
    spec = write(os.path.join(folder, "spec.yaml"), f"""experiment: onnx
architecture: simba
engine: random
limits: {{max_evaluations: 20}}
axes:
  network: ["{free}"]
  network.seq_len: [8, 16]
""")
    h5 = os.path.join(folder, "onnx.h5")
    check("check of a specification", dse("check", spec)[0] == 0, dse("check", spec)[1])
    code, said = dse("run", spec, "-o", h5)
    check("run", code == 0, said)
    table = sorted(csv.DictReader(io.StringIO(read(h5[:-3] + ".csv").decode())), key=lambda row: int(row["network.seq_len"]))
    check("more tokens, more work", len(table) == 2 and float(table[0]["edp_js"]) < float(table[1]["edp_js"]), table)
    code, said = dse("rerun", h5, "--all")
    check("rerun from the file alone", code == 0, said)


def light(folder):
    """Nine graphs of the package onnx, which lie in the folder after --light."""
    totals = {row["model"]: row for row in known("totals.csv")}
    for name in sorted({row["model"] for row in known("light_layers.csv")}):
        path = os.path.join(sys.argv[2], name + ".onnx")
        check_totals(folder, name, path, totals[name])
        expected = [row for row in known("light_layers.csv") if row["model"] == name]
        text = {line.split(",", 1)[0][len("{name: "):]: line for line in layers(os.path.join(folder, name + ".yaml"))}
        found = {row["layer"]: row for row in rows(path)}
        for row in expected:
            layer, line = found.get(row["node"]), text.get(row["node"], "")
            pads = [int(row[key]) for key in ("pad_top", "pad_left", "pad_bottom", "pad_right")]
            same = layer is not None and all(layer[theirs] == row[ours] for ours, theirs in (("K", "K"), ("macs", "mac"), ("weights", "weight_word"),
                                                                                         ("groups", "groups")))
            if same and row["op"] == "Conv":
                same = all(layer[key] == row[key] for key in "CHWRSPQ") and pair(line, "stride") == [int(row["stride_h"]), int(row["stride_w"])]
                same = same and padding(line) == pads and pair(line, "dilation") == [int(row["dilation_h"]), int(row["dilation_w"])]
            elif same:
                same = int(layer["C"]) == int(row["C"]) * int(row["H"] or 1) * int(row["W"] or 1)
            check(f"{name}: layer {row['node']}", same, (row, layer, line))
    same_layers("light_vgg19", os.path.join(sys.argv[2], "light_vgg19.onnx"), "vgg19")


def numbers(line, key):
    said = re.search(rf"\b{key}: (\[[^]]*\]|\d+)", line)
    return [int(number) for number in re.findall(r"\d+", said.group(1))] if said else []


def pair(line, key):
    return (numbers(line, key) * 2 or [1, 1])[:2]


def padding(line):
    said = numbers(line, "pad")
    return said if len(said) == 4 else (said * 4 or [0] * 4)[:4]


run_parts(*([light] if sys.argv[1:2] == ["--light"] else [exports, small, wherever]))
