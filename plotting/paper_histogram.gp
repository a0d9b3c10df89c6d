# A histogram over a logarithmic axis. plotting/paper_histogram.py puts the settings and the data block $bins (middle, height) before this
# text; places on the x axis are logarithms.
#   bin_width, x_low, x_high, y_high, x_title, y_title, x_ticks (a command)
set style fill solid 1.0 noborder
set boxwidth bin_width * 0.9
set border 1 + 2 lc rgb '#444444' lw 0.8
set tics nomirror out scale 0.5
set grid ytics lt 1 lc rgb '#dddddd' lw 0.6
set tmargin 1.6
set rmargin 3
set xrange [x_low:x_high]
set yrange [0:y_high]
set xlabel x_title
set ylabel y_title
eval x_ticks
unset key
plot $bins using 1:2 with boxes lc rgb '#3b6ea5'
