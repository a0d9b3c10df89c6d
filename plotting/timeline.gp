# Execution graphs of fused schedules, one above the other. `dse plot` puts the settings and the data blocks before this text
# and gives it to gnuplot 5.4. All lengths are points; x from 0 to dse_plot_width stands for the time dse_low to dse_high.
#   dse_width, dse_height, dse_left, dse_right, dse_top, dse_bottom   canvas and margins
#   dse_title, dse_x_title, dse_y_ticks, dse_line_width, dse_n_panel, panel_foot[], panel_capacity[], panel_title[],
#   panel_note[]
#   buffer_low, ..., cut_high      rows of a panel, from its foot
#   $dram, $core, $stall: x0 x1 y0 y1 look      $buffer: x foot and four heights      $line: x y0 y1 look (0 FLC, 1 DRAM cut, 2 end)
#   $word, $word_up, $head: x y label

# Okabe and Ito's blue, orange and green for what comes, stays and goes; groups have hues of their own.
ifmap_colour = 0x56b4e9
weight_colour = 0xe69f00
ofmap_colour = 0x009e73
local_colour = 0xa8ddc5
dram_colour(look) = look == 0 ? ifmap_colour : look == 1 ? weight_colour : ofmap_colour
array hue[6] = [0x8074a8, 0xc07a9a, 0x7f8fa9, 0xa5886b, 0x6a9fa1, 0x9b9b9b]
part(colour, shift) = (colour >> shift) & 255
lighten(colour, by) = (int(part(colour, 16) + (255 - part(colour, 16)) * by) << 16) \
    + (int(part(colour, 8) + (255 - part(colour, 8)) * by) << 8) + int(part(colour, 0) + (255 - part(colour, 0)) * by)
core_colour(look) = lighten(hue[int(look) / 3 + 1], int(look) % 3 == 0 ? 0.12 : int(look) % 3 == 1 ? 0.42 : 0.66)

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
array row_name[5] = ['buffer', 'core array', 'DRAM', 'tiling number', 'layer group']
array row_middle[5] = [(buffer_low + buffer_high) / 2, (core_low + core_high) / 2, (dram_low + dram_high) / 2, \
    (tiling_low + tiling_high) / 2, (cut_low + cut_high) / 2]
do for [p = 1:dse_n_panel] {
    y = panel_foot[p]
    set label 10 * p panel_title[p] at first dse_low, first y + cut_high + 21.5 left font ',8.5'
    set label 10 * p + 9 panel_note[p] at first dse_low, first y + cut_high + 8 left font ',7.5' tc rgb '#444444'
    do for [i = 1:5] {
        set label 10 * p + i row_name[i] at screen pt_x(6), first y + row_middle[i] left font (i < 4 ? ',8' : ',7') \
            tc rgb (i < 4 ? 'black' : '#555555')
    }
    set object 10 * p rectangle from first dse_low, first y + buffer_low to first dse_high, first y + buffer_high \
        behind fs solid noborder fc rgb '#f5f5f5'
    set object 10 * p + 1 rectangle from first dse_low, first y + core_low to first dse_high, first y + core_high \
        behind fs solid noborder fc rgb '#f5f5f5'
    set object 10 * p + 2 rectangle from first dse_low, first y + dram_low to first dse_high, first y + dram_high \
        behind fs solid noborder fc rgb '#f5f5f5'
    if (panel_capacity[p] == panel_capacity[p]) {
        set arrow 10 * p from first dse_low, first panel_capacity[p] to first dse_high, first panel_capacity[p] nohead \
            front lw 0.8 dt 2 lc rgb '#444444'
    }
}

# The legend: name, colour, 0 solid 1 hatched 2 waiting 3 bold line 4 thin line
array entry[8] = ['loaded ifmaps', 'weights', 'stored ofmaps', 'kept in the buffer', 'core array waits', 'DRAM cut', \
    'fine-grained group', 'capacity']
legend_x = pt_x(dse_left)
legend_y = pt_y(13)
do for [i = 1:8] {
    if (i <= 5) {
        set object 200 + i rectangle from screen legend_x, screen legend_y - pt_y(4) to screen legend_x + pt_x(12), \
            screen legend_y + pt_y(4) fs solid noborder \
            fc rgb (i == 5 ? 0xfbe3de : i == 4 ? local_colour : dram_colour(i - 1))
        if (i == 3 || i == 5) {
            set object 210 + i rectangle from screen legend_x, screen legend_y - pt_y(4) to screen legend_x + pt_x(12), \
                screen legend_y + pt_y(4) fs transparent pattern (i == 3 ? 4 : 5) noborder \
                fc rgb (i == 3 ? 0x8fd6bf : 0xd1604d)
        }
    }
    if (i == 6) {
        set arrow 200 from screen legend_x + pt_x(8), screen legend_y - pt_y(6) to screen legend_x + pt_x(8), \
            screen legend_y + pt_y(6) nohead lw 1.8 lc rgb 'black'
    }
    if (i == 7) {
        set arrow 201 from screen legend_x + pt_x(8), screen legend_y - pt_y(6) to screen legend_x + pt_x(8), \
            screen legend_y + pt_y(6) nohead lw 0.7 lc rgb 'black'
    }
    if (i == 8) {
        set arrow 202 from screen legend_x, screen legend_y to screen legend_x + pt_x(13), screen legend_y nohead lw 0.8 \
            dt 2 lc rgb '#444444'
    }
    set label 200 + i entry[i] at screen legend_x + pt_x(16), screen legend_y left font ',7'
    legend_x = legend_x + pt_x(27 + 4.7 * strlen(entry[i]))
}

plot $buffer using (X($1)):2:6 with filledcurves fs solid noborder lc rgb local_colour, \
    '' using (X($1)):2:5 with filledcurves fs solid noborder lc rgb ofmap_colour, \
    '' using (X($1)):2:4 with filledcurves fs solid noborder lc rgb ifmap_colour, \
    '' using (X($1)):2:3 with filledcurves fs solid noborder lc rgb weight_colour, \
    $dram using (X(($1 + $2) / 2)):(($3 + $4) / 2):(X($1)):(X($2 - gap($1, $2))):3:4:(dram_colour($5)) \
        with boxxyerror fs solid noborder lc rgb variable, \
    '' using ($5 == 2 ? X(($1 + $2) / 2) : NaN):(($3 + $4) / 2):(X($1)):(X($2 - gap($1, $2))):3:4 \
        with boxxyerror fs transparent pattern 4 noborder lc rgb 0x8fd6bf, \
    $stall using (X(($1 + $2) / 2)):(($3 + $4) / 2):(X($1)):(X($2)):3:4 \
        with boxxyerror fs solid noborder lc rgb 0xfbe3de, \
    '' using (X(($1 + $2) / 2)):(($3 + $4) / 2):(X($1)):(X($2)):3:4 \
        with boxxyerror fs transparent pattern 5 noborder lc rgb 0xd1604d, \
    $core using (X(($1 + $2) / 2)):(($3 + $4) / 2):(X($1)):(X($2 - gap($1, $2))):3:4:(core_colour($5)) \
        with boxxyerror fs solid noborder lc rgb variable, \
    $line using ($4 == 0 ? X($1) : NaN):2:(0):($3 - $2) with vectors nohead lw 0.7 * dse_line_width lc rgb 'black', \
    '' using ($4 == 1 ? X($1) : NaN):2:(0):($3 - $2) with vectors nohead lw 1.8 * dse_line_width lc rgb 'black', \
    '' using ($4 == 2 ? X($1) : NaN):2:(0):($3 - $2) with vectors nohead lw 0.9 dt 3 lc rgb 'black', \
    $word using (X($1)):2:3 with labels center font ',5.5', \
    $word_up using (X($1)):2:3 with labels center rotate by 90 font ',5.5', \
    $head using (X($1)):2:3 with labels center font ',7'
set output
