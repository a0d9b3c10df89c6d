"""A surface over two axes of places that have names, coloured by its height, on a logarithmic scale."""
from paper_tools import gnuplot, quote, ticks


def draw(out, values, x_names, y_names, x_title, y_title, z_title, width=460, high=270):
    """OUT.png; values[y][x]. Of the names the empty ones are no ticks."""
    flat = [value for line in values for value in line]
    settings = "x_title = %s\ny_title = %s\nz_title = %s\nz_low = %.6g\nz_high = %.6g\nn_x = %d\nn_y = %d\n" % (
        quote(x_title), quote(y_title), quote(z_title), min(flat), max(flat), len(x_names), len(y_names))
    for axis, names in (("x", x_names), ("y", y_names)):
        shown = [(i, name) for i, name in enumerate(names) if name]
        labels, command = ticks(axis, axis + "_tick", [name for _, name in shown], [i for i, _ in shown])
        settings += labels + "%s_ticks = %s\n" % (axis, quote(command))
    settings += "$surface << EOD\n"
    settings += "\n".join("".join("%d %d %.6g\n" % (x, y, value) for x, value in enumerate(line)) for y, line in enumerate(values)) + "EOD\n"
    gnuplot(out, width, high, settings, "paper_surface.gp")
