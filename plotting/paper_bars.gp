# Grouped bars in panels. plotting/paper_bars.py puts the settings and the data blocks $bars and $numbers before this text.
#   fig_width, fig_height          canvas in points
#   n_panel, n_series, bar_width, label_rotate, number_rotate, number_size, fig_x_title
#   panel_left[], panel_right[], panel_top[], panel_bottom[] (screen), panel_title[], panel_y_title[], panel_limit[], panel_step[],
#   panel_groups[], panel_apart[], panel_ticks[]; series_title[], series_colour[]
#   series_x[]: left end of each entry of the legend, in points
#   $bars, one index per panel and series: x y;  $numbers, index panel_numbers[] - 1 (0: none): x y text
pt_x(v) = 1.0 * v / fig_width
pt_y(v) = 1.0 * v / fig_height

set style fill solid 1.0 noborder
set boxwidth bar_width * 0.94
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.4
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
number_place = number_rotate ? 'left rotate by 90 offset 0, 0.3' : 'center offset 0, 0.5'
unset key
set multiplot

do for [p = 1:n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    unset label
    unset arrow
    set label 1 panel_title[p] at screen (panel_left[p] + panel_right[p]) / 2, screen panel_top[p] + pt_y(21) center font ',9'
    set ylabel panel_y_title[p] offset 1.4, 0
    set label 2 (p == n_panel ? fig_x_title : '') at screen (panel_left[p] + panel_right[p]) / 2, screen pt_y(8) center
    set yrange [0:panel_limit[p]]
    set xrange [0.4:panel_groups[p] + 0.6]
    set ytics panel_step[p]
    eval panel_ticks[p]
    set xtics scale 0 font ',7'
    if (label_rotate) {
        set xtics rotate by label_rotate right
    }
    if (panel_apart[p] > 0) {
        set arrow 1 from first panel_apart[p], graph 0 to first panel_apart[p], graph 1 nohead dt 3 lc rgb '#888888' lw 0.8
    }
    if (p == 1) {
        do for [s = 1:n_series] {
            set object s rectangle from screen pt_x(series_x[s]), screen 1 - pt_y(15) to screen pt_x(series_x[s] + 12), \
                screen 1 - pt_y(7) fs solid noborder fc rgb series_colour[s]
            set label 2 + s series_title[s] at screen pt_x(series_x[s] + 17), screen 1 - pt_y(11) left font ',9'
        }
    } else {
        unset object
    }
    # One data block per panel: gnuplot 5.4 crashes when no row of a plot with labels is valid.
    if (panel_numbers[p] > 0) {
        plot for [s = 1:n_series] $bars index ((p - 1) * n_series + s - 1) using 1:2 with boxes lc rgb series_colour[s], \
            $numbers index (panel_numbers[p] - 1) using 1:2:3 with labels @number_place font sprintf(',%.2f', number_size)
    } else {
        plot for [s = 1:n_series] $bars index ((p - 1) * n_series + s - 1) using 1:2 with boxes lc rgb series_colour[s]
    }
}
unset multiplot
