# What there is: programs, packages, their sources, and what each needs.
PROGRAMS := kube-scheduler schedsim hollow-apiserver
# One library for each package, the lowest layer last, in the order of includes (pkg/README.md).
PACKAGES := pkg/apiserver pkg/capi pkg/client pkg/ui pkg/simulate pkg/recording pkg/convert pkg/lab pkg/explain pkg/releases pkg/scheduler pkg/world pkg/http pkg/api pkg/release pkg/util
# The tree is read once, because starting a program for each question would take seconds.
ALL_SOURCES := $(sort $(shell find pkg cmd plugin test -name '*.cc' 2>/dev/null))
# glog_standin.cc replaces a library, and is linked by name.
sources = $(filter-out %_test.cc %_bench.cc %/glog_standin.cc,$(filter $(addsuffix /%,$(1)),$(ALL_SOURCES)))
tests = $(filter %_test.cc,$(filter $(addsuffix /%,$(1)),$(ALL_SOURCES)))
# The objects of sources. Neighbouring sources are compiled as one unit, which takes half of the time.
UNIT ?= $(if $(SAN),30,12)
PAIRS := $(shell hack/units.sh $(UNIT))
$(foreach p,$(PAIRS),$(eval unit_of_$(firstword $(subst =, ,$(p))) := $(lastword $(subst =, ,$(p)))))
$(foreach p,$(PAIRS),$(eval sources_of_$(lastword $(subst =, ,$(p))) += $(firstword $(subst =, ,$(p)))))
objects = $(sort $(foreach s,$(1),$(OBJ)/$(unit_of_$(s)).o))
library = $(OUT)/lib/lib$(subst /,-,$(1)).a
# The libraries that a folder needs: its own, those of the packages that it includes and of those that these include,
# and the layers below.
# FOLDER=PACKAGE for each package that a file of the folder includes.
INCLUDES := $(shell grep -roE --include='*.cc' --include='*.h' '^.include "pkg/[a-z]+' pkg cmd plugin test 2>/dev/null | sed -E 's|/[^/:]*:.*"|=|' | sort -u)
includes = $(sort $(foreach i,$(filter $(addsuffix =%,$(1)) $(addsuffix /%,$(1)),$(INCLUDES)),$(lastword $(subst =, ,$(i)))))
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
