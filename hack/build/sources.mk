# What there is: programs, packages, their sources, and what each needs.
PROGRAMS := kube-scheduler schedsim hollow-apiserver
include hack/build/layers.mk
# One library for each package, the lowest layer last, as a linker wants them.
PACKAGES := $(shell sed -n 's|^below\.\(pkg/[a-z]*\) .*|\1|p' hack/build/layers.mk | tac)
# The tree is read once, because starting a program for each question would take seconds.
ALL_SOURCES := $(sort $(shell find pkg cmd plugin test -name '*.cc' 2>/dev/null))
# glog_standin.cc replaces a library, and is linked by name.
sources = $(filter-out %_test.cc %_bench.cc %/glog_standin.cc,$(filter $(addsuffix /%,$(1)),$(ALL_SOURCES)))
tests = $(filter %_test.cc,$(filter $(addsuffix /%,$(1)),$(ALL_SOURCES)))
# The objects of sources. Neighbouring sources are compiled as one unit, which takes half of the time, until one of them
# changes (hack/units.sh). A make that another one has started has the same units, as both may build at the same time.
UNIT ?= $(if $(SAN),30,12)
PAIRS := $(shell hack/units.sh $(UNIT) $(OBJ) $(OUT)/notes/changed-sources $(filter-out 0,$(MAKELEVEL)))
$(foreach p,$(PAIRS),$(eval unit_of_$(firstword $(subst =, ,$(p))) := $(lastword $(subst =, ,$(p)))))
$(foreach p,$(PAIRS),$(eval sources_of_$(lastword $(subst =, ,$(p))) += $(firstword $(subst =, ,$(p)))))
objects = $(sort $(foreach s,$(1),$(OBJ)/$(unit_of_$(s)).o))
library = $(OUT)/lib/lib$(subst /,-,$(1)).a
# The libraries that folders need: their own, and those of the packages that they may include.
may_include = $(sort $(foreach i,$(1),$(i) $(call may_include,$(below.$(i)))))
libraries = $(foreach r,$(filter $(call may_include,$(1)),$(PACKAGES)),$(if $(call sources,$(r)),$(call library,$(r))))
PLUGIN_OBJECTS := $(call objects,$(call sources,plugin))
# Every package, plugin/, the programs and test/ have their tests in one program each, where they have any.
TEST_PACKAGES := $(foreach r,$(PACKAGES) plugin $(addprefix cmd/,$(PROGRAMS)) test,$(if $(call tests,$(r)),$(r)))
test_program = $(OUT)/test/$(subst /,-,$(1))_test
$(foreach r,$(PACKAGE),$(if $(wildcard $(r)/.),,$(error PACKAGE=$(r): there is no such package)))
TEST_PROGRAMS := $(foreach r,$(if $(PACKAGE)$(SCRIPTS),$(filter $(PACKAGE),$(TEST_PACKAGES)),$(TEST_PACKAGES)),$(call test_program,$(r)))
# The programs with a second name for every release, for test/release_alias_test.py.
ALIASED := $(PROGRAMS:%=$(OUT)/test/aliased/bin/%)
# The programs with a release that was never published, for test/fake_release_test.py.
FAKED := $(PROGRAMS:%=$(OUT)/test/faked/bin/%)
BENCH_SOURCES := $(filter %_bench.cc,$(filter pkg/% test/%,$(ALL_SOURCES)))

# Dependencies on things other than files: $(call note,FILE,TEXT) expands to FILE, and writes TEXT to it unless it
# contains that already. What depends on FILE is therefore remade when flags change and when sources are added or
# removed. Only goals that build write notes.
differ = $(subst |$(1)|,,|$(2)|)$(subst |$(2)|,,|$(1)|)
BUILDS := $(filter-out all help deps deps-test lib python wheel test simulate fuzz fuzz-asan soak deb image bench run fmt check clean install,$(or $(MAKECMDGOALS),all))
note = $(if $(BUILDS),$(if $(call differ,$(strip $(file <$(1))),$(strip $(2))),$(shell mkdir -p $(dir $(1)))$(file >$(1),$(strip $(2)))))$(1)
notes := $(OUT)/notes
