"""A histogram as in papers: what is beyond the last bin's edge is counted in the last bin, and the axis says so with a `+`."""
from paper_tools import gnuplot, quote


def count(values, high, n_bin):
    """How many values lie in each of `n_bin` equal bins from 0 to `high`; those beyond `high` lie in the last."""
    bins = [0] * n_bin
    for value in values:
        bins[min(n_bin - 1, int(value / high * n_bin))] += 1
    return bins


def draw(out, bins, high, ticks, x_title, y_title, width=340, height=190, note=""):
    """OUT.png; `ticks` are numbers on the x axis, the last of which is `high`."""
    settings = "bin_width = %.6g\nx_high = %.6g\nx_title = %s\ny_title = %s\nnote = %s\n" % (
        high / len(bins), high, quote(x_title), quote(y_title), quote(note))
    settings += "x_ticks = %s\n" % quote("set xtics (" + ", ".join(
        "%s %g" % (quote("%g%s" % (tick, "+" if tick == high else "")), tick) for tick in ticks) + ")")
    settings += "$bins << EOD\n" + "".join("%.6g %d\n" % ((i + 0.5) * high / len(bins), n) for i, n in enumerate(bins)) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_histogram.gp")
