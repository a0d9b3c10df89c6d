"""A histogram of values that differ by orders of magnitude: the axis is logarithmic, so that no bar holds what a linear axis leaves out."""
import math

from paper_tools import gnuplot, quote


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
    """Places (value, text) of 1, 2 and 5 in every decade between the logarithms `low` and `high`."""
    steps = [digit * 10.0 ** decade for decade in range(math.floor(low), math.ceil(high) + 1) for digit in (1, 2, 5)]
    return [(math.log10(step), "%g" % step) for step in steps if low - 1e-9 <= math.log10(step) <= high + 1e-9]


def draw(out, low, bins, per_decade, x_title, y_title, width=340, height=200):
    """OUT.png of what `count` gives."""
    wide = 1 / per_decade
    high = low + wide * len(bins)
    settings = "bin_width = %.6g\nx_low = %.6g\nx_high = %.6g\ny_high = %.6g\nx_title = %s\ny_title = %s\n" % (
        wide, low, high, 1.06 * max(bins), quote(x_title), quote(y_title))
    settings += "x_ticks = %s\n" % quote("set xtics (" + ", ".join('"%s" %g' % (text, place) for place, text in ticks(low, high)) + ")")
    settings += "$bins << EOD\n" + "".join("%.6g %d\n" % (low + (i + 0.5) * wide, n) for i, n in enumerate(bins)) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_histogram.gp")
