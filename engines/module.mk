SRC_ENGINES := \
	engines/annealing.c \
	engines/baseline/annealing_mapper.c \
	engines/baseline/descent.c \
	engines/baseline/exhaustive.c \
	engines/baseline/genetic_mapper.c \
	engines/baseline/hybrid.c \
	engines/baseline/mapping_search.c \
	engines/baseline/random.c \
	engines/baseline/sampling.c \
	engines/driver.c \
	engines/genetic.c \
	engines/mapspace.c \
	engines/mapspace_check.c \
	engines/mapspace_constraints.c \
	engines/mapspace_descent.c \
	engines/mapspace_draw.c \
	engines/mapspace_enumerate.c \
	engines/mapspace_move.c \
	engines/mapspace_order.c \
	engines/mapspace_pour.c \
	engines/mapspace_sample.c \
	engines/objective.c \
	engines/options.c \
	engines/price_memo.c \
	engines/registry.c \
	engines/trace.c
