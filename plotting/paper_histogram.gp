# Histograms over one logarithmic axis, one above the other. plotting/paper_histogram.py puts the settings and the data block $bins (middle,
# height; an index per panel) before this text; places on the x axis are logarithms.
#   fig_width, fig_height; n_panel, bin_width, x_low, x_high, x_title, y_title, x_ticks (a command)
#   panel_left, panel_right; panel_top[], panel_bottom[] (screen), panel_title[], panel_high[]
#   n_mark; mark_x[], mark_title[], mark_colour[]: lines across all panels; mark_left[]: left end of its entry of the legend, in points
set style fill solid 1.0 noborder
set boxwidth bin_width * 0.9
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.5
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
set lmargin at screen panel_left
set rmargin at screen panel_right
set xrange [x_low:x_high]
unset key
set multiplot
do for [p = 1:n_panel] {
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    unset label
    unset arrow
    if (strlen(panel_title[p])) {
        set label 1 panel_title[p] at graph 0.5, screen panel_top[p] + 8.0 / fig_height center font ',9'
    }
    if (p == n_panel) {
        set label 2 x_title at graph 0.5, screen 8.0 / fig_height center
    }
    set label 3 y_title at screen 9.0 / fig_width, screen (panel_top[p] + panel_bottom[p]) / 2 center rotate by 90
    do for [m = 1:n_mark] {
        set arrow m from first mark_x[m], graph 0 to first mark_x[m], graph 1 nohead front lw 1.3 lc rgb mark_colour[m]
        if (p == 1) {
            high = 1 - 10.0 / fig_height
            set arrow n_mark + m from screen 1.0 * mark_left[m] / fig_width, screen high to screen (mark_left[m] + 16.0) / fig_width, \
                screen high nohead lw 1.3 lc rgb mark_colour[m]
            set label 3 + m mark_title[m] at screen (mark_left[m] + 20.0) / fig_width, screen high left
        }
    }
    set yrange [0:panel_high[p]]
    eval x_ticks
    plot $bins index (p - 1) using 1:2 with boxes lc rgb '#3b6ea5'
}
unset multiplot
