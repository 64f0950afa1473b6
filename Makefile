# attnlab: build, run, test.
#
#   make              build/attnlab
#   make unit         build and run the unit tests
#
# Variables: BUILD=folder, SANITIZE=address|undefined|thread, CC=gcc|clang.

BUILD ?= build$(if $(SANITIZE),-$(SANITIZE))
CC ?= gcc

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
# No contraction: the random streams and the agreement with PyTorch need every rounding where it is written.
CFLAGS ?= -O2 -g
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -ffp-contract=off -fno-math-errno -pthread $(WARNINGS)
SANITIZE_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)

CORE_PACKAGES = openblas
SERVER_PACKAGES = libmicrohttpd jansson sqlite3
CORE_CFLAGS := $(shell pkg-config --cflags $(CORE_PACKAGES))
CORE_LIBS := $(shell pkg-config --libs $(CORE_PACKAGES)) -lm
SERVER_CFLAGS := $(shell pkg-config --cflags $(SERVER_PACKAGES))
SERVER_LIBS := $(shell pkg-config --libs $(SERVER_PACKAGES))
CHECK_CFLAGS = $(shell pkg-config --cflags check)
CHECK_LIBS = $(shell pkg-config --libs check)

CORE_SOURCES := $(wildcard core/*.c core/*/*.c)
SERVER_SOURCES := $(wildcard server/*.c)
UNIT_SOURCES := $(wildcard tests/unit/test_*.c)

CORE_OBJECTS := $(CORE_SOURCES:%.c=$(BUILD)/%.o)
SERVER_OBJECTS := $(SERVER_SOURCES:%.c=$(BUILD)/%.o)
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(BUILD)/%)

.PHONY: all unit clean
.SECONDARY:

all: $(BUILD)/libcore.a $(if $(wildcard server/main.c),$(BUILD)/attnlab)

$(BUILD)/libcore.a: $(CORE_OBJECTS)
	$(AR) rcs $@.new $^ && mv $@.new $@

$(BUILD)/attnlab: $(SERVER_OBJECTS) $(BUILD)/libcore.a
	$(CC) $(SANITIZE_FLAGS) -o $@ $^ $(SERVER_LIBS) $(CORE_LIBS) $(LDFLAGS) -pthread

# Kernels for machines with AVX2; chosen at run time, so only these files may use its instructions.
$(BUILD)/%_avx2.o: EXTRA_CFLAGS = -mavx2 -mfma

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CORE_CFLAGS) $(SERVER_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

# Each tests/unit/test_x.c is a program of its own.
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libcore.a
	$(CC) $(SANITIZE_FLAGS) -o $@ $^ $(CHECK_LIBS) $(CORE_LIBS) $(LDFLAGS) -pthread

unit: $(UNIT_PROGRAMS)
	@set -e; for program in $(UNIT_PROGRAMS); do $$program; done

clean:
	rm -rf build build-*

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
