# Tests that run for as long as they are told.
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
