SRC_COSTMODEL := \
	costmodel/bound.c \
	costmodel/checker.c
