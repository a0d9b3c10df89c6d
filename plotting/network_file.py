"""How many operations the layers of a network have. The program named in the environment variable DSE (build/dse without it) lists them."""
import csv
import functools
import os
import subprocess

from paper_tools import Missing

# Layers of the vector unit; all others multiply and accumulate.
VECTOR = {"pool", "norm", "softmax", "activation", "add", "mul", "concat", "transpose", "embedding"}


def find(name, root):
    """The file of a shipped network."""
    return os.path.join(root, "experiments", "networks", name + ".yaml")


def _size(layer):
    """Elements of the output, operations per element of it (multiply-accumulates, or those of the vector unit), and whether on the latter."""
    elements = int(layer["K"]) * int(layer["P"]) * int(layer["Q"])
    if layer["type"] not in VECTOR:
        return elements, int(layer["mac"]) // elements, False
    per = int(layer["R"]) * int(layer["S"]) if layer["type"] == "pool" else int(layer["operands"])
    return elements, per, True


@functools.lru_cache(maxsize=None)
def _table(path):
    """{layer: (elements of the output, operations per element, whether on the vector unit)}"""
    done = subprocess.run([os.environ.get("DSE", "build/dse"), "list", "layers", path, "-f", "csv"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, encoding="utf-8")
    if done.returncode != 0:
        raise Missing("dse list layers: " + done.stderr.strip())
    return {layer["layer"]: _size(layer) for layer in csv.DictReader(done.stdout.splitlines())}


def operations(path):
    """{layer: operations per element of its output}, a multiply-accumulate as two."""
    return {name: per if vector else 2 * per for name, (_, per, vector) in _table(path).items()}


def total(path):
    """Multiply-accumulates and operations of the vector unit of one sample."""
    rows = _table(path).values()
    return (sum(elements * per for elements, per, vector in rows if not vector),
            sum(elements * per for elements, per, vector in rows if vector))
