# Points over two metrics, their front as a line. `dse plot` puts the settings and the data blocks before this text and gives it to
# gnuplot 5.4.
#   canvas and panels as in heatmap.gp; dse_x_title, dse_y_title; dse_many (points are drawn small)
#   panel_low_x[], panel_high_x[], panel_low_y[], panel_high_y[]: the ends of what is in the panel
#   dse_n_series, series_name[], series_rgb[], series_shape[], dse_series_title ('': none); dse_front_word ('': no fronts)
#   $points, one index per panel: x y rgb shape on-the-front
#   $fronts, one index per panel, one block per front: x y rgb

array full_shape[5] = [7, 5, 9, 13, 11]
array open_shape[5] = [6, 4, 8, 12, 10]
pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
set datafile missing 'NaN'
unset key
set border 3 lc rgb '#444444'
set grid lc rgb '#e4e4e4' lw 0.5
set multiplot

set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555'
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(30) center font ',9'
set label 4 dse_y_title at screen panel_left[1] - pt_x(54), screen (panel_top[1] + panel_bottom[dse_n_panel]) / 2 \
    center rotate by 90 font ',9'
legend_x = panel_right[dse_columns] + pt_x(14)
legend_y = panel_top[1] + pt_y(8)
if (dse_series_title ne '') {
    set label 5 dse_series_title at screen legend_x, screen panel_top[1] left font ',8.5'
    legend_y = panel_top[1] - pt_y(3)
}
do for [i = 1:dse_n_series] {
    legend_y = legend_y - pt_y(14)
    set label 10 + i series_name[i] at screen legend_x + pt_x(8), screen legend_y left offset 1.4,0 font ',8' \
        point pt full_shape[int(series_shape[i])] ps 1.3 lc rgb int(series_rgb[i])
}
if (dse_front_word ne '') {
    legend_y = legend_y - pt_y(dse_n_series > 0 ? 20 : 14)
    set arrow 1 from screen legend_x, screen legend_y to screen legend_x + pt_x(16), screen legend_y nohead lw 1.4 lc rgb '#444444'
    set label 40 dse_front_word at screen legend_x + pt_x(8), screen legend_y left offset 1.4,0 font ',8' \
        point pt 6 ps 1.5 lw 0.7 lc rgb 'black'
}

is_log(low, high) = low > 0 && high / low > 6
below(low, high) = is_log(low, high) ? low / (high / low)**0.05 : low - (high > low ? 0.05 * (high - low) : 0.05 * abs(high) + 1e-12)
above(low, high) = is_log(low, high) ? high * (high / low)**0.05 : high + (high > low ? 0.05 * (high - low) : 0.05 * abs(high) + 1e-12)
round_ticks(low, high) = high / low < 8 ? '1 1.5 2 3 4 5 7' : high / low < 1000 ? '1 2 5' : '1'

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
    plot $points index p - 1 using ($5 == 0 ? $1 : NaN):2:(full_shape[int($4)]):3 \
            with points pt variable ps (dse_many ? 0.4 : 1.1) lc rgb variable, \
        $fronts index p - 1 using 1:2:3 with lines lw 1.4 lc rgb variable, \
        $points index p - 1 using ($5 == 1 ? $1 : NaN):2:(full_shape[int($4)]):3 with points pt variable ps 1.5 lc rgb variable, \
        '' index p - 1 using ($5 == 1 ? $1 : NaN):2:(open_shape[int($4)]) with points pt variable ps 1.5 lw 0.7 lc rgb 'black'
    if (p == 1) {
        do for [i = 1:40] { unset label i }
        unset arrow 1
    }
}
unset multiplot
set output
