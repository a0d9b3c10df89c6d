# Lines over one axis. `dse plot` puts the settings and the data blocks before this text and gives it to gnuplot 5.4.
#   canvas and panels as in heatmap.gp; dse_x_title, dse_x_title_offset, dse_x_ticks
#   dse_n_row rows of panels (a unit each) of dse_row_panels panels; row_title[], row_low[], row_high[], row_log[], row_lines[]
#   dse_legend, dse_line_title, line_name[], of all lines of the first row, then of the second, ...
#   $lines, one index per panel and line: place value (NaN: a gap)
#   $marks, one index per panel: place line look place-from-the-bottom; look 0 infeasible, 1 failed, 2 not computed

# Okabe and Ito's colours: told apart with every kind of colour vision; after eight lines the shape differs as well.
array line_colour[8] = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#000000', '#999999']
array line_shape[3] = [7, 5, 9]
colour_of(i) = line_colour[(int(i) - 1) % 8 + 1]
array line_rgb[8] = [0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7, 0x56b4e9, 0x000000, 0x999999]
rgb_of(i) = line_rgb[(int(i) + 7) % 8 + 1]
shape_of(i) = line_shape[(int(i) - 1) / 8 % 3 + 1]
array look_shape[3] = [2, 1, 6]
array look_name[3] = ['infeasible', 'failed', 'not computed']

pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
unset key
set border 3 lc rgb '#444444'
set grid ytics lc rgb '#dddddd' lw 0.5
set xrange [-0.03:1.03]
set y2range [0:1]
set multiplot

set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555'
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(dse_x_title_offset + 12) center font ',9'

# What gaps mean is said at the bottom.
legend = pt_x(14)
do for [i = 1:3] {
    if (dse_has_look[i]) {
        set label 90 + i look_name[i] at screen legend, screen pt_y(9) left offset 1,0 font ',7.5' \
            point pt look_shape[i] ps 0.6 lc rgb '#555555'
        legend = legend + pt_x(26 + 4.6 * strlen(look_name[i]))
    }
}

first = 0
done = 0
do for [p = 1:dse_n_panel] {
    row = (p - 1) / dse_row_panels + 1
    n = int(row_lines[row])
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    if (row_log[row]) { set logscale y } else { unset logscale y }
    set yrange [row_low[row]:row_high[row]]
    set title panel_title[p] font ',8.5' offset 0,-0.6
    if (panel_ticks_x[p]) {
        eval dse_x_ticks; set xtics font ',8' offset 0,0.3
    } else {
        unset xtics
    }
    if (row_log[row] && row_high[row] / row_low[row] < 400) {
        set ytics nomirror scale 0.4 font ',8' (0)
        do for [e = int(floor(log10(row_low[row]))):int(ceil(log10(row_high[row])))] {
            do for [s in (row_high[row] / row_low[row] < 20 ? "1 1.5 2 3 4 5 7" : "1 2 5")] {
                set ytics add (sprintf('%g', s * 10.0**e) s * 10.0**e)
            }
        }
    } else {
        set ytics nomirror scale 0.4 font ',8' autofreq
    }
    if (dse_columns == 1 || (p - 1) % dse_columns == 0) {
        set format y '%g'
        set label 4 row_title[row] at screen panel_left[p] - pt_x(52), screen (panel_top[p] + panel_bottom[p]) / 2 \
            center rotate by 90 font ',9'
    } else {
        set format y ''
        if (row_log[row] && row_high[row] / row_low[row] < 400) { set ytics nomirror scale 0.4 autofreq }
        unset label 4
    }
    # Lines that are the same in all panels are named once, beside the first; metrics beside their row.
    if (dse_legend && (p - 1) % dse_row_panels == 0 && (row == 1 || dse_line_title eq '')) {
        at_x = panel_right[dse_columns] + pt_x(12)
        set label 5 dse_line_title at screen at_x, screen panel_top[p] - pt_y(2) left font ',8.5'
        do for [i = 1:n] {
            at_y = panel_top[p] - pt_y(4 + 13 * (i - (dse_line_title eq '')))
            set arrow i from screen at_x, screen at_y to screen at_x + pt_x(16), screen at_y nohead lw 1.6 lc rgb colour_of(i)
            set label 10 + i line_name[done + i] at screen at_x + pt_x(8), screen at_y left offset 1.4,0 font ',8' \
                point pt shape_of(i) ps 0.6 lc rgb colour_of(i)
        }
    }
    plot for [i = 1:n] $lines index first + i - 1 using 1:2 with linespoints lw 1.6 pt shape_of(i) ps 0.55 lc rgb colour_of(i), \
        for [k = 0:2] $marks index p - 1 using ($3 == k && $2 > 0 ? $1 : NaN):(0.03 + 0.9 / (n > 18 ? n : 18) * $4) :(rgb_of($2)) axes x1y2 \
            with points pt look_shape[k + 1] ps 0.9 lw 1.4 lc rgb variable
    first = first + n
    if (p % dse_row_panels == 0) { done = done + n }
    do for [i = 1:30] { unset label 10 + i; unset arrow i }
    do for [i = 1:5] { unset label i }
    do for [i = 91:93] { unset label i }
}
unset multiplot
set output
