# How each file is made.
# Expensive headers are precompiled; -include finds the .gch beside the name. Tests add Catch2. Everything that is
# compiled depends on them, and so on the flags. Those of clang contain the name of the folder in which they were made,
# so they do not come from a cache that clones share.
PCH := $(OUT)/pch/pch.h
TEST_PCH := $(OUT)/pch/pch_test.h
COMPARING_TEST_PCH := $(OUT)/pch/comparing/pch_test.h
$(PCH).gch: hack/pch.h
$(TEST_PCH).gch $(COMPARING_TEST_PCH).gch: hack/pch_test.h
$(PCH).gch $(TEST_PCH).gch $(COMPARING_TEST_PCH).gch: $(call note,$(notes)/flags,$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(PIC) $(SECTIONS) $(TEST_OPT) $(COMPARING_TEST_OPT) $(AROUND_TEST_OPT))
	@mkdir -p $(@D); grep -v '^#pragma once' $(filter %.h,$^) > $(@:.gch=)
	@echo "  PCH   $(filter %.h,$^)"
	@$(if $(CLANG),,$(CCACHE)) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -x c++-header $(@:.gch=) -o $@

COMPILE = $(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -include $(1) -Winvalid-pch -fpch-preprocess -c $< -o $@
# -fno-trapping-math: loops over columns of amounts choose between results instead of branching. g++ turns them into
# vector instructions only if it need not preserve traps of divisions whose results are not used. The variable is
# private, so that precompiled headers, which everything shares, are made without the flag.
$(OBJ)/pkg/scheduler/algorithm/noderesources/%.o: private CXXFLAGS += -fno-trapping-math
# Only programs with tcmalloc can be told how to use it.
$(OBJ)/pkg/heap/%.o: private CXXFLAGS += $(if $(TCMALLOC),-DBERTH_TCMALLOC)
# Files of plugin/ are written by others: warnings, some of which are false, do not end their build.
$(OBJ)/plugin/%.o: private CXXFLAGS += -Wno-error
# Tests initialise only those members of objects that matter to them.
$(OBJ)/%_test.o: CXXFLAGS += -Wno-missing-field-initializers $(TEST_OPT)
$(COMPARING:%=$(OBJ)/%/%_test.o): CXXFLAGS += $(COMPARING_TEST_OPT)
$(OBJ)/test/%.o: CXXFLAGS += $(AROUND_TEST_OPT)
$(PCH).gch: CXXFLAGS += $(PIC) $(SECTIONS)
$(TEST_PCH).gch: CXXFLAGS += $(TEST_OPT)
$(COMPARING_TEST_PCH).gch: CXXFLAGS += $(COMPARING_TEST_OPT)
pch_of_test = $(if $(filter $(COMPARING:%=$(OBJ)/%/%),$(1)),$(COMPARING_TEST_PCH),$(TEST_PCH))
$(OBJ)/%_test.o: %_test.cc $(TEST_PCH).gch $(COMPARING_TEST_PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(call pch_of_test,$@))
$(OBJ)/%.o: %.cc $(PCH).gch
	@mkdir -p $(@D); echo "  CXX   $<"
	@$(CCACHE) $(call COMPILE,$(PCH)) $(PIC) $(SECTIONS)
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
	@$(CCACHE) $(call COMPILE,$(PCH)) $(PIC) $(SECTIONS)
# The page's files are embedded in this object.
$(OBJ)/pkg/ui/assets.o: $(wildcard pkg/ui/assets/*)
# The commit, from git or given to a source package as COMMIT=..., is compiled into one file.
COMMIT := $(or $(COMMIT),$(shell git rev-parse --short=12 HEAD 2>/dev/null),unknown)
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
$(1): $(2) $(3) $(call note,$(notes)/link-$(subst /,-,$(patsubst $(OUT)/%,%,$(1))),$(2) $(3) $(4) $(LDFLAGS) $(call ldlibs_of,$(1)))
	@mkdir -p $$(@D); echo "  LINK  $$@"
	@$(CXX) $(LDFLAGS) -o $$@ $(2) $(3) $(4) $(call ldlibs_of,$(1))
endef

# The script adds a section to those of the linker. Functions that profile-guided optimisation calls hot are in sections of other names.
$(OUT)/function-order.ld: hack/build/function-order
	@mkdir -p $(@D); { echo 'SECTIONS { .text.ordered : {'; sed 's/.*/*(.text.hot.&) *(.text.&)/' $<; echo '} } INSERT BEFORE .text;'; } > $@
in_order := $(ORDERED:%=-Wl$(,)-T$(,)%)
$(PROGRAMS:%=$(BIN)/%) $(BIN)/berth: $(ORDERED)

plugins_for = $(if $(filter cmd/kube-scheduler cmd/schedsim plugin test,$(1)),$(PLUGIN_OBJECTS))
$(foreach p,$(addprefix cmd/,$(PROGRAMS)),$(eval $(call link_rule,$(BIN)/$(notdir $(p)),$(call objects,$(call sources,$(p))) $(call plugins_for,$(p)),$(call libraries,$(p)),$(in_order))))

# The programs with a second name for every release, for test/release_alias_test.py.
$(foreach p,$(addprefix cmd/,$(PROGRAMS)),$(eval $(call link_rule,$(OUT)/test/aliased/bin/$(notdir $(p)),$(call objects,test/aliases/list.cc $(call sources,$(p))) $(call plugins_for,$(p)),$(call libraries,$(p)))))

# The programs with a release that was never published, for test/fake_release_test.py.
$(foreach p,$(addprefix cmd/,$(PROGRAMS)),$(eval $(call link_rule,$(OUT)/test/faked/bin/$(notdir $(p)),$(call objects,$(call sources,test/fake_release) $(call sources,$(p))) $(call plugins_for,$(p)),$(call libraries,$(p) test/fake_release))))

# All programs in one file, for the package: cmd/berth/main.cc decides which of them runs.
$(OBJ)/cmd/%/renamed_main.o: $(OBJ)/cmd/%/main.o
	@objcopy --redefine-sym main=$(subst -,_,$*)_main $< $@
$(eval $(call link_rule,$(BIN)/berth,$(call objects,cmd/berth/main.cc $(filter-out %/main.cc,$(foreach p,$(PROGRAMS),$(call sources,cmd/$(p))))) $(PROGRAMS:%=$(OBJ)/cmd/%/renamed_main.o) $(PLUGIN_OBJECTS),$(foreach r,$(PACKAGES),$(call library,$(r))),$(in_order)))

# The library exports what berth.map names, and has the rules of plugin/.
$(OUT)/lib/libberth.so.1: pkg/capi/berth.map
$(eval $(call link_rule,$(OUT)/lib/libberth.so.1,$(call objects,$(call sources,pkg/capi) pkg/capi/glog_standin.cc) $(PLUGIN_OBJECTS),$(call libraries,pkg/capi),-shared -Wl$(,)-soname$(,)libberth.so.1 -Wl$(,)--version-script=pkg/capi/berth.map -Wl$(,)-z$(,)defs -Wl$(,)--as-needed))

# A program's tests are linked with its sources except main.cc.
$(foreach r,$(TEST_PACKAGES),$(eval $(call link_rule,$(call test_program,$(r)),$(call objects,$(call tests,$(r)) $(if $(filter cmd/%,$(r)),$(filter-out %/main.cc,$(call sources,$(r))))) $(OBJ)/hack/test_logging.o $(call plugins_for,$(r)),$(call libraries,$(r) $(r)/tests),-lrapidcheck -lCatch2WithMain)))

$(eval $(call link_rule,$(BIN)/bench,$(call objects,$(BENCH_SOURCES)) $(PLUGIN_OBJECTS),$(foreach r,$(PACKAGES),$(call library,$(r))),-lbenchmark_main -lbenchmark))

# The simulated world runs the daemon's own informers and actions (test/simulation/README.md).
SIMULATION := $(call objects,$(call sources,test/simulation) $(filter-out %/main.cc,$(call sources,cmd/kube-scheduler)))
$(eval $(call link_rule,$(OUT)/test/simulate,$(SIMULATION),$(call libraries,test/simulation cmd/kube-scheduler)))

# Decides while the cluster changes (hack/bench/README.md).
$(eval $(call link_rule,$(OUT)/test/churn,$(call objects,$(call sources,test/churn)) $(PLUGIN_OBJECTS),$(call libraries,test/churn)))

# One program with all fuzz targets: for libFuzzer, and for make test with a main that runs the corpus.
FUZZ_SOURCES := $(wildcard test/fuzz/*_fuzz.cc test/fuzz/fuzz.cc) $(filter-out %/main.cc,$(call sources,cmd/kube-scheduler))
FUZZ_LIBRARIES := $(call libraries,test/fuzz cmd/kube-scheduler)
$(eval $(call link_rule,$(OUT)/test/fuzz-replay,$(call objects,$(FUZZ_SOURCES) test/fuzz/replay.cc test/fuzz/mutate.cc) $(PLUGIN_OBJECTS),$(FUZZ_LIBRARIES)))
$(eval $(call link_rule,$(BIN)/fuzz,$(call objects,$(FUZZ_SOURCES) test/fuzz/libfuzzer.cc) $(PLUGIN_OBJECTS),$(FUZZ_LIBRARIES),-fsanitize=fuzzer))

$(OUT)/compile_commands.json: hack/compile-commands.sh $(notes)/flags $(call note,$(notes)/files,$(ALL_SOURCES))
	@mkdir -p $(@D); hack/compile-commands.sh "$(CXX) $(CPPFLAGS) $(CXXFLAGS)" > $@
	@$(if $(filter _output%,$(OUT)),ln -sfn $@ compile_commands.json)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
