SRC_COSTMODEL := \
	costmodel/detail.c \
	costmodel/evaluator.c \
	costmodel/mapping.c \
	costmodel/mapping_write.c \
	costmodel/misfit.c \
	costmodel/nest.c \
	costmodel/problem.c \
	costmodel/spatial_groups.c \
	costmodel/traffic.c
