"""Heatmaps with the value in every cell, in a grid of panels, with the cells that share the best value outlined. All geometry is computed here;
paper_heatmap.gp draws it."""
import collections
import math

from paper_tools import array, gnuplot, quote, ticks

# Light to dark (ColorBrewer's YlGnBu without its ends): the best is light, and numbers stay readable.
STOPS = [(255, 255, 217), (237, 248, 177), (199, 233, 180), (127, 205, 187), (65, 182, 196), (29, 145, 192), (34, 94, 168), (37, 52, 148)]

# In points; `rotate` the names below columns by so many degrees.
Layout = collections.namedtuple("Layout", "cell_width cell_height left right gap_x gap_y top bottom rotate",
                                defaults=(31, 16, 74, 10, 44, 30, 26, 46, 0))


class Panel:
    """`values[y][x]` (None: nothing there), at `row` and `column` of the figure. Its colours run from `low` to `high`. The cells
    `outlined` have a red outline, the cells `near` a dashed one; `rules` are dashed lines x, y, dx, dy. `texts[y][x]` is what stands in a
    cell, for want of them its value."""

    def __init__(self, title, values, low, high, row, column):
        self.title, self.values, self.low, self.high, self.row, self.column = title, values, low, high, row, column
        self.outlined, self.near, self.rules, self.texts = set(), set(), [], None


def plateau(values, digits=2):
    """The cells (x, y) whose value, rounded to `digits` decimals, is the smallest of all."""
    known = {(x, y): round(value, digits) for y, line in enumerate(values) for x, value in enumerate(line) if value is not None}
    best = min(known.values()) if known else None
    return {cell for cell, value in known.items() if value == best}


def edges(cells):
    """The outline of a set of cells: segments x, y, dx, dy between a cell inside and a neighbour outside. Cell (x, y) is the unit square
    from there."""
    out = []
    for x, y in sorted(cells):
        for beside, segment in (((x - 1, y), (x, y, 0, 1)), ((x + 1, y), (x + 1, y, 0, 1)), ((x, y - 1), (x, y, 1, 0)),
                                ((x, y + 1), (x, y + 1, 1, 0))):
            if beside not in cells:
                out.append(segment)
    return out


def colour(value, low, high):
    """Colour of a value on a logarithmic scale, and that of text on it."""
    share = math.log(value / low) / math.log(high / low) if high > low else 0.0
    at = min(max(share, 0.0), 1.0) * (len(STOPS) - 1)
    first = min(int(at), len(STOPS) - 2)
    rgb = [round(a + (b - a) * (at - first)) for a, b in zip(STOPS[first], STOPS[first + 1])]
    return (rgb[0] << 16) + (rgb[1] << 8) + rgb[2], 0xffffff if share > 0.62 else 0x111111


def written(value):
    """A number of a cell: two decimals as in the paper, fewer when it is long."""
    return "%.2f" % value if value < 1000 else "%.1f" % value


def _blocks(panels):
    cells = lines = near = ""
    for panel in panels:
        for y, line in enumerate(panel.values):
            for x, value in enumerate(line):
                look = (0xeeeeee, 0x666666) if value is None else colour(value, panel.low, panel.high)
                text = panel.texts[y][x] if panel.texts else "none" if value is None else written(value)
                cells += "%g %g %d %d %s\n" % (x + 0.5, y + 0.5, look[0], look[1], text)
        cells, lines = cells + "\n\n", lines + _segments(edges(panel.outlined))
        near += _segments(edges(panel.near) + panel.rules)
    return "$cells << EOD\n%sEOD\n$lines << EOD\n%sEOD\n$near << EOD\n%sEOD\n" % (cells, lines, near)


def _segments(segments):
    """A data block's index with lines."""
    return ("".join("%g %g %g %g\n" % segment for segment in segments) or "NaN NaN NaN NaN\n") + "\n\n"


def draw(out, panels, x_names, y_names, x_title, y_title, foot="", layout=Layout()):
    """OUT.png; `foot` explains the outline."""
    n_row, n_column = 1 + max(panel.row for panel in panels), 1 + max(panel.column for panel in panels)
    wide, high = layout.cell_width * len(x_names), layout.cell_height * len(y_names)
    width = layout.left + n_column * wide + (n_column - 1) * layout.gap_x + layout.right
    height = layout.top + n_row * high + (n_row - 1) * layout.gap_y + layout.bottom
    left = [layout.left + panel.column * (wide + layout.gap_x) for panel in panels]
    top = [height - layout.top - panel.row * (high + layout.gap_y) for panel in panels]
    (x_labels, x_ticks), (y_labels, y_ticks) = (ticks(axis, axis + "_tick", names, [i + 0.5 for i in range(len(names))])
                                                for axis, names in (("x", x_names), ("y", y_names)))
    settings = x_labels + y_labels + "n_panel = %d\nn_x = %d\nn_y = %d\nx_rotate = %d\nx_title = %s\ny_title = %s\nfoot = %s\nx_ticks = %s\ny_ticks = %s\n" % (
        len(panels), len(x_names), len(y_names), layout.rotate, quote(x_title), quote(y_title), quote(foot), quote(x_ticks), quote(y_ticks))
    settings += array("panel_left", [x / width for x in left]) + array("panel_right", [(x + wide) / width for x in left])
    settings += array("panel_top", [y / height for y in top]) + array("panel_bottom", [(y - high) / height for y in top])
    settings += array("panel_title", [panel.title for panel in panels])
    settings += array("panel_last", [1 if panel.row == n_row - 1 else 0 for panel in panels])
    gnuplot(out, width, height, settings + _blocks(panels), "paper_heatmap.gp")
