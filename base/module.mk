SRC_BASE := \
	base/arena.c \
	base/bits.c \
	base/clock.c \
	base/data_folder.c \
	base/decimal.c \
	base/decimal_powers.c \
	base/hash.c \
	base/name_table.c \
	base/random.c \
	base/status.c \
	base/text.c \
	base/text_number.c \
	base/units.c \
	base/yaml_file.c \
	base/yaml_tree.c \
	base/yaml_values.c
