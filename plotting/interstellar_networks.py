"""Fig. 14 of Interstellar. Each layer is mapped here, with the schedule that experiments/interstellar/fig14_hints.csv names for it."""
import csv
import json
import os
import re
import subprocess

import paper_bars
from paper_tools import Missing, number, ratio, read_table, write_table

LEVELS = {"opt4": ["RF1", "RF2", "SRAM"]}  # of the others: RF and SRAM


def arguments(hint, architecture, folder):
    """What `dse map` takes for a hint: IC16 OC16 +OX/ON, or any dataflow thr 0.75; (half-full rule off). A schedule becomes a file in
    `folder`."""
    level = "level1" if architecture in LEVELS else "level0"
    words = []
    if "half-full rule off" in hint:
        for name in LEVELS.get(architecture, ["RF", "SRAM"]):
            words += ["--set", name + ".min_utilization=0"]
    any_dataflow = re.match(r"any dataflow thr ([\d.]+)", hint)
    if any_dataflow:
        return words + ["-o", "threshold=" + any_dataflow.group(1)]
    factors = re.findall(r"\b(IC|OC)(\d+)", hint)
    shared = re.search(r"\+(\S+)", hint)
    schedule = {"schedule_hint": {loop: {level: {"partitioning_size": int(n)}} for loop, n in factors}}
    if shared:
        schedule["partition_loops"] = shared.group(1).split("/")
    name = "_".join([level] + [loop + n for loop, n in factors] + (schedule.get("partition_loops") or [])) + ".json"
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(schedule, file)
    return words + ["-c", os.path.join(folder, name)]


def groups(path):
    """{(architecture, network, hint): layers} of the list at `path`."""
    found = {}
    for row in read_table(path):
        found.setdefault((row["arch"], row["net"], row["schedule"]), []).append(row["layer"])
    return found


def energies(experiments, folder, dse, networks=None):
    """{(architecture, network): (energy in J, MACs included; names of layers without a mapping)}, of these networks only."""
    os.makedirs(folder, exist_ok=True)
    found = {}
    for (architecture, network, hint), layers in groups(os.path.join(experiments, "fig14_hints.csv")).items():
        if networks and network not in networks:
            continue
        command = [dse, "map", os.path.join(experiments, "architectures", architecture + ".json"),
                   os.path.join(experiments, "networks", network + ".csv"), "-e", "interstellar", "-a", "interstellar-compat",
                   "-O", "energy", "-f", "csv"] + [word for layer in layers for word in ("-l", layer)]
        done = subprocess.run(command + arguments(hint, architecture, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, encoding="utf-8")
        rows = {row["layer"]: row for row in csv.DictReader(done.stdout.splitlines())}
        if not set(layers) <= set(rows):
            raise Missing("%s: %s" % (" ".join(command), done.stderr.strip()))
        joule, without = found.get((architecture, network), (0.0, []))
        for layer in layers:
            energy = number(rows[layer]["energy_j"])
            joule += int(rows[layer]["count"]) * (energy or 0.0)
            without += [] if energy else [layer]
        found[architecture, network] = (joule, without)
    return found


NETWORKS = [("alexnet", "AlexNet"), ("vgg16", "VGG-16"), ("googlenet", "GoogLeNet"), ("mobilenet", "MobileNet"), ("lstm_m", "LSTM-M"),
            ("lstm_l", "LSTM-L"), ("rhn", "RHN"), ("mlp_m", "MLP-M"), ("mlp_l", "MLP-L")]
MACHINES = ["eyeriss512", "tpu128", "opt4"]
BARS = ["Eyeriss-like", "TPU-like", "optimised (16 B + 128 B + 256 KB)", "", "", "each by its best of all dataflows, sounder counts (ours)"]
COLOURS = ["#9a9a9a", "#56b4e9", "#d55e00", "#d0d0d0", "#bfe2f7", "#f1bd93"]  # the optima in lighter shades


def fig14(experiments, runs, out, report):
    """Nine networks on two baselines and on the optimised machine: by the hints, and the optima of C|K and of all dataflows."""
    hinted = energies(experiments, os.path.join(runs, "fig14_schedules"), os.environ.get("DSE", "build/dse"))
    proved = {(row["architecture"], row["network"], row["constraints"]): row
              for name in ("fig14", "fig14_opt4") for row in read_table(os.path.join(runs, name + ".csv")) if row["status"] == "ok"}
    gains, efficiency, rows = [], [], []
    for network, _ in NETWORKS:
        of = [hinted[machine, network] for machine in MACHINES]
        joule = [None if without else energy for energy, without in of]
        optimum = [[number(proved.get((machine, network, key), {}).get("energy_j")) for machine in MACHINES] for key in ("ck", "all")]
        operations = 2 * number(proved["opt4", network, "all"]["n_mac"])
        bars = joule + optimum[1]
        gains.append([ratio(joule[0], energy) for energy in bars])
        efficiency.append([ratio(operations * 1e-12, energy) for energy in bars])
        rows += [[network, machine, operations] + line for machine, *line in zip(MACHINES, joule, *optimum)]
        for machine, (energy, without) in zip(MACHINES, of):
            report.set("fig14", "%s_%s" % (network, machine), "no mapping of " + " ".join(without) if without else 1e12 * energy)
        report.set("fig14", network + "_gain", gains[-1][2])
        report.set("fig14", network + "_gain_tpu", ratio(joule[1], joule[2]))
        report.set("fig14", network + "_tops", efficiency[-1][2])
        for key, line in zip(("ck", "all"), optimum):
            report.set("fig14", "%s_%s" % (network, key), digits([over(energy, hint) for energy, hint in zip(line, joule)]))
    write_table(os.path.join(out, "fig14.csv"), ["network", "architecture", "operations", "hints_j", "ck_j", "all_dataflows_j"], rows)
    names = [title for _, title in NETWORKS]
    paper_bars.draw(os.path.join(out, "fig14"), [
        paper_bars.Panel("energy efficiency over the Eyeriss-like chip", names, [list(line) for line in zip(*gains)], 4, shown=range(9)),
        paper_bars.Panel("efficiency (TOPs/W)", names, [list(line) for line in zip(*efficiency)], 1.5, 0.5, row=1)], BARS, width=900, rotate=0,
                    colours=COLOURS)


def over(energy, hint):
    """By how many percent an optimum is above (below: negative) what the hints give."""
    share = ratio(energy, hint)
    return None if share is None else 100 * (share - 1)


def digits(values):
    return " ".join("-" if value is None else "%+.1f" % value for value in values)
