# How everything is compiled and linked.
CXX := $(if $(filter fuzz,$(SAN)),clang++,g++)
CLANG := $(findstring clang,$(CXX))
# A compiler cache would have to know the counts of profile-guided optimisation.
CCACHE := $(if $(PGO),,$(shell command -v ccache 2>/dev/null))
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
# program: nothing goes through a table of addresses. The thread sanitizer's and the fuzzers' builds have no library.
PIC := $(if $(filter tsan fuzz,$(SAN)),,-fPIC -fvisibility=hidden -fno-semantic-interposition)
# A pod that arrives alone finds no code in the processor's caches, so programs have the functions that run for each pod side by side, in
# the order in which they run (hack/README.md). For that, each function has a section of its own.
ORDERED := $(if $(SAN)$(filter debug,$(BUILD)),,$(OUT)/function-order.ld)
SECTIONS := $(if $(ORDERED),-ffunction-sections)
# Profile-guided optimisation compiles everything twice (hack/README.md). The programs of the first build write beside each object
# how often its code was executed, and the second build is compiled with these counts. A source that has changed since then has none,
# and is compiled as without them. Warnings that g++ gives only in these builds are false, and do not end them.
PGO_FLAGS := $(if $(filter train,$(PGO)),-fprofile-generate -fprofile-update=prefer-atomic)
PGO_FLAGS += $(if $(filter 1,$(PGO)),-fprofile-use -fprofile-correction -Wno-error -Wno-missing-profile -Wno-coverage-mismatch)
# Functions, loops and jumps follow each other without gaps, which are an eighth of what runs for each pod, and are fetched with it. No
# measured decision takes longer without them.
DENSE := $(if $(SAN)$(filter debug,$(BUILD)),,-fno-align-functions -fno-align-loops -fno-align-jumps -fno-align-labels)
# Contracts are checked where their cost does not matter (pkg/util/contract.h).
CONTRACTS := $(if $(SAN)$(filter debug,$(BUILD)),-DBERTH_CHECKS_CONTRACTS)
CXXFLAGS := -std=c++20 $(OPT) $(DENSE) $(GARBAGE) $(SANFLAGS) $(CONTRACTS) $(WARN) $(PGO_FLAGS) -ffp-contract=off -pthread -DRAPIDJSON_HAS_STDSTRING=1 \
            -DBOOST_BEAST_SEPARATE_COMPILATION -DBOOST_ASIO_SEPARATE_COMPILATION
ifneq ($(HARDEN),)
CXXFLAGS += -fstack-protector-strong -fstack-clash-protection -fcf-protection -D_FORTIFY_SOURCE=2
endif
CPPFLAGS := -I.
# lld links a program in a second; the default linker takes four.
LINKER := $(if $(shell command -v ld.lld 2>/dev/null),-fuse-ld=lld)
# Relocations are read-only before the program runs, and data is not executable; SECURITY.md describes the other
# protections.
LDFLAGS := $(SANFLAGS) $(PGO_FLAGS) $(LINKER) -pthread $(if $(SAN),,-Wl$(,)-z$(,)relro -Wl$(,)-z$(,)now -Wl$(,)-z$(,)noexecstack)
# tcmalloc lets threads free what others allocated without waiting for each other. Sanitizers bring their own allocator, and libberth.so
# leaves allocation to the program that loads it.
TCMALLOC := $(if $(SAN),,-l:libtcmalloc_minimal.so.4)
# Abseil consists of 40 libraries, which would take a quarter of the time in which a program starts, so it becomes part of the programs.
# Its archives are not made for use in libberth.so, and the package, whose size is limited, depends on the shared ones.
ABSEIL_SHARED := $(wildcard /usr/lib/*/libabsl_*.so)
ABSEIL := $(if $(SAN),$(ABSEIL_SHARED),-Wl$(,)--start-group $(wildcard /usr/lib/*/libabsl_*.a) -Wl$(,)--end-group)
SYSTEM_LIBS := -lprometheus-cpp-core -lyaml-cpp -lboost_program_options -lssl -lcrypto -lz -Wl,--as-needed -lzstd
LDLIBS := $(TCMALLOC) -lglog $(SYSTEM_LIBS) $(ABSEIL)
LIBRARY_LDLIBS := $(SYSTEM_LIBS) $(ABSEIL_SHARED)
PACKAGE_LDLIBS := $(TCMALLOC) -lglog $(LIBRARY_LDLIBS)
ldlibs_of = $(if $(filter %.so.1,$(1)),$(LIBRARY_LDLIBS),$(if $(filter $(BIN)/berth,$(1)),$(PACKAGE_LDLIBS),$(LDLIBS)))
