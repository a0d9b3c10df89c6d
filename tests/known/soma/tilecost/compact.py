#!/usr/bin/env python3
"""compact.py NETWORK.csv TILES.csv NAME "MAC_PER_PE READ_BYTE_PER_CYCLE BUFFER_MIB": write NAME.txt, the table that
tests/costmodel/fused/test_core_array.c reads. TILES.csv has the costs of tiles as the published program prints them (columns ubuf,
buffer, noc, mac) or the tiles of a schedule (duration and energy_pJ only). README.md describes the format."""
import csv
import sys

MATRIX = {"Conv", "FC", "GroupConv"}


def layer_line(row):
    extra = row["extra"]
    operands = int(extra[len("operands="):]) if extra.startswith("operands=") else 1
    kind = "M" if row["type"] in MATRIX else "V"
    numbers = [row[key] for key in ("K", "C", "R", "S", "stride_h", "stride_w", "groups")]
    return " ".join([kind, *numbers, str(int(bool(row["weight_producers"]))), str(operands)])


def main():
    network, tilecost, name, core = sys.argv[1:]
    with open(network, newline="") as file:
        layers = {row["id"]: layer_line(row) for row in csv.DictReader(file)}
    tiles, rows = {}, 0
    with open(tilecost, newline="") as file:
        for row in csv.DictReader(file):
            rows += 1
            # A fused concat makes a tile with more channels than its layer has.
            layer = layers[row["layer_id"]].split()
            layer[1] = row["tc"]
            split = "ubuf" in row and layer[0] == "M"
            energy = [f"{float(row[key]):.8g}" for key in (("ubuf", "buffer", "noc", "mac") if split else ("energy_pJ",))]
            place = " ".join([row["tb"], row["th"], row["tw"]])
            cost = " ".join([row["time" if "time" in row else "duration"], *energy])
            known = tiles.setdefault(" ".join(layer), {})
            if known.setdefault(place, cost) != cost:
                sys.exit(f"{row}: a tile with two costs")
    with open(f"{name}.txt", "w") as file:
        distinct = sum(map(len, tiles.values()))
        print(f"# {name}: {rows} rows, {distinct} distinct tiles; see README.md", f"A {core}", sep="\n", file=file)
        for layer, known in tiles.items():
            print(f"{layer}", file=file)
            for place, cost in known.items():
                print(place, cost, file=file)


main()
