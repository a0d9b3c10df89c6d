# Execution graphs of schedules of uops, one above the other: a lane for each accelerator. `dse plot` puts the settings and the
# data blocks before this text and gives it to gnuplot 5.4. All lengths are points; x from 0 to dse_plot_width stands for the time
# dse_low to dse_high.
#   dse_width, dse_height, dse_left, dse_right, dse_top, dse_bottom   canvas and margins
#   dse_title, dse_x_title, dse_y_ticks, dse_n_panel, panel_foot[], panel_high[], panel_end[], panel_title[], panel_note[]
#   $core: x0 x1 y0 y1 look      $line: x y0 y1 look (0 round, 1 end)      $word, $word_up: x y label

# Okabe and Ito's colours, each in three shades.
array hue[6] = [0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7, 0xd55e00, 0x8074a8]
part(colour, shift) = (colour >> shift) & 255
lighten(colour, by) = (int(part(colour, 16) + (255 - part(colour, 16)) * by) << 16) \
    + (int(part(colour, 8) + (255 - part(colour, 8)) * by) << 8) + int(part(colour, 0) + (255 - part(colour, 0)) * by)
core_colour(look) = lighten(hue[int(look) / 3 + 1], int(look) % 3 == 0 ? 0.3 : int(look) % 3 == 1 ? 0.55 : 0.1)

pt_x(v) = 1.0 * v / dse_width
pt_y(v) = 1.0 * v / dse_height
X(x) = dse_low + x / dse_plot_width * (dse_high - dse_low)
gap(x0, x1) = x1 - x0 > 3 ? 0.5 : 0 # between neighbours that are wide enough

set datafile missing 'NaN'
unset key
set border 0
set lmargin at screen pt_x(dse_left)
set rmargin at screen 1 - pt_x(dse_right)
set bmargin at screen pt_y(dse_bottom)
set tmargin at screen 1 - pt_y(dse_top)
set xrange [dse_low:dse_high]
set yrange [0:dse_plot_height]
set xtics nomirror out scale 0.4 font ',8' offset 0,0.3
eval dse_y_ticks

set label 1 dse_title at screen 0.5, screen 1 - pt_y(12) center font ',12'
set label 2 dse_x_title at screen (pt_x(dse_left) + 1 - pt_x(dse_right)) / 2, screen pt_y(dse_bottom - 28) center font ',9'
set label 3 'Colours tell layers apart; what is grey waits.' at screen pt_x(dse_left), screen pt_y(10) left font ',7' tc rgb '#444444'
do for [p = 1:dse_n_panel] {
    y = panel_foot[p] + panel_high[p]
    set label 10 * p panel_title[p] at first dse_low, first y + 19 left font ',8.5'
    set label 10 * p + 1 panel_note[p] at first dse_low, first y + 6 left font ',7.5' tc rgb '#444444'
    set label 10 * p + 2 'accelerator' at screen pt_x(dse_left - 34), first panel_foot[p] + panel_high[p] / 2 center rotate by 90 font ',8'
    set object 10 * p rectangle from first dse_low, first panel_foot[p] to first X(panel_end[p]), first y behind fs solid noborder fc rgb '#efefef'
}

plot $core using (X(($1 + $2) / 2)):(($3 + $4) / 2):(X($1)):(X($2 - gap($1, $2))):3:4:(core_colour($5)) \
        with boxxyerror fs solid noborder lc rgb variable, \
    $line using ($4 == 0 ? X($1) : NaN):2:(0):($3 - $2) with vectors nohead lw 0.7 lc rgb 'black', \
    '' using ($4 == 1 ? X($1) : NaN):2:(0):($3 - $2) with vectors nohead lw 0.9 dt 3 lc rgb 'black', \
    $word using (X($1)):2:3 with labels center font ',5.5', \
    $word_up using (X($1)):2:3 with labels center rotate by 90 font ',5.5'
set output
