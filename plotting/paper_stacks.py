"""Grouped bars that may be stacked and marked, in wide panels one above the other, with groups of groups below (a batch within a network)."""
from paper_tools import array, gnuplot, quote, ticks

LEFT, RIGHT, TOP, GAP, HIGH, BOTTOM, TITLE = 52, 8, 26, 12, 92, 34, 18


class Panel:
    """One panel: `bars[series][group]` is a list of parts from below to above (None: no bar), `marks[group]` a number or None, set at the
    bar `mark_series`. With `title` a new block of the figure starts."""

    def __init__(self, y_title, bars, limit, step, marks=None, mark_series=0, title=""):
        self.y_title, self.bars, self.limit, self.step = y_title, bars, limit, step
        self.marks, self.mark_series, self.title = marks or [], mark_series, title


def lighter(colour, share):
    """The colour mixed with white."""
    parts = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    return sum(round(part + (255 - part) * share) << shift for part, shift in zip(parts, (16, 8, 0)))


def place(names):
    """Where each group stands, given its (upper, lower) name: a gap between the upper ones; and each upper one's name and middle."""
    at, upper, x = [], {}, 0.0
    for i, (name, _) in enumerate(names):
        x += 1.0 if i == 0 or names[i - 1][0] == name else 1.5
        at.append(x)
        upper.setdefault(name, []).append(x)
    return at, [(name, sum(xs) / len(xs)) for name, xs in upper.items()]


def _bars(panel, at, colours, by_part):
    wide, rows, marks = 0.84 / len(panel.bars), [], []
    for s, line in enumerate(panel.bars):
        for x, parts in zip(at, line):
            low, middle = 0.0, x + (s - (len(panel.bars) - 1) / 2) * wide
            for i, part in enumerate(parts or []):
                shade = lighter(colours[i], 0) if by_part else lighter(colours[s], 0.6 * i)
                rows.append("%.4f %.5g %.5g %d %.4f" % (middle, low, min(low + part, panel.limit), shade, wide * 0.46))
                low = min(low + part, panel.limit)
    for x, value in zip(at, panel.marks):
        if value is not None:
            marks.append("%.4f %.5g" % (x + (panel.mark_series - (len(panel.bars) - 1) / 2) * wide, min(value, panel.limit)))
    return "\n".join(rows or ["NaN NaN NaN 0 0"]) + "\n\n\n", "\n".join(marks or ["NaN NaN"]) + "\n\n\n"


def draw(out, panels, names, series, colours, mark_name="", note="", width=900, by_part=False):
    """OUT.png. `names[panel]`: (upper, lower) name of each group; drawn below the last panel of a block. `series` and `colours` are those of
    the bars of a group, whose parts have shades of them; or, `by_part`, those of the parts of every bar."""
    last = [i + 1 == len(panels) or bool(panels[i + 1].title) for i in range(len(panels))]
    height = TOP + sum(HIGH + (TITLE if p.title else 0) + (BOTTOM if end else GAP) for p, end in zip(panels, last))
    y, tops = height - TOP, []
    bars = marks = commands = ""
    limits = []
    for i, (panel, end) in enumerate(zip(panels, last)):
        y -= TITLE if panel.title else 0
        tops.append(y)
        at, upper = place(names[i])
        mine = _bars(panel, at, colours, by_part)
        bars, marks = bars + mine[0], marks + mine[1]
        limits.append(at[-1] + 0.6)
        labels, command = ticks("x", "tick_%d" % i, [name[1] if end else "" for name in names[i]], at)
        commands += labels + "panel_ticks[%d] = %s\n" % (i + 1, quote(command))
        commands += array("upper_%d" % i, [name for name, _ in upper]) + "panel_names[%d] = %s\n" % (i + 1, quote("; ".join(
            'set label %d upper_%d[%d] at first %g, graph %g center font ",7.5"' % (50 + n, i, n + 1, x, -22.0 / HIGH)
            for n, (_, x) in enumerate(upper if end else []))))
        y -= HIGH + (BOTTOM if end else GAP)
    settings = "n_panel = %d\nn_series = %d\nmark_name = %s\nnote = %s\n" % (len(panels), len(series), quote(mark_name), quote(note))
    settings += "panel_left = %.5f\npanel_right = %.5f\n" % (LEFT / width, 1 - RIGHT / width)
    settings += array("panel_top", [top / height for top in tops]) + array("panel_bottom", [(top - HIGH) / height for top in tops])
    settings += array("panel_y_title", [panel.y_title for panel in panels]) + array("panel_title", [panel.title for panel in panels])
    settings += array("panel_limit", [panel.limit for panel in panels]) + array("panel_step", [panel.step for panel in panels])
    settings += array("panel_x_limit", limits) + "array panel_ticks[%d]\narray panel_names[%d]\n" % (len(panels), len(panels)) + commands
    entry = [len(name) * 4.4 + 26 for name in list(series) + [mark_name]]
    space = (width - sum(entry) - len(note) * 3.8) / 2
    settings += array("series_x", [space + sum(entry[:i]) for i in range(len(series) + 2)])
    settings += array("series_title", list(series)) + array("series_colour", colours[:len(series)])
    gnuplot(out, width, height, settings + "$bars << EOD\n%sEOD\n$marks << EOD\n%sEOD\n" % (bars, marks), "paper_stacks.gp")
