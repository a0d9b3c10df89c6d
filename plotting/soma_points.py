"""What the figures of SoMa take of the sweeps of experiments/soma: their points, of Fig. 6 all schedulers of each, and what the paper makes of two."""
import os

import network_file
from paper_tools import Missing, number, ratio, read_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Fig. 6 in its order: name in the report, title, network on the edge and on the cloud chip.
NETWORKS = [("resnet50", "ResNet-50", "resnet50_soma", "resnet50_soma"),
            ("resnet101", "ResNet-101", "resnet101_soma", "resnet101_soma"),
            ("ires", "Inception-ResNet v1", "inception_resnet_v1", "inception_resnet_v1"),
            ("randwire", "RandWire", "randwire_small", "randwire_small"),
            ("prefill", "GPT-2 prefill", "gpt2_small_prefill512", "gpt2_xl_prefill1024"),
            ("decode", "GPT-2 decode", "gpt2_small_decode513", "gpt2_xl_decode1025")]
PLATFORMS = [("soma_edge", "Edge: 16 TOPS, 8 MB, 16 GB/s"), ("soma_cloud", "Cloud: 128 TOPS, 32 MB, 128 GB/s")]
BATCHES = [1, 4, 16, 64]
# Multiply-accumulates per cycle (16 PEs x 16 x 32, 16 PEs x 64 x 64), and how many times fewer operations of the vector unit.
MACS, VECTOR = {"soma_edge": 8192, "soma_cloud": 65536}, 16


def mean(values):
    """The arithmetic mean, which is the paper's "on average"; None when there is nothing."""
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def saved(a, b):
    """By how many percent b is less than a."""
    share = ratio(b, a)
    return None if share is None else 100 * (1 - share)


class Point:
    """One point of a sweep: `row`, and what the figures take of it."""

    def __init__(self, row):
        self.row = row
        self.architecture, self.network, self.batch = row.get("architecture", "soma_edge"), row["network"], int(row["batch"])

    def get(self, column):
        return number(self.row.get(column))

    @property
    def stage1_cycles(self):
        """Latency after SoMa's first stage; of other schedulers the latency."""
        return self.get("stage1_latency_cycle") or self.get("latency_cycle")

    def utilisation(self, cycles):
        """Util(t) of Fig. 6: the network's operations over what the chip could do meanwhile, where the vector unit's operations count as the
        multiply-accumulates that it replaces, as in the published program."""
        _, vector = network_file.total(network_file.find(self.network, ROOT))
        return (self.get("n_mac") + VECTOR * vector * self.batch) / (MACS[self.architecture] * cycles) if cycles else None

    @property
    def bound(self):
        """The shortest latency of stage 2: all tiles, or all transfers, without a stall."""
        return max(self.get("compute_cycle"), self.get("dram_cycle"))


def points(runs, name, keys):
    """The sweep's good points: {values of `keys`: Point}; of equal ones the newest."""
    found = {}
    for row in read_table(os.path.join(runs, name + ".csv")):
        point = Point(row)
        key = tuple(int(row[k]) if k == "batch" else row.get(k, "soma_edge") for k in keys)
        if row["status"] == "ok":
            found[key] = point
        else:
            found.pop(key, None)
    if not found:
        raise Missing("no schedule in %s" % name)
    return found


class Overall:
    """The points of Fig. 6: for each platform, network and batch those of all schedulers."""

    def __init__(self, runs):
        keys = ["architecture", "network", "batch"]
        self.points = points(runs, "fig6", keys + ["engine"])
        for name, engine in (("fig6_parallel", "parallel"), ("fig6_plus", "soma-plus")):
            try:
                self.points.update((key + (engine,), point) for key, point in points(runs, name, keys).items())
            except Missing:
                pass
        self.cells = [(platform, key, names[i], batch) for i, (platform, _) in enumerate(PLATFORMS)
                      for key, _, *names in NETWORKS for batch in BATCHES
                      if all((platform, names[i], batch, engine) in self.points for engine in ("cocco", "soma"))]
        if not self.cells:
            raise Missing("fig6 has no point with both schedulers")

    def of(self, cell, engine):
        """The point of a cell; None when there is none. `parallel` is the other reading of Cocco."""
        platform, _, network, batch = cell
        return self.points.get((platform, network, batch, engine))

    def mean(self, function, engine="cocco", key=None, cells=None):
        """Mean over cells (of one network: `key`) of function(point of the engine, SoMa's point)."""
        pairs = [(self.of(cell, engine), self.of(cell, "soma")) for cell in cells or self.cells if key in (None, cell[1])]
        return mean([function(other, soma) for other, soma in pairs if other])


def speedup(other, soma):
    return other.get("latency_cycle") / soma.get("latency_cycle")


def energy_saved(other, soma):
    return saved(other.get("energy_j"), soma.get("energy_j"))


def core_energy(point):
    return point.get("energy_j") - point.get("energy_dram_j")
