# A histogram. plotting/paper_histogram.py puts the settings and the data block $bins (middle, count) before this text.
#   bin_width, x_high, x_title, y_title, note, x_ticks (a command)
set style fill solid 1.0 noborder
set boxwidth bin_width * 0.92
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.5
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
set xrange [0:x_high]
set yrange [0:*]
set xlabel x_title
set ylabel y_title
set label 1 note at graph 0.98, graph 0.95 right font ',7.5' tc rgb '#444444'
eval x_ticks
unset key
plot $bins using 1:2 with boxes lc rgb '#3b6ea5'
