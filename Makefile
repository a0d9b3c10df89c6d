# One non-recursive Makefile. `make help` lists the targets.
#
# Sources: every .c file of a floor (base, costmodel, engines, results, dse) and of its rooms, the folders below it.
# Tests: tests/ROOM/test_*.c (one program each), test_*.sh and test_*.py are found by name. Benchmarks are
# tests/bench/bench_*.c and bench_*.py, fuzz targets tests/fuzz/fuzz_*.c. tests/support/*.c, if any, is linked into all of these.
# Everything made lies under $(BUILD)/$(VARIANT), except the release program, which is $(BUILD)/dse.

VERSION := 0.1
# Of libdse.so; it goes up when dse/library/dse.h changes so that programs have to be compiled anew.
SOVERSION := 0
VARIANT ?= release
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
HAMMER_KILLS ?= 200
PAPER ?=
POINTS ?=
FRESH ?= 0
WERROR ?= 0
V ?= 0

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# ---------------------------------------------------------------------------------------------------- variants

# `fuzz` is not for users: it is what `make fuzz` builds with.
ifeq ($(filter $(VARIANT),release debug asan tsan fuzz),)
$(error VARIANT=$(VARIANT) is unknown; use release, debug, asan or tsan)
endif

ifeq ($(origin CC),default)
CC := $(if $(filter tsan fuzz,$(VARIANT)),clang-14,gcc)
endif

OPT_release := -O2 -g1
OPT_debug := -Og -g3
OPT_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# gcc's own OpenMP library is not known to ThreadSanitizer and gives false races: hence clang, libomp and archer.
OPT_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
OPT_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT ?= $(OPT_$(VARIANT))

ENV_asan := ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
ENV_tsan := TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=$(CURDIR)/tests/tsan.supp OMP_TOOL_LIBRARIES=/usr/lib/llvm-14/lib/libarcher.so
EXTRA_PACKAGES := $(if $(filter tsan,$(VARIANT)),clang)

# ------------------------------------------------------------------------------------------- compiler and flags

# A new library: its pkg-config name here (or -lNAME in LIBS), its Debian package in scripts/packages-build.txt.
PKGS := yaml-0.1 libxxhash hdf5-serial gsl libprotobuf-c
# pkg-config and the packages may be missing when this file is read (a fresh machine), so nothing is asked until a
# compile needs it; then once.
pkg = $(if $(shell pkg-config --exists $(PKGS) 2>/dev/null || echo missing),$(error a library of these is missing: \
    $(PKGS); run `make packages` first),$(shell pkg-config $(1) $(PKGS)))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(patsubst -I%,-isystem %,$$(call pkg,--cflags)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg,--libs))$(PKG_LIBS)

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
    -Wvla -Wcast-qual -Wpointer-arith -Wundef -Wformat=2
# Warnings that gcc draws from what its optimiser can prove; the instrumentation of the sanitizers makes them false.
WARNINGS_asan := -Wno-format-truncation -Wno-format-overflow -Wno-stringop-truncation -Wno-stringop-overflow \
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict
WARNINGS += $(WARNINGS_$(VARIANT))
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif

# All objects may go into libdse.so. With hidden names -fPIC makes the same instructions as without (compared for the whole cost model);
# in the other variants the tests share a library, libtest.so, which has to show its names.
VISIBILITY := $(if $(filter release,$(VARIANT)),-fvisibility=hidden,-fno-semantic-interposition)
# CFLAGS and LDFLAGS are the user's; the rest is ours.
DSE_CFLAGS = -std=c11 -D_GNU_SOURCE -ffp-contract=off -fopenmp -fPIC $(VISIBILITY) $(OPT) $(CFLAGS)
DSE_CPPFLAGS = -I. -I$(OUT)/generated $(PKG_CFLAGS) $(CPPFLAGS)
COMPILE = $(CC) $(DSE_CPPFLAGS) $(DSE_CFLAGS) $(WARNINGS)
LINK = $(CC) $(DSE_CFLAGS) -Wl,--as-needed $(LDFLAGS)
LIBS = $(PKG_LIBS) -lhdf5_hl -lcsv -lglpk -lm -ldl

# ------------------------------------------------------------------------------------------------------ sources

# FOLDERS="base costmodel" builds and tests a part of the tree.
FOLDERS ?= base costmodel engines results dse
# Rooms lie at most three folders deep: engines/soma/search/FILE.c.
SRC := $(sort $(foreach f,$(FOLDERS),$(wildcard $(f)/*.c $(f)/*/*.c $(f)/*/*/*.c)))
LIB_SRC := $(filter-out dse/main.c,$(SRC))
SUPPORT_SRC := $(wildcard tests/support/*.c)

TEST_FOLDERS := $(FOLDERS) plotting scripts
in_rooms = $(wildcard $(foreach f,$(TEST_FOLDERS),tests/$(f)/$(1) tests/$(f)/*/$(1) tests/$(f)/*/*/$(1)))
TEST_C := $(call in_rooms,test_*.c)
TEST_SCRIPTS := $(call in_rooms,test_*.sh) $(call in_rooms,test_*.py)
LINTS := includes tests globals headers format text $(if $(filter dse,$(FOLDERS)),unused)

# make check TESTS="tests/base/test_units.c": just these, no lints. KINDS="c sh" leaves kinds out.
KINDS ?= c sh py lint
ifdef TESTS
TEST_C := $(filter %.c,$(TESTS))
TEST_SCRIPTS := $(filter-out %.c,$(TESTS))
LINTS :=
endif
ifneq ($(VARIANT),release)
LINTS :=
endif
TEST_C := $(if $(filter c,$(KINDS)),$(TEST_C))
TEST_SCRIPTS := $(if $(filter sh,$(KINDS)),$(filter %.sh,$(TEST_SCRIPTS))) \
    $(if $(filter py,$(KINDS)),$(filter %.py,$(TEST_SCRIPTS)))
LINTS := $(if $(filter lint,$(KINDS)),$(LINTS))

BENCH_C := $(wildcard tests/bench/bench_*.c)
BENCH_PY := $(wildcard tests/bench/bench_*.py)
FUZZ_C := $(wildcard tests/fuzz/fuzz_*.c)

OUT := $(BUILD)/$(VARIANT)
OBJ := $(OUT)/obj
LIBRARY := $(OUT)/libdse.a
ifneq ($(filter dse/main.c,$(SRC)),)
PROGRAM := $(if $(filter release,$(VARIANT)),$(BUILD)/dse,$(OUT)/dse)
SHARED := $(dir $(PROGRAM))libdse.so
endif
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o) $(if $(filter costmodel,$(FOLDERS)),$(OBJ)/generated/onnx.pb-c.o)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(OBJ)/%.o)
SUPPORT := $(if $(SUPPORT_OBJ),$(OUT)/libsupport.a)
TEST_BIN := $(TEST_C:%.c=$(OUT)/%)
BENCH_BIN := $(BENCH_C:%.c=$(OUT)/%)
FUZZ_BIN := $(FUZZ_C:%.c=$(OUT)/%)

EVERYWHERE := everywhere$(if $(filter-out 0,$(QUICK)),_quick)
PYTHON = $(firstword $(wildcard /usr/bin/python3) python3)
TEST_ENV = BUILD='$(BUILD)' VARIANT='$(VARIANT)' DSE='$(PROGRAM)' PYTHON='$(PYTHON)' CC='$(CC)' $(ENV_$(VARIANT))
# A sub-make takes the job server it is given, and gets one when there is none.
SUBMAKE = @+$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

ifeq ($(V),1)
say = @:
Q :=
else
say = @printf '  %-5s %s\n' '$(1)' '$(2)'
Q := @
endif

# ------------------------------------------------------------------------------------------------ public targets

.PHONY: all help quickstart check check-everywhere check-schedules check-optimal check-rerun check-slurm check-halide check-onnx check-report bench bench-million engine-matrix everywhere figures fuzz hammer valgrind install uninstall clean packages
.DEFAULT_GOAL := all

all: $(PROGRAM) $(LIBRARY) $(SHARED)

help:
	@sed -n 's/^#: //p' Makefile

#: make                build the program, build/dse, and its library, build/libdse.so (VARIANT=release|debug|asan|tsan; others: build/VARIANT/)
#: make quickstart     install what is missing, build, run experiments/quickstart.yaml, draw the heatmap
#: make check          install what is missing, build, run all tests and lints; the last line counts them
#:                       TESTS="tests/base/test_units.c" runs only these; VARIANT=asan; WERROR=1; JOBS=2; V=1
#: make check-everywhere  run every engine on every shipped machine and network that `dse list engines --matrix` says it takes, with the
#:                       smallest budgets; NETWORKS=lstm_m,dlrm only these (MACHINES, ENGINES likewise)
#: make check-schedules  search fused schedules of large networks with small budgets, read their texts back, replay their instructions, and
#:                       hold bytes and cycles against their bounds; NETWORKS=vgg16 only this one (MACHINES, ENGINES likewise)
#: make check-optimal  hold every mapper against engine optimal: none is better, and how far from the optimum each is; about an hour, resumes in
#:                       output/check_optimal; QUICK=1: ResNet-50 on four machines; NETWORKS=vgg16 only this one (MACHINES, ENGINES likewise)
#: make check-rerun    compute 100 random points of each of five sweeps again, from their result files alone
#: make check-slurm    run a sweep on a real Slurm, started here for it: kill, time limit, requeue, merge (as root or by sudo)
#: make check-halide   compile and run random schedules of `dse eval --halide`, where Halide 14 is (scripts/install-packages halide)
#: make check-onnx     compare the nine graphs of PyPI's onnx layer by layer; takes the package into a throwaway environment
#: make check-report   open pages of `dse report` in headless Chromium, which it installs (98 MB), and use them; screenshots in output/check_report
#: make bench          run the benchmarks and write build/bench.csv (name,value,unit)
#: make bench-million  what a sweep of 1,000,000 points costs apart from its searches, against its limits: POINTS=20000 takes fewer
#: make figures        reproduce the figures of the papers in experiments/PAPER into output/PAPER, with a report: ours against theirs
#:                       PAPER=cosa: only this paper; FRESH=1: compute all anew; QUICK=1: fewer points, into output/PAPER-quick
#: make everywhere     engines of five papers on eight machines and ten networks (docs/everywhere.md), into output/everywhere; resumes;
#:                       FRESH=1: compute all anew; QUICK=1: four machines and networks, into output/everywhere_quick
#: make engine-matrix  write what runs where into docs/engines.md, by `dse list engines --matrix`
#: make fuzz           run each fuzz target for FUZZ_SECONDS (60)
#: make hammer         kill sweeps and merges HAMMER_KILLS (200) times, fill disks, try hostile engines, compare 24 ways to run a sweep
#: make valgrind       run the C test programs of the debug build, short sweeps, and a program that uses libdse.so, under valgrind
#: make install        install program, library, data and pages to DESTDIR/PREFIX (/usr/local); make uninstall takes them away again
#: make packages       install the Debian packages the build needs (apt-get, as root or by sudo)
#: make clean          delete what was built; output/ is kept
packages:
	@scripts/install-packages build $(EXTRA_PACKAGES)

quickstart:
	@scripts/install-packages build plot
	$(SUBMAKE) quickstart-run

check:
	@scripts/install-packages build plot check $(EXTRA_PACKAGES)
	$(SUBMAKE) check-run

check-everywhere:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@nice scripts/check-everywhere -j $(JOBS) $(if $(NETWORKS),--networks $(NETWORKS)) \
	    $(if $(MACHINES),--machines $(MACHINES)) $(if $(ENGINES),--engines $(ENGINES)) $(PROGRAM)

check-schedules:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@nice scripts/check-schedules -j $(JOBS) $(if $(NETWORKS),--networks $(NETWORKS)) \
	    $(if $(MACHINES),--machines $(MACHINES)) $(if $(ENGINES),--engines $(ENGINES)) $(PROGRAM)

check-optimal:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@nice scripts/check-optimal -j $(JOBS) -o output/check_optimal$(if $(filter-out 0,$(QUICK)),_quick --quick) \
	    $(if $(NETWORKS),--networks $(NETWORKS)) \
	    $(if $(MACHINES),--machines $(MACHINES)) $(if $(ENGINES),--engines $(ENGINES)) $(PROGRAM)

check-rerun:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@$(TEST_ENV) RERUN_POINTS=100 $(PYTHON) tests/dse/rerun/test_rerun.py

check-slurm:
	@scripts/install-packages build check slurm
	$(SUBMAKE) all
	@PYTHON='$(PYTHON)' scripts/check-slurm $(PROGRAM)

check-halide:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@$(PYTHON) scripts/check-halide $(PROGRAM)

check-onnx:
	@scripts/install-packages build check onnx
	$(SUBMAKE) all
	@PYTHON='$(PYTHON)' scripts/check-onnx $(PROGRAM)

check-report:
	@scripts/install-packages build report
	$(SUBMAKE) all
	@$(PYTHON) scripts/check-report $(PROGRAM)

bench:
	@scripts/install-packages build
	$(SUBMAKE) bench-run

bench-million:
	@scripts/install-packages build check
	$(SUBMAKE) all
	@DSE='$(PROGRAM)' $(PYTHON) scripts/bench-sweep $(POINTS)

engine-matrix: all
	@scripts/write-engine-matrix $(PROGRAM) docs/engines.md

figures:
	@scripts/install-packages build plot figures
	$(SUBMAKE) figures-run

everywhere:
	@scripts/install-packages build plot figures
	$(SUBMAKE) everywhere-run

fuzz:
	@scripts/install-packages build clang
	$(SUBMAKE) fuzz-run VARIANT=fuzz

hammer:
	@scripts/install-packages build check
	$(SUBMAKE) hammer-run

valgrind:
	@scripts/install-packages build check valgrind
	$(SUBMAKE) check-run VARIANT=debug KINDS=c \
	    WRAP='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite'
	$(SUBMAKE) all VARIANT=debug
	@scripts/valgrind-sweeps $(BUILD)/debug/dse
	@DSE=$(BUILD)/debug/dse VARIANT=debug CC='$(CC)' CLIENT_WRAP='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' \
	    $(PYTHON) -B tests/dse/library/test_client.py

# ---------------------------------------------------------------- the same, once the packages are there

.PHONY: quickstart-run check-run tests bench-run everywhere-run figures-run fuzz-run hammer-run

quickstart-run: all
	@mkdir -p output
	$(PROGRAM) run experiments/quickstart.yaml -o output/quickstart.h5
	$(PROGRAM) plot output/quickstart.h5 -o output/quickstart.png
	@printf '%s\n' '' 'Results: output/quickstart.png  the heatmap' \
	    '         output/quickstart.h5   the labelled cube (h5py, xarray, ncdump, h5dump)' \
	    '         output/quickstart.csv  one line per design point (pandas, gnuplot)'

# Build the test programs without running them.
tests: all $(TEST_BIN)

check-run: tests
	@$(TEST_ENV) COMPILE='$(COMPILE)' LIBRARY='$(LIBRARY)' scripts/run-tests --jobs $(JOBS) \
	    $(if $(WRAP),--wrap '$(WRAP)') $(TEST_BIN) $(TEST_SCRIPTS) $(LINTS:%=scripts/check-%)

bench-run: all $(BENCH_BIN)
	@$(TEST_ENV) scripts/run-bench $(BUILD)/bench.csv $(BENCH_BIN) $(BENCH_PY)

# Exit code 1 of the run: some engine does not take some machine, and its cells say so.
everywhere-run: all
	@mkdir -p output/$(EVERYWHERE)
	$(PROGRAM) run experiments/$(EVERYWHERE).yaml -o output/$(EVERYWHERE)/$(EVERYWHERE).h5 -j $(JOBS) \
	    $(if $(filter-out 0,$(FRESH)),--fresh,--update) || [ $$? -eq 1 ]
	@$(PYTHON) plotting/everywhere.py experiments/$(EVERYWHERE).yaml output/$(EVERYWHERE)/$(EVERYWHERE).csv output/$(EVERYWHERE)
	@echo 'figures: output/$(EVERYWHERE)/latency.png and energy.png'

figures-run: all
	@scripts/run-figures --dse $(PROGRAM) --jobs $(JOBS) $(if $(filter-out 0,$(FRESH)),--fresh) \
	    $(if $(filter-out 0,$(QUICK)),--quick) $(PAPER)

# The corpus that a target finds is kept from run to run; an input that breaks something is left as OUT/TARGET-crash-HASH.
fuzz-run: $(FUZZ_BIN)
	@$(if $(FUZZ_BIN),,echo 'no fuzz targets yet (tests/fuzz/fuzz_*.c)')
	@set -e; for program in $(FUZZ_BIN); do \
	    name=$$(basename "$$program"); corpus=$(OUT)/corpus/$$name; seeds=$(OUT)/seeds/$$name; log=$(OUT)/$$name.log; \
	    mkdir -p "$$corpus"; tests/fuzz/write-seeds "$$name" "$$seeds"; \
	    $(ENV_asan) "$$program" -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 \
	        -artifact_prefix=$(OUT)/$$name- "$$corpus" "$$seeds" >"$$log" 2>&1 || \
	        { tail -n 60 "$$log"; echo "$$name: broken; all of its output is in $$log"; exit 1; }; \
	    awk -v name="$$name" '$$1 ~ /executed_units/ { n = $$2 } $$1 ~ /new_units/ { new = $$2 } \
	        END { printf "ok   %-20s %9d inputs %7d new\n", name, n, new }' "$$log"; done

# One after the other, as they measure times. What they found is in the report, with or without failures.
hammer-run: all
	@rm -f $(OUT)/hammer.txt
	@echo 'figures go to $(OUT)/hammer.txt'
	@$(TEST_ENV) HAMMER_KILLS='$(HAMMER_KILLS)' HAMMER_REPORT='$(abspath $(OUT))/hammer.txt' \
	    scripts/run-tests --jobs 1 --timeout 7200 $(foreach h,kill disk combos hostile limits,tests/hammer/$(h).py)

# -------------------------------------------------------------------------------------------------- build rules

# Each stamp changes only when what it holds changes, so that the things made from it are made again exactly then.
.PHONY: FORCE
FORCE:
stamp = mkdir -p $(@D) && printf '%s\n' $(1) > $@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# WERROR is left out on purpose: it changes no object.
$(OUT)/flags: FORCE
	@$(call stamp,'$(CC) $(DSE_CPPFLAGS) $(DSE_CFLAGS)')

$(OUT)/library-list: FORCE
	@$(call stamp,$(LIB_OBJ) $(SUPPORT_OBJ))

# What results say about the program that made them: #include "build_info.h".
$(OUT)/generated/build_info.h: FORCE
	@$(call stamp,'/* Generated by the Makefile. */' '#ifndef BUILD_INFO_H' '#define BUILD_INFO_H' \
	    '#define DSE_VERSION "$(VERSION)"' \
	    '#define DSE_GIT_REVISION "'"$$(scripts/git-revision)"'"' \
	    '#define DSE_BUILD_VARIANT "$(VARIANT)"' '#define DSE_BUILD_FLAGS "$(strip $(DSE_CFLAGS))"' \
	    '#define DSE_DATA_FOLDER "$(PREFIX)/share/dse"' '#endif')

# Style and script of the pages of `dse report` as texts: #include "page_assets.h".
PAGE_ASSETS := $(wildcard results/page/page.css results/page/page.js)
$(OUT)/generated/page_assets.h: $(PAGE_ASSETS)
	@mkdir -p $(@D)
	@{ echo '/* Generated by the Makefile. */'; for file in $(PAGE_ASSETS); do \
	    printf 'static const char %s[] =\n' "$$(basename $$file | tr . _)"; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/    "&\\n"/' $$file; echo '    ;'; done; } >$@

# What ONNX files are made of, by the description that Debian's libonnx-dev has: #include "onnx.pb-c.h".
ONNX_PROTO := /usr/include/onnx/onnx.proto
GENERATED := $(OUT)/generated/build_info.h $(OUT)/generated/page_assets.h $(if $(filter costmodel,$(FOLDERS)),$(OUT)/generated/onnx.pb-c.h)
$(OUT)/generated/onnx.pb-c.c: $(wildcard $(ONNX_PROTO))
	$(call say,PROTO,$(ONNX_PROTO))
	@mkdir -p $(@D)
	@test -e $(ONNX_PROTO) || { echo 'onnx.proto is missing; run `make packages` first' >&2; exit 1; }
	$(Q)protoc-c --c_out=$(@D) -I$(dir $(ONNX_PROTO)) $(notdir $(ONNX_PROTO))

$(OUT)/generated/onnx.pb-c.h: $(OUT)/generated/onnx.pb-c.c ;

$(OBJ)/generated/onnx.pb-c.o: $(OUT)/generated/onnx.pb-c.c $(OUT)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(DSE_CPPFLAGS) $(DSE_CFLAGS) -w -c -o $@ $<

$(OBJ)/%.o: %.c $(OUT)/flags | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(LIBRARY): $(LIB_OBJ) $(OUT)/library-list
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(LIB_OBJ)

# Of these a program has only what it uses, so that the tests of a part of the tree need no other floor.
$(OUT)/libsupport.a: $(SUPPORT_OBJ) $(OUT)/library-list
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(SUPPORT_OBJ)

$(PROGRAM): $(OBJ)/dse/main.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Of the archive only what the functions of dse.h need, and hidden; of the other objects the names of dse.h.
$(SHARED).$(SOVERSION): $(filter $(OBJ)/dse/library/%,$(LIB_OBJ)) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)echo '{ global: dse_*; local: *; };' >$(OUT)/dse.map
	$(Q)$(LINK) -shared -Wl,-soname,$(notdir $@) -Wl,--version-script,$(OUT)/dse.map \
	    -Wl,--exclude-libs,$(notdir $(LIBRARY)) -o $@ $^ $(LIBS)

$(SHARED): $(SHARED).$(SOVERSION)
	$(Q)ln -sf $(notdir $<) $@

# Tests of the variants that make large programs share a library: with address sanitizer a program of its own takes up to 43 MB, and there are
# hundreds. test_no_memory has one: its requests for memory go through the test, which lets them fail.
$(OUT)/libtest.so: $(LIB_OBJ) $(OUT)/library-list
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -o $@ $(LIB_OBJ) $(LIBS)

TEST_NO_MEMORY := $(OUT)/tests/dse/command/test_no_memory
SHARING_BIN := $(if $(filter-out release,$(VARIANT)),$(filter-out $(TEST_NO_MEMORY),$(TEST_BIN)))
$(SHARING_BIN): $(OUT)/libtest.so
$(filter-out $(SHARING_BIN),$(TEST_BIN)): $(LIBRARY)
$(SHARING_BIN): LINK += -Wl,-rpath,"\$$ORIGIN/$$(realpath -m --relative-to $(@D) $(OUT))"
$(TEST_NO_MEMORY): LINK += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

$(TEST_BIN): $(OUT)/tests/%: $(OBJ)/tests/%.o $(SUPPORT)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBS) -lcmocka -ljansson

$(BENCH_BIN): $(OUT)/tests/%: $(OBJ)/tests/%.o $(SUPPORT) $(LIBRARY)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(FUZZ_BIN): $(OUT)/tests/%: $(OBJ)/tests/%.o $(SUPPORT) $(LIBRARY)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS)

-include $(patsubst %.c,$(OBJ)/%.d,$(SRC) $(SUPPORT_SRC) $(TEST_C) $(BENCH_C) $(FUZZ_C))

# ------------------------------------------------------------------------------------------------------- install

SHARE := $(DESTDIR)$(PREFIX)/share
# The data keep the paths they have here, so that the program finds them by the same names under DSE_DATA_FOLDER.
DATA_FOLDERS := $(wildcard experiments plotting slurm)

LIB := $(DESTDIR)$(PREFIX)/lib
PC := $(LIB)/pkgconfig/dse.pc

install: all
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/dse
	install -D -m 644 $(SHARED).$(SOVERSION) $(LIB)/libdse.so.$(VERSION)
	ln -sf libdse.so.$(VERSION) $(LIB)/libdse.so.$(SOVERSION)
	ln -sf libdse.so.$(SOVERSION) $(LIB)/libdse.so
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include dse/library/dse.h
	@mkdir -p $(dir $(PC))
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: dse' 'Description: cost model and searches of design-space exploration for DNN accelerators' \
	    'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -ldse' >$(PC)
	$(if $(wildcard docs/dse.1),install -D -m 644 docs/dse.1 $(SHARE)/man/man1/dse.1)
	install -D -m 644 scripts/completion/dse.bash $(SHARE)/bash-completion/completions/dse
	install -D -m 644 -t $(SHARE)/doc/dse $(wildcard docs/*.md)
	install -D -m 644 -t $(SHARE)/doc/dse/images $(wildcard docs/images/*.png)
	@$(if $(DATA_FOLDERS),find $(DATA_FOLDERS) -type f ! -path '*/__pycache__/*' \
	    -exec sh -c 'for f; do install -D -m 644 "$$f" "$(SHARE)/dse/$$f" || exit 1; done' install {} +)
	@echo 'data files are in $(SHARE)/dse'

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dse $(LIB)/libdse.so* $(DESTDIR)$(PREFIX)/include/dse.h $(PC) $(SHARE)/man/man1/dse.1 $(SHARE)/bash-completion/completions/dse
	rm -rf $(SHARE)/dse $(SHARE)/doc/dse

clean:
	rm -rf $(foreach v,release debug asan tsan fuzz,$(BUILD)/$(v)) $(BUILD)/dse $(BUILD)/libdse.so* $(BUILD)/bench.csv
	@rmdir $(BUILD) 2>/dev/null || true
