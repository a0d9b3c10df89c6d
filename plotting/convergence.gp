# Convergence curves: one per layer and their geometric mean, or that mean one per series. `dse plot` puts the settings and the
# data blocks before this text and gives it to gnuplot 5.4.
#   canvas and panels as in heatmap.gp; dse_x_title, dse_y_title, dse_first, dse_last, dse_high
#   of layers: dse_n_layer, layer_name[]; $curves: place ratio layer (0 ..), blank lines between layers; $mean: place ratio
#   of series: dse_n_series (else 0), series_name[], dse_series_title, dse_note (of a range, else ''); $curves, one index per
#   panel and series: place mean lowest highest, with the corners of the steps

# Viridis without its lightest end, which does not show on white.
set palette defined (0 '#440154', 1 '#482878', 2 '#3e4a89', 3 '#31688e', 4 '#26828e', 5 '#1f9e89', \
    6 '#35b779', 7 '#6ece58')
# Series as the lines in lines.gp; after eight they are dashed.
array line_colour[8] = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#000000', '#999999']
array line_dash[3] = [1, 2, 4]
colour_of(i) = line_colour[(int(i) - 1) % 8 + 1]
dash_of(i) = line_dash[(int(i) - 1) / 8 % 3 + 1]
pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
set datafile missing 'NaN'
unset key
unset colorbox
set cbrange [0:(dse_n_layer > 1 ? dse_n_layer - 1 : 1)]
set border 3 lc rgb '#444444'
set grid lc rgb '#dddddd' lw 0.5
set logscale x
if (dse_high > 3) set logscale y
set multiplot

set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555'
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(30) center font ',9'
set label 4 dse_y_title at screen panel_left[1] - pt_x(52), screen (panel_top[1] + panel_bottom[dse_n_panel]) / 2 \
    center rotate by 90 font ',9'
legend_x = panel_right[dse_columns] + pt_x(10)
if (dse_n_series == 0) {
    set arrow 1 from screen legend_x, screen panel_top[1] - pt_y(8) to screen legend_x + pt_x(14), \
        screen panel_top[1] - pt_y(8) nohead lw 1.8 lc rgb 'black'
    set label 5 (dse_n_layer > 1 ? 'geometric mean' : layer_name[1]) at screen legend_x + pt_x(18), \
        screen panel_top[1] - pt_y(8) left font ',8'
}
n_named = dse_n_layer <= 12 && dse_n_layer > 1 ? dse_n_layer : 0 # of a single one the mean is the curve
do for [i = 1:n_named] {
    legend_y = panel_top[1] - pt_y(8 + 13 * i)
    set arrow 1 + i from screen legend_x, screen legend_y to screen legend_x + pt_x(14), screen legend_y \
        nohead lw 1.2 lc palette cb i - 1
    set label 10 + i layer_name[i] at screen legend_x + pt_x(18), screen legend_y left font ',8'
}
if (dse_n_layer > 12) {
    set arrow 2 from screen legend_x, screen panel_top[1] - pt_y(21) to screen legend_x + pt_x(14), \
        screen panel_top[1] - pt_y(21) nohead lw 0.8 lc palette cb dse_n_layer / 2
    set label 11 sprintf('%d layers', dse_n_layer) at screen legend_x + pt_x(18), screen panel_top[1] - pt_y(21) \
        left font ',8'
}
# A single series without a name is the seeds of one search.
if (dse_n_series > 0) {
    legend_y = panel_top[1] - pt_y(2)
    if (dse_series_title ne '') {
        set label 6 dse_series_title at screen legend_x, screen legend_y left font ',8.5'
        legend_y = legend_y - pt_y(14)
    }
    do for [i = 1:dse_n_series] {
        if (series_name[i] ne '') {
            set arrow i from screen legend_x, screen legend_y to screen legend_x + pt_x(14), screen legend_y \
                nohead lw 1.6 lc rgb colour_of(i) dt dash_of(i)
            set label 10 + i series_name[i] at screen legend_x + pt_x(18), screen legend_y left font ',8'
            legend_y = legend_y - pt_y(13)
        }
    }
    set label 7 dse_note at screen legend_x, screen legend_y - pt_y(3) left font ',8' tc rgb '#555555'
}

do for [p = 1:dse_n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    set xrange [dse_first:(dse_last > dse_first ? dse_last * 1.1 : 10 * dse_first)]
    set yrange [(dse_high > 3 ? 0.9 : 0.98):(dse_high > 3 ? dse_high * 1.2 : dse_high * 1.02 + 0.01)]
    set title panel_title[p] font ',8.5' offset 0,-0.6
    set xtics nomirror scale 0.4 font ',8'
    if (dse_high > 3) {
        set ytics nomirror scale 0.4 font ',8' (1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6, 1e9, 1e12)
    } else {
        set ytics nomirror scale 0.4 font ',8'
    }
    if (panel_ticks_x[p]) { set format x '%.0s%c' } else { set format x '' }
    if (panel_ticks_y[p]) { set format y '%g' } else { set format y '' }
    if (dse_n_series > 0) {
        at = (p - 1) * dse_n_series - 1
        plot for [i = 1:(dse_note eq '' ? 0 : dse_n_series)] $curves index at + i using 1:3:4 with filledcurves \
                fc rgb colour_of(i) fs transparent solid 0.15 noborder, \
            for [i = 1:dse_n_series] $curves index at + i using 1:2 with lines lw 1.6 lc rgb colour_of(i) dt dash_of(i)
    } else {
        plot for [l = 0:dse_n_layer - 1] $curves index p-1 using ($3 == l ? $1 : NaN):2 with steps \
                lw (n_named ? 1.2 : 0.6) lc palette cb l, \
            $mean index p-1 using 1:2 with steps lw 1.8 lc rgb 'black'
    }
    if (p == 1) {
        do for [i = 1:30] { unset label 10 + i; unset arrow i }
        do for [i = 1:7] { unset label i }
    }
}
unset multiplot
set output
