# ikigai: build, demo, test and nothing clever.
GO     ?= go
PREFIX ?= /usr/local
BIN    := bin

export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath
# Searching uses the vectors of the standard library where Go has them: an experiment
# of 1.26. Built without, everything works and searching costs a little more.
ifneq (,$(filter go1.26 go1.26.%,$(shell $(GO) env GOVERSION)))
export GOEXPERIMENT ?= simd
endif

.PHONY: build demo test lint bench soak fuzz conformance install cross clean

build: ## bin/ikigai, bin/ikigai-tools, bin/ikigai-init
	$(GO) build -ldflags='-s -w' -o $(BIN)/ ./cmd/...

demo: build ## a job of several steps, done by real tool calls with the offline model
	@sh scripts/demo.sh $(BIN)/ikigai

test: ## all tests; installs what they need where it can, and says what was skipped
	@sh scripts/test.sh

lint: ## vet, staticcheck, gofumpt
	@sh scripts/lint.sh

bench: build ## one table: ours against its rivals, in the same minute
	@sh scripts/bench.sh

soak: ## the long tests: thousands of turns, hundreds of kills, many sessions at once
	IKIGAI_SOAK=1 $(GO) test -timeout 3h -count=1 -run 'Soak|Kill|AmongProcesses' -v ./cmd/ikigai ./internal/store/...

fuzz: ## every fuzz target for a few seconds
	@sh scripts/fuzz.sh

conformance: ## request bodies against the vendors' own types; a module of its own, slow to build
	cd conformance && $(GO) test ./...

install: build ## PREFIX/bin/ikigai and PREFIX/libexec/ikigai/NAME
	@sh scripts/install.sh $(BIN) $(DESTDIR)$(PREFIX)

cross: ## macOS and Windows at least compile (without optimising, which takes a third less)
	GOOS=darwin GOARCH=arm64 $(GO) build -gcflags='all=-N -l' ./...
	GOOS=windows GOARCH=amd64 $(GO) build -gcflags='all=-N -l' ./...

clean:
	rm -rf $(BIN)
