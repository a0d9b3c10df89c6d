#!/usr/bin/env python3
"""Read the results of dse sweeps with xarray and pandas (Debian: python3-xarray python3-netcdf4 python3-pandas).

    import dse_results
    ds = dse_results.open("output/quickstart.h5")       # labelled xarray Dataset: metrics over the axes
    ds.energy_j.sel({"DRAM.bandwidth_byte_per_s": 20e9}) # a slice by value
    df = dse_results.tidy("output/quickstart.h5")       # one row per point, also from the .csv
    dse_results.best("output/quickstart.h5", "edp_js", over=["GlobalBuffer.capacity_byte"])   # best buffer for each other
    dse_results.pareto("output/quickstart.h5", min=["energy_j", "latency_s"])                 # the best compromises
    dse_results.layers("output/quickstart.h5")          # per-layer metrics: the axes and `layer`
    dse_results.front("fronts.h5")                       # one row per point of the fronts of objective pareto, also from the .csv
    dse_results.timeline("graph.h5").compute            # tiles of a fused schedule (dse eval --timeline), also from .csv; of uops .uops

On the command line:  python3 plotting/dse_results.py FILE [METRIC]   prints a summary.
The file format is described in docs/results.md.
"""
import builtins
import os
import sys

import numpy
import pandas
import xarray

MORE_IS_BETTER = {"utilization"}


def _group(path, group=None):
    """One group of an OUT.h5, loaded, so that the file may be replaced by a running sweep."""
    error = None
    for engine in ("netcdf4", "h5netcdf"):
        try:
            with xarray.open_dataset(path, engine=engine, group=group) as dataset:
                return dataset.load()
        except (ImportError, ValueError) as problem:  # ValueError: xarray does not know the engine
            error = problem
    raise ImportError("xarray needs python3-netcdf4 or python3-h5netcdf to read HDF5: " + str(error))


def open(path):
    """The labelled Dataset of OUT.h5: metrics over the axes, NaN or "" where a point is missing."""
    return _group(path)


def layers(path):
    """Per-layer metrics over the axes and `layer`; energy per storage level over `level` as well."""
    return _group(path, "layers")


def levels(path):
    """Energy and traffic per storage level over the axes and `level`."""
    return _group(path, "levels")


def trace(path):
    """Convergence: best cost and the evaluation it was found at, over the axes, `layer` and `iteration`."""
    return _group(path, "trace")


# The columns of a timeline's tables, with their dimension first (docs/execution-graph.md).
TIMELINE_COLUMNS = {
    "dram": ["transfer", "kind", "layer", "source", "tensor", "tile", "layer_group", "group", "start_cycle", "finish_cycle",
             "byte", "buffer_byte", "living_start", "living_end"],
    "compute": ["position", "layer", "tile", "layer_group", "group", "start_cycle", "finish_cycle", "stall_cycle"],
    "buffer": ["position", "start_cycle", "finish_cycle", "weight_byte", "ifmap_byte", "ofmap_byte", "local_byte"],
    "groups": ["group", "layer_group", "cut", "tiling_number", "first_tile", "n_tile", "start_cycle", "finish_cycle",
               "layers"],
}
UOP_TIMELINE_COLUMNS = {"uops": ["row", "uop", "layer", "layer_number", "core", "start_cycle", "finish_cycle"]}
TIMELINE_TEXTS = {"kind", "layer", "source", "layers", "uop"}


class Timeline:
    """The execution graph of a schedule: DataFrames `dram`, `compute`, `buffer`, `groups` of a fused one, `uops` of one of uops; `attrs` of the
    HDF5 file."""

    def __init__(self, tables, attrs):
        for name, table in tables.items():
            setattr(self, name, table)
        self.attrs = attrs

    def average_byte(self):
        """What the buffer holds on average over time."""
        held = self.buffer[["weight_byte", "ifmap_byte", "ofmap_byte", "local_byte"]].sum(axis=1)
        lasts = self.buffer["finish_cycle"] - self.buffer["start_cycle"]
        return float((held * lasts).sum() / max(int(lasts.sum()), 1))


def timeline(path):
    """The Timeline of a file that `dse eval --timeline` wrote, .h5 or .csv (which has no attributes)."""
    if str(path).endswith(".csv"):
        frame, tables = pandas.read_csv(path, dtype=str, keep_default_na=False), {}
        if list(frame.columns[:2]) != ["row", "index"]:
            raise ValueError(f"{path} is not a timeline: its first columns are not row and index")
        forms = UOP_TIMELINE_COLUMNS if "uop" in frame.columns else TIMELINE_COLUMNS
        for name, columns in forms.items():
            table = frame[frame["row"] == name].reset_index(drop=True)
            table = pandas.concat([table["index"].rename(columns[0]), table[columns[1:]]], axis=1)
            tables[name] = table.astype({column: "int64" for column in columns if column not in TIMELINE_TEXTS})
        return Timeline(tables, {})
    attrs = dict(_group(path).attrs)
    words = str(attrs.get("format", "")).split()
    if words[:2] != ["dse", "timeline"] and words[:3] != ["dse", "uop", "timeline"]:
        raise ValueError(f"{path} is not a timeline of a schedule")
    forms = UOP_TIMELINE_COLUMNS if words[1] == "uop" else TIMELINE_COLUMNS
    tables = {name: _group(path, name).to_dataframe().reset_index()[columns] for name, columns in forms.items()}
    return Timeline(tables, attrs)


def axes(dataset):
    """Names of the axes in declared order."""
    return list(dataset["status"].dims)


def labels(dataset, axis):
    """What people read at the positions of an axis: ["64 KiB", "128 KiB", ...]."""
    coordinate = dataset[axis]
    text = coordinate.attrs.get("labels")
    if text is None:
        text = [str(value) for value in coordinate.values]
    return [text] if isinstance(text, str) else list(text)


def tidy(path):
    """A DataFrame with one row per computed point: axis columns, status, metrics. Takes OUT.h5 or OUT.csv."""
    if str(path).endswith(".csv"):
        return pandas.read_csv(path).drop_duplicates("point_key", keep="last", ignore_index=True)
    dataset = open(path)
    if not axes(dataset):
        return pandas.DataFrame({name: [value.item()] for name, value in dataset.variables.items()})
    frame = dataset.to_dataframe(dim_order=axes(dataset)).reset_index()
    frame = frame[frame["status"] != ""].reset_index(drop=True)
    coordinates = [name for name in dataset.coords if name in frame.columns]
    return frame[coordinates + [name for name in frame.columns if name not in coordinates]]


def front(path, layers=False):
    """The points of the fronts that the objective pareto has found, one row each: the axes, `n` (from 0, the fastest first), latency_s, energy_j,
    edp_js. With `layers` those of the layers, for one execution: `layer` behind the axes, `mapping` at the end. Takes OUT.h5 or OUT.csv."""
    if not layers:
        frame = tidy(path)
    elif str(path).endswith(".csv"):
        frame = pandas.read_csv(str(path)[:-len(".csv")] + ".layers.csv")
    else:
        dataset = _group(path, "layers")
        wanted = [name for name in ("status", "front", "front_mappings") if name in dataset]
        frame = dataset[wanted].to_dataframe(dim_order=axes(dataset)).reset_index()
    if "front" not in frame.columns:
        raise KeyError("there are no fronts: no point has the objective pareto")
    frame = frame[frame["front"].fillna("") != ""]
    axis = [name for name in list(frame.columns)[:list(frame.columns).index("status")] if name != "layer"]
    rows, mapped = [], {}
    for _, row in frame.iterrows():
        place, mappings = tuple(row[name] for name in axis), []
        if layers:
            text = row["front_mappings"]
            mappings = mapped.setdefault((place, row["layer"]), mapped[place, text[8:]] if text.startswith("same_as ") else text.split(" | "))
        for n, pair in enumerate(row["front"].split()):
            latency, energy = map(float, pair.split(":"))
            rows.append([*place, *([row["layer"]] if layers else []), n, latency, energy, latency * energy, *([mappings[n]] if layers else [])])
    return pandas.DataFrame(rows, columns=axis + (["layer"] if layers else []) + ["n", "latency_s", "energy_j", "edp_js"] + (["mapping"] if layers else []))


def best(path, metric, over=None, maximize=None):
    """The best point of each slice, as a DataFrame.

    path: OUT.h5, OUT.csv or a DataFrame from tidy(). over: the axes that are searched (default: all, which gives one
    row); the other axes make the slices. Points without a value (infeasible, failed) do not take part; of equal
    points the first in axis order is taken.
    """
    frame = path if isinstance(path, pandas.DataFrame) else tidy(path)
    if metric not in frame.columns:
        raise KeyError(f"there is no metric {metric!r}; there are {', '.join(frame.columns)}")
    axis = list(frame.columns[:list(frame.columns).index("status")])
    over = axis if over is None else [over] if isinstance(over, str) else list(over)
    unknown = [name for name in over if name not in axis]
    if unknown:
        raise KeyError(f"there is no axis {unknown[0]!r}; there are {', '.join(axis)}")
    slices = [name for name in axis if name not in over]
    if maximize is None:
        maximize = metric in MORE_IS_BETTER
    known = frame[frame[metric].notna() & frame["status"].isin(["ok", "timeout"])]
    known = known.sort_values(axis, kind="stable") if axis else known
    known = known.sort_values(metric, ascending=not maximize, kind="stable")
    if slices:
        known = known.groupby(slices, sort=True, dropna=False).head(1).sort_values(slices, kind="stable")
    else:
        known = known.head(1)
    return known.reset_index(drop=True)


def _on_front(value):
    """Of an array (n, k), less is better: which rows no other beats, a boolean array (n); equal rows are all on it. Rows have numbers only."""
    kept = numpy.zeros(len(value), dtype=bool)
    rows, group = numpy.unique(value, axis=0, return_inverse=True)  # in lexical order: none is beaten by one behind it
    left = numpy.arange(len(rows))
    front = numpy.zeros(len(rows), dtype=bool)
    while len(left):
        front[left[0]] = True
        left = left[(rows[left] < rows[left[0]]).any(axis=1)]
    kept[front[group.reshape(-1)]] = True
    return kept


def pareto(path, min=(), max=(), by=None):
    """The points that no other beats in these metrics, as a DataFrame of their rows; what `dse pareto` prints, in the same order.

    path: OUT.h5, OUT.csv or a DataFrame from tidy(), or some rows of it. min, max: columns of which less, or more, is better (one name or a list).
    A point beats another when it is at least as good in all and better in one; equal points all stay; points that lack a metric (infeasible,
    failed) have no place. Sorted by the first metric, best first, then the next, ..., `min` before `max`; then as the rows of `path` are.
    by: an axis or a list of them, each value of which has a front of its own, group by group in the order of their first rows.
    """
    frame = path if isinstance(path, pandas.DataFrame) else tidy(path)
    less, more = ([names] if isinstance(names, str) else list(names) for names in (min, max))
    by = [by] if isinstance(by, str) else list(by or [])
    if not less + more:
        raise ValueError("pareto() needs metrics: min=[...], max=[...]")
    for name in less + more + by:
        if name not in frame.columns:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(frame.columns)}")
    value = frame[less + more].to_numpy(dtype=float, na_value=numpy.nan) * ([1.0] * len(less) + [-1.0] * len(more))
    there = numpy.isfinite(value).all(axis=1) & frame["status"].isin(["ok", "timeout"]).to_numpy()
    frame, value = frame[there], value[there]
    group = frame.groupby(by, sort=False, dropna=False).ngroup().to_numpy() if by else numpy.zeros(len(frame), dtype=int)
    rows = numpy.arange(len(frame))
    front = [rows[group == g][_on_front(value[group == g])] for g in range(group.max() + 1 if len(group) else 0)]
    order = [f[numpy.lexsort([f, *value[f].T[::-1]])] for f in front]
    return frame.iloc[numpy.concatenate(order) if order else []].reset_index(drop=True)


def summary(path, metric="edp_js"):
    """A text about one result file: axes, statuses, the best point."""
    dataset = open(path)
    frame = tidy(path)
    lines = [dataset.attrs.get("title") or dataset.attrs.get("name") or os.path.basename(str(path))]
    for name in axes(dataset):
        words = labels(dataset, name)
        shown = ", ".join(words) if len(words) <= 8 else f"{', '.join(words[:3])} ... {words[-1]}"
        lines.append(f"  {dataset[name].attrs.get('long_name', name)} ({name}): {shown}")
    counts = ", ".join(f"{count} {status}" for status, count in frame["status"].value_counts().items())
    lines.append(f"points: {len(frame)} of {int(dataset.attrs.get('n_point', len(frame)))} ({counts or 'none yet'})")
    found = best(frame, metric)
    if len(found):
        row = found.iloc[0]
        where = ", ".join(f"{dataset[name].attrs.get('long_name', name)} "
                          f"{labels(dataset, name)[list(dataset[name].values).index(row[name])]}"
                          for name in axes(dataset))
        unit = dataset[metric].attrs.get("units", "")
        lines.append(f"best {metric}: {row[metric]:.6g}{'' if unit in ('', '1') else ' ' + unit}"
                     f"{' at ' + where if where else ''}")
    not_ok = frame[frame["status"] != "ok"]
    for _, row in not_ok.head(5).iterrows():
        lines.append(f"  {row['status']}: {row['reason']}")
    if len(not_ok) > 5:
        lines.append(f"  ... and {len(not_ok) - 5} more")
    return "\n".join(lines)


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0] in ("-h", "--help"):
        print(__doc__.strip().split("On the command line:")[1].strip().splitlines()[0], file=sys.stderr)
        return 2
    try:
        with builtins.open(arguments[0], "rb"):
            pass
        print(summary(*arguments))
    except (OSError, KeyError) as problem:
        print(f"{arguments[0]}: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
