# The default target lists all others.
.DEFAULT_GOAL := help
SHELL := /bin/sh

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
CLI := github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil
LDFLAGS := -s -w -X $(CLI).Version=$(VERSION) -X $(CLI).GitCommit=$(COMMIT)
# kustomize's Go plugins would have the linker keep every method of every type (ADR 0015). Programs and tests are built alike, and
# as those of a release, so that they share packages; without C, Go links them itself. The race detector needs C.
TAGS := kustomize_disable_go_plugin_support
export GOFLAGS := $(GOFLAGS) -tags=$(TAGS)
export CGO_ENABLED := 0
RACE := CGO_ENABLED=1 $(GO) test -race
FUZZ := $(GO) test -tags measure,$(TAGS) -run '^$$' -fuzz
CONTROLPLANE := $(GO) -C hack/controlplane run .
# What make krew writes a manifest for, and make image the name of.
RELEASE ?= v0.1.0
IMAGE ?= ghcr.io/batchjob-dev/kubectl-batchjob
# How long make fuzz tries each parser, and make fuzz-short each reader of hostile files and objects.
FUZZTIME ?= 30s
FUZZTIME_SHORT ?= 6s
# The older releases of Kubernetes that make test-compat tries.
COMPAT_VERSIONS ?= v1.34.4 v1.35.4 v1.36.3
# How long make soak runs; SOAK_SEED repeats the decisions of a run, SOAK_SHARDS=6 makes
# three replicas share six shards, and SOAK_TROUBLES=compaction,throttling has only these go wrong.
SOAK_TIME ?= 20m
SOAK_SHARDS ?= 0
# How long make storm runs, and how many storms at once; STORM_STEPS is a number of steps instead.
STORM_TIME ?= 10m
STORM_STEPS ?= 0
STORM_WORKERS ?= 2
STORM_LEDGER ?= bin/storm/ledger.json
# How many random sequences make fidelity compares.
FIDELITY_SEQUENCES ?= 10000
# How long make differential begins new pairs; PAIRS is a number of pairs instead, and SEED the seed of the first.
MINUTES ?= 10
PAIRS ?= 0
SEED ?= -1
# The troubles of make soak-short, unless SOAK_TROUBLES has others: those that take little time.
SHORT_TROUBLES := compaction,full-disk,hanging-webhook,throttling,moving-shards
# How long make prove explores each world; 0 for no limit. PROVE matches the names of worlds.
PROVE_TIME ?= 0
PROVE ?=
# The cases of make field, and their folder, if it is not test/world/field/cases; all if empty.
FIELD ?=
CASES ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/kubectl-batchjob
	@# Without -trimpath, Go's build cache shares packages with the tests and the control plane.
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/kubectl-batchjob

.PHONY: install
install: build ## Put the plugin into Go's bin folder, so that `kubectl batchjob` finds it and completes it
	@mkdir -p "$$($(GO) env GOPATH)/bin"
	@cp bin/kubectl-batchjob krew/kubectl_complete-batchjob "$$($(GO) env GOPATH)/bin/"
	@echo "Installed into $$($(GO) env GOPATH)/bin. Try: kubectl batchjob demo"
	@command -v kubectl-batchjob >/dev/null || echo "kubectl finds it once $$($(GO) env GOPATH)/bin is in your PATH."
	@command -v kubectl >/dev/null || echo "It is a plugin of kubectl, which is not in your PATH: https://kubernetes.io/docs/tasks/tools"

.PHONY: demo
demo: ## Show what the proposals added to Jobs, on a control plane of its own, or on that of CONTEXT
	@CONTEXT='$(CONTEXT)' hack/demo.sh

# How long the tests of a package may take: some take five of go test's ten minutes, and the machine may be busy.
TEST_TIMEOUT := 1h
# The packages of unit tests and scenarios: all but those that start a control plane or the built program, and the helpers that only
# such packages use.
UNIT = $(shell $(GO) list ./... | grep -vE '/test/(cluster/|virtual/fidelity|product/(docs/shell|docs|monitoring|release)$$)')
# The packages of the cluster wing that need no more than a kube-apiserver.
CLUSTER = $(shell $(GO) list ./test/cluster/... | grep -vE '/(compat|live|e2e|node)$$')

# One package more than there are processors, as some wait for programs and connections.
AT_ONCE = $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

# -short leaves most random cases to make test-unit. make lint vets; here, it would cost a first run half a minute. The packages
# that take longest come first, so that both cores are busy until the end.
.PHONY: test
test: ## Run unit tests and scenarios
	@echo 'Testing: each package has a line when it ends. Compiling the tests comes first, and takes minutes the first time.'
	@$(MAKE) --no-print-directory -j2 test-packages test-controlplane

.PHONY: test-packages
test-packages:
	@$(GO) test -p $(AT_ONCE) -vet=off -short -timeout $(TEST_TIMEOUT) ./internal/cli ./pkg/sim ./test/world/... ./cmd/... ./internal/... $(UNIT)

# That of make demo and of the integration tests, which is a module of its own; most of its time is waiting.
.PHONY: test-controlplane
test-controlplane:
	@$(GO) -C hack/controlplane test -vet=off -timeout $(TEST_TIMEOUT) .

.PHONY: test-unit
test-unit: ## Run unit tests and scenarios, with all random cases
	$(GO) test -timeout $(TEST_TIMEOUT) $(UNIT)

.PHONY: test-integration
test-integration: ## Run the tests on a real kube-apiserver, but for those beside kube-controller-manager
	@$(CONTROLPLANE) build --for test
	$(GO) test -vet=off -short -timeout $(TEST_TIMEOUT) $(CLUSTER) ./test/virtual/fidelity

.PHONY: fidelity
fidelity: ## Compare the virtual API server with a real one, of KUBE_VERSION, in FIDELITY_SEQUENCES random sequences of calls
	@$(CONTROLPLANE) build --for test
	$(GO) test -count=1 -v -timeout 2h ./test/virtual/fidelity -sequences $(FIDELITY_SEQUENCES)

# Alone on the machine, as the limits are for time and for the whole process.
.PHONY: test-measured
test-measured: ## Run the tests that limit memory and time (test/kit/measure), and measure: minutes
	$(GO) test -tags measure,$(TAGS) -short -count=1 -p 1 -timeout $(TEST_TIMEOUT) ./test/kit/measure \
		$$(grep -rl --include='*_test.go' 'kubectl-batchjob/test/kit/measure"' internal pkg test | sed 's,^,./,; s,/[^/]*$$,,' | sort -u)

.PHONY: differential
differential: build controlplane ## Compare ours with the real built-in controller on random Jobs, for MINUTES, or on PAIRS of them
	$(GO) test -tags builtin,$(TAGS) -count=1 -v -timeout 0 ./test/virtual/oracle/beside -minutes $(MINUTES) -seeds $(PAIRS) -first $(SEED)

# The packages that start no goroutines and have no locks, in which the race detector has nothing to look for; test/product/structure
# checks that.
SEQUENTIAL := ./internal/bundle ./internal/cli/bundle ./internal/cli/shared/jobprinter ./internal/cli/shared/owners \
	./internal/cli/simulate ./internal/cli/whatif ./internal/junit ./internal/printer ./pkg/cause ./pkg/controller/shard ./pkg/explain \
	./pkg/explain/analysis/... ./pkg/explain/cronjob ./pkg/explain/eta ./pkg/explain/family ./pkg/explain/gone ./pkg/explain/input \
	./pkg/explain/jobgroup ./pkg/explain/jobset ./pkg/explain/kueue ./pkg/explain/meaning ./pkg/explain/section ./pkg/explain/text \
	./pkg/explain/words ./pkg/kube/apicall ./pkg/layout ./pkg/lint/... ./pkg/reconcile/... ./pkg/retry ./pkg/sanitize ./pkg/secrets \
	./pkg/sim/podlife ./pkg/tui ./pkg/tui/indexmap ./pkg/tui/job ./pkg/tui/joblist ./pkg/tui/pods ./pkg/tui/screen ./pkg/tui/widget \
	./pkg/typo ./pkg/whatif ./pkg/wording
# The integration tests that the race detector looks at: several controllers, outages, and kube-controller-manager, beside
# which no other target runs ours. make test-integration runs the other ones.
CONCURRENT := TestBeside_|Lead|Lease|Shard|Outage

# The tests of much data and one goroutine, in packages that have others: minutes with the race detector.
ONE_GOROUTINE := TestLogsOfFewContainersAreRead|TestLargeRecordingIsPlayed|TestRecordingDoesNotFillTheMemory|TestManyNamesAreOneFinding

# In a virtual cluster, one coroutine runs at a time: the scenarios show the race detector as much as all of pkg/sim, which
# takes five minutes with it, and as the demo, which plays there.
.PHONY: test-race
test-race: controlplane ## Run the tests of what is concurrent, and those beside kube-controller-manager, with the race detector
	$(RACE) -short -timeout $(TEST_TIMEOUT) -skip '^($(ONE_GOROUTINE))$$' $$($(GO) list ./cmd/... ./internal/... ./pkg/... ./test/cluster/bench/... | grep -vE '/(pkg/sim|internal/cli/demo)$$' | grep -vxF "$$($(GO) list $(SEQUENTIAL))")
	$(RACE) -short -timeout $(TEST_TIMEOUT) -run TestScenarios ./pkg/sim
	$(RACE) -timeout $(TEST_TIMEOUT) -tags builtin,$(TAGS) -run '$(CONCURRENT)' ./test/cluster/integration

.PHONY: test-e2e
test-e2e: build controlplane ## Run the real binary on a kwok cluster
	$(GO) test -count=1 ./test/cluster/e2e/...

.PHONY: test-docs
test-docs: build controlplane ## Run every command of the documentation on a kwok cluster, and check its links
	$(GO) -C test/product/docs test -count=1 . ./shell

.PHONY: test-compat
test-compat: build ## Build each of COMPAT_VERSIONS of Kubernetes, and run the plugin on it: half an hour, then minutes
	@for version in $(COMPAT_VERSIONS); do \
		KUBE_VERSION=$$version $(CONTROLPLANE) build && \
		KUBE_VERSION=$$version BATCHJOB_COMPAT_BINARY=$(CURDIR)/bin/kubectl-batchjob \
			$(GO) test -tags compat,$(TAGS) -count=1 -timeout 20m ./test/cluster/compat || exit 1; \
	done

# CONFORMANCE=-short leaves out the broken controllers, and all cases that wait.
.PHONY: test-conformance
test-conformance: build controlplane ## Run the conformance suite against the built-in controller, ours, and broken ones: 5 minutes
	$(GO) test -count=1 $(CONFORMANCE) ./test/cluster/conformance/live

# The image has the tag that config/default asks for, as nothing in that is changed for the tests.
.PHONY: test-node
test-node: ## Install config/default on a real node with real containers: root on Linux, hack/node/run.sh says what it needs
	IMAGE_TOOL=buildah IMAGE_ARCHS="$$($(GO) env GOARCH)" $(MAKE) image VERSION=$$(sed -n 's/.*newTag: //p' config/default/kustomization.yaml)
	$(GO) build -o bin/conformance ./test/cluster/conformance
	$(GO) test -tags node,$(TAGS) -c -o bin/node.test ./test/cluster/node
	cd test/cluster/node && ../../../hack/node/run.sh ../../../bin/node.test -test.v -test.timeout 40m

.PHONY: test-monitoring
test-monitoring: ## Play the alerts through with promtool, and check the queries of dashboard and runbooks
	promtool=$$(hack/promtool.sh) && BATCHJOB_PROMTOOL=$$promtool $(GO) test -count=1 ./test/product/monitoring

.PHONY: soak
soak: build controlplane ## Live through crashes, fail-overs and a cluster in trouble for SOAK_TIME
	SOAK_TIME=$(SOAK_TIME) SOAK_SHARDS=$(SOAK_SHARDS) $(GO) test -tags soak,$(TAGS) -count=1 -v -timeout 24h -run '^TestSoak' ./test/cluster/soak

# The seeds go on where the ledger ends; with STORM_STEPS, the time does not count.
.PHONY: storm
storm: ## Play random storms in the virtual cluster for STORM_TIME, or for STORM_STEPS; bin/storm has what they found
	@mkdir -p bin/storm
	$(GO) test -c -o bin/storm/storm.test ./test/virtual/storm
	cd test/virtual/storm && ../../../bin/storm/storm.test -test.timeout 0 -test.run TestEndlessStorms -storm-workers $(STORM_WORKERS) \
		-storm-time $(if $(filter 0,$(STORM_STEPS)),$(STORM_TIME),0) -storm-steps $(STORM_STEPS) \
		-storm-ledger $(abspath $(STORM_LEDGER)) -storm-found ../../../bin/storm -storm-commit $(COMMIT)

.PHONY: soak-short
soak-short: build controlplane ## Live through five troubles of the soak once, in a minute; SOAK_TROUBLES=all for all of them
	SOAK_SHARDS=6 SOAK_TROUBLES=$(or $(SOAK_TROUBLES),$(SHORT_TROUBLES)) $(GO) test -tags soak,$(TAGS) -count=1 -v -run '^TestTroubles' ./test/cluster/soak

.PHONY: fuzz
fuzz: ## Fuzz each parser, and what is drawn of hostile text, for FUZZTIME
	$(FUZZ) FuzzParse -fuzztime $(FUZZTIME) ./pkg/reconcile/indexset
	$(FUZZ) FuzzParse -fuzztime $(FUZZTIME) ./pkg/reconcile/rulename
	$(FUZZ) FuzzLine -fuzztime $(FUZZTIME) ./pkg/sanitize
	$(FUZZ) FuzzReadManifest -fuzztime $(FUZZTIME) ./internal/manifest
	$(FUZZ) FuzzLineReader -fuzztime $(FUZZTIME) ./internal/logs
	$(FUZZ) FuzzParse -fuzztime $(FUZZTIME) ./pkg/cause
	$(FUZZ) FuzzEventNames -fuzztime $(FUZZTIME) ./pkg/explain/gather
	$(FUZZ) FuzzText -fuzztime $(FUZZTIME) ./pkg/layout
	$(FUZZ) FuzzHostileReports -fuzztime $(FUZZTIME) ./pkg/explain/text
	$(FUZZ) FuzzHostileStatuses -fuzztime $(FUZZTIME) ./test/virtual/numbers
	$(FUZZ) FuzzLease -fuzztime $(FUZZTIME) ./pkg/controller/leader
	$(FUZZ) FuzzLease -fuzztime $(FUZZTIME) ./pkg/explain/text
	$(FUZZ) FuzzReadBundle -fuzztime $(FUZZTIME) ./internal/bundle
	$(FUZZ) FuzzReadRecording -fuzztime $(FUZZTIME) ./internal/bundle
	$(FUZZ) FuzzSize -fuzztime $(FUZZTIME) ./pkg/jsonlimit

.PHONY: fuzz-short
fuzz-short: ## Fuzz what reads hostile bundles, recordings, statuses and Leases, a minute in total; most limit memory, too
	$(FUZZ) FuzzReadBundle -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./internal/bundle
	$(FUZZ) FuzzReadRecording -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./internal/bundle
	$(FUZZ) FuzzSize -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./pkg/jsonlimit
	$(FUZZ) FuzzHostileReports -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./pkg/explain/text
	$(FUZZ) FuzzLease -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./pkg/controller/leader
	$(FUZZ) FuzzLease -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./pkg/explain/text
	$(FUZZ) FuzzHostileStatuses -fuzztime $(FUZZTIME_SHORT) -fuzzminimizetime 10x ./test/virtual/numbers

.PHONY: mutants
mutants: ## Plant bugs that Job controllers had, one at a time: a test must fail for each
	$(GO) run ./hack/mutants

.PHONY: mutants-prove
mutants-prove: ## Plant the bugs that make prove is to find, one at a time, and explore a world that has them: an hour
	$(GO) run ./hack/mutants -prove
	$(GO) run ./hack/mutants -prove -table hack/mutants/subtle.txt

.PHONY: mutants-doc
mutants-doc: ## The same, and write what caught each into docs/internals/proof/known-bugs.md: more than an hour
	rm -f hack/mutants/results.json
	$(GO) run ./hack/mutants -results hack/mutants/results.json
	$(GO) test ./hack/mutants -run HasTheKnownBugs -rewrite

.PHONY: prove
prove: ## Explore every history of small worlds in the virtual cluster, for about an hour; again, to continue. PROVE=REGEXP names worlds
	mkdir -p bin/prove
	$(GO) test -c -o bin/prove/prove.test ./test/virtual/prove
	cd test/virtual/prove && ../../../bin/prove/prove.test -test.v -test.timeout 0 -test.run '^TestProve$$' \
		-prove -prove-only '$(PROVE)' -prove-time $(PROVE_TIME) -prove-dir ../../../bin/prove

.PHONY: scenarios
scenarios: ## Rewrite what the scenario files and histories expect; read the diff
	$(GO) test ./pkg/sim -run TestScenarios -rewrite
	$(GO) test ./test/virtual/prove -run TestHistories -rewrite

# A measurement, not a check: cases are here before the plugin can explain them. FIELD is a regular expression for their names.
.PHONY: field
field: build controlplane ## Measure explanations with situations from the real world: 2 minutes; FIELD=REGEXP for some of them, CASES=FOLDER for others, RECORD=FOLDER
	@$(GO) run ./test/world/field -cases '$(CASES)' -only '$(FIELD)' -record '$(RECORD)'

.PHONY: bench
bench: bench-decisions bench-start bench-view build controlplane ## Measure ours beside the built-in controller, decisions, and the virtual cluster: 20 minutes
	$(GO) build -o bin/bench ./test/cluster/bench
	bin/bench

.PHONY: bench-full
bench-full: bench-decisions bench-start build controlplane ## The same with more rounds: an hour
	$(GO) build -o bin/bench ./test/cluster/bench
	bin/bench --rounds 4 --huge-rounds 3 --timeout 20m

.PHONY: bench-100k
bench-100k: build controlplane ## Measure a Job of 100,000 indexes beside a bare client: most of an hour
	$(GO) build -o bin/bench ./test/cluster/bench
	bin/bench --only giant --timeout 1h

.PHONY: bench-decisions
bench-decisions: ## Measure decisions, explanations, the cache, and a Job of 10^5 indexes in the virtual cluster
	$(GO) test ./pkg/reconcile/... -run '^$$' -bench . -benchtime 20x
	$(GO) test ./pkg/observe ./pkg/sim -run '^$$' -bench . -benchtime 1x
	$(GO) test ./pkg/explain/... -run '^$$' -bench . -benchtime 5x

.PHONY: bench-start
bench-start: build ## Measure how long the binary takes to start, and for 5,000 Jobs
	BATCHJOB_BINARY=$(CURDIR)/bin/kubectl-batchjob $(GO) test ./internal/cli -run '^$$' -bench 'BenchmarkStart|BenchmarkStatus' -benchtime 10x

.PHONY: bench-view
bench-view: ## Measure the interactive view of a Job of 10^5 indexes, at rest and in a storm of pod changes
	$(GO) test ./pkg/tui/... -run '^$$' -bench . -benchtime 20x
	$(GO) test ./internal/feed/live -run '^$$' -bench 'BenchmarkLiveStorm|BenchmarkView' -benchtime 1x

.PHONY: lint
lint: ## Run golangci-lint
	@linter=$$($(GO) -C hack/tools tool -n golangci-lint) && \
		"$$linter" run --build-tags builtin,$(TAGS),release,compat,soak,node,measure ./... && \
		cd hack/controlplane && "$$linter" run --config ../../.golangci.yml . && \
		cd ../release && "$$linter" run --config ../../.golangci.yml ./notices

.PHONY: fmt
fmt: ## Format the code
	@linter=$$($(GO) -C hack/tools tool -n golangci-lint) && "$$linter" fmt ./...

.PHONY: generate-check
generate-check: ## Check that go.mod files and generated files are up to date
	$(GO) mod tidy -diff
	$(GO) -C hack/controlplane mod tidy -diff
	$(GO) -C hack/tools mod tidy -diff
	$(GO) -C hack/release mod tidy -diff
	$(GO) -C hack/node mod tidy -diff
	$(GO) run ./hack/docs -check

.PHONY: docs
docs: ## Write docs/reference.md from the commands
	$(GO) run ./hack/docs

.PHONY: presubmit
presubmit: CONFORMANCE ?= -short
presubmit: test test-integration lint test-race test-e2e test-conformance soak-short test-release test-docs test-monitoring generate-check ## Run everything that CI runs

.PHONY: presubmit-long
presubmit-long: test-unit test-measured fuzz-short test-conformance differential ## Run what CI leaves out: all random cases, limits of memory and time, fuzzing, broken controllers, pairs beside the built-in one, the race detector everywhere, and a real node
	$(RACE) -short -timeout $(TEST_TIMEOUT) $$($(GO) list ./cmd/... ./internal/... ./pkg/... ./test/cluster/bench/... | grep -v '/pkg/sim$$')
	$(RACE) -timeout $(TEST_TIMEOUT) -tags builtin,$(TAGS) ./test/cluster/integration/...
	@if needs=$$(sh -c '. hack/node/needs.sh && check_needs' 2>&1); then $(MAKE) test-node; \
		else echo "make test-node, the part with a real node, is left out: $$needs"; fi

.PHONY: controlplane
controlplane: ## Build etcd, kube-apiserver, kube-controller-manager and kwok, once
	@$(CONTROLPLANE) build

.PHONY: up
up: build controlplane ## Start a kwok cluster with our controller beside the built-in ones
	@hack/up.sh

.PHONY: down
down: ## Stop the cluster of `make up` and remove its state
	@hack/down.sh

# GoReleaser and krew are pinned in hack/release. What needs a registry or an identity is left out.
.PHONY: snapshot
snapshot: ## Build the archives of a release into dist, for all platforms
	@# GoReleaser tells no commit of a clone without a remote, so it is given one.
	@goreleaser=$$($(GO) -C hack/release tool -n goreleaser) && \
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/batchjob-dev/kubectl-batchjob \
		"$$goreleaser" release --snapshot --clean --skip=docker,sign
	cp bin/release/install.yaml dist/

.PHONY: test-release
test-release: snapshot controlplane ## Build the archives and test them: krew installs them, shells complete what is in them
	$(GO) test -tags release,$(TAGS) -count=1 ./test/product/release

.PHONY: krew
krew: ## Write krew/batchjob.yaml from archives built as version RELEASE
	SNAPSHOT_VERSION=$(RELEASE) $(MAKE) snapshot
	{ sed 's/^/# /' hack/release/krewnote.txt; sed 1d dist/krew/batchjob.yaml; } >krew/batchjob.yaml

.PHONY: image
image: ## Build the image with docker or buildah, for both architectures
	@IMAGE='$(IMAGE)' VERSION='$(VERSION)' COMMIT='$(COMMIT)' TAGS='$(TAGS)' LDFLAGS='$(LDFLAGS)' hack/release/image.sh

.PHONY: clean
clean: down ## Remove what was built, but for the control plane in the user's cache
	rm -rf bin dist

.PHONY: explain-doc
explain-doc: build controlplane ## Write the outputs in docs/explain.md anew, from a run of the examples
	@hack/explaindoc.sh

.PHONY: screenshots
screenshots: build controlplane ## Draw the pictures of the interactive view from the real program in a real terminal
	@hack/screenshots.sh

.PHONY: recording
recording: build ## Record the demo in a real terminal, as the animation at the top of README
	@hack/recording.sh
