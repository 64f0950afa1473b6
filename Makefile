# attnlab: build, run, test. `make help` lists the targets; it reads the text after ## on each target's line.
#
# Settings, for all targets:
#   CC=gcc|clang  CFLAGS="-O2 -g"  BUILD=folder  SANITIZE=address|undefined|thread (address,undefined for both)
#   ARGS="--listen 127.0.0.1:9000"  what `make run` passes to the program
#   CHARTJS=file  a different build of Chart.js 3 or 4
#   PREFIX=/usr/local DESTDIR=  where `make install` puts the programs
#   FUZZ_SECONDS=30  the time for each fuzzing harness

comma = ,
BUILD ?= build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
ifeq ($(origin CC),default)
CC = gcc
endif
PREFIX ?= /usr/local
CHARTJS ?= /usr/share/javascript/chart.js/chart.min.js
FUZZ_SECONDS ?= 30

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
# No contraction of a * b + c: the random streams and the agreement with PyTorch depend on every single rounding.
CFLAGS ?= -O2 -g
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -ffp-contract=off -fno-math-errno -pthread $(WARNINGS)
SANITIZE_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)

CORE_PACKAGES = openblas zlib nettle libutf8proc
SERVER_PACKAGES = libmicrohttpd jansson sqlite3 zlib nettle hdf5
# SYSROOT is the folder with the libraries for another processor; empty for this machine's own (see aarch64-test).
# `make deps all` reads this before there is a compiler to ask; then the target is this machine's own processor.
TARGET := $(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m)-linux-gnu)
LIBRARY_FOLDER := $(SYSROOT)/usr/lib/$(or $(shell $(CC) -print-multiarch 2>/dev/null),$(TARGET))
# Several workers call OpenBLAS at the same time; the program limits it to one thread per call. Debian's serial build
# shares a buffer without locking, so concurrent calls would give wrong products. This is the build with locks. Debian
# keeps it in a separate folder, and the system's alternatives may select another build; hence the search path for
# pkg-config, and the rpath in the program.
OPENBLAS_FOLDER = $(wildcard $(LIBRARY_FOLDER)/openblas-pthread)
# When cross-compiling, pkg-config must find only the libraries of the target.
PKG_CONFIG_CROSS = $(if $(filter $(shell uname -m)-%,$(TARGET)),,PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(LIBRARY_FOLDER)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig)
PKG_CONFIG = $(PKG_CONFIG_CROSS) PKG_CONFIG_PATH=$(OPENBLAS_FOLDER)/pkgconfig:$$PKG_CONFIG_PATH pkg-config
# Looked up once, when a recipe first needs them, because on a new machine `make deps` has to run first. $(3) is the
# target that installs them.
packages = $(if $(shell $(PKG_CONFIG) --exists --print-errors $(2) && echo found),$(shell $(PKG_CONFIG) $(1) $(2)),\
	$(error A library is missing: "$(strip make $(3) $(MAKECMDGOALS))" first installs it on Debian, the README names it \
	for other systems))
CORE_CFLAGS = $(eval CORE_CFLAGS := $(call packages,--cflags,$(CORE_PACKAGES),deps))$(CORE_CFLAGS)
CORE_LIBS = $(eval CORE_LIBS := $(call packages,--libs,$(CORE_PACKAGES),deps) \
	$(OPENBLAS_FOLDER:%=-Wl$(comma)-rpath$(comma)%) -lm)$(CORE_LIBS)
SERVER_CFLAGS = $(eval SERVER_CFLAGS := $(call packages,--cflags,$(SERVER_PACKAGES),deps))$(SERVER_CFLAGS)
SERVER_LIBS = $(eval SERVER_LIBS := $(call packages,--libs,$(SERVER_PACKAGES),deps))$(SERVER_LIBS)
CHECK_LIBS = $(eval CHECK_LIBS := $(call packages,--libs,check,test-deps))$(CHECK_LIBS)
LINK = $(CC) $(SANITIZE_FLAGS) -pthread -Wl,--as-needed

CORE_SOURCES := $(shell find core -name '*.c' | sort)
SERVER_SOURCES := $(shell find server -name '*.c' 2>/dev/null | sort)
UNIT_SOURCES := $(shell find tests/unit -name 'test_*.c' 2>/dev/null | sort)
FUZZ_SOURCES := $(wildcard tests/fuzz/*.c)
BENCH_SOURCES := $(wildcard tests/bench/*.c)
SCRIPTS := $(shell grep -lsE '^.!(/usr/bin/env bash|/bin/(ba)?sh)' server/*/* .ci/* tests/* tests/*/*)

# Kernels are also compiled for every set of lanes that the target has (core/math/lanes/lanes.h). The program selects a
# set at run time, so only these objects may use the set's instructions.
LANE_SETS_x86_64 = avx2 avx512
LANE_SETS_aarch64 = neon
LANE_SETS := $(LANE_SETS_$(firstword $(subst -, ,$(TARGET))))
LANE_SOURCES := $(filter %_kernels.c,$(CORE_SOURCES))
avx2_FLAGS = -DLANES_AVX2 -mavx2 -mfma
avx512_FLAGS = -DLANES_AVX512 -mavx512f
neon_FLAGS = -DLANES_NEON
CORE_OBJECTS := $(CORE_SOURCES:%.c=$(BUILD)/%.o) $(foreach set,$(LANE_SETS),$(LANE_SOURCES:%.c=$(BUILD)/%.$(set).o))
# attnlab-hdf5 is the only program that is linked with HDF5. attnlab starts it, from its own folder, to read a weight
# file.
HELPER_SOURCES := $(filter server/hdf5/%,$(SERVER_SOURCES)) server/formats/weight_exchange.c server/system/sandbox.c
HELPER_OBJECTS := $(HELPER_SOURCES:%.c=$(BUILD)/%.o)
SERVER_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out server/hdf5/%,$(SERVER_SOURCES))) $(BUILD)/assets_embedded.o
# The part of the server that its tests may use: everything but main().
SERVER_PARTS := $(filter-out $(BUILD)/server/commands/main.o,$(SERVER_OBJECTS))
# The reference for tests of the kernels: see tests/unit/core/math/reference_kernels.h.
REFERENCE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/core/math/reference_*.c))
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(BUILD)/%)
FUZZ_PROGRAMS := $(FUZZ_SOURCES:%.c=$(BUILD)/%)
BENCH_PROGRAMS := $(BENCH_SOURCES:%.c=$(BUILD)/%)

.PHONY: program help all debug compile_commands.json run install deps test-deps coverage-deps lint-deps test unit \
	unit-programs compiled-harnesses aarch64 aarch64-test musl objects api-test browser-test reference-test coverage \
	bench fuzz fuzz-programs format lint lint-format lint-includes lint-c lint-scripts lint-page clean
.SECONDARY:
ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

program: all
	@echo 'Built $(BUILD)/attnlab. "make run" starts it, "make help" lists what else there is.'

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9_. -]*:.*## / { count = split($$1, names, " "); \
		for (i = 1; i <= count; i++) printf "  make %-22s %s\n", names[i], $$2 }' $(firstword $(MAKEFILE_LIST))

all: $(BUILD)/libcore.a $(if $(wildcard server/commands/main.c),$(BUILD)/attnlab $(BUILD)/attnlab-hdf5) ## build the program, build/attnlab

run: all ## build, then start the service and print its address
	@$(BUILD)/attnlab serve $(ARGS)

debug: ## build the program for a debugger, without optimization: build-debug/attnlab
	@$(MAKE) -s BUILD=build-debug CFLAGS='-O0 -g3'

install: all ## install the program: PREFIX, DESTDIR
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/attnlab $(BUILD)/attnlab-hdf5

$(BUILD)/libcore.a: $(CORE_OBJECTS)
$(BUILD)/libserver.a: $(SERVER_PARTS)
# q adds files of the same name from different folders; r would keep only the last.
$(BUILD)/libcore.a $(BUILD)/libserver.a:
	rm -f $@.new
	$(AR) qcs $@.new $^ && mv $@.new $@

# The page's files are built into the program.
WEB_FILES := $(shell find web -type f 2>/dev/null)
$(BUILD)/assets_embedded.c: server/http/embed_assets.sh $(wildcard $(CHARTJS)) $(WEB_FILES)
	@mkdir -p $(@D)
	server/http/embed_assets.sh web $(CHARTJS) > $@.new && mv $@.new $@

$(BUILD)/assets_embedded.o: $(BUILD)/assets_embedded.c
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/attnlab: $(SERVER_OBJECTS)
$(BUILD)/attnlab-hdf5: $(HELPER_OBJECTS)
$(BUILD)/attnlab $(BUILD)/attnlab-hdf5: $(BUILD)/libcore.a
	$(LINK) -o $@ $(filter %.o,$^) $< $(SERVER_LIBS) $(CORE_LIBS) $(LDFLAGS)

COMPILE = $(CC) $(BASE_CFLAGS) $(CORE_CFLAGS) $(SERVER_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(EXTRA_CFLAGS) -MMD -MP -c

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

define LANE_SET_RULE
$(BUILD)/%.$(1).o: %.c
	@mkdir -p $$(@D)
	$$(COMPILE) $$($(1)_FLAGS) -o $$@ $$<
endef
$(foreach set,$(LANE_SETS),$(eval $(call LANE_SET_RULE,$(set))))

# Each test_x.c below tests/unit becomes a separate program. The server's tests also link what they use of the server, so
# that a test which needs no matrices starts no threads of OpenBLAS.
$(BUILD)/tests/unit/server/%: $(BUILD)/tests/unit/server/%.o $(BUILD)/libserver.a $(BUILD)/libcore.a
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(SERVER_LIBS) $(CORE_LIBS) $(LDFLAGS)

$(addprefix $(BUILD)/tests/unit/server/formats/test_,keras_weights published_network): \
	| $(BUILD)/tests/unit/server/formats/attnlab-hdf5
$(BUILD)/tests/unit/server/formats/attnlab-hdf5: $(BUILD)/attnlab-hdf5
	@mkdir -p $(@D)
	ln -srf $< $@

$(BUILD)/tests/unit/core/%: $(BUILD)/tests/unit/core/%.o $(REFERENCE_OBJECTS) $(BUILD)/libcore.a
	$(LINK) -o $@ $^ $(CHECK_LIBS) $(CORE_LIBS) $(LDFLAGS)

$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libcore.a
	$(LINK) -o $@ $^ $(CORE_LIBS) $(LDFLAGS)

# Editors' tools such as clangd read from it how to compile each file.
compile_commands.json: ## write the compiler's command for each file, for clangd and other tools
	@$(MAKE) --always-make --dry-run --no-print-directory all unit-programs $(BENCH_PROGRAMS) | sed -n \
		's/[\\"]/\\&/g; s|^.* -c -o .* \([^ ]*[.]c\)$$|{"directory": "$(CURDIR)", "file": "\1", "command": "&"},|p' | \
		sed '1s/^/[/; $$s/,$$/]/' > $@.new && mv $@.new $@

# --- tests -----------------------------------------------------------------------------------------------------

test: test-deps all unit-programs compiled-harnesses ## run every test: unit, API, browser, and PyTorch itself if it is installed
	tests/run --build $(BUILD) unit kernels api browser reference

unit-programs: $(UNIT_PROGRAMS)

# The fuzzers are linked by clang only and the benches run by hand, so that a change that breaks them would show late.
compiled-harnesses: $(FUZZ_SOURCES:%.c=$(BUILD)/%.o) $(BENCH_SOURCES:%.c=$(BUILD)/%.o)

unit: unit-programs ## run the unit tests, the numeric ones on every set of kernels that the machine has
	tests/run --build $(BUILD) unit kernels

# Tests the kernels for NEON, and the training that uses them, on any machine: with a cross compiler, aarch64 libraries
# in a separate folder, and qemu. AARCH64_TESTS is an extended regular expression for the names of the unit programs.
AARCH64_TESTS ?= ^core/(math|layers|pretrained)/
AARCH64_SYSROOT = build-sysroot-aarch64
AARCH64_MAKE = $(MAKE) -s BUILD=build-aarch64 SYSROOT=$(CURDIR)/$(AARCH64_SYSROOT) \
	CC="aarch64-linux-gnu-gcc --sysroot=$(CURDIR)/$(AARCH64_SYSROOT)"

$(AARCH64_SYSROOT):
	$(call install_packages,gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user,1)
	tests/support/fetch_sysroot arm64 $@ libc6-dev check $(filter %-dev,$(DEBIAN_PACKAGES))

aarch64: $(AARCH64_SYSROOT) ## cross-build the program for aarch64 in build-aarch64
	$(AARCH64_MAKE) all

aarch64-test: $(AARCH64_SYSROOT) ## cross-build the core for aarch64, run its unit tests under qemu
	$(AARCH64_MAKE) $(patsubst $(BUILD)/%,build-aarch64/%,$(filter $(BUILD)/tests/unit/core/%,$(UNIT_PROGRAMS)))
	tests/run --build build-aarch64 --under "qemu-aarch64 -L $(AARCH64_SYSROOT)" --only "$(AARCH64_TESTS)" unit

# Debian builds none of the libraries for musl, so this links nothing. It compiles core and the server with musl's headers
# in place of the GNU C library's, and with the libraries' own; the reader of HDF5 files is left out.
MUSL_HEADERS = zlib.h zconf.h utf8proc.h nettle jansson.h jansson_config.h sqlite3.h microhttpd.h
musl: ## compile for musl, the other C library of Linux; links nothing
	$(call install_packages,$(DEBIAN_PACKAGES) musl-tools,1)
	@mkdir -p build-musl/include
	@ln -sfn $(MUSL_HEADERS:%=/usr/include/%) build-musl/include
	$(MAKE) -s BUILD=build-musl CC=musl-gcc CFLAGS=-O0 EXTRA_CFLAGS=-Ibuild-musl/include objects

objects: $(CORE_OBJECTS) $(SERVER_OBJECTS)

api-test browser-test reference-test: test-deps all ## run the suite of this name
	tests/run --build $(BUILD) $(@:%-test=%)

# A line counts as covered if a unit or API test executes it in a process that exits normally or on SIGTERM; a process
# that is killed writes no counts. Threads update the counts atomically. The limits are percentages of lines. The tests
# of the published network are left out, because they take too long without -O2.
COVERAGE_LIMITS = core:95 server:88
coverage: coverage-deps ## count the lines of core and server that tests execute; fail below the limits
	$(MAKE) -s -j$$(nproc) BUILD=build-coverage CFLAGS='-O1 -g --coverage -fprofile-update=prefer-atomic -DCOUNTS_LINES' \
		LDFLAGS=--coverage all unit-programs
	find build-coverage -name '*.gcda' -delete
	CK_TIMEOUT_MULTIPLIER=10 ATTNLAB_ASSETS=none ATTNLAB_KILLS=5 tests/run --build build-coverage --jobs $$(nproc) unit api
	@tests/coverage build-coverage $(COVERAGE_LIMITS)

bench: all $(BENCH_PROGRAMS) ## measure against PyTorch (python3-torch) and the service under load
	tests/bench/run $(BUILD)/attnlab

# Harnesses for libFuzzer, which comes with clang. They start from the corpora in tests/fuzz/corpus and write their
# findings to the build folder.
fuzz: lint-deps ## feed random bytes to the parsers: FUZZ_SECONDS each
	$(MAKE) -s CC=clang BUILD=build-fuzz SANITIZE=fuzzer-no-link,address,undefined fuzz-programs
	tests/run --build build-fuzz --seconds $(FUZZ_SECONDS) fuzz

fuzz-programs: $(FUZZ_PROGRAMS)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libserver.a $(BUILD)/libcore.a
	$(LINK) -fsanitize=fuzzer -o $@ $^ $(SERVER_LIBS) $(CORE_LIBS) $(LDFLAGS)

tests/node_modules/.package-lock.json: tests/package-lock.json
	cd tests && npm ci --no-audit --no-fund --loglevel=error

# --- code style ------------------------------------------------------------------------------------------------

# All but the tables of golden values, which are generated. Not listed with git, because git refuses to read a checkout
# that belongs to another user.
C_FILES = $(filter-out tests/reference/golden_%,$(shell find core server tests -name node_modules -prune \
	-o -name '*.[ch]' -print | sort))

# Without -Werror, because .clang-tidy says which findings are errors.
TIDY_FLAGS = $(filter-out -Werror,$(BASE_CFLAGS)) $(CORE_CFLAGS) $(SERVER_CFLAGS)

format: ## format the C sources with clang-format
	clang-format -i $(C_FILES)

lint: lint-format lint-includes lint-c lint-scripts lint-page ## check layout, includes, C sources, scripts and the page

lint-format: lint-deps
	@clang-format --dry-run -Werror $(C_FILES)

# Checks which folder includes which, and tests that the check can fail.
lint-includes: lint-deps
	@node tests/check_includes.js
	@out=$$(node --test tests/check_includes.test.js) || { echo "$$out"; exit 1; }

lint-c: lint-deps
	@echo $(CORE_SOURCES) $(SERVER_SOURCES) | xargs -n 8 -P $$(nproc) sh -c 'clang-tidy --quiet "$$@" -- $(TIDY_FLAGS)' tidy
	@$(foreach set,$(LANE_SETS),echo $(LANE_SOURCES) | xargs -n 8 -P $$(nproc) \
		sh -c 'clang-tidy --quiet "$$@" -- $(TIDY_FLAGS) $($(set)_FLAGS)' tidy &&) true
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --suppress=uninitvar \
		--suppress=memleak --suppress=unknownMacro --error-exitcode=1 -I. core server

lint-scripts: lint-deps
	shellcheck $(SCRIPTS)

lint-page: lint-deps
	tests/node_modules/.bin/eslint --config tests/eslint.config.js --max-warnings 0 web tests

# --- packages --------------------------------------------------------------------------------------------------

DEBIAN_PACKAGES = gcc libc6-dev pkg-config libmicrohttpd-dev libjansson-dev libsqlite3-dev libopenblas-pthread-dev \
	libhdf5-dev zlib1g-dev nettle-dev libutf8proc-dev libjs-chart.js
DEBIAN_TEST_PACKAGES = check chromium curl $(if $(shell command -v npm),,nodejs npm)
DEBIAN_COVERAGE_PACKAGES = gcovr
# The linter compiles the sources, so it needs their libraries. The package clang only recommends its sanitizers and its
# fuzzer, so they are listed here.
DEBIAN_LINT_PACKAGES = clang libclang-rt-14-dev clang-format clang-tidy cppcheck shellcheck $(if $(shell command -v npm),,nodejs npm)

# Installs missing packages with apt; without apt, prints their names.
define install_packages
	@missing=; for package in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | grep -qx installed || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "Without apt, install by hand what Debian calls:$$missing"; exit $(2); fi; \
	root=; if [ "$$(id -u)" != 0 ]; then root=sudo; fi; \
	if [ -n "$$root" ] && ! command -v sudo >/dev/null; then echo "As root: apt-get install$$missing"; exit 1; fi; \
	echo "Installing$$missing"; \
	$$root apt-get update -qq && \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 $$missing >/dev/null
endef

deps: ## install what the build needs (Debian, by apt)
	$(call install_packages,$(DEBIAN_PACKAGES),1)

test-deps: ## install what the tests need
	$(call install_packages,$(DEBIAN_TEST_PACKAGES),0)
	@$(MAKE) -s tests/node_modules/.package-lock.json

coverage-deps: test-deps ## install what `make coverage` needs
	$(call install_packages,$(DEBIAN_COVERAGE_PACKAGES),0)

lint-deps: ## install what `make lint` and `make fuzz` need
	$(call install_packages,$(DEBIAN_PACKAGES) $(DEBIAN_LINT_PACKAGES),0)
	@$(MAKE) -s tests/node_modules/.package-lock.json

clean: ## remove all builds
	rm -rf build build-*

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
