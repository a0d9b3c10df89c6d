# Heatmaps with numbers. plotting/paper_heatmap.py puts the settings and the data blocks $cells, $lines and $near before this text.
#   fig_width, fig_height          canvas in points
#   n_panel, n_x, n_y, x_rotate (degrees), x_title, y_title, foot, x_ticks, y_ticks (commands)
#   panel_left[], panel_right[], panel_top[], panel_bottom[] (screen), panel_title[], panel_last[] (lowest row)
#   $cells, an index per panel: x y colour ink text;  $lines, $near: x y dx dy
set style fill solid 1.0 noborder
set border 0 lc rgb 'white' # ticks of length 0 would still show as dots
set tics scale 0
set xrange [0:n_x]
set yrange [n_y:0]
unset key
set multiplot
do for [p = 1:n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    unset label
    set label 1 panel_title[p] at graph 0.5, screen panel_top[p] + 9.0 / fig_height center font ',8.5'
    if (p == 1) {
        set label 2 y_title at screen 12.0 / fig_width, screen 0.5 center rotate by 90 font ',9'
        set label 3 x_title at screen 0.5, screen 21.0 / fig_height center font ',9'
        set label 4 foot at screen 0.5, screen 8.0 / fig_height center font ',7.5' tc rgb '#444444'
    }
    eval x_ticks
    eval y_ticks
    if (x_rotate == 0) {
        set xtics font ',7' tc rgb 'black' offset 0, 0.5
    } else {
        set xtics rotate by x_rotate right font ',7' tc rgb 'black' offset 0.4, 0.3
    }
    set ytics font ',7' tc rgb 'black' offset 0.6, 0
    if (!panel_last[p]) {
        unset xtics
    }
    plot $cells index (p - 1) using 1:2:(0.48):(0.47):3 with boxxyerror lc rgb variable, \
        '' index (p - 1) using 1:2:5:4 with labels font ',6' tc rgb variable, \
        $near index (p - 1) using 1:2:3:4 with vectors nohead lw 1.4 dt (4, 3) lc rgb '#333333', \
        $lines index (p - 1) using 1:2:3:4 with vectors nohead lw 1.8 lc rgb '#e00000'
}
unset multiplot
