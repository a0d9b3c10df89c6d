SRC_RESULTS := \
	results/csv_line.c \
	results/cube.c \
	results/cube_hdf5.c \
	results/cube_layers.c \
	results/cube_read.c \
	results/cube_rows.c \
	results/hdf5_file.c \
	results/journal.c \
	results/journal_read.c \
	results/journal_status.c \
	results/merge.c \
	results/plot.c \
	results/plot_breakdown.c \
	results/plot_convergence.c \
	results/plot_data.c \
	results/plot_gnuplot.c \
	results/plot_heatmap.c \
	results/plot_timeline.c \
	results/plot_timeline_lane.c \
	results/plot_timeline_rows.c \
	results/provenance.c \
	results/schema.c \
	results/timeline.c \
	results/timeline_hdf5.c \
	results/timeline_read.c
