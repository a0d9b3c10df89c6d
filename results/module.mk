SRC_RESULTS := \
	results/csv_line.c \
	results/journal.c \
	results/journal_read.c \
	results/journal_status.c \
	results/provenance.c \
	results/schema.c
