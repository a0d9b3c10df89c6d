# Heatmap panels. `dse plot` puts the settings and the data block $cells before this text and gives it to gnuplot 5.4.
#   dse_width, dse_height          canvas in points
#   dse_title, dse_subtitle, dse_foot, dse_best_word, dse_x_title, dse_y_title, dse_colour_title
#   dse_x_title_offset, dse_y_title_offset   points from the panels
#   dse_x_ticks, dse_y_ticks, dse_colour_ticks   commands
#   dse_n_x, dse_n_y, dse_low, dse_high, dse_log, dse_print, dse_fine (too many cells for boxes: draw images)
#   dse_n_panel, panel_left[], panel_right[], panel_top[], panel_bottom[] (screen), panel_ticks_x[], panel_ticks_y[],
#   panel_title[]
#   $cells, one index per panel: x y value look text ink mark rgb
#     look 0 value, 1 infeasible, 2 failed, 3 not computed, 4 nothing to compare with; mark 1 best of the panel, 2 best of all
#   dse_palette: 0 values, 1 ratios (less is better), 2 ratios (more is), 3 rgb, the 8th column, with dse_n_winner, winner_name[],
#   winner_rgb[] in place of the colour scale

# Viridis (S. van der Walt, N. Smith; CC0): even steps for every kind of colour vision, and in grey.
set palette defined (0 '#440154', 1 '#482878', 2 '#3e4a89', 3 '#31688e', 4 '#26828e', 5 '#1f9e89', \
    6 '#35b779', 7 '#6ece58', 8 '#b5de2b', 9 '#fde725')
# Ratios: better than 1 is blue, worse is red (RdBu of C. Brewer's palettes, told apart with every kind of colour vision).
if (dse_palette == 1) set palette defined (0 '#2166ac', 1 '#67a9cf', 2 '#d1e5f0', 3 '#f7f7f7', 4 '#fddbc7', 5 '#ef8a62', 6 '#b2182b')
if (dse_palette == 2) set palette defined (0 '#b2182b', 1 '#ef8a62', 2 '#fddbc7', 3 '#f7f7f7', 4 '#d1e5f0', 5 '#67a9cf', 6 '#2166ac')
if (!dse_fine) set datafile missing 'NaN' # an image must have all of its cells
unset key
unset colorbox
set border 0 lc rgb 'white' # ticks of length 0 would still show as dots
set style fill solid 1.0
set cbrange [dse_low:dse_high]
if (dse_log) set logscale cb
eval dse_colour_ticks

pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height

set multiplot

# Title, what is fixed, colour scale, foot: drawn once, with the first panel.
set label 1 dse_title at screen 0.5, screen 1 - pt_y(13) center font ',12'
set label 2 dse_subtitle at screen 0.5, screen 1 - pt_y(30) center font ',8' tc rgb '#555555'
set label 3 dse_x_title at screen (panel_left[1] + panel_right[dse_n_panel < 2 ? 1 : dse_columns]) / 2, \
    screen panel_bottom[dse_n_panel] - pt_y(dse_x_title_offset + 10) center font ',9'
set label 4 dse_y_title at screen panel_left[1] - pt_x(dse_y_title_offset), screen (panel_top[1] + panel_bottom[dse_n_panel]) / 2 \
    center rotate by 90 font ',9'
set label 5 dse_foot at screen 0.5, screen pt_y(29) center font ',8'

# The marks are explained at the bottom, one after the other.
legend = pt_x(10)
legend_y = pt_y(9)
box_w = pt_x(13)
box_h = pt_y(8)
if (dse_has_best && dse_n_panel > 1) {
    set object 11 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs solid noborder fc rgb '#31688e'
    set object 12 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        front fs empty border rgb 'white' lw 1.6
    set object 10 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs empty border rgb 'black' lw 2.4
    set label 11 'best of the panel' at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
    legend = legend + pt_x(108)
}
if (dse_has_best) {
    set object 14 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs empty border rgb '#d55e00' lw 2.2
    set label 14 dse_best_word at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
    legend = legend + pt_x(28 + 4.6 * strlen(dse_best_word))
}
if (dse_has_infeasible) {
    set object 15 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs pattern 4 border rgb '#888888' fc rgb '#888888'
    set label 15 'infeasible' at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
    legend = legend + pt_x(74)
}
if (dse_has_failed) {
    set object 16 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs pattern 1 border rgb '#888888' fc rgb '#888888'
    set label 16 'failed' at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
    legend = legend + pt_x(52)
}
if (dse_has_missing) {
    set object 17 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs solid border rgb '#bbbbbb' fc rgb '#eeeeee'
    set label 17 'not computed' at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
}
if (dse_has_missing) { legend = legend + pt_x(84) }
if (dse_has_unmatched) {
    set object 18 rectangle from screen legend, screen legend_y to screen legend + box_w, screen legend_y + box_h \
        fs pattern 2 border rgb '#bbbbbb' fc rgb '#bbbbbb'
    set label 18 'nothing to compare with' at screen legend + pt_x(17), screen legend_y + pt_y(4) left font ',7.5'
}
last_row_bottom = panel_bottom[dse_n_panel]
bar_left = panel_right[dse_columns] + pt_x(14)
if (dse_palette == 3) {
    set label 6 dse_colour_title at screen bar_left, screen panel_top[1] - pt_y(5) left font ',8.5'
    do for [i = 1:dse_n_winner] {
        set object 20 + i rectangle from screen bar_left, screen panel_top[1] - pt_y(16 + 14 * i) \
            to screen bar_left + box_w, screen panel_top[1] - pt_y(7 + 14 * i) fs solid noborder fc rgb int(winner_rgb[i])
        set label 20 + i winner_name[i] at screen bar_left + pt_x(17), screen panel_top[1] - pt_y(11 + 14 * i) left font ',8'
    }
}
if (dse_palette != 3) set colorbox vertical user origin bar_left, last_row_bottom + 0.0 size pt_x(11), panel_top[1] - last_row_bottom
set cblabel (dse_palette == 3 ? '' : dse_colour_title) font ',9' offset 0.8,0
set cbtics font ',8' tc rgb 'black' scale 0.4 offset -0.5,0

do for [p = 1:dse_n_panel] {
    set lmargin at screen panel_left[p]
    set rmargin at screen panel_right[p]
    set tmargin at screen panel_top[p]
    set bmargin at screen panel_bottom[p]
    # Marks lie 2 points inside their cell.
    mark_w = 0.5 - 2.0 * dse_n_x / (dse_width * (panel_right[p] - panel_left[p]))
    mark_h = 0.5 - 2.0 * dse_n_y / (dse_height * (panel_top[p] - panel_bottom[p]))
    set xrange [-0.5:dse_n_x - 0.5]
    set yrange [-0.5:dse_n_y - 0.5]
    set title panel_title[p] font ',8.5' offset 0,-0.8
    if (panel_ticks_x[p]) { eval dse_x_ticks; set xtics font ',8' tc rgb 'black' offset 0,0.3 } else { unset xtics }
    if (panel_ticks_y[p]) { eval dse_y_ticks; set ytics font ',8' tc rgb 'black' offset 0.8,0 } else { unset ytics }
    # An image takes seconds for a million cells, boxes take minutes. Grey: not computed (light), infeasible, failed (dark).
    grey(look) = look == 4 ? 205 : look == 3 ? 238 : look == 1 ? 170 : 90
    part(rgb, n) = int(rgb) / n % 256
    if (dse_fine) {
        plot $cells index p-1 using 1:2:($4 == 0 ? $3 : dse_low) with image, \
            '' index p-1 using 1:2:($4 == 0 ? part($8, 65536) : grey($4)):($4 == 0 ? part($8, 256) : grey($4)):\
                ($4 == 0 ? part($8, 1) : grey($4)):($4 > 0 || dse_palette == 3 ? 255 : 0) with rgbalpha, \
            '' index p-1 using ($7 > 0 ? $1 : NaN):2 with points pt 6 ps 1.2 lw 3.2 lc rgb 'black', \
            '' index p-1 using ($7 == 1 ? $1 : NaN):2 with points pt 6 ps 1.2 lw 1.6 lc rgb 'white', \
            '' index p-1 using ($7 == 2 ? $1 : NaN):2 with points pt 6 ps 1.2 lw 2.0 lc rgb '#ff7f2a'
    } else {
        plot $cells index p-1 using ($4 == 3 ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fc rgb '#eeeeee' lw 0.6 \
                fs solid border rgb 'white', \
            '' index p-1 using ($4 == 1 ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fc rgb '#999999' lw 0.5 \
                fs pattern 4 border rgb '#bbbbbb', \
            '' index p-1 using ($4 == 2 ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fc rgb '#999999' lw 0.5 \
                fs pattern 1 border rgb '#bbbbbb', \
            '' index p-1 using ($4 == 4 ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fc rgb '#bbbbbb' lw 0.5 \
                fs pattern 2 border rgb '#bbbbbb', \
            '' index p-1 using ($4 == 0 && dse_palette < 3 ? $1 : NaN):2:(0.5):(0.5):3 with boxxyerror fc palette lw 0.6 \
                fs solid border rgb 'white', \
            '' index p-1 using ($4 == 0 && dse_palette == 3 ? $1 : NaN):2:(0.5):(0.5):8 with boxxyerror lc rgb variable lw 0.6 \
                fs solid border rgb 'white', \
            '' index p-1 using ($7 > 0 ? $1 : NaN):2:(mark_w):(mark_h) with boxxyerror lc rgb 'black' \
                lw 3.2 fs empty, \
            '' index p-1 using ($7 == 1 ? $1 : NaN):2:(mark_w):(mark_h) with boxxyerror lc rgb 'white' \
                lw 1.8 fs empty, \
            '' index p-1 using ($7 == 2 ? $1 : NaN):2:(mark_w):(mark_h) with boxxyerror lc rgb '#ff7f2a' \
                lw 2.2 fs empty, \
            '' index p-1 using (dse_print && $4 == 0 ? $1 : NaN):2:5:6 with labels tc rgb variable font ',7.5'
    }
    if (p == 1) {
        unset colorbox
        do for [i = 1:50] { unset label i; unset object i }
    }
}
unset multiplot
set output
