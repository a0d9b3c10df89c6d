"""How many operations the layers of a network file have. A layer is one line, as in all shipped files (docs/networks.md)."""
import functools
import os
import re

# Layers of the vector unit; all others multiply and accumulate.
VECTOR = {"pool", "norm", "softmax", "activation", "add", "mul", "concat", "transpose", "embedding"}


def find(name, root):
    """The file of a shipped network."""
    return os.path.join(root, "experiments", "networks", name + ".yaml")


def _layers(path):
    """The layers as dictionaries of text."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("- {name:"):
                yield dict(re.findall(r"(\w+): (\[[^\]]*\]|[^,}]+)", line))


def _sizes(layer, channels):
    """Channels and elements of the output, and operations per element of it: multiply-accumulates, or those of the vector unit."""
    at = {key: int(layer.get(key, 1)) for key in ("C", "K", "P", "Q", "R", "S")}
    if layer["type"] in ("depthwise", "pool"):
        per = at["R"] * at["S"]
    elif layer["type"] in ("add", "mul"):
        per = sum(channels[name.strip()] for name in layer["from"].strip("[]").split(",")) // at["C"]
    elif layer["type"] in VECTOR:
        per = 1
    else:
        per = at["C"] // int(layer.get("groups", 1)) * at["R"] * at["S"]
    k = at["K"] if "K" in layer else at["C"]
    return k, k * at["P"] * at["Q"], per


@functools.lru_cache(maxsize=None)
def _table(path):
    """{layer: (elements of the output, operations per element, whether on the vector unit)}"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    channels = {"input": int((re.search(r"^input: {C: (\d+)", text, re.MULTILINE) or [0, 0])[1])}
    channels.update((name, int(c)) for name, c in re.findall(r"^  (\w+): {C: (\d+)", text, re.MULTILINE))
    table = {}
    for layer in _layers(path):
        channels[layer["name"]], elements, per = _sizes(layer, channels)
        table[layer["name"]] = (elements, per, layer["type"] in VECTOR)
    return table


def operations(path):
    """{layer: operations per element of its output}, a multiply-accumulate as two."""
    return {name: per if vector else 2 * per for name, (_, per, vector) in _table(path).items()}


def total(path):
    """Multiply-accumulates and operations of the vector unit of one sample."""
    rows = _table(path).values()
    return (sum(elements * per for elements, per, vector in rows if not vector),
            sum(elements * per for elements, per, vector in rows if vector))
