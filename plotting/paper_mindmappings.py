#!/usr/bin/env python3
"""The figures of Mind Mappings (Hegde et al., ASPLOS 2021) from the sweeps of experiments/mindmappings.

usage: paper_mindmappings.py EXPERIMENTS OUT    (scripts/run-figures calls it; the sweeps lie in OUT/runs)

Writes OUT/figN.csv, .png and .gp, OUT/table1.csv, OUT/report.csv and .md, and prints the report.
"""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mindmappings_curves as curves
import mindmappings_space as space
import paper_lines
import paper_surface
import paper_tools
from mindmappings_curves import CNN, MODES, MTTKRP, PROBLEMS
from paper_lines import Line, Panel
from paper_tools import Missing, geomean, number, ratio, read_table, short, write_table

# The methods in the order of the legend; the key is also a word of the report's rows.
METHODS = {
    "mm": Line("Mind Mappings", "#d55e00"),
    "sa": Line("SA", "#0072b2"),
    "sa_log": Line("SA, log cost", "#0072b2", dashed=True),
    "ga": Line("GA", "#009e73"),
    "rl": Line("RL", "#cc79a7"),
    "random": Line("Random", "#999999"),
    "gradient": Line("gradient (ours)", "#000000"),
    "descent": Line("descent (ours)", "#000000", dashed=True),
}
BEST = Line("Mind Mappings, 100 best priced", "#d55e00", dashed=True)
GROUPS = {"cnn": CNN, "mttkrp": MTTKRP}
EVALUATIONS = 1000
EVERY = 5  # evaluations from one place of Fig. 5 to the next
EDP_TICKS = [(value, "%g" % value) for value in (2, 3, 5, 10, 20, 50, 100)]


def method_of(row):
    """Of a baseline's row: the key in METHODS."""
    name = row["engine"].replace("mm-", "") if "engine" in row else "sa"
    return "sa_log" if name == "sa" and row.get("option.cost") == "log" else name


def searches(runs):
    """Fig. 5's runs: {mode: {method: {problem: [Run]}}}."""
    found = {mode: {method: {} for method in METHODS} for mode in MODES}
    for mode, name in zip(MODES, ("fig5_mm", "fig5_mm_mustfit")):
        found[mode].update(curves.collect(runs, name, lambda row: "mm"))
    for name in ("fig5_black", "fig5_sa"):
        for (mode, method), of_method in curves.collect(runs, name, lambda row: (row["option.mode"], method_of(row))).items():
            found[mode][method] = of_method
    for mode, of_method in curves.collect(runs, "fig5_rl", lambda row: row["option.mode"]).items():
        found[mode]["rl"] = of_method
    for (bypass, method), of_method in curves.collect(runs, "fig5_native", lambda row: (row["option.search_bypass"], row["engine"])).items():
        found[MODES[bypass != "true"]][method] = of_method
    return found


def final(of_method, problems, mean=geomean, n=EVALUATIONS):
    """The geometric mean over problems of the mean over runs of what n evaluations find; None when something is missing."""
    values = []
    for problem in problems:
        found = [run.at_evaluation(n) for run in of_method.get(problem, [])]
        values.append(mean(found) if found and None not in found else None)
    return None if None in values else geomean(values)


def panels_of(places, values, x_title, y_title="EDP / algorithmic minimum", low=2, across=4):
    """A panel for each title of values[title][line][place], `across` in a row."""
    n_row = -(-len(values) // across)
    return [Panel(title, places, lines, low, 100, i // across, i % across, log=True, y_ticks=[tick for tick in EDP_TICKS if tick[0] >= low],
                  x_title=x_title if i // across == n_row - 1 else "", y_title=y_title if i % across == 0 else "")
            for i, (title, lines) in enumerate(values.items())]


def draw(out, panels, lines=None):
    paper_lines.draw(out, panels, lines or list(METHODS.values()), wide=190, high=130, point_size=0)


def fig5(runs, out, report):
    found = searches(runs)
    places = list(range(EVERY, EVALUATIONS + 1, EVERY))
    names = [str(n) if n % 250 == 0 else "" for n in places]
    rows = []
    for mode in MODES:
        values = {PROBLEMS[problem][1]: [[curves.after(found[mode][method].get(problem, []), n) for n in places] for method in METHODS]
                  for problem in PROBLEMS}
        draw(os.path.join(out, "fig5" if mode == MODES[0] else "fig5_" + mode), panels_of(names, values, "evaluations", low=2 if mode == MODES[0] else 5))
        for problem in PROBLEMS:
            lines = values[PROBLEMS[problem][1]]
            rows += [[mode, problem, n] + [line[i] for line in lines] for i, n in enumerate(places)]
    write_table(os.path.join(out, "fig5.csv"), ["mode", "problem", "evaluations"] + list(METHODS), rows)
    report.set("fig5", "seeds", seeds_of(found[MODES[0]]))
    first = found[MODES[0]]
    for method in ("sa", "sa_log", "ga", "rl", "random", "gradient", "descent"):
        report.set("fig5", "over_" + method, ratio(final(first[method], PROBLEMS, curves.mean), final(first["mm"], PROBLEMS, curves.mean)))
    report.set("fig5", "minimum", final(first["mm"], PROBLEMS, curves.mean))
    for mode in MODES:
        for group, problems in GROUPS.items():
            for method in METHODS:
                report.set("fig5", "_".join((group, mode, method)), final(found[mode][method], problems))
    nets(runs, report)


def seeds_of(of_methods):
    """Seeds of each problem, in words: that of most methods, and of those that differ."""
    count = {method: min(len(of_method.get(problem, [])) for problem in PROBLEMS) for method, of_method in of_methods.items()}
    most = max(count.values())
    return ", ".join([str(most)] + ["%s %d" % (METHODS[m].name, count[m]) for m in METHODS if m in count and count[m] != most])


def nets(runs, report):
    """What each network of a model finds, beside the trial of its training that chooses one."""
    for mode, name in zip(MODES, ("fig5_nets", "fig5_nets_mustfit")):
        found = curves.collect(runs, name, lambda row: row["option.network"])
        for group, problems in GROUPS.items():
            values = [final(found[key], problems) for key in sorted(found)]
            report.set("fig5", "_".join((group, mode, "nets")), " ".join(map(short, values)))


def fig4(runs, out, report):
    """Phase 1: how well the networks rank and search."""
    columns = ["spearman", "spearman_within", "spearman_low", "median_error", "search_trial"]
    rows = []
    for group in GROUPS:
        for mode in MODES:
            name = group + ("" if mode == MODES[0] else "_" + mode)
            table = read_table(os.path.join(runs, name + "_nets.csv"))
            rows += [[group, mode, row["network"]] + [number(row[column]) for column in columns] for row in table]
            for column in ("spearman", "spearman_within", "search_trial"):
                report.set("fig4", name + "_" + column, " ".join("%.3g" % number(row[column]) for row in table))
    write_table(os.path.join(out, "fig4.csv"), ["algorithm", "mode", "network"] + columns, rows)


PER_DECADE = 20


def times_of(first, last):
    """Times from 10^first to 10^last seconds, and what an axis says of them."""
    places = [10 ** (first + i / PER_DECADE) for i in range((last - first) * PER_DECADE + 1)]
    units = {-6: "1 us", -5: "10 us", -4: "0.1 ms", -3: "1 ms", -2: "10 ms", -1: "0.1 s", 0: "1 s", 1: "10 s", 2: "100 s", 3: ""}
    return places, [units[first + i // PER_DECADE] if i % PER_DECADE == 0 else "" for i in range(len(places))]


def long_searches(runs):
    """Fig. 6's methods: {method: {problem: [variant]}}, a variant being a list of runs."""
    found = {}
    for (evaluate,), of_method in curves.collect(runs, "fig6_mm", lambda row: (row["option.evaluate"],)).items():
        found["mm" if evaluate == "every" else "best"] = {problem: [run_list] for problem, run_list in of_method.items()}
    for name in ("fig6_black", "fig6_native"):
        for method, of_method in curves.collect(runs, name, method_of).items():
            found[method] = {problem: [run_list] for problem, run_list in of_method.items()}
    for (method, _), of_method in curves.collect(runs, "fig6_sa", lambda row: (method_of(row), int(row["option.moves"]))).items():
        for problem, run_list in of_method.items():
            found.setdefault(method, {}).setdefault(problem, []).append(run_list)
    rl = curves.collect(runs, "fig5_rl", lambda row: row["option.mode"])
    found["rl"] = {problem: [run_list] for problem, run_list in rl.get(MODES[0], {}).items()}
    return found


def mean_at(of_method, problems, t, price):
    """The geometric mean over problems of what a method has after t seconds; None when something is missing."""
    values = [curves.at_time(of_method.get(problem, []), t, price) for problem in problems]
    return None if None in values else geomean(values)


class Ended:
    """Searches by Mind Mappings: for each problem when they end, (processor seconds, evaluations), and what they have then."""

    def __init__(self, of_method, problems, every):
        self.ends, self.values = {}, {}
        for problem in problems:
            run_list = of_method.get(problem)
            if not run_list:
                raise Missing("no search by Mind Mappings for %s" % problem)
            if every:  # so many steps, each priced
                self.ends[problem] = (EVALUATIONS * curves.seconds_per_evaluation(run_list), EVALUATIONS)
            else:      # the few that are priced come at the end
                self.ends[problem] = (curves.mean([run.points[-1][1] for run in run_list]), max(run.evaluations for run in run_list))
            self.values[problem] = curves.after(run_list, self.ends[problem][1])

    def ahead(self, of_method, price):
        """How many times lower than another method's; None when that has nothing yet, or nothing of it is known."""
        found = []
        for problem, (seconds, evaluations) in self.ends.items():
            other = curves.at_time(of_method.get(problem, []), seconds + price * evaluations, price)
            found.append(ratio(other, self.values[problem]))
        return None if None in found else geomean(found)

    def price(self, of_method):
        """In words: from which price of an evaluation on it is ahead."""
        if any(not of_method.get(problem) for problem in self.ends):
            return None
        lowest = curves.overtaking(self.ends, self.values, of_method)
        return "never" if lowest is None else "always" if lowest == 0 else seconds_in_words(lowest)


def seconds_in_words(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if value >= 0.999 * size:
            return "%g %s" % (float("%.2g" % (value / size)), unit)
    return "%.2g s" % value


PRICED = [(1e-3, "1 ms"), (20e-3, "20 ms"), (200e-3, "200 ms")]


def fig6(runs, out, report):
    first, found = searches(runs)[MODES[0]], long_searches(runs)
    places, names = times_of(-4, 1)
    values = {PROBLEMS[problem][1]: [[curves.at_time(found[method].get(problem, []), t) for t in places] for method in METHODS]
              for problem in PROBLEMS}
    draw(os.path.join(out, "fig6"), panels_of(names, values, "processor time of the search"))
    rows = [[problem, t] + [line[i] for line in values[PROBLEMS[problem][1]]] for problem in PROBLEMS for i, t in enumerate(places)]
    write_table(os.path.join(out, "fig6.csv"), ["problem", "seconds"] + list(METHODS), rows)
    fig6_prices(out, found)
    mm = Ended(first["mm"], list(PROBLEMS), True)
    for method in ("sa_log", "ga", "rl", "random", "gradient", "descent"):
        report.set("fig6", "time_" + method, mm.ahead(found[method], 0.0) or "it has nothing yet")
        for price, name in PRICED:
            report.set("fig6", "time_%s_%s" % (method, name.replace(" ", "")), mm.ahead(found[method], price) or "it has nothing yet")
    for method, steps in (("sa", 153.7), ("ga", 286.8), ("rl", 425.5)):
        report.set("fig6", "paper_steps_" + method, ratio(final(first[method], PROBLEMS, curves.mean, max(1, int(EVALUATIONS / steps))),
                                                          final(first["mm"], PROBLEMS, curves.mean)))
    overtaking_rows(out, report, first, found)
    steps = {method: curves.seconds_per_evaluation([run for problem in PROBLEMS for run in first[method].get(problem, [])]) for method in METHODS}
    for method in ("sa", "ga", "rl"):
        report.set("fig6", "step_" + method, ratio(steps[method], steps["mm"]))
    for method in ("mm", "sa", "ga", "rl", "random"):
        report.set("fig6", "microseconds_" + method, None if steps[method] is None else steps[method] * 1e6)


def fig6_prices(out, found):
    """The convolutions together, for assumed prices of an evaluation besides what our model takes."""
    places, names = times_of(-3, 3)
    lines = dict(METHODS, best=BEST)
    prices = [(0.0, "our model")] + PRICED
    values = {"an evaluation takes " + name if price else name + " as it is": [[mean_at(found[method], CNN, t, price) for t in places] for method in lines]
              for price, name in prices}
    panels = panels_of(names, values, "time of the search", "EDP / minimum, six CONV layers", across=2)
    paper_lines.draw(os.path.join(out, "fig6_prices"), panels, list(lines.values()), wide=300, high=130, point_size=0)
    rows = [[price, t] + [line[i] for line in of_price] for (price, _), of_price in zip(prices, values.values()) for i, t in enumerate(places)]
    write_table(os.path.join(out, "fig6_prices.csv"), ["price_s", "seconds"] + list(lines), rows)


def overtaking_rows(out, report, first, found):
    """The price from which on Mind Mappings is ahead when it ends, of every method."""
    rows = []
    for group, problems in GROUPS.items():
        every = Ended(first["mm"], problems, True)
        best = Ended({problem: variants[0] for problem, variants in found["best"].items()}, problems, False)
        for method in ("random", "sa_log", "ga", "rl", "gradient", "descent"):
            rows.append([group, method, every.price(found[method]), best.price(found[method])])
            report.set("fig6", "price_%s_%s" % (group, method), rows[-1][2])
            report.set("fig6", "price_best_%s_%s" % (group, method), rows[-1][3])
        report.set("fig6", "best_" + group, geomean(list(best.values.values())))
    write_table(os.path.join(out, "fig6_overtaking.csv"), ["algorithm", "method", "all 1000 steps priced", "100 best priced"], rows)


def fig3(runs, out, report):
    inputs, weights, values = space.surface(runs)
    sizes = [[math.prod(tile) for tile in tiles] for tiles in (inputs, weights)]
    paper_surface.draw(os.path.join(out, "fig3"), values, *[sparse(size) for size in sizes], "inputs' tile: P x Q", "weights' tile: K x R x S",
                       "EDP / algorithmic minimum")
    write_table(os.path.join(out, "fig3.csv"), ["p", "q", "k", "r", "s", "edp_norm"],
                [[*a, *b, values[y][x]] for y, b in enumerate(weights) for x, a in enumerate(inputs)])
    report.set("fig3", "cells", len(inputs) * len(weights))
    report.set("fig3", "minima", space.local_minima(values))
    report.set("fig3", "spread", max(map(max, values)) / min(map(min, values)))


def sparse(sizes):
    """Names of sorted sizes along an axis: the first of them, then one an eighth of the axis further at least, and none at its end."""
    names, last, step = [""] * len(sizes), None, max(1, len(sizes) // 8)
    for i, size in enumerate(sizes):
        if last is None or i - last >= step and i < len(sizes) - step and size != sizes[i - 1]:
            names[i], last = str(size), i
    return names


def table1(runs, out, report):
    rows, moments = [], {}
    for problem, (dims, name) in PROBLEMS.items():
        mean, deviation, n = space.energies(runs, problem)
        moments[problem] = (mean, deviation)
        rows.append([name, *dims, *[None] * (7 - len(dims)), float(space.space_size(dims)), mean, deviation, n])
    header = ["problem", "N or I", "C or J", "K", "R or L", "S", "P", "Q", "map space", "mean energy", "standard deviation", "samples"]
    write_table(os.path.join(out, "table1.csv"), header, rows)
    for problem in PROBLEMS:
        report.set("table1", "size_" + problem, float(space.space_size(PROBLEMS[problem][0])))
    for group, problems in GROUPS.items():
        mean, deviation = space.pooled([moments[problem] for problem in problems])
        report.set("table1", "mean_" + group, mean)
        report.set("table1", "deviation_" + group, deviation)


def fig7a(runs, out, report):
    table = read_table(os.path.join(runs, "fig7a_epochs.csv"))
    losses = [[number(row[column]) for row in table] for column in ("train_loss", "test_loss")]
    names = [row["epochs"] for row in table]
    high = max(map(max, losses)) * 1.05
    paper_lines.draw(os.path.join(out, "fig7a"), [Panel("", names, losses, 0, high, 0, 0, x_title="epoch", y_title="Huber loss")],
                     [Line("training", "#0072b2"), Line("test", "#d55e00", dashed=True)], wide=260)
    write_table(os.path.join(out, "fig7a.csv"), ["epoch", "training_loss", "test_loss"], list(zip(names, *losses)))
    report.set("fig7a", "train", losses[0][-1])
    report.set("fig7a", "test", losses[1][-1])


def fig7_curves(runs, out, report, figure, models):
    """Figs. 7b and 7c: {model's file: (key of the report, Line)}; the mean over networks and seeds of the convolutions, as they converge."""
    found = curves.collect(runs, "fig7_search", lambda row: (row["option.model"], row["option.network"]))
    places = list(range(EVERY, EVALUATIONS + 1, EVERY))
    values = []
    for name, (key, _) in models.items():
        of_net = [found[at] for at in sorted(found) if at[0] == name]
        by_problem = {problem: [run for net in of_net for run in net.get(problem, [])] for problem in CNN}
        values.append([final(by_problem, CNN, curves.mean, n) for n in places])
        finals = [final(net, CNN) for net in of_net]
        report.set(figure, key, geomean(finals) if finals and None not in finals else None)
        report.set(figure, key + "_nets", " ".join(map(short, finals)))
    high = 20
    names = [str(n) if n % 250 == 0 else "" for n in places]
    panel = Panel("", names, values, 4, high, 0, 0, x_title="evaluations", y_title="EDP / minimum, six CONV layers", log=True,
                  y_ticks=[(value, "%g" % value) for value in (4, 5, 6, 8, 10, 15, 20)])
    paper_lines.draw(os.path.join(out, figure), [panel], [line for _, line in models.values()], wide=260, point_size=0)
    write_table(os.path.join(out, figure + ".csv"), ["evaluations"] + [key for key, _ in models.values()],
                [[n] + [line[i] for line in values] for i, n in enumerate(places)])


def fig7b(runs, out, report):
    fig7_curves(runs, out, report, "fig7b", {"cnn.h5": ("huber", Line("Huber", "#d55e00")), "fig7_mse.h5": ("mse", Line("MSE", "#0072b2")),
                                             "fig7_mae.h5": ("mae", Line("MAE", "#009e73"))})


def fig7c(runs, out, report):
    fig7_curves(runs, out, report, "fig7c", {"fig7_10k.h5": ("10k", Line("10,000", "#999999")), "fig7_50k.h5": ("50k", Line("50,000", "#009e73")),
                                             "fig7_200k.h5": ("200k", Line("200,000", "#0072b2")), "cnn.h5": ("1m", Line("1,000,000", "#d55e00"))})


FIGURES = {"fig3": fig3, "table1": table1, "fig4": fig4, "fig5": fig5, "fig6": fig6, "fig7a": fig7a, "fig7b": fig7b, "fig7c": fig7c}

if __name__ == "__main__":
    sys.exit(paper_tools.main(FIGURES, __doc__.split("usage: ")[1].splitlines()[0], sys.argv[1:]))
