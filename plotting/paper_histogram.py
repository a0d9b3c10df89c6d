"""A histogram as in papers: what is beyond the last bin's edge is counted in the last bin, and the axis says so with a `+`."""
from paper_tools import gnuplot, quote


def count(values, high, n_bin):
    """How many values lie in each of `n_bin` equal bins from 0 to `high`; those beyond `high` lie in the last."""
    bins = [0] * n_bin
    for value in values:
        bins[min(n_bin - 1, int(value / high * n_bin))] += 1
    return bins


def draw(out, bins, high, ticks, x_title, y_title, width=340, height=200):
    """OUT.png; `ticks` are pairs (value, text) on the x axis. When the last bin is far higher than the others it is cut off and its
    count printed above."""
    most = max(bins[:-1])
    limit = 1.12 * (max(bins) if bins[-1] <= 1.5 * most else most)
    wide = high / len(bins)
    settings = "bin_width = %.6g\nx_high = %.6g\ny_high = %.6g\nx_title = %s\ny_title = %s\nlast = %s\n" % (
        wide, high, limit, quote(x_title), quote(y_title), quote("{:,}".format(bins[-1]) if bins[-1] > limit else ""))
    settings += "x_ticks = %s\n" % quote("set xtics (" + ", ".join('"%s" %g' % (text, value) for value, text in ticks) + ")")
    settings += "$bins << EOD\n" + "".join("%.6g %.6g\n" % ((i + 0.5) * wide, min(n, limit)) for i, n in enumerate(bins)) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_histogram.gp")
