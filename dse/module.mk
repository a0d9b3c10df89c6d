SRC_DSE := \
	dse/cli.c \
	dse/command_eval.c \
	dse/command_list.c \
	dse/command_map.c \
	dse/command_table.c \
	dse/inputs.c \
	dse/main.c \
	dse/record.c \
	dse/report_csv.c \
	dse/report_json.c \
	dse/report_table.c \
	dse/resolve.c \
	dse/solve.c \
	dse/table.c \
	dse/threads.c \
	dse/workload.c
