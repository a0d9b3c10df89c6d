# Stacked energy bars. `dse plot` puts the settings and the data blocks before this text and gives it to gnuplot 5.4.
#   canvas and panels as in heatmap.gp; dse_x_title, dse_y_title, dse_x_ticks, dse_n_x, dse_high
#   dse_n_part, part_name[]
#   $parts, one index per panel: x low high part        $totals: x total text look (1: no value)

# Okabe and Ito's colours: told apart with every kind of colour vision.
array part_colour[8] = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#999999']
colour_of(i) = part_colour[(int(i) - 1) % 8 + 1]

pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
set datafile missing 'NaN'
unset key
set style fill solid 1.0
set border 3 lc rgb '#444444'
set grid ytics lc rgb '#dddddd' lw 0.5
set multiplot

set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555'
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(dse_x_title_offset + 10) center font ',9'
set label 4 dse_y_title at screen panel_left[1] - pt_x(48), screen (panel_top[1] + panel_bottom[dse_n_panel]) / 2 \
    center rotate by 90 font ',9'
# The legend reads from top to bottom as the bars do.
do for [i = 1:dse_n_part] {
    legend_x = panel_right[dse_columns] + pt_x(12)
    legend_y = panel_top[1] - pt_y(8 + 13 * (dse_n_part - i))
    set object i rectangle from screen legend_x, screen legend_y - pt_y(4) to \
        screen legend_x + pt_x(9), screen legend_y + pt_y(4) fs solid noborder fc rgb colour_of(i)
    set label 10 + i part_name[i] at screen legend_x + pt_x(13), screen legend_y left font ',8'
}

do for [p = 1:dse_n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    set xrange [-0.6:dse_n_x - 0.4]
    set yrange [0:dse_high * 1.12]
    set title panel_title[p] font ',8.5' offset 0,-0.6
    if (panel_ticks_x[p]) { eval dse_x_ticks; set xtics nomirror font ',8' offset 0,0.3 } else { unset xtics }
    set ytics nomirror scale 0.4 font ',8'
    if (panel_ticks_y[p]) { set format y '%g' } else { set format y '' }
    plot for [i = 1:dse_n_part] $parts index p-1 using ($4 == i ? $1 : NaN):(($2 + $3) / 2):(0.36):(($3 - $2) / 2) \
            with boxxyerror fc rgb colour_of(i) lw 0.4 fs solid border rgb 'white', \
        $totals index p-1 using ($4 == 0 ? $1 : NaN):2:3 with labels center offset 0,0.6 font ',7.5', \
        '' index p-1 using ($4 == 1 ? $1 : NaN):(0):3 with labels left rotate by 90 offset 0,0.4 font ',7.5' \
            tc rgb '#777777'
    if (p == 1) {
        do for [i = 1:dse_n_part] { unset object i; unset label 10 + i }
        do for [i = 1:4] { unset label i }
    }
}
unset multiplot
set output
