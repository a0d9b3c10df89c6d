SRC_COSTMODEL := \
	costmodel/architecture.c \
	costmodel/architecture_assemble.c \
	costmodel/architecture_native.c \
	costmodel/architecture_read.c \
	costmodel/architecture_schema.c \
	costmodel/architecture_values.c \
	costmodel/detail.c \
	costmodel/evaluator.c \
	costmodel/layer_problem.c \
	costmodel/mapping.c \
	costmodel/mapping_write.c \
	costmodel/misfit.c \
	costmodel/nest.c \
	costmodel/network.c \
	costmodel/network_check.c \
	costmodel/network_einsum.c \
	costmodel/network_read.c \
	costmodel/problem.c \
	costmodel/spatial_groups.c \
	costmodel/traffic.c
