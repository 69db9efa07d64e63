# The default target lists all others.
.DEFAULT_GOAL := help
SHELL := /bin/sh

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
CLI := github.com/batchjob-dev/kubectl-batchjob/internal/cli
LDFLAGS := -s -w -X $(CLI).version=$(VERSION) -X $(CLI).gitCommit=$(COMMIT)
CONTROLPLANE := $(GO) -C hack/controlplane run .
# How long make fuzz tries each parser.
FUZZTIME ?= 30s
# How long make soak goes on; SOAK_SEED repeats the decisions of a run.
SOAK_TIME ?= 20m

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/kubectl-batchjob
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/kubectl-batchjob

.PHONY: install
install: build ## Put the plugin into Go's bin folder, so that `kubectl batchjob` finds it and completes it
	mkdir -p "$$($(GO) env GOPATH)/bin"
	cp bin/kubectl-batchjob krew/kubectl_complete-batchjob "$$($(GO) env GOPATH)/bin/"

.PHONY: demo
demo: build ## Run four Jobs on a control plane of their own, and show them
	@hack/demo.sh

.PHONY: test
test: test-unit test-integration ## Run unit tests, scenarios and integration tests

.PHONY: test-unit
test-unit: ## Run unit tests and scenarios
	$(GO) test ./cmd/... ./internal/... ./pkg/... ./test/bench/... ./hack/mutants ./hack/docs
	$(GO) -C hack/controlplane test .

.PHONY: test-integration
test-integration: controlplane ## Run the tests on a real kube-apiserver
	$(GO) test ./test/integration/...

.PHONY: test-race
test-race: controlplane ## Run all tests of `make test` with the race detector
	$(GO) test -race ./cmd/... ./internal/... ./pkg/... ./test/bench/...
	$(GO) test -race ./test/integration/...

.PHONY: test-e2e
test-e2e: build controlplane ## Run the real binary on a kwok cluster
	$(GO) test -count=1 ./test/e2e/...

.PHONY: soak
soak: build controlplane ## Live through crashes and fail-overs for SOAK_TIME
	SOAK_TIME=$(SOAK_TIME) $(GO) test -tags soak -count=1 -v -timeout 24h -run '^TestSoak' ./test/e2e

.PHONY: fuzz
fuzz: ## Fuzz each parser, and what is drawn of hostile text, for FUZZTIME
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME) ./pkg/reconcile/indexset
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME) ./pkg/reconcile/rulename
	$(GO) test -run '^$$' -fuzz FuzzLine -fuzztime $(FUZZTIME) ./internal/sanitize
	$(GO) test -run '^$$' -fuzz FuzzReadManifest -fuzztime $(FUZZTIME) ./internal/manifest
	$(GO) test -run '^$$' -fuzz FuzzLogReader -fuzztime $(FUZZTIME) ./internal/cli
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME) ./pkg/cause
	$(GO) test -run '^$$' -fuzz FuzzEventNames -fuzztime $(FUZZTIME) ./pkg/explain/gather
	$(GO) test -run '^$$' -fuzz FuzzText -fuzztime $(FUZZTIME) ./pkg/tui/canvas
	$(GO) test -run '^$$' -fuzz FuzzHostileReports -fuzztime $(FUZZTIME) ./pkg/explain/text

.PHONY: mutants
mutants: ## Plant bugs that Job controllers had, one at a time: a test must fail for each
	$(GO) run ./hack/mutants

.PHONY: scenarios
scenarios: ## Rewrite what the scenario files expect; read the diff
	$(GO) test ./pkg/sim -run TestScenarios -rewrite

.PHONY: fixtures
fixtures: build controlplane ## Record the Jobs that the tests of pkg/explain read: a minute
	$(GO) run ./test/record

.PHONY: bench
bench: bench-decisions bench-start bench-view build controlplane ## Measure ours beside the built-in controller, decisions, and the virtual cluster: 25 minutes
	$(GO) build -o bin/bench ./test/bench
	bin/bench

.PHONY: bench-full
bench-full: bench-decisions bench-start build controlplane ## The same with more rounds, and with 10,000 indexes at 100 requests per second: 90 minutes
	$(GO) build -o bin/bench ./test/bench
	bin/bench --rounds 4 --huge-rounds 3 --minutes 3 --sizes 10,100,1000,10000 --timeout 20m

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
	$(GO) test ./internal/cli -run '^$$' -bench 'BenchmarkLiveStorm|BenchmarkView' -benchtime 1x

.PHONY: lint
lint: ## Run golangci-lint
	@linter=$$($(GO) -C hack/tools tool -n golangci-lint) && \
		"$$linter" run ./... && \
		cd hack/controlplane && "$$linter" run --config ../../.golangci.yml .

.PHONY: fmt
fmt: ## Format the code
	@linter=$$($(GO) -C hack/tools tool -n golangci-lint) && "$$linter" fmt ./...

.PHONY: generate-check
generate-check: ## Check that go.mod files and generated files are up to date
	$(GO) mod tidy -diff
	$(GO) -C hack/controlplane mod tidy -diff
	$(GO) -C hack/tools mod tidy -diff
	$(GO) run ./hack/docs -check

.PHONY: docs
docs: ## Write docs/reference.md from the commands
	$(GO) run ./hack/docs

.PHONY: presubmit
presubmit: test lint test-race test-e2e generate-check ## Run everything that CI runs

.PHONY: controlplane
controlplane: ## Build etcd, kube-apiserver, kube-controller-manager and kwok, once
	@$(CONTROLPLANE) build

.PHONY: up
up: build controlplane ## Start a kwok cluster with our controller beside the built-in ones
	@hack/up.sh

.PHONY: down
down: ## Stop the cluster of `make up` and remove its state
	@hack/down.sh

.PHONY: clean
clean: down ## Remove what was built, but for the control plane in the user's cache
	rm -rf bin dist

.PHONY: explain-doc
explain-doc: build controlplane ## Write the outputs in docs/explain.md anew, from a run of the examples
	@hack/explaindoc.sh

.PHONY: screenshots
screenshots: build controlplane ## Draw the pictures of the interactive view from the real program in a real terminal
	@hack/screenshots.sh

.PHONY: picture
picture: build ## Draw the picture of the README from a run of the demo
	hack/demo.sh | awk '/^kubectl batchjob status --watch/{f=1} /^kubectl batchjob status -o wide/{f=0} f' | sed '/^$$/d' | \
		$(GO) run ./hack/picture make demo >docs/images/demo.svg
