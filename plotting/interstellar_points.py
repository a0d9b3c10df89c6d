"""What the figures of Interstellar take of the sweeps of experiments/interstellar: the energies of layers by level, sums over a network, and the
machines that stand for a best size."""
import os

from paper_tools import Missing, number, ratio, read_table

ALEXNET = ["CONV1", "CONV2", "CONV3", "CONV4", "CONV5", "FC1", "FC2", "FC3"]
CONV = ALEXNET[:5]
WORD_BYTE, HOP_J = 2, 0.035e-12  # 16 bit; Table 3


class Layer:
    """A layer's row: energies in J, of all its copies."""

    def __init__(self, row):
        self.row, self.name, self.count = row, row["layer"], int(row["count"])
        self.levels = [column[:-len(".energy_j")] for column in row if column.endswith(".energy_j") and number(row[column]) is not None]

    def get(self, column):
        value = number(self.row.get(column))
        return None if value is None else value * self.count

    @property
    def energy(self):
        return self.get("energy_j")

    @property
    def without_macs(self):
        return self.energy - self.get("energy_mac_j")

    def parts(self):
        """Energies, innermost level first: its memory, and the array around it where there is one; at last the MACs."""
        inward = [(level, self.get(level + ".energy_j")) for level in sorted(self.levels, key=order)]
        at = max(i for i, (level, _) in enumerate(inward) if level.startswith("RF")) + 1
        return dict(inward[:at] + [("array", self.get("energy_noc_j"))] + inward[at:] + [("MAC", self.get("energy_mac_j"))])

    def accesses(self, level):
        return self.get(level + ".byte") / WORD_BYTE

    def rf_share(self, hops):
        """The share of accesses that the register file serves; with `hops` every hop is an access, too."""
        rest = sum(self.accesses(level) for level in ("SRAM", "DRAM")) + (self.get("energy_noc_j") / HOP_J if hops else 0)
        return self.accesses("RF") / (self.accesses("RF") + rest)


def order(level):
    """Sorts levels from the MACs outwards: RF, RF1, RF2, SRAM, DRAM."""
    return (["RF", "RF1", "RF2", "SRAM", "DRAM"].index(level), level)


def cells(runs, name, keys):
    """Of a sweep the layers at each value of `keys`: {values: {name of layer: Layer}}; infeasible ones are not there."""
    found = {}
    for row in read_table(os.path.join(runs, name + ".layers.csv")):
        key = tuple(row[k] for k in keys)
        at = found.setdefault(key[0] if len(keys) == 1 else key, {})
        if row["status"] == "ok":
            at[row["layer"]] = Layer(row)
    if not found:
        raise Missing("%s.layers.csv has no rows" % name)
    return found


def total(layers, names=tuple(ALEXNET)):
    """The energy of these layers in J, MACs included; None when one is missing."""
    return sum(layers[name].energy for name in names) if all(name in layers for name in names) else None


def totals(found, names=tuple(ALEXNET)):
    """{key: energy} of the cells that have all layers."""
    sums = {key: total(layers, names) for key, layers in found.items()}
    return {key: value for key, value in sums.items() if value is not None}


def best(sums, keep=lambda key: True):
    """The key of the least energy among those that `keep` accepts, and the energy; None, None when there is none."""
    kept = {key: value for key, value in sums.items() if keep(key)}
    key = min(kept, key=kept.get) if kept else None
    return key, kept.get(key)


def size(byte):
    """A capacity as the paper writes it."""
    byte = int(float(byte))
    return "%d B" % byte if byte < 1024 else "%d KB" % (byte // 1024) if byte < 1 << 20 else "%d MB" % (byte >> 20)


def saved(a, b):
    """By how many percent b is less than a."""
    share = ratio(b, a)
    return None if share is None else 100 * (1 - share)
