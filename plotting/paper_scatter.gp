# Scatter panels. plotting/paper_scatter.py puts the settings and the data block $points (x y, an index per panel) before this text.
#   fig_width, fig_height, n_panel, x_title, y_title
#   panel_left[], panel_right[], panel_top[], panel_bottom[] (screen), panel_title[], panel_clear[] (0 opaque .. 255 invisible)
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.4 font ',7'
set grid lt 1 lc rgb '#e4e4e4' lw 0.6
set xrange [-0.02:1.04]
set yrange [-0.03:1.06]
set xtics 0.2
set ytics 0.2
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
        set label 2 y_title at screen 10.0 / fig_width, screen 0.5 center rotate by 90 font ',9'
        set label 3 x_title at screen 0.5, screen 8.0 / fig_height center font ',9'
    }
    plot $points index (p - 1) using 1:2 with points pt 7 ps 0.75 lc rgb (panel_clear[p] << 24) + 0x0b3d91
}
unset multiplot
