# Fronts: energy over latency, a staircase per series. `dse plot` puts the settings and the data blocks before this text and gives it
# to gnuplot 5.4.
#   canvas and panels as in heatmap.gp; dse_x_title, dse_y_title; dse_layer ('': of the network)
#   panel_low_x[], panel_high_x[], panel_low_y[], panel_high_y[]: the ends of what is in the panel
#   dse_n_series, series_name[] ('': has no front), dse_series_title
#   $fronts, one index per panel and series: latency energy, the fastest first
#   $best, one index per panel: latency energy series of the points of the least energy x latency

array line_colour[8] = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#000000', '#999999']
array line_rgb[8] = [0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7, 0x56b4e9, 0x000000, 0x999999]
array line_shape[3] = [7, 5, 9]
colour_of(i) = line_colour[(int(i) - 1) % 8 + 1]
rgb_of(i) = line_rgb[(int(i) + 7) % 8 + 1]
shape_of(i) = line_shape[(int(i) - 1) / 8 % 3 + 1]
pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
set datafile missing 'NaN'
unset key
set border 3 lc rgb '#444444'
set grid lc rgb '#dddddd' lw 0.5
set multiplot

set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle.(dse_subtitle eq '' || dse_layer eq '' ? '' : ', ').(dse_layer eq '' ? '' : 'layer '.dse_layer) \
    at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555' noenhanced
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(30) center font ',9'
set label 4 dse_y_title at screen panel_left[1] - pt_x(54), screen (panel_top[1] + panel_bottom[dse_n_panel]) / 2 \
    center rotate by 90 font ',9'
if (dse_series_title ne '') {
    legend_x = panel_right[dse_columns] + pt_x(12)
    legend_y = panel_top[1] - pt_y(6)
    set label 5 dse_series_title at screen legend_x, screen panel_top[1] left font ',8.5'
    do for [i = 1:dse_n_series] {
        if (series_name[i] ne '') {
            legend_y = legend_y - pt_y(14)
            set arrow i from screen legend_x, screen legend_y to screen legend_x + pt_x(16), screen legend_y nohead lw 1.4 lc rgb colour_of(i)
            set label 10 + i series_name[i] at screen legend_x + pt_x(8), screen legend_y left offset 1.4,0 font ',8' \
                point pt shape_of(i) ps 0.6 lc rgb colour_of(i)
        }
    }
}

# Fronts of machines that differ much are each a speck on a linear scale.
is_log(low, high) = low > 0 && high / low > 3
below(low, high) = is_log(low, high) ? low / (high / low)**0.06 : low - (high > low ? 0.06 * (high - low) : 0.02 * high)
above(low, high) = is_log(low, high) ? high * (high / low)**0.06 : high + (high > low ? 0.06 * (high - low) : 0.02 * high)
round_ticks(low, high) = high / low < 8 ? '1 1.5 2 3 4 5 7' : '1 2 5'

do for [p = 1:dse_n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    set title panel_title[p] font ',8.5' offset 0,-0.6
    if (is_log(panel_low_x[p], panel_high_x[p])) {
        set logscale x
        set xtics nomirror scale 0.4 font ',8' (0)
        do for [e = int(floor(log10(panel_low_x[p]))) - 1:int(ceil(log10(panel_high_x[p])))] {
            do for [s in round_ticks(panel_low_x[p], panel_high_x[p])] { set xtics add (sprintf('%g', s * 10.0**e) s * 10.0**e) }
        }
    } else {
        unset logscale x
        set xtics nomirror scale 0.4 font ',8' autofreq
    }
    if (is_log(panel_low_y[p], panel_high_y[p])) {
        set logscale y
        set ytics nomirror scale 0.4 font ',8' (0)
        do for [e = int(floor(log10(panel_low_y[p]))) - 1:int(ceil(log10(panel_high_y[p])))] {
            do for [s in round_ticks(panel_low_y[p], panel_high_y[p])] { set ytics add (sprintf('%g', s * 10.0**e) s * 10.0**e) }
        }
    } else {
        unset logscale y
        set ytics nomirror scale 0.4 font ',8' autofreq
    }
    set xrange [below(panel_low_x[p], panel_high_x[p]):above(panel_low_x[p], panel_high_x[p])]
    set yrange [below(panel_low_y[p], panel_high_y[p]):above(panel_low_y[p], panel_high_y[p])]
    set format '%g'
    at = (p - 1) * dse_n_series - 1
    plot for [i = 1:dse_n_series] $fronts index at + i using 1:2 with steps lw 1.2 lc rgb colour_of(i), \
        for [i = 1:dse_n_series] $fronts index at + i using 1:2 with points pt shape_of(i) ps 0.6 lc rgb colour_of(i), \
        $best index p - 1 using 1:2:(rgb_of($3)) with points pt 6 ps 1.3 lw 1.4 lc rgb variable
    if (p == 1) {
        do for [i = 1:30] { unset label 10 + i; unset arrow i }
        do for [i = 1:5] { unset label i }
    }
}
unset multiplot
set output
