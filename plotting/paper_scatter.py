"""Scatter panels of normalised quantities: translucent points, so that what lies on top of each other is darker."""
from paper_tools import array, gnuplot, quote

WIDE, HIGH, LEFT, RIGHT, GAP_X, GAP_Y, TOP, BOTTOM = 190, 130, 52, 12, 34, 40, 22, 36


def draw(out, panels, x_title, y_title, columns=2):
    """OUT.png; `panels` are pairs of a title and its points (x, y), both from 0 to 1, laid out row by row."""
    n_row = -(-len(panels) // columns)
    width, height = LEFT + columns * WIDE + (columns - 1) * GAP_X + RIGHT, TOP + n_row * HIGH + (n_row - 1) * GAP_Y + BOTTOM
    left = [LEFT + i % columns * (WIDE + GAP_X) for i in range(len(panels))]
    top = [height - TOP - i // columns * (HIGH + GAP_Y) for i in range(len(panels))]
    settings = "n_panel = %d\nx_title = %s\ny_title = %s\n" % (len(panels), quote(x_title), quote(y_title))
    settings += array("panel_left", [x / width for x in left]) + array("panel_right", [(x + WIDE) / width for x in left])
    settings += array("panel_top", [y / height for y in top]) + array("panel_bottom", [(y - HIGH) / height for y in top])
    settings += array("panel_title", [title for title, _ in panels])
    # The more points, the fainter each.
    settings += array("panel_clear", [0x70 if len(points) < 500 else 0xa0 if len(points) < 3000 else 0xd0 for _, points in panels])
    settings += "$points << EOD\n" + "".join("".join("%.5g %.5g\n" % point for point in points) + "\n\n" for _, points in panels) + "EOD\n"
    gnuplot(out, width, height, settings, "paper_scatter.gp")
