# Lines over named places, in panels. plotting/paper_lines.py puts the settings and the data blocks before this text.
#   fig_width, fig_height          canvas in points
#   n_panel, n_line, point_size, label_rotate; panel_left[], panel_right[], panel_top[], panel_bottom[] (screen), panel_title[],
#   panel_x_title[], panel_y_title[], panel_low[], panel_high[], panel_log[], panel_places[], panel_ticks[], panel_y_ticks[] (commands)
#   line_title[], line_colour[], line_dash[] (dash type), line_x[]: left end of each entry of the legend, line_row[]: its row, from 0
#   $lines, one index per panel and line: x y (NaN: a gap)
pt_x(v) = 1.0 * v / fig_width
pt_y(v) = 1.0 * v / fig_height

set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.4
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
unset key
set multiplot

do for [p = 1:n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    unset label
    unset arrow
    if (p == 1) {
        do for [s = 1:n_line] {
            if (!strlen(line_title[s])) { continue }
            y = 1 - pt_y(11 + 12 * line_row[s])
            set arrow s from screen pt_x(line_x[s]), screen y to screen pt_x(line_x[s] + 18), screen y nohead \
                dt line_dash[s] lw 1.4 lc rgb line_colour[s]
            set label 10 + s line_title[s] at screen pt_x(line_x[s] + 22), screen y left font ',8'
        }
    }
    set label 1 panel_title[p] at screen (panel_left[p] + panel_right[p]) / 2, screen panel_top[p] + pt_y(8) center font ',9'
    set label 2 panel_x_title[p] at screen (panel_left[p] + panel_right[p]) / 2, screen panel_bottom[p] - pt_y(27) center font ',8'
    set label 3 panel_y_title[p] at screen panel_left[p] - pt_x(34), screen (panel_top[p] + panel_bottom[p]) / 2 center rotate by 90 font ',8'
    if (panel_log[p] > 0) { set logscale y 2 } else { unset logscale y }
    set yrange [panel_low[p]:panel_high[p]]
    set xrange [0.5:panel_places[p] + 0.5]
    eval panel_y_ticks[p]
    set ytics font ',7'
    eval panel_ticks[p]
    if (label_rotate) {
        set xtics scale 0.3 font ',6' rotate by label_rotate right
    } else {
        set xtics scale 0 font ',7.5'
    }
    plot for [s = 1:n_line] $lines index ((p - 1) * n_line + s - 1) using 1:2 with linespoints \
        dt line_dash[s] lw 1.2 pt 7 ps point_size lc rgb line_colour[s]
}
unset multiplot
