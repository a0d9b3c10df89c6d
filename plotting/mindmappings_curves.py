"""Convergence of Mind Mappings' searches: means over the seeds of a sweep, over evaluations and over time, for any price of an evaluation.

A run is the trace of one search (columns trace and trace_seconds of a sweep's OUT.layers.csv). A method is a list of variants, each a list of
runs that differ in their seed: what a method has reached at a time is the least of its variants' means, for a search that is told how long it
may take is told to take that long.
"""
import os

from paper_tools import Missing, geomean, read_table

MODES = ["autobypass", "mustfit"]
# Table 1 in its order, the letters those of the vectors: N C K R S P Q, and I J K L; then the name in the figures.
PROBLEMS = {
    "resnet_conv3": ((16, 128, 128, 3, 3, 28, 28), "ResNet Conv_3"),
    "resnet_conv4": ((16, 256, 256, 3, 3, 14, 14), "ResNet Conv_4"),
    "inception_conv2": ((32, 192, 192, 3, 3, 56, 56), "Inception Conv_2"),
    "vgg_conv2": ((16, 64, 128, 3, 3, 112, 112), "VGG Conv_2"),
    "alexnet_conv2": ((8, 96, 256, 5, 5, 27, 27), "AlexNet Conv_2"),
    "alexnet_conv4": ((8, 384, 384, 3, 3, 13, 13), "AlexNet Conv_4"),
    "mttkrp_0": ((128, 1024, 4096, 2048), "MTTKRP_0"),
    "mttkrp_1": ((2048, 4096, 1024, 128), "MTTKRP_1"),
}
CNN = [name for name in PROBLEMS if not name.startswith("mttkrp")]
MTTKRP = [name for name in PROBLEMS if name.startswith("mttkrp")]


def minimum(problem):
    """The algorithmic minimum of the authors' program: energy in J and cycles. Every word once at each level (200, 2.2 and 1.12 pJ), every MAC
    (1 pJ); all 256 PEs busy. The inputs' halo is left out, as there."""
    dims = PROBLEMS[problem][0]
    if len(dims) == 7:
        n, c, k, r, s, p, q = dims
        macs, words = n * c * k * r * s * p * q, n * p * q * c + r * s * c * k + n * p * q * k
    else:
        i, j, k, l = dims
        macs, words = i * j * k * l, i * j + i * k * l + k * j + l * j
    return (words * (200 + 2.2 + 1.12) + macs * 1.0) * 1e-12, macs / 256


def minimum_edp(problem):
    """In J s, at 1 GHz."""
    energy, cycles = minimum(problem)
    return energy * cycles * 1e-9


class Run:
    """One search: `points` (evaluation, processor seconds, cost) where it found something better, and how many evaluations it made in all."""

    def __init__(self, points, evaluations, before=0):
        self.points, self.evaluations = points, evaluations
        self.before = before  # evaluations before the first that counts: trial moves of annealing

    def at_evaluation(self, n):
        """The best of the first n evaluations; None when there is none."""
        return self._last(n, lambda point: point[0])

    def at_time(self, t, price):
        """The best after t seconds, where each evaluation takes `price` seconds besides."""
        return self._last(t, lambda point: point[1] + price * (point[0] + self.before))

    def _last(self, limit, place):
        best = None
        for point in self.points:
            if place(point) > limit:
                break
            best = point[2]
        return best


def read_runs(runs, name):
    """The rows of a sweep with their runs, costs over the algorithmic minimum: (row, problem, Run)."""
    for row in read_table(os.path.join(runs, name + ".layers.csv")):
        if row["status"] != "ok" or not row.get("trace"):
            continue
        problem = row["network"].replace("mindmappings_", "")
        least, pairs = minimum_edp(problem), [entry.split(":") for entry in row["trace"].split()]
        points = [(int(n), float(s), float(cost) / least) for (n, cost), s in zip(pairs, row["trace_seconds"].split())]
        evaluations = int(row["evaluations"])
        before = int(row["draws"]) - evaluations if row.get("option.cost") == "raw" else 0
        yield row, problem, Run(points, evaluations, before)


def collect(runs, name, key):
    """{key of the row: {problem: [Run]}} of a sweep."""
    found = {}
    for row, problem, run in read_runs(runs, name):
        found.setdefault(key(row), {}).setdefault(problem, []).append(run)
    if not found:
        raise Missing("%s.layers.csv has no searches" % name)
    return found


def mean(values):
    """The arithmetic mean; None when one of them is not there yet."""
    return None if not values or None in values else sum(values) / len(values)


def after(run_list, n):
    """The mean over runs of the best of n evaluations."""
    return mean([run.at_evaluation(n) for run in run_list])


def at_time(variants, t, price=0.0):
    """The mean of the best after t seconds, of the variant for which it is least; None when none has found something in each run."""
    known = [value for value in (mean([run.at_time(t, price) for run in run_list]) for run_list in variants) if value is not None]
    return min(known) if known else None


def seconds_per_evaluation(run_list):
    """Processor seconds of a step: from the first improvement to the last, over the evaluations between them, of all runs together."""
    spans = [(run.points[-1][1] - run.points[0][1], run.points[-1][0] - run.points[0][0]) for run in run_list]
    steps = sum(n for _, n in spans)
    return sum(s for s, _ in spans) / steps if steps else None


PRICES = [10 ** (exponent / 10) for exponent in range(-90, 11)]  # 1 ns to 10 s


def overtaking(ends, values, variants):
    """The lowest price of an evaluation from which on a search is ahead of another method when it ends, in seconds.

    ends[problem]: (processor seconds, evaluations) of the search; values[problem]: what it has then; variants[problem]: the other method.
    Ahead is a geometric mean over the problems. 0.0: ahead at every price of PRICES, None: not even at the highest."""
    lowest = None
    for price in reversed(PRICES):
        ratios = []
        for problem, (seconds, evaluations) in ends.items():
            other = at_time(variants[problem], seconds + price * evaluations, price)
            ratios.append(None if other is None else other / values[problem])
        # A method that has nothing yet is behind.
        if None not in ratios and geomean(ratios) < 1:
            return lowest
        lowest = price
    return 0.0
