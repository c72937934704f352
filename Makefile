# Trireme. `make help` lists what can be made.

TAGS    := nomsgpack
# Ordered: 0.2.0, 0.1.0+git20261122.35ac9f1 after it, 0~git20261122.35ac9f1 before any (scripts/release).
VERSION := $(shell scripts/version.sh)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GO      ?= go
BIN     := bin/trireme
# Packages tested at a time. Many tests start real processes, which want the cores.
P       ?= 2
PKG     ?= ./...
# Packages with calls of their own for other systems than Linux. Tests that start whole nodes are for Linux.
OTHER   := ./cluster/consensus/logstore ./internal/socket

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the one static binary, bin/trireme
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -buildvcs=false -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/trireme

.PHONY: run
run: build ## run one node for development (flags: ARGS="--port 9000")
	@exec $(BIN) dev $(ARGS)

.PHONY: cluster
cluster: build ## run three nodes on this machine; one interrupt stops all
	@exec $(BIN) local-cluster $(ARGS)

.PHONY: setup
setup: ## install what the tests need beside Go: packages of JavaScript clients
	@clients/setup.sh

.PHONY: adapters
adapters: build ## run published adapters against three nodes whose leader is killed (ARGS="redlock unstorage"; ROUNDS=100: so often beside redis-server, without kills)
	-cd clients/adapters/go && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../../bin/adapters-go .
	cd clients/adapters && npm ci --no-audit --no-fund --ignore-scripts && node $(if $(ROUNDS),rounds.mjs $(ROUNDS),test.mjs) $(ARGS)

.PHONY: world-kills
world-kills: build ## run the example of the Workflow SDK on three nodes whose leader is killed 20 times (ARGS="--kills 5")
	cd clients/world/test && npm ci --no-audit --no-fund --ignore-scripts
	cd clients/world/example && npm ci --no-audit --no-fund --ignore-scripts && npm run build && node kills.mjs $(ARGS)

.PHONY: world-bench
world-bench: build setup ## measure the world of the Workflow SDK beside the published one on PostgreSQL (ARGS="--nodes 3 --seconds 5")
	cd clients/world/bench && npm ci --no-audit --no-fund --ignore-scripts && node bench.mjs $(ARGS)

.PHONY: test
test: setup vet ## every test of every package, but for long runs
	@GO='$(GO)' P='$(P)' PKG='$(PKG)' scripts/test.sh

.PHONY: test-race
test-race: setup ## the long runs, and the tests again with the race detector where goroutines run
	@GO='$(GO)' P='$(P)' PKG='$(PKG)' scripts/test.sh race

.PHONY: race
race: ## the tests of PKG with the race detector, again and again (COUNT=10)
	$(GO) test -tags $(TAGS) -race -count $(or $(COUNT),10) -timeout 30m $(PKG)

.PHONY: vet
vet:
	$(GO) vet -tags $(TAGS) ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -tags $(TAGS) -o /dev/null ./cmd/trireme
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet -tags $(TAGS) $(OTHER)

.PHONY: lint
lint: vet ## go vet, gofmt, staticcheck and Biome, and the files in deploy/ as far as their programs are here
	@scripts/lint.sh
	@deploy/lint.sh

.PHONY: console
console: setup ## build the console's pages, console/dist, from console/src
	cd console && npm run --silent check && node build.mjs

.PHONY: console-dev
console-dev: setup ## serve the console from its source beside a running node (ARGS=http://127.0.0.1:8080); pages load again when it changes
	cd console && node dev.mjs $(ARGS)

.PHONY: console-bench
console-bench: build setup ## how fast the console is with many keys, messages and runs, and what it costs (ARGS=views or cost, SCALE=0.01)
	TRIREME=$(CURDIR)/$(BIN) CHROMIUM=$$(command -v chromium || command -v google-chrome) node console/test/bench.mjs $(ARGS)

.PHONY: browsers
browsers: build setup ## every view of the console in Chromium and Firefox, light and dark, at five widths, each looked at by axe
	EVERY_WIDTH=1 TRIREME=$(CURDIR)/$(BIN) CHROMIUM=$$(command -v chromium || command -v google-chrome) node console/test/console.mjs
	EVERY_WIDTH=1 TRIREME=$(CURDIR)/$(BIN) FIREFOX=$$(command -v firefox-esr || command -v firefox) node console/test/console.mjs

.PHONY: screenshots
screenshots: build setup ## draw the pictures of docs/console.md, docs/images/console, from the console's tests
	TRIREME=$(CURDIR)/$(BIN) CHROMIUM=$$(command -v chromium || command -v google-chrome) SCREENSHOTS=$(CURDIR)/docs/images/console node console/test/console.mjs

.PHONY: tour
tour: build ## draw docs/images/tour.svg, two minutes in a terminal, from a run of the binary; needs Node.js
	TRIREME=$(CURDIR)/$(BIN) node console/test/tour.mjs $(CURDIR)/docs/images/tour.svg

.PHONY: sizes
sizes: ## print how long files and functions are, and how many lines of tests there are
	@$(GO) run ./scripts/sizes

.PHONY: coverage
coverage: ## writes docs/reports/coverage.md from a run of the scripts through the entry points
	TRIREME_COVERAGE=write $(GO) test -tags $(TAGS) -count 1 ./clients/conformance

.PHONY: docs
docs: ## write docs/commands/ from the command table, and the tables of docs/architecture.md
	$(GO) run -tags $(TAGS) ./cmd/commanddocs
	TRIREME_DOCS=write $(GO) test -tags $(TAGS) -count 1 -run '^TestArchitectureTablesAreCurrent$$' ./internal/layout

.PHONY: licenses
licenses: ## write the licences of the modules that the binary links, bin/THIRD_PARTY_LICENSES
	@mkdir -p bin
	$(GO) run ./scripts/release -licenses bin/THIRD_PARTY_LICENSES

.PHONY: bench
bench: build bench-tools ## the benchmarks, beside their peers, which it installs (flags: ARGS="-rows 1,2")
	bin/bench -install $(ARGS)

# The etcd member, NATS, asynq, bleve and Restate's service are modules of their own; Restate's server is
# an npm package. Where one can't be had, its rows say that the peer is missing.
.PHONY: bench-tools
bench-tools:
	$(GO) build -tags $(TAGS) -buildvcs=false -o bin/bench ./bench/cmd/bench
	-cd bench/etcd && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../bin/etcd-member .
	-cd bench/nats && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../bin/nats .
	-cd bench/asynq && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../bin/asynq .
	-cd bench/bleve && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../bin/bleve .
	-cd bench/restate && npm install --no-package-lock --no-audit --no-fund --ignore-scripts && CGO_ENABLED=0 $(GO) build -buildvcs=false -o ../../bin/restate .

.PHONY: accept
accept: ## an acceptance run in full length (RUN=leader-kill; without RUN: list them); it can be resumed
	$(GO) run -tags $(TAGS) ./jepsen/cmd/accept -run "$(or $(RUN),$(LINE))" $(ARGS)

.PHONY: fidelity
fidelity: ## compare the commands with a real redis-server (COMMANDS=2000000: that many random ones, and the digests of half as many)
	@GO='$(GO)' TAGS='$(TAGS)' COMMANDS='$(COMMANDS)' SEED='$(SEED)' scripts/fidelity.sh

.PHONY: jepsen
jepsen: ## the fault-injection run (DURATION=5m; with ARGS="-out DIR -seed N" it can be resumed)
	@mkdir -p bin
	$(GO) build -tags $(TAGS) -o bin/jepsen ./jepsen/cmd/jepsen
	bin/jepsen -duration $(or $(DURATION),5m) $(ARGS)

.PHONY: deb
deb: build ## the Debian package, in bin/ (deploy/README.md has the other packages)
	@deploy/debian/build.sh

.PHONY: release
release: ## archives for Linux and macOS, OCI images, npm packages, Go module, checksums, SBOM, in bin/release (signed with TRIREME_RELEASE_KEY)
	$(GO) run ./scripts/release -out bin/release $(ARGS)

.PHONY: fuzz
fuzz: ## fuzz every target (FUZZTIME=5m each)
	$(GO) run -tags $(TAGS) ./jepsen/cmd/accept -run fuzzing -fuzztime $(or $(FUZZTIME),30s)

.PHONY: clean
clean: ## remove what was built; data directories stay
	rm -rf bin
