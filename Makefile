# Berth: build, test, run. `make help` lists the targets.
#
# WHAT=cmd/NAME      build one program
# SAN=asan|tsan      build with sanitizers, in _output/SAN
# BUILD=debug        build without optimisation, in _output/debug
# ROOM=pkg/api ...   with `make test`: only the unit tests of these rooms, no scripts
# TESTARGS=...       with `make test`: arguments for the unit test programs
# KEEP=1             with `make run`: leave the API server and the scheduler running

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := all
SHELL := /bin/bash

VARIANT := $(if $(SAN),$(SAN),$(if $(filter debug,$(BUILD)),debug))
OUT ?= _output$(if $(VARIANT),/$(VARIANT))
BIN := $(OUT)/bin
OBJ := $(OUT)/obj

ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

# A comma for $(if), which takes bare ones as its own.
, := ,

# ---- flags ---------------------------------------------------------------------------------------
CXX := g++
CCACHE := $(shell command -v ccache 2>/dev/null)
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime

OPT := $(if $(filter debug,$(BUILD)),-O0 -g,$(if $(SAN),-O1 -g1 -fno-omit-frame-pointer,-O3 -g1))
SANFLAGS := $(if $(filter asan,$(SAN)),-fsanitize=address$(,)undefined -fno-sanitize-recover=all)
SANFLAGS := $(SANFLAGS)$(if $(filter tsan,$(SAN)),-fsanitize=thread -DBOOST_ASIO_DISABLE_FENCED_BLOCK)
# -Wno-restrict: g++ 12 sees overlaps in "x" + std::string that are not there.
WARN := -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-restrict \
        $(if $(filter asan,$(SAN)),-Wno-maybe-uninitialized) $(if $(filter tsan,$(SAN)),-Wno-tsan)
CXXFLAGS := -std=c++20 $(OPT) $(SANFLAGS) $(WARN) -ffp-contract=off -pthread -DRAPIDJSON_HAS_STDSTRING=1 \
            -DBOOST_BEAST_SEPARATE_COMPILATION -DBOOST_ASIO_SEPARATE_COMPILATION
CPPFLAGS := -I.
LDFLAGS := $(SANFLAGS) -pthread
LDLIBS := -lyaml-cpp -lglog -lprometheus-cpp-core -lboost_program_options -lssl -lcrypto -lz \
  -Wl,--as-needed $(wildcard /usr/lib/*/libabsl_*.so)

# ---- what there is -------------------------------------------------------------------------------
PROGRAMS := kube-scheduler schedsim hollow-apiserver
# One library a floor, lowest last, as includes run (pkg/README.md).
ROOMS := pkg/apiserver pkg/client pkg/scheduler pkg/api pkg/util
sources = $(sort $(shell find $(1) -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' 2>/dev/null))
tests = $(sort $(shell find $(1) -name '*_test.cc' 2>/dev/null))
objects = $(patsubst %.cc,$(OBJ)/%.o,$(1))
library = $(OUT)/lib/lib$(subst /,-,$(1)).a
LIBS := $(foreach r,$(ROOMS),$(call library,$(r)))
PLUGIN_OBJECTS := $(call objects,$(call sources,plugin))
TEST_ROOMS := $(foreach r,pkg/util pkg/api pkg/scheduler pkg/client pkg/apiserver plugin $(addprefix cmd/,$(PROGRAMS)) test,$(if $(call tests,$(r)),$(r)))
test_program = $(OUT)/test/$(subst /,-,$(1))_test
TEST_PROGRAMS := $(foreach r,$(if $(ROOM),$(ROOM),$(TEST_ROOMS)),$(call test_program,$(r)))
BENCH_SOURCES := $(sort $(shell find pkg test -name '*_bench.cc' 2>/dev/null))

.PHONY: all help deps test bench run fmt lint clean install compile_commands FORCE
all: deps  ## build every program into _output/bin (WHAT=cmd/NAME: one)
	+@$(MAKE) --no-print-directory programs
.PHONY: programs
programs: $(if $(WHAT),$(BIN)/$(notdir $(WHAT)),$(addprefix $(BIN)/,$(PROGRAMS))) $(OUT)/compile_commands.json

help:  ## this list
	@sed -n 's/^# \([A-Z]*=.*\)/  \1/p' Makefile
	@grep -hE '^[a-z][a-z_-]*:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

deps:  ## install the Debian packages that are missing (root or sudo)
	@hack/install-deps.sh

test: deps  ## build and run every test; the last line is "N passed, N failed"
	+@$(MAKE) --no-print-directory $(if $(ROOM),,programs) test-programs >&2
	@OUT=$(OUT) hack/run-tests.py $(if $(ROOM),--no-scripts) $(TEST_PROGRAMS) -- $(TESTARGS)
.PHONY: test-programs
test-programs: $(TEST_PROGRAMS)

run: all  ## a demo cluster on hollow-apiserver, scheduled before your eyes (KEEP=1: leave it running)
	@OUT=$(OUT) hack/demo.sh

bench: all  ## benchmarks, with a table at the end
	+@$(MAKE) --no-print-directory $(OUT)/bin/bench
	@OUT=$(OUT) hack/bench.sh

fmt:  ## format the C++ with clang-format
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

lint: $(OUT)/compile_commands.json  ## clang-tidy over the tree
	@hack/lint.sh $(OUT)

clean:  ## remove what was built
	rm -rf _output

PREFIX ?= /usr/local
install: all  ## install the programs into $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(addprefix $(BIN)/,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin

# ---- rules ---------------------------------------------------------------------------------------
# The heavy headers are compiled once; -include finds the .gch beside the name. Tests add Catch2.
PCH := $(OUT)/pch/pch.h
TEST_PCH := $(OUT)/pch/pch_test.h
$(PCH).gch: hack/pch.h
	@mkdir -p $(@D); grep -v '^#pragma once' $< > $(PCH)
	@echo "  PCH   $<"
	@$(CCACHE) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -x c++-header $(PCH) -o $@
$(TEST_PCH).gch: hack/pch_test.h hack/pch.h
	@mkdir -p $(@D); grep -v '^#pragma once' $< > $(TEST_PCH)
	@echo "  PCH   $<"
	@$(CCACHE) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -x c++-header $(TEST_PCH) -o $@

COMPILE = $(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -include $(1) -Winvalid-pch -fpch-preprocess -c $< -o $@
# Catch2's main is the one file that must not see its precompiled header.
$(OBJ)/hack/test_main_test.o: hack/test_main_test.cc $(PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(PCH))
$(OBJ)/%_test.o: %_test.cc $(TEST_PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(TEST_PCH))
$(OBJ)/%.o: %.cc $(PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(PCH))
$(OBJ)/pkg/util/version.o: hack/version
$(OBJ)/pkg/util/version.o: CPPFLAGS += -DBERTH_VERSION='"$(shell cat hack/version)"'

define room_rule
$(call library,$(1)): $(call objects,$(call sources,$(1)))
	@mkdir -p $$(@D); echo "  AR    $$@"; rm -f $$@
	@ar rcsT $$@ $$^ 2>/dev/null || ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rule,$(r))))

define program_rule
$(BIN)/$(1): $(call objects,$(call sources,cmd/$(1))) $(PLUGIN_OBJECTS) $(LIBS)
	@mkdir -p $$(@D); echo "  LINK  $$@"
	@$(CXX) $(LDFLAGS) -o $$@ $(call objects,$(call sources,cmd/$(1))) $(if $(filter hollow-apiserver,$(1)),,$(PLUGIN_OBJECTS)) $(LIBS) $(LDLIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

# A program's tests see its sources but for main.cc.
define test_rule
$(call test_program,$(1)): $(call objects,$(call tests,$(1))) $(OBJ)/hack/test_main_test.o $(if $(filter cmd/%,$(1)),$(call objects,$(filter-out %/main.cc,$(call sources,$(1))))) $(if $(filter cmd/% plugin test,$(1)),$(PLUGIN_OBJECTS)) $(LIBS)
	@mkdir -p $$(@D); echo "  LINK  $$@"
	@$(CXX) $(LDFLAGS) -o $$@ $$(filter %.o,$$^) $(LIBS) -lrapidcheck $(LDLIBS)
endef
$(foreach r,$(TEST_ROOMS),$(eval $(call test_rule,$(r))))

$(OUT)/bin/bench: $(call objects,$(BENCH_SOURCES)) $(PLUGIN_OBJECTS) $(LIBS)
	@mkdir -p $(@D); echo "  LINK  $@"
	@$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS) -lbenchmark_main -lbenchmark $(LDLIBS)

$(OUT)/compile_commands.json: Makefile
	@mkdir -p $(@D); hack/compile-commands.sh "$(CXX) $(CPPFLAGS) $(CXXFLAGS)" > $@; ln -sf $@ compile_commands.json 2>/dev/null; true

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
