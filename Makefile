# Everything here needs Go, bash and the Go module proxy; race needs a C compiler besides.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# The standard library is part of what we ship: the pinned toolchain has no known reachable hole.
export GOTOOLCHAIN := go1.27.3
export CGO_ENABLED := 0

FUZZTIME ?= 10s

.PHONY: build demo test race torture fuzz vectors bench rivals lint fmt vet layers pure vuln wasm

build:
	go build ./...

# A whole life of a ledger in a temporary folder: import, serve, play, verify, and a refusal.
demo:
	go run ./cmd/ludger demo

test: vet
	@[ -d ../shared/games ] || echo "SKIPPED: ../shared is not beside this checkout, so nothing is compared with its outside data"
	go test ./...

race: export CGO_ENABLED := 1
race:
	go test -race ./...

# A thousand kills of an import and of a server under load, and five thousand power failures.
torture:
	LUDGER_LONG=1 LUDGER_KILLS=1000 go test -count=1 -timeout 2h -v -run '^(TestKill|TestServeKill|TestCrash)$$' ./cmd/ludger ./api/arena

# Every fuzz target there is, FUZZTIME each. Found inputs land in testdata/fuzz of the package.
fuzz:
	@targets=$$(grep -rE '^func Fuzz[A-Za-z0-9_]+\(' --include='*_test.go' --exclude-dir=rivals . \
		| sed -E 's#^(.*)/[^/]+:func (Fuzz[A-Za-z0-9_]+).*#\1 \2#' | sort); \
	while read -r dir target; do \
		echo "$$dir $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$$dir" </dev/null; \
	done <<<"$$targets"

# Rewrites the generated files of testvectors. A difference needs an explanation.
vectors:
	LUDGER_UPDATE=1 go test -count=1 -run '^TestVectors' ./...

# The figures in the README. A figure takes its own medians, so that one pass is enough.
bench:
	LUDGER_LONG=1 go test -p 1 -run '^$$' -bench '^BenchmarkFigure' -benchtime 1x -timeout 2h ./... | go run ./cmd/internal/figures README.md figures

# The same against other programs. It is a module of its own: nothing of it is linked into ours.
rivals:
	(cd cmd/rivals && go test -run '^$$' -bench '^BenchmarkFigure' -benchtime 1x -timeout 2h .) | go run ./cmd/internal/figures README.md rivals

lint: fmt vet layers pure vuln

fmt:
	@files=$$("$$(go env GOROOT)/bin/gofmt" -l .); \
	if [ -n "$$files" ]; then echo "not formatted:" $$files; exit 1; fi

vet:
	go vet ./...

# The imports keep to the layers of the design.
layers:
	go test ./cmd/internal/layers

# Offline verification links no network.
pure:
	@deps=$$(go list -deps ./replay); \
	if grep -E '^net(/|$$)' <<<"$$deps"; then echo "replay links the network"; exit 1; fi

# Fails on a known hole that our code can reach. The database is a module like any other, so the
# check needs no other network; move its version in cmd/internal/vulngate/go.mod to renew it. The holes
# that do not concern us stand in its main.go, each with the reason.
vuln:
	cd cmd/internal/vulngate && go test . && go mod download golang.org/x/vulndb && \
	go tool govulncheck -format json -C ../../.. -db "file://$$(go list -m -f '{{.Dir}}' golang.org/x/vulndb)/data/osv" ./... | go run .

# The verifier for browsers.
wasm:
	GOOS=js GOARCH=wasm go build -o /dev/null ./replay
