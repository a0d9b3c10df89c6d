"""Lines over places that have names (sizes, dataflows), in a grid of panels; the layout is computed here, in points, paper_lines.gp draws it."""
from paper_tools import array, gnuplot, quote, ticks

LEFT, RIGHT, TOP, TITLE, GAP_X, GAP_Y, BOTTOM = 52, 14, 10, 16, 58, 16, 32


class Panel:
    """One panel: the places' names, values[line][place] (None: a gap), the range of the axis, at `row` and `column` of the figure. `y_ticks`:
    pairs (value, text) where the numbers themselves would not do."""

    def __init__(self, title, places, values, low, high, row, column, x_title="", y_title="", log=False, y_ticks=()):
        self.title, self.places, self.values, self.low, self.high = title, places, values, low, high
        self.row, self.column, self.x_title, self.y_title, self.log = row, column, x_title, y_title, log
        self.y_ticks = y_ticks


class Line:
    """What the legend says of a line, in all panels ("": nothing), and how it looks."""

    def __init__(self, name, colour, dashed=False):
        self.name, self.colour, self.dashed = name, colour, dashed


def _legend(lines, width):
    """Left end and row of each entry: as many in a row as fit."""
    at, row, x = [], 0, LEFT
    for line in lines:
        wide = len(line.name) * 4.6 + 36 if line.name else 0
        if x > LEFT and x + wide > width - RIGHT:
            row, x = row + 1, LEFT
        at.append((x, row))
        x += wide
    return at


def _block(panel, line):
    values = panel.values[line] if line < len(panel.values) else []
    rows = ["%d %s" % (i + 1, "NaN" if value is None else "%.6g" % value) for i, value in enumerate(values)]
    return "\n".join(rows or ["NaN NaN"]) + "\n\n\n"


def draw(out, panels, lines, wide=300, high=150, rotate=0, point_size=0.5):
    """OUT.png; panels are `wide` x `high` points. `rotate`: of the places' names, in degrees."""
    n_row, n_column = 1 + max(panel.row for panel in panels), 1 + max(panel.column for panel in panels)
    longest = max(len(name) for panel in panels for name in panel.places)
    below = (3.2 * longest + 8 if rotate else BOTTOM) + (8 if rotate and any(panel.x_title for panel in panels) else 0)
    width = LEFT + n_column * wide + (n_column - 1) * GAP_X + RIGHT
    legend = _legend(lines, width)
    top = TOP + 12 * (1 + legend[-1][1])
    height = top + n_row * (TITLE + high + below) + (n_row - 1) * GAP_Y
    left = [LEFT + panel.column * (wide + GAP_X) for panel in panels]
    upper = [height - top - TITLE - panel.row * (TITLE + high + below + GAP_Y) for panel in panels]
    named = [ticks("x", "tick_%d" % p, panel.places, range(1, len(panel.places) + 1)) for p, panel in enumerate(panels)]
    settings = "n_panel = %d\nn_line = %d\npoint_size = %g\nlabel_rotate = %d\n" % (len(panels), len(lines), point_size, rotate)
    settings += array("panel_left", [x / width for x in left]) + array("panel_right", [(x + wide) / width for x in left])
    settings += array("panel_top", [y / height for y in upper]) + array("panel_bottom", [(y - high) / height for y in upper])
    for name in ("title", "x_title", "y_title", "low", "high"):
        settings += array("panel_" + name, [getattr(panel, name) for panel in panels])
    settings += array("panel_log", [int(panel.log) for panel in panels]) + array("panel_places", [len(panel.places) for panel in panels])
    settings += "".join(names for names, _ in named) + array("panel_ticks", [command for _, command in named])
    named = [ticks("y", "y_tick_%d" % p, [text for _, text in panel.y_ticks], [value for value, _ in panel.y_ticks]) if panel.y_ticks
             else ("", "set ytics autofreq") for p, panel in enumerate(panels)]
    settings += "".join(names for names, _ in named) + array("panel_y_ticks", [command for _, command in named])
    settings += array("line_title", [line.name for line in lines]) + array("line_colour", [line.colour for line in lines])
    settings += array("line_dash", [3 if line.dashed else 1 for line in lines])
    settings += array("line_x", [x for x, _ in legend]) + array("line_row", [row for _, row in legend])
    settings += "$lines << EOD\n" + "".join(_block(panel, i) for panel in panels for i in range(len(lines))) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_lines.gp")
