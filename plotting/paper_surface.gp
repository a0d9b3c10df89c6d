# A surface in three dimensions. plotting/paper_surface.py puts the settings and the data block $surface (x y z, lines of equal y apart) before this
# text.
#   x_title, y_title, z_title, z_low, z_high, n_x, n_y, x_ticks, y_ticks (commands)
set palette defined (0 '#313695', 1 '#74add1', 2 '#e0f3f8', 3 '#fdae61', 4 '#d73027', 5 '#a50026')
set border 31 lc rgb '#444444' lw 0.8
set tics out scale 0.4 font ',7'
set logscale z
set logscale cb
set xrange [0:n_x - 1]
set yrange [0:n_y - 1]
set zrange [z_low:z_high]
set cbrange [z_low:z_high]
set xyplane at z_low
set view 46, 318, 1.0, 1.15
eval x_ticks
eval y_ticks
set xtics offset 0, -0.3
set ytics offset 0.6, -0.2
set xlabel x_title font ',8' rotate parallel offset 0, -0.6
set ylabel y_title font ',8' rotate parallel offset 0, -0.6
set zlabel z_title font ',8' rotate by 90 offset -0.5, 0
set colorbox user origin screen 0.91, screen 0.25 size screen 0.02, screen 0.5
set cbtics font ',7'
unset key
set pm3d depthorder border lc rgb '#555555' lw 0.2
splot $surface using 1:2:3 with pm3d
