# Berth: build, test, run. `make help` lists the targets.
#
# WHAT=cmd/NAME ...   build only these programs
# SAN=asan|tsan       build with sanitizers, in _output/SAN
# BUILD=debug         build without optimisation, in _output/debug
# HARDEN=1            build with stack protectors and checked C library calls (SECURITY.md)
# UNIT=N              compile up to N neighbouring sources together (12, with sanitizers 30); 1 is quicker while one file is edited again and again
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
VARIANT := $(if $(SAN),$(SAN),$(filter debug,$(BUILD)))
OUT ?= _output$(if $(VARIANT),/$(VARIANT))
BIN := $(OUT)/bin
OBJ := $(OUT)/obj

# A second make does the building. It sees the packages that the first one installed, and runs as many jobs as there are
# processors unless -j says otherwise.
BUILD_WITH = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

# A comma for use inside $(if), which would take a bare one as its own separator.
, := ,

# ---- flags ---------------------------------------------------------------------------------------
CXX := $(if $(filter fuzz,$(SAN)),clang++,g++)
CLANG := $(findstring clang,$(CXX))
CCACHE := $(shell command -v ccache 2>/dev/null)
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime
# Clones in other folders share the cache; only the working directory in debug data would differ.
export CCACHE_NOHASHDIR := 1

# The sanitizers' programs mostly wait, and with -Og they are compiled in three quarters of the time.
OPT := $(if $(filter debug,$(BUILD)),-O0 -g,$(if $(SAN),$(if $(filter fuzz,$(SAN)),-O1,-Og) -g1 -fno-omit-frame-pointer,-O3 -g1))
# g++ does not look for null and misaligned pointers, pointers and accesses beyond an object, which the address sanitizer notices when they
# are used, wrong types of objects, and uses of a variable after its scope. The build by clang for the fuzzers looks for all of them. Without
# them a program is compiled in less than half of the time, and no file descriptor is needed.
SANFLAGS := $(if $(filter asan,$(SAN)),-fsanitize=address$(,)undefined -fno-sanitize=null$(,)alignment$(,)vptr$(,)object-size$(,)pointer-overflow -fno-sanitize-address-use-after-scope -fno-sanitize-recover=all)
SANFLAGS := $(SANFLAGS)$(if $(filter fuzz,$(SAN)),-fsanitize=address$(,)undefined$(,)fuzzer-no-link -fno-sanitize-recover=all -fsanitize-ignorelist=test/fuzz/sanitizer_ignore.txt)
SANFLAGS := $(SANFLAGS)$(if $(filter tsan,$(SAN)),-fsanitize=thread -DBOOST_ASIO_DISABLE_FENCED_BLOCK)
# -Wno-restrict: g++ 12 reports overlaps in "x" + std::string that do not exist.
# -Wno-subobject-linkage: in a unit of several sources g++ takes each source for a header.
WARN := -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-restrict -Wno-subobject-linkage \
        $(if $(filter asan,$(SAN)),-Wno-maybe-uninitialized) $(if $(filter tsan,$(SAN)),-Wno-tsan)
# clang's warnings differ from those of g++, which are the ones that count.
ifneq ($(CLANG),)
WARN := -w
endif
# Tests take longer to compile than to run, except those of a few packages, which compare schedulers, copies and recordings of
# thousands of random clusters. Glibc's checks of hardened builds need some optimisation.
TEST_OPT := $(if $(filter debug,$(BUILD)),,$(if $(HARDEN),-Og,-O0))
COMPARING := pkg/scheduler pkg/ui pkg/recording
COMPARING_TEST_OPT := $(if $(filter debug,$(BUILD)),,-Og)
# The simulated world and the fuzz targets spend most of their time in the packages that they test.
AROUND_TEST_OPT := $(if $(filter debug,$(BUILD)),,-O1)
# The compiler collects its garbage only above 2 GB, which it rarely reaches. That saves a tenth of its time.
GARBAGE := $(if $(CLANG),,--param ggc-min-heapsize=2000000 --param ggc-min-expand=1000)
# Programs and libberth.so share their objects, except those of tests. What is hidden, which is all but berth.h, is as fast as in a
# program: nothing goes through a table of addresses. Sanitizers' builds have no library unless PIC is given.
PIC := $(if $(SAN),,-fPIC -fvisibility=hidden -fno-semantic-interposition)
CXXFLAGS := -std=c++20 $(OPT) $(GARBAGE) $(SANFLAGS) $(WARN) -ffp-contract=off -pthread -DRAPIDJSON_HAS_STDSTRING=1 \
            -DBOOST_BEAST_SEPARATE_COMPILATION -DBOOST_ASIO_SEPARATE_COMPILATION
ifneq ($(HARDEN),)
CXXFLAGS += -fstack-protector-strong -fstack-clash-protection -fcf-protection -D_FORTIFY_SOURCE=2
endif
CPPFLAGS := -I.
# mold and lld link a program in a fraction of a second; the default linker takes one to three.
LINKER := $(firstword $(foreach l,mold lld,$(if $(shell command -v ld.$(l) 2>/dev/null),-fuse-ld=$(l))))
# Relocations are read-only before the program runs, and data is not executable; SECURITY.md describes the other
# protections.
LDFLAGS := $(SANFLAGS) $(LINKER) -pthread $(if $(SAN),,-Wl$(,)-z$(,)relro -Wl$(,)-z$(,)now -Wl$(,)-z$(,)noexecstack)
# tcmalloc lets threads free what others allocated without waiting for each other. Sanitizers bring their own allocator, and libberth.so
# leaves allocation to the program that loads it.
TCMALLOC := $(if $(SAN),,-l:libtcmalloc_minimal.so.4)
LDLIBS := $(TCMALLOC) -lyaml-cpp -lglog -lprometheus-cpp-core -lboost_program_options -lssl -lcrypto -lz \
  -Wl,--as-needed -lzstd $(wildcard /usr/lib/*/libabsl_*.so)

# ---- what there is -------------------------------------------------------------------------------
PROGRAMS := kube-scheduler schedsim hollow-apiserver
# One library for each package, the lowest layer last, in the order of includes (pkg/README.md).
PACKAGES := pkg/apiserver pkg/capi pkg/client pkg/ui pkg/simulate pkg/recording pkg/convert pkg/lab pkg/explain pkg/releases pkg/scheduler pkg/world pkg/http pkg/api pkg/release pkg/util
# glog_standin.cc replaces a library, and is linked by name.
sources = $(sort $(shell find $(1) -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' ! -name 'glog_standin.cc' 2>/dev/null))
tests = $(sort $(shell find $(1) -name '*_test.cc' 2>/dev/null))
# The objects of sources. Neighbouring sources are compiled as one unit, which takes half of the time.
UNIT ?= $(if $(SAN),30,12)
PAIRS := $(shell hack/units.sh $(UNIT))
$(foreach p,$(PAIRS),$(eval unit_of_$(firstword $(subst =, ,$(p))) := $(lastword $(subst =, ,$(p)))))
$(foreach p,$(PAIRS),$(eval sources_of_$(lastword $(subst =, ,$(p))) += $(firstword $(subst =, ,$(p)))))
objects = $(sort $(foreach s,$(1),$(OBJ)/$(unit_of_$(s)).o))
library = $(OUT)/lib/lib$(subst /,-,$(1)).a
# The libraries that a folder needs: its own, those of the packages that it includes and of those that these include,
# and the layers below.
includes = $(shell grep -rhoE --include='*.cc' --include='*.h' '^.include "pkg/[a-z]+' $(1) 2>/dev/null | cut -d'"' -f2 | sort -u)
$(foreach r,$(PACKAGES),$(eval includes_of_$(r) := $(call includes,$(r))))
# What a package includes, and what that includes in turn: no way down is longer than four packages.
below = $(sort $(1) $(foreach i,$(1),$(includes_of_$(i))))
all_below = $(call below,$(call below,$(call below,$(1))))
libraries = $(call with_included,$(1) pkg/http pkg/api pkg/release pkg/util $(call includes,$(1)))
with_included = $(foreach r,$(filter $(call all_below,$(1)),$(PACKAGES)),$(call library,$(r)))
PLUGIN_OBJECTS := $(call objects,$(call sources,plugin))
TEST_PACKAGES := $(foreach r,pkg/util pkg/release pkg/api pkg/http pkg/world pkg/scheduler pkg/releases pkg/explain pkg/convert pkg/lab pkg/capi pkg/recording pkg/simulate pkg/ui pkg/client pkg/apiserver plugin $(addprefix cmd/,$(PROGRAMS)) test,$(if $(call tests,$(r)),$(r)))
test_program = $(OUT)/test/$(subst /,-,$(1))_test
# The former name of this variable.
PACKAGE ?= $(ROOM)
$(foreach r,$(PACKAGE),$(if $(wildcard $(r)/.),,$(error PACKAGE=$(r): there is no such package)))
TEST_PROGRAMS := $(foreach r,$(if $(PACKAGE)$(SCRIPTS),$(filter $(PACKAGE),$(TEST_PACKAGES)),$(TEST_PACKAGES)),$(call test_program,$(r)))
BENCH_SOURCES := $(sort $(shell find pkg test -name '*_bench.cc' 2>/dev/null))

# Dependencies on things other than files: $(call note,FILE,TEXT) expands to FILE, and writes TEXT to it unless it
# contains that already. What depends on FILE is therefore remade when flags change and when sources are added or
# removed. Only goals that build write notes.
differ = $(subst |$(1)|,,|$(2)|)$(subst |$(2)|,,|$(1)|)
BUILDS := $(filter-out all help deps deps-test lib python wheel test simulate fuzz fuzz-asan soak deb image bench run fmt clean install,$(or $(MAKECMDGOALS),all))
note = $(if $(BUILDS),$(if $(call differ,$(strip $(file <$(1))),$(strip $(2))),$(shell mkdir -p $(dir $(1)))$(file >$(1),$(strip $(2)))))$(1)
notes := $(OUT)/notes

.PHONY: all help deps deps-test lib python wheel test simulate fuzz fuzz-asan soak deb image bench run fmt lint clean install programs test-programs
all: deps  ## build every program into _output/bin (WHAT=cmd/NAME: one)
	+@$(BUILD_WITH) programs
programs: $(addprefix $(BIN)/,$(if $(WHAT),$(notdir $(WHAT)),$(PROGRAMS))) $(OUT)/compile_commands.json
	@:

help:  ## this list
	@grep -hE '^[a-z][a-z_-]*:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo; sed -n 's/^# \([A-Z_]*=.*\)/  \1/p' Makefile

deps:  ## install the Debian packages that are missing (root or sudo)
	@hack/install-deps.sh
deps-test:
	@hack/install-deps.sh test

test: deps-test  ## build and run every test; the last line is "N passed, N failed"
	$(if $(SCRIPTS)$(PACKAGE),,+@$(MAKE) --no-print-directory $(if $(SAN),SAN= BUILD= OUT=_output) python >&2)
	+@$(BUILD_WITH) $(if $(SCRIPTS),programs,$(if $(PACKAGE),,programs)) test-programs >&2
	@MAKEFLAGS= OUT=$(OUT) hack/run-tests.py $(if $(PACKAGE)$(SCRIPTS),--scripts='$(SCRIPTS)') $(TEST_PROGRAMS) -- $(TESTARGS)
test-programs: $(TEST_PROGRAMS) $(if $(PACKAGE),,$(OUT)/test/simulate $(OUT)/test/fuzz-replay $(BIN)/berth $(ALIASED))
	@:

lib: deps $(filter all programs,$(MAKECMDGOALS:deb=all))  ## libberth.so, the engine as a library, into _output/lib, and berth.h into _output/include
	+@$(BUILD_WITH) $(OUT)/lib/libberth.so.1
	@install -d $(OUT)/lib/pkgconfig $(OUT)/include && ln -sfn libberth.so.1 $(OUT)/lib/libberth.so
	@install -m 644 pkg/capi/berth.h $(OUT)/include/berth.h
	@sed 's|@VERSION@|$(shell sed -e s/^v// hack/version)|; s|@PREFIX@|$(PREFIX)|' pkg/capi/berth.pc.in >$(OUT)/lib/pkgconfig/berth.pc

python: lib  ## the Python module berth over it, into _output/python (PYTHONPATH=_output/python)
	@hack/install-deps.sh python
	@rm -rf $(OUT)/python && install -d $(OUT)/python/berth
	@install -m 644 pkg/python/berth/*.py pkg/python/berth/py.typed $(OUT)/python/berth
	@strip -g -o $(OUT)/python/berth/libberth.so.1 $(OUT)/lib/libberth.so.1

wheel: python  ## a wheel of the Python module, in _output/package; it installs without network
	@hack/package/wheel.py $(OUT)

SEEDS ?= 1..100
simulate: deps  ## run a simulated cluster for each seed (SEEDS=A..B or NEW_S=SECONDS), and those that once failed
	+@$(BUILD_WITH) $(OUT)/test/simulate >&2
	@$(OUT)/test/simulate $(if $(NEW_S),--new=$(NEW_S) $(if $(NEW_FROM),--from=$(NEW_FROM)),--seeds=$(SEEDS)) --jobs=$(shell nproc) $(SIMULATEARGS) $(wildcard test/simulation/kept/*.plan)

FUZZ_S ?= 20
fuzz:  ## run every fuzz target for FUZZ_S seconds (20) under libFuzzer, with sanitizers (clang)
	@hack/install-deps.sh fuzz
	+@$(BUILD_WITH) SAN=fuzz _output/fuzz/bin/fuzz >&2
	@hack/fuzz.py $(if $(FUZZ_SEED),--seed=$(FUZZ_SEED)) _output/fuzz/bin/fuzz $(FUZZ_S) $(FUZZ_TARGETS)

FUZZ_SEED_OR_1 = $(or $(FUZZ_SEED),1)
fuzz-asan: deps  ## the same without clang: seeded changes of the corpus, under g++'s sanitizers; CI runs this
	+@$(BUILD_WITH) SAN=asan _output/asan/test/fuzz-replay >&2
	@hack/fuzz.py --standalone --seed=$(FUZZ_SEED_OR_1) _output/asan/test/fuzz-replay $(FUZZ_S) $(FUZZ_TARGETS)

PODS ?= 20000
soak: all  ## PODS pods (20000) through real processes with churn, leader changes and server restarts
	@OUT=$(OUT) hack/soak.py $(PODS) $(SOAKARGS)

deb: all python  ## Debian packages of the programs and of the library, in _output/package
	@hack/install-deps.sh package
	+@$(BUILD_WITH) $(BIN)/berth
	@hack/package/library-debs.sh $(OUT)
	@hack/package/deb.sh $(OUT)

image: all  ## an OCI image of kube-scheduler, from scratch, in _output/image
	@hack/install-deps.sh package
	@hack/package/image.py $(OUT)

run: all  ## a demo cluster on hollow-apiserver, scheduled before your eyes (KEEP=1: leave it running; RELEASE=1.29)
	@OUT=$(OUT) RELEASE=$(RELEASE) hack/demo.py

bench: all  ## benchmarks, with a table at the end
	+@$(BUILD_WITH) $(if $(BENCH_SOURCES),$(OUT)/bin/bench,programs)
	@OUT=$(OUT) hack/bench.py $(BENCHARGS)
	@$(if $(BENCHARGS),:,echo; hack/cost-slopes --bin $(OUT)/bin --releases all --json $(OUT)/bench/slopes.json)
	@if [ -x $(OUT)/bin/bench ]; then echo; $(OUT)/bin/bench --benchmark_filter='$(or $(KERNELS),.)' \
	  --benchmark_out=$(OUT)/bench/kernels.json --benchmark_out_format=json; fi

fmt:  ## format the C++ with clang-format
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

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

# Expensive headers are precompiled; -include finds the .gch beside the name. Tests add Catch2. Everything that is
# compiled depends on them, and so on the flags. Those of clang contain the name of the folder in which they were made,
# so they do not come from a cache that clones share.
PCH := $(OUT)/pch/pch.h
TEST_PCH := $(OUT)/pch/pch_test.h
COMPARING_TEST_PCH := $(OUT)/pch/comparing/pch_test.h
$(PCH).gch: hack/pch.h
$(TEST_PCH).gch $(COMPARING_TEST_PCH).gch: hack/pch_test.h
$(PCH).gch $(TEST_PCH).gch $(COMPARING_TEST_PCH).gch: $(call note,$(notes)/flags,$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(PIC) $(TEST_OPT) $(COMPARING_TEST_OPT) $(AROUND_TEST_OPT))
	@mkdir -p $(@D); grep -v '^#pragma once' $(filter %.h,$^) > $(@:.gch=)
	@echo "  PCH   $(filter %.h,$^)"
	@$(if $(CLANG),,$(CCACHE)) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -x c++-header $(@:.gch=) -o $@

COMPILE = $(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -include $(1) -Winvalid-pch -fpch-preprocess -c $< -o $@
# -fno-trapping-math: loops over columns of amounts choose between results instead of branching. g++ turns them into
# vector instructions only if it need not preserve traps of divisions whose results are not used. The variable is
# private, so that precompiled headers, which everything shares, are made without the flag.
$(OBJ)/pkg/scheduler/algorithm/noderesources/%.o: private CXXFLAGS += -fno-trapping-math
# Files of plugin/ are written by others: warnings, some of which are false, do not end their build.
$(OBJ)/plugin/%.o: private CXXFLAGS += -Wno-error
# Tests initialise only those members of objects that matter to them.
$(OBJ)/%_test.o: CXXFLAGS += -Wno-missing-field-initializers $(TEST_OPT)
$(COMPARING:%=$(OBJ)/%/%_test.o): CXXFLAGS += $(COMPARING_TEST_OPT)
$(OBJ)/test/%.o: CXXFLAGS += $(AROUND_TEST_OPT)
$(PCH).gch: CXXFLAGS += $(PIC)
$(TEST_PCH).gch: CXXFLAGS += $(TEST_OPT)
$(COMPARING_TEST_PCH).gch: CXXFLAGS += $(COMPARING_TEST_OPT)
pch_of_test = $(if $(filter $(COMPARING:%=$(OBJ)/%/%),$(1)),$(COMPARING_TEST_PCH),$(TEST_PCH))
$(OBJ)/%_test.o: %_test.cc $(TEST_PCH).gch $(COMPARING_TEST_PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(call pch_of_test,$@))
$(OBJ)/%.o: %.cc $(PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(PCH)) $(PIC)
# A unit of several sources includes them.
define unit_rule
$(OUT)/units/$(1).cc: $(call note,$(notes)/unit-$(subst /,-,$(1)),$(sources_of_$(1)))
	@mkdir -p $$(@D); printf '#include "%s"\n' $(sources_of_$(1)) > $$@
endef
$(foreach u,$(sort $(foreach p,$(PAIRS),$(lastword $(subst =, ,$(p))))),$(if $(filter-out $(u).cc,$(sources_of_$(u))),$(eval $(call unit_rule,$(u)))))
$(OBJ)/%_test.o: $(OUT)/units/%_test.cc $(TEST_PCH).gch $(COMPARING_TEST_PCH).gch
	@mkdir -p $(@D); echo "  CXX   $(sources_of_$*_test)"
	@$(CCACHE) $(call COMPILE,$(call pch_of_test,$@))
$(OBJ)/%.o: $(OUT)/units/%.cc $(PCH).gch
	@mkdir -p $(@D); echo "  CXX   $(sources_of_$*)"
	@$(CCACHE) $(call COMPILE,$(PCH)) $(PIC)
# The page's files are embedded in this object.
$(OBJ)/pkg/ui/assets.o: $(wildcard pkg/ui/assets/*)
# The commit, from git or given to a source package as COMMIT=..., is compiled into one file.
COMMIT ?= $(or $(shell git rev-parse --short=12 HEAD 2>/dev/null),unknown)
$(OBJ)/pkg/util/version.o: hack/version $(call note,$(notes)/commit,$(COMMIT))
$(OBJ)/pkg/util/version.o: CPPFLAGS += -DBERTH_VERSION='"$(shell cat hack/version)"' -DBERTH_COMMIT='"$(COMMIT)"'

# Thin archives refer to their objects; where ar does not support them, ordinary ones are made.
define library_rule
$(call library,$(1)): $(call objects,$(call sources,$(1))) $(call note,$(notes)/$(1),$(call objects,$(call sources,$(1))))
	@mkdir -p $$(@D); echo "  AR    $$@"; rm -f $$@
	@ar rcsT $$@ $$(filter %.o,$$^) 2>/dev/null || ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach r,$(PACKAGES),$(eval $(call library_rule,$(r))))

# $(1): the file, $(2): its objects, $(3): its libraries, $(4): more arguments for the linker.
define link_rule
$(1): $(2) $(3) $(call note,$(notes)/link-$(subst /,-,$(patsubst $(OUT)/%,%,$(1))),$(2) $(3) $(4) $(LDFLAGS) $(LDLIBS))
	@mkdir -p $$(@D); echo "  LINK  $$@"
	@$(CXX) $(LDFLAGS) -o $$@ $(2) $(3) $(4) $(if $(filter %.so.1,$(1)),$(filter-out $(TCMALLOC) -lglog,$(LDLIBS)),$(LDLIBS))
endef
plugins_for = $(if $(filter cmd/kube-scheduler cmd/schedsim plugin test,$(1)),$(PLUGIN_OBJECTS))
$(foreach p,$(addprefix cmd/,$(PROGRAMS)),$(eval $(call link_rule,$(BIN)/$(notdir $(p)),$(call objects,$(call sources,$(p))) $(call plugins_for,$(p)),$(call libraries,$(p)))))

# The programs with a second name for every release, for test/release_alias_test.py.
ALIASED := $(PROGRAMS:%=$(OUT)/test/aliased/bin/%)
$(foreach p,$(addprefix cmd/,$(PROGRAMS)),$(eval $(call link_rule,$(OUT)/test/aliased/bin/$(notdir $(p)),$(call objects,test/aliases/list.cc $(call sources,$(p))) $(call plugins_for,$(p)),$(call libraries,$(p)))))

# All programs in one file, for the package: cmd/berth/main.cc decides which of them runs.
$(OBJ)/cmd/%/renamed_main.o: $(OBJ)/cmd/%/main.o
	@objcopy --redefine-sym main=$(subst -,_,$*)_main $< $@
$(eval $(call link_rule,$(BIN)/berth,$(call objects,cmd/berth/main.cc $(filter-out %/main.cc,$(foreach p,$(PROGRAMS),$(call sources,cmd/$(p))))) $(PROGRAMS:%=$(OBJ)/cmd/%/renamed_main.o) $(PLUGIN_OBJECTS),$(foreach r,$(PACKAGES),$(call library,$(r)))))

# The library exports what berth.map names, and has the rules of plugin/.
$(OUT)/lib/libberth.so.1: pkg/capi/berth.map
$(eval $(call link_rule,$(OUT)/lib/libberth.so.1,$(call objects,$(call sources,pkg/capi) pkg/capi/glog_standin.cc) $(PLUGIN_OBJECTS),$(call libraries,pkg/capi),-shared -Wl$(,)-soname$(,)libberth.so.1 -Wl$(,)--version-script=pkg/capi/berth.map -Wl$(,)-z$(,)defs -Wl$(,)--as-needed))

# A program's tests are linked with its sources except main.cc.
$(foreach r,$(TEST_PACKAGES),$(eval $(call link_rule,$(call test_program,$(r)),$(call objects,$(call tests,$(r)) $(if $(filter cmd/%,$(r)),$(filter-out %/main.cc,$(call sources,$(r))))) $(OBJ)/hack/test_logging.o $(call plugins_for,$(r)),$(call libraries,$(r)),-lrapidcheck -lCatch2WithMain)))

$(eval $(call link_rule,$(BIN)/bench,$(call objects,$(BENCH_SOURCES)) $(PLUGIN_OBJECTS),$(foreach r,$(PACKAGES),$(call library,$(r))),-lbenchmark_main -lbenchmark))

# The simulated world runs the daemon's own informers and actions (test/simulation/README.md).
SIMULATION := $(call objects,$(call sources,test/simulation) $(filter-out %/main.cc,$(call sources,cmd/kube-scheduler)))
$(eval $(call link_rule,$(OUT)/test/simulate,$(SIMULATION),$(call libraries,test/simulation cmd/kube-scheduler)))

# One program with all fuzz targets: for libFuzzer, and for make test with a main that runs the corpus.
FUZZ_SOURCES := $(wildcard test/fuzz/*_fuzz.cc test/fuzz/fuzz.cc) $(filter-out %/main.cc,$(call sources,cmd/kube-scheduler))
FUZZ_LIBRARIES := $(call libraries,test/fuzz cmd/kube-scheduler)
$(eval $(call link_rule,$(OUT)/test/fuzz-replay,$(call objects,$(FUZZ_SOURCES) test/fuzz/replay.cc test/fuzz/mutate.cc) $(PLUGIN_OBJECTS),$(FUZZ_LIBRARIES)))
$(eval $(call link_rule,$(BIN)/fuzz,$(call objects,$(FUZZ_SOURCES) test/fuzz/libfuzzer.cc) $(PLUGIN_OBJECTS),$(FUZZ_LIBRARIES),-fsanitize=fuzzer))

$(OUT)/compile_commands.json: hack/compile-commands.sh $(notes)/flags $(call note,$(notes)/files,$(sort $(shell find pkg cmd plugin test -name '*.cc' 2>/dev/null)))
	@mkdir -p $(@D); hack/compile-commands.sh "$(CXX) $(CPPFLAGS) $(CXXFLAGS)" > $@
	@$(if $(filter _output%,$(OUT)),ln -sfn $@ compile_commands.json)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
