"""Grouped bars in panels, as in most papers: a group per layer or network, a bar per scheduler, bars cut off at the axis limit with
their value printed above. The layout is computed here, in points; paper_bars.gp draws it."""
from paper_tools import array, gnuplot, quote, ticks

# Okabe and Ito's colours, told apart with every kind of colour vision; the baseline is grey.
COLOURS = ["#9a9a9a", "#56b4e9", "#d55e00", "#117755", "#cc79a7", "#e69f00"]

# For series that are no schedulers.
OTHER_COLOURS = ["#4477aa", "#ddaa33", "#aa3377"]

TOP, TITLE, CUT, LEFT, RIGHT, GAP = 22, 14, 14, 36, 8, 30
# Font size of the numbers on bars, in points: of level ones, and the largest of upright ones. A digit is less than 0.65 sizes wide, and
# a line of digits wants one size with the gap to the next.
LEVEL_SIZE, UPRIGHT_SIZE = 6.5, 6.0


class Panel:
    """One panel: group names, values[series][group] (None: no bar), axis limit and ticks. `shown` groups have their values printed on
    the bars; a line stands before the group `apart`. Panels of one `row` share the width by their number of groups."""

    def __init__(self, title, groups, values, limit, step=1.0, row=0, shown=(), apart=None, y_title=""):
        self.title, self.groups, self.values = title, groups, values
        self.limit, self.step, self.row, self.y_title = limit, step, row, y_title
        self.shown, self.apart = set(shown), apart
        self.box = None


def _place(panels, width, height, label_space):
    """Left, right, top, bottom of every panel in points."""
    n_row = 1 + max(panel.row for panel in panels)
    row_height = (height - TOP) / n_row
    for row in range(n_row):
        members = [panel for panel in panels if panel.row == row]
        usable = width - sum(LEFT if panel.y_title or i == 0 else GAP for i, panel in enumerate(members)) - RIGHT
        weight = sum(max(2.0, len(panel.groups) + 0.6) for panel in members)
        x = 0.0
        for i, panel in enumerate(members):
            x += LEFT if panel.y_title or i == 0 else GAP
            wide = usable * max(2.0, len(panel.groups) + 0.6) / weight
            top = height - TOP - row * row_height - (TITLE if any(p.title for p in panels) else 0) - CUT
            panel.box = (x, x + wide, top, height - TOP - (row + 1) * row_height + label_space)
            x += wide


def _label(value):
    return "%.0f" % value if value >= 9.95 else "%.1f" % value


def _is_numbered(panel, value, group):
    """Whether the bar `value` of a group has its number printed: when the axis cuts it off or the group is one that shows its values."""
    return value is not None and (value > panel.limit or group in panel.shown)


def _number_style(panels, n_series):
    """Whether the numbers on the bars stand upright, and their font size: none may reach over to the number on the next bar, which may
    be as high."""
    room = min((panel.box[1] - panel.box[0]) / (len(panel.groups) + 0.2) for panel in panels) * 0.82 / n_series
    longest = max([len(_label(value)) for panel in panels for line in panel.values for g, value in enumerate(line)
                   if _is_numbered(panel, value, g)] or [0])
    if room >= 0.65 * LEVEL_SIZE * longest:
        return False, LEVEL_SIZE
    return True, min(UPRIGHT_SIZE, room)


def _blocks(panels, n_series):
    """The bars, the numbers on them, and which block of numbers is whose."""
    bars, labels, index = "", "", []
    wide = 0.82 / n_series
    for panel in panels:
        mine = ""
        for s in range(n_series):
            rows = []
            for g, value in enumerate(panel.values[s]):
                x = g + 1 + (s - (n_series - 1) / 2) * wide
                if value is None:
                    continue
                rows.append("%.4f %.6g" % (x, min(value, panel.limit)))
                if _is_numbered(panel, value, g):
                    mine += "%.4f %.6g %s\n" % (x, min(value, panel.limit), _label(value))
            bars += "\n".join(rows or ["NaN NaN"]) + "\n\n\n"
        index.append(labels.count("\n\n\n") + 1 if mine else 0)
        labels += mine + "\n\n" if mine else ""
    return array("panel_numbers", index) + "$bars << EOD\n%sEOD\n$numbers << EOD\n%sEOD\n" % (bars, labels)


def draw(out, panels, series, width=1000, height=None, rotate=90, x_title="", colours=tuple(COLOURS)):
    """OUT.png with `panels`; `series` are the legend's names. `rotate`: of the names below the groups, in degrees."""
    longest = max(len(name) for panel in panels for name in panel.groups)
    label_space = (14 + 4.4 * longest if rotate else 22) + (14 if x_title else 0)
    n_row = 1 + max(panel.row for panel in panels)
    title = TITLE if any(panel.title for panel in panels) else 0
    height = height or TOP + n_row * (title + CUT + 120 + label_space)
    _place(panels, width, height, label_space)
    settings = "number_rotate = %d\nnumber_size = %.2f\n" % _number_style(panels, len(series))
    settings += "n_panel = %d\nn_series = %d\nbar_width = %.5f\nlabel_rotate = %d\nfig_x_title = %s\n" % (
        len(panels), len(series), 0.82 / len(series), rotate, quote(x_title))
    for i, name in enumerate(["panel_left", "panel_right"]):
        settings += array(name, [panel.box[i] / width for panel in panels])
    for i, name in enumerate(["panel_top", "panel_bottom"]):
        settings += array(name, [panel.box[i + 2] / height for panel in panels])
    settings += array("panel_title", [panel.title for panel in panels])
    settings += array("panel_y_title", [panel.y_title for panel in panels])
    settings += array("panel_limit", [panel.limit for panel in panels])
    settings += array("panel_step", [panel.step for panel in panels])
    settings += array("panel_groups", [len(panel.groups) for panel in panels])
    settings += array("panel_apart", [0 if panel.apart is None else panel.apart + 0.5 for panel in panels])
    named = [ticks("x", "tick_%d" % p, panel.groups, range(1, len(panel.groups) + 1)) for p, panel in enumerate(panels)]
    settings += "".join(names for names, _ in named) + array("panel_ticks", [command for _, command in named])
    entry = [len(name) * 5.4 + 34 if name else 15 for name in series]
    settings += array("series_x", [(width - sum(entry)) / 2 + sum(entry[:i]) for i in range(len(series))])
    settings += array("series_title", list(series)) + array("series_colour", colours[:len(series)])
    gnuplot(out, width, height, settings + _blocks(panels, len(series)), "paper_bars.gp")
