# Grouped, stacked and marked bars. plotting/paper_stacks.py puts the settings and the data blocks before this text.
#   fig_width, fig_height          canvas in points
#   n_panel, n_series, mark_name, note; panel_left, panel_right; panel_top[], panel_bottom[] (screen), panel_title[],
#   panel_y_title[], panel_limit[], panel_step[], panel_x_limit[], panel_ticks[], panel_names[] (commands)
#   series_title[], series_colour[]; series_x[]: left end of each entry of the legend, of the mark and of the note, in points
#   an index per panel: $bars x low high colour half_width;  $marks x y
set style fill solid 1.0 noborder
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.3
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
set lmargin at screen panel_left
set rmargin at screen panel_right
unset key
set multiplot
do for [p = 1:n_panel] {
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    unset label
    set label 1 panel_title[p] at graph 0.5, screen panel_top[p] + 10.0 / fig_height center font ',9'
    set label 2 panel_y_title[p] at screen 10.0 / fig_width, screen (panel_top[p] + panel_bottom[p]) / 2 center rotate by 90 font ',7.5'
    set xrange [0.4:panel_x_limit[p]]
    set yrange [0:panel_limit[p]]
    set ytics panel_step[p] font ',7'
    eval panel_ticks[p]
    set xtics scale 0 font ',6.5' offset 0, 0.4
    if (p == 1) {
        high = 1 - 10.0 / fig_height
        do for [s = 1:n_series] {
            set object s rectangle from screen 1.0 * series_x[s] / fig_width, screen high - 4.0 / fig_height to \
                screen (series_x[s] + 12.0) / fig_width, screen high + 4.0 / fig_height fs solid noborder fc rgb series_colour[s]
            set label 10 + s series_title[s] at screen (series_x[s] + 16.0) / fig_width, screen high left font ',8'
        }
        if (strlen(mark_name)) {
            set label 9 '' at screen (series_x[n_series + 1] + 6.0) / fig_width, screen high point pt 13 ps 0.9 lc rgb '#0033cc'
            set label 10 mark_name at screen (series_x[n_series + 1] + 16.0) / fig_width, screen high left font ',8'
        }
        set label 8 note at screen 1.0 * series_x[n_series + 2] / fig_width, screen high left font ',7' tc rgb '#555555'
    } else {
        unset object
    }
    eval panel_names[p]
    plot $bars index (p - 1) using 1:(($2 + $3) / 2):($1 - $5):($1 + $5):2:3:4 with boxxyerror lc rgb variable, \
        $marks index (p - 1) using 1:2 with points pt 13 ps 0.6 lc rgb '#0033cc'
}
unset multiplot
