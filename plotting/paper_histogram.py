"""Histograms of values that differ by orders of magnitude: the axis is logarithmic, so that no bar holds what a linear axis leaves out."""
import math

from paper_tools import array, gnuplot, quote

LEFT, RIGHT, TOP, TITLE, LEGEND, BELOW, X_TITLE = 52, 12, 8, 14, 12, 22, 12


def count(values, per_decade):
    """The logarithm (to 10) of the first bin's lower edge, and how many values lie in each of the bins up to the highest value's;
    `per_decade` bins are a factor of 10."""
    places = [math.floor(math.log10(value) * per_decade + 1e-9) for value in values]
    low = min(places)
    bins = [0] * (max(places) - low + 1)
    for place in places:
        bins[place - low] += 1
    return low / per_decade, bins


def ticks(low, high):
    """Places (value, text) of 1, 2 and 5 in every decade between the logarithms `low` and `high`; of 1.5, 3 and 7, too, where there is room."""
    digits = (1, 2, 5) if high - low > 1.2 else (1, 1.5, 2, 3, 5, 7)
    steps = [digit * 10.0 ** decade for decade in range(math.floor(low), math.ceil(high) + 1) for digit in digits]
    return [(math.log10(step), "%g" % step) for step in steps if low - 1e-9 <= math.log10(step) <= high + 1e-9]


def draw(out, panels, per_decade, x_title, y_title, marks=(), width=340, high=150):
    """OUT.png. `panels`: (title or "", and the two that `count` gives), one above the other over the same axis, each `high` points. `marks`: (value,
    name, colour) of lines across all of them."""
    wide = 1 / per_decade
    low = min([first for _, first, _ in panels] + [math.log10(value) - wide / 2 for value, *_ in marks])
    above = max(first + wide * len(bins) for _, first, bins in panels)
    top = TOP + (LEGEND if marks else 0)
    step = high + BELOW + (TITLE if any(title for title, *_ in panels) else 0)
    height = top + step * len(panels) + X_TITLE
    lowest = [height - top - (i + 1) * step + BELOW for i in range(len(panels))]
    settings = "bin_width = %.6g\nx_low = %.6g\nx_high = %.6g\nx_title = %s\ny_title = %s\n" % (wide, low, above, quote(x_title), quote(y_title))
    settings += "x_ticks = %s\n" % quote("set xtics (" + ", ".join('"%s" %g' % (text, place) for place, text in ticks(low, above)) + ")")
    settings += "n_panel = %d\npanel_left = %.6g\npanel_right = %.6g\n" % (len(panels), LEFT / width, 1 - RIGHT / width)
    settings += array("panel_top", [(y + high) / height for y in lowest]) + array("panel_bottom", [y / height for y in lowest])
    settings += array("panel_title", [title for title, *_ in panels]) + array("panel_high", [1.06 * max(bins) for *_, bins in panels])
    settings += "n_mark = %d\n" % len(marks)
    if marks:
        entry = [len(name) * 4.6 + 32 for _, name, _ in marks]
        settings += array("mark_x", [math.log10(value) for value, *_ in marks]) + array("mark_title", [name for _, name, _ in marks])
        settings += array("mark_colour", [colour for *_, colour in marks]) + array("mark_left", [LEFT + sum(entry[:i]) for i in range(len(marks))])
    settings += "$bins << EOD\n" + "\n\n".join("".join("%.6g %d\n" % (first + (i + 0.5) * wide, n) for i, n in enumerate(bins))
                                               for _, first, bins in panels) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_histogram.gp")
