"""Mind Mappings' map space: how large it is, what its mappings cost on average, and the surface of the cost over two tile sizes (Fig. 3)."""
import itertools
import math
import os
import subprocess

import mindmappings_curves as curves
from paper_tools import Missing, read_table

BANKS = 16


def prime_exponents(size):
    """{prime: exponent}."""
    found, prime = {}, 2
    while size > 1:
        while size % prime == 0:
            found[prime], size = found.get(prime, 0) + 1, size // prime
        prime += 1
    return found


def divisors(size):
    return [d for d in range(1, size + 1) if size % d == 0]


def space_size(dims):
    """How many vectors a problem has before the limits of PEs and tiles: the factors of each dimension over four blocks, an order of the
    dimensions in three, and the banks of two levels with one at least for each tensor."""
    n_tensor = 3 if len(dims) == 7 else 4
    factors = math.prod(math.comb(exponent + 3, 3) for size in dims for exponent in prime_exponents(size).values())
    return factors * math.factorial(len(dims)) ** 3 * math.comb(BANKS - 1, n_tensor - 1) ** 2


def energies(runs, problem):
    """Mean and standard deviation of the energy over the algorithmic minimum, of mappings drawn uniformly, and how many."""
    row = {row["value"]: row for row in read_table(os.path.join(runs, "table1_%s.csv" % problem))}["energy_j"]
    least = curves.minimum(problem)[0]
    return float(row["mean"]) / least, float(row["deviation"]) / least, int(row["mappings"])


def pooled(moments):
    """Mean and standard deviation of equally many values of each of several groups (mean, deviation)."""
    mean = sum(m for m, _ in moments) / len(moments)
    return mean, math.sqrt(sum(d * d + m * m for m, d in moments) / len(moments) - mean * mean)


# Fig. 3: VGG Conv_2, whose 112 x 112 outputs can be cut in many ways. 16 samples and 16 input channels lie side by side on the 256 PEs; the tiles
# are those of the private buffers. Orders and banks stay.
SURFACE, SPATIAL = "vgg_conv2", (16, 16, 1, 1, 1, 1, 1)
PRIVATE_BANKS, SHARED_BANKS, ORDER = (4, 6, 6), (6, 5, 5), (0, 1, 2, 3, 4, 5, 6)


def surface_axes():
    """The tiles along both axes, by size: of the inputs (P, Q), of the weights (K, R, S)."""
    _, _, k, r, s, p, q = curves.PROBLEMS[SURFACE][0]
    inputs = sorted(itertools.product(divisors(p), divisors(q)), key=lambda tile: (tile[0] * tile[1], tile))
    weights = sorted(itertools.product(divisors(k), divisors(r), divisors(s)), key=lambda tile: (math.prod(tile), tile))
    return inputs, weights


def surface_vector(inputs, weights):
    """The vector (docs/mindmappings.md) of a mapping with these tiles: what is not private or spatial lies at the DRAM."""
    dims = curves.PROBLEMS[SURFACE][0]
    private = (1, 1, *weights, *inputs)
    dram = [size // (a * b) for size, a, b in zip(dims, SPATIAL, private)]
    return (*dims, *dram, *[1] * 7, *SPATIAL, *private, *ORDER * 3, *SHARED_BANKS, *PRIVATE_BANKS)


def surface(runs):
    """The tiles along x and y, and edp[y][x] over the algorithmic minimum, priced by the program."""
    inputs, weights = surface_axes()
    path = os.path.join(runs, "fig3_vectors.csv")
    with open(path, "w", encoding="utf-8") as file:
        for tile in weights:
            file.writelines(",".join(map(str, surface_vector(other, tile))) + "\n" for other in inputs)
    done = subprocess.run([os.environ.get("DSE", "build/dse"), "eval", "mindmappings_banks", "--vectors", path, "-f", "csv"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, encoding="utf-8")
    if done.returncode != 0:
        raise Missing("dse eval --vectors: " + done.stderr.strip())
    lines = done.stdout.splitlines()
    at = lines[0].split(",").index("edp_norm")
    values = [float(line.split(",")[at]) for line in lines[1:]]
    return inputs, weights, [values[i:i + len(inputs)] for i in range(0, len(values), len(inputs))]


def local_minima(values):
    """How many cells of values[y][x] are lower than each of their (up to four) neighbours."""
    count = 0
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            beside = [values[v][u] for u, v in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
                      if 0 <= u < len(line) and 0 <= v < len(values)]
            count += all(value < other for other in beside)
    return count
