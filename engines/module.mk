SRC_ENGINES := \
	engines/baseline/random.c \
	engines/driver.c \
	engines/mapspace.c \
	engines/mapspace_check.c \
	engines/mapspace_constraints.c \
	engines/mapspace_draw.c \
	engines/mapspace_order.c \
	engines/objective.c \
	engines/options.c \
	engines/registry.c \
	engines/trace.c
