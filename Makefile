# Berth: build, test, run. `make help` lists the targets.
#
# WHAT=cmd/NAME ...   build only these programs
# SAN=asan|tsan       build with sanitizers, in _output/SAN
# BUILD=debug         build without optimisation, in _output/debug
# PGO=1               build with profile-guided optimisation, which compiles everything twice, in _output/pgo
# HARDEN=1            build with stack protectors and checked C library calls (SECURITY.md)
# UNIT=N              compile up to N neighbouring sources together (12, with sanitizers 30); those that change are compiled alone
# OUT=DIR             build into DIR instead of _output
# PACKAGE=pkg/api ... with `make test`: only the unit tests of these packages, no scripts
# SCRIPTS=test/X ...  with `make test`: only these scripts, beside the unit tests of PACKAGE
# TESTARGS=...        with `make test`: arguments for the unit test programs
# BENCHARGS=...       with `make bench`: arguments for hack/bench.py
# KERNELS=REGEX       with `make bench`: which of google-benchmark's (all)
# SEEDS=A..B          with `make simulate`: which seeds (1..100); SIMULATEARGS: more for the program
# NEW_S=SECONDS       with `make simulate`: seeds that nobody has run, for so long, instead of SEEDS; NEW_FROM: the first
# FUZZ_S=SECONDS      with `make fuzz` and `make fuzz-asan`: how long for each target (20)
# FUZZ_TARGETS=...    with `make fuzz` and `make fuzz-asan`: only these targets
# FUZZ_SEED=N         with `make fuzz` and `make fuzz-asan`: the same inputs every time, for runs that must not fail by chance
# PODS=N              with `make soak`: how many pods (20000); SOAKARGS: more for hack/soak.py
# KEEP=1              with `make run`: leave the API server and the scheduler running
# PREFIX=, DESTDIR=   with `make install`: where to (/usr/local)

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
SHELL := /bin/bash

ifneq ($(filter-out asan tsan fuzz,$(SAN)),)
$(error SAN=$(SAN): asan (address and undefined behaviour), tsan (threads) or fuzz (libFuzzer, by clang))
endif
ifneq ($(filter-out debug release,$(BUILD)),)
$(error BUILD=$(BUILD): debug, or release (the default))
endif
ifneq ($(filter-out 1 train,$(PGO)),)
$(error PGO=$(PGO): 1, or nothing (the default))
endif
ifneq ($(if $(PGO),$(SAN)$(filter debug,$(BUILD))),)
$(error PGO=1 optimises: neither SAN= nor BUILD=debug goes with it)
endif
VARIANT := $(if $(SAN),$(SAN),$(if $(PGO),pgo,$(filter debug,$(BUILD))))
OUT ?= _output$(if $(VARIANT),/$(VARIANT))
BIN := $(OUT)/bin
OBJ := $(OUT)/obj
TRAINED := $(if $(filter 1,$(PGO)),$(OUT)/trained)

# A second make does the building. It sees the packages that the first one installed, and runs as many jobs as there are
# processors unless -j says otherwise.
BUILD_WITH = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

# A comma for use inside $(if), which would take a bare one as its own separator.
, := ,

include hack/build/flags.mk hack/build/sources.mk

.PHONY: all help deps deps-test lib python wheel test check simulate fuzz fuzz-asan soak deb image bench run fmt lint clean install programs test-programs
all: deps $(TRAINED)  ## build every program into _output/bin (WHAT=cmd/NAME: one)
	+@$(BUILD_WITH) programs
programs: $(addprefix $(BIN)/,$(if $(WHAT),$(notdir $(WHAT)),$(PROGRAMS))) $(OUT)/compile_commands.json
	@:

# Programs that count what they execute, and their training. The counts are kept until `make PGO=1 clean`.
$(OUT)/trained: | deps
	+@$(BUILD_WITH) PGO=train OUT=$(OUT) WHAT= programs
	@hack/train-pgo $(OUT)
	@touch $@

help:  ## this list
	@grep -hE '^[a-z][a-z_-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo; sed -n 's/^# \([A-Z_]*=.*\)/  \1/p' Makefile

deps:  ## install the Debian packages that are missing (root or sudo)
	@hack/install-deps.sh
deps-test:
	@hack/install-deps.sh test

test: deps-test $(TRAINED)  ## build and run every test; the last line is "N passed, N failed"
	$(if $(SCRIPTS)$(PACKAGE),,+@$(MAKE) --no-print-directory $(if $(SAN),SAN= BUILD= OUT=_output) python >&2)
	+@$(BUILD_WITH) $(if $(SCRIPTS),programs,$(if $(PACKAGE),,programs)) test-programs >&2
	@MAKEFLAGS= OUT=$(OUT) hack/run-tests.py $(if $(PACKAGE)$(SCRIPTS),--scripts='$(SCRIPTS)') $(TEST_PROGRAMS) -- $(TESTARGS)
check:  ## what is worth its time after each change: lint, unit tests of what changed, recorded decisions, one daemon (BASE=COMMIT)
	+@hack/check.sh
test-programs: $(TEST_PROGRAMS) $(if $(PACKAGE),,$(OUT)/test/simulate $(OUT)/test/churn $(OUT)/test/fuzz-replay $(BIN)/berth $(ALIASED) $(FAKED))
	@:

run: all  ## a demo cluster on hollow-apiserver, scheduled before your eyes (KEEP=1: leave it running; RELEASE=1.29)
	@OUT=$(OUT) RELEASE=$(RELEASE) hack/demo.py

bench: all  ## benchmarks, with a table at the end
	+@$(BUILD_WITH) $(if $(BENCH_SOURCES),$(OUT)/bin/bench,programs) $(OUT)/test/churn
	@OUT=$(OUT) hack/bench.py $(BENCHARGS)
	@$(if $(BENCHARGS),:,echo; hack/cost-slopes --bin $(OUT)/bin --releases all --json $(OUT)/bench/slopes.json)
	@if [ -x $(OUT)/bin/bench ]; then echo; $(OUT)/bin/bench --benchmark_filter='$(or $(KERNELS),.)' \
	  --benchmark_out=$(OUT)/bench/kernels.json --benchmark_out_format=json; fi

fmt:  ## format the C++ with clang-format and the Python with black
	@hack/install-deps.sh format
	@git ls-files '*.cc' '*.h' | xargs clang-format -i
	@hack/python-sources.sh | xargs black --quiet

lint: $(OUT)/compile_commands.json  ## clang-tidy over the tree, and the checks of hack/verify.sh
	@hack/verify.sh
	@hack/lint.sh $(OUT)

clean:  ## remove what was built
	rm -rf $(OUT) compile_commands.json

PREFIX ?= /usr/local
INSTALLED := $(if $(WHAT),$(notdir $(WHAT)),$(PROGRAMS))
install: all  ## install the programs, and manual pages made of their --help, into $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 755 $(addprefix $(BIN)/,$(INSTALLED)) $(DESTDIR)$(PREFIX)/bin
	for p in $(INSTALLED); do hack/man.sh $(BIN)/$$p >$(DESTDIR)$(PREFIX)/share/man/man8/$$p.8 || exit 1; done

include hack/build/packages.mk hack/build/long-tests.mk hack/build/rules.mk
