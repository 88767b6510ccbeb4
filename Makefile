# Everything a developer does here. `make check test` is what CI runs.

GOFLAGS ?=
PARTS ?= $(CURDIR)/.parts

FUNCTIONS = webhook plan apply janitor web

# Everything is compiled as a release is, so that what is built and what is tested is compiled once. What debuggers need is left
# out, which a release does not have either: that is an eighth of the compiler's time. Go's cache has nothing of it for commands
# without these: they are worth exporting in a shell that runs `go test` by itself.
override GOFLAGS += -trimpath -gcflags=all=-dwarf=false
export CGO_ENABLED = 0
export GOFLAGS

# What is built is the same bytes wherever it is built, from the same commit by the same Go.
VERSION ?= 0.1.0-dev
REPRODUCIBLE = GOAMD64=v1 GOARM64=v8.0

.PHONY: all build release reproduce check test sizes docs vulnerabilities bench microbench fuzz bombs torture simulate long mutants mutate differential clients scanners clean parts

all: build

# The command line tool, in bin/, and the functions that template.yaml deploys, in dist/.
build:
	$(REPRODUCIBLE) go build -buildvcs=auto -ldflags '-s -w -X main.version=$(VERSION)' -o bin/lockstep ./cmd/lockstep
	@ls -l bin/lockstep | awk '{ printf "%-20s %5.1f MB\n", $$NF, $$5 / 1e6 }'
	@go run ./functions/internal/wiring/pack dist $(FUNCTIONS)

# Everything that a release consists of, in dist/: archives, functions, a bill of materials,
# provenance and checksums. .github/workflows/release.yml signs and publishes it.
release:
	rm -rf dist
	go run ./cmd/release -version '$(VERSION)' dist

# Makes a release of the last commit twice, in two clones with nothing in common, not even a
# build cache, and compares the bytes. Takes minutes. What a release says about itself is tested first, with what is not
# committed yet; `make test` tests it of a small module only.
reproduce:
	go test -count=1 -timeout 20m -run '^TestRelease$$' ./cmd/release -whole
	@sh .ci/reproduce '$(VERSION)'

# All tests. The real servers and providers that some of them use are installed into
# .parts first, at pinned versions; without them those tests say so and are skipped,
# or fail if LOCKSTEP_TEST_PARTS=require.
# Linking without symbols for debuggers takes little more than half as long. All packages are compiled first: tests
# that build programs would compile them once more at the same time. The packages that take longest begin first, and
# one more than there are processors, so that none idles. Compiler and linker collect their garbage seldom, which takes a seventh
# of their time; tests and what they start collect it as they do elsewhere.
test: parts
	go list -toolexec='env GOGC=400' -export -f '' ./... >/dev/null
	LOCKSTEP_PARTS='$(PARTS)' sh .ci/inmemory go test -toolexec='env GOGC=400' -p "$$(($$(getconf _NPROCESSORS_ONLN) + 1))" -vet=off -ldflags='-s -w' -timeout 20m \
		./functions/pipeline/lambdatest ./cmd/lockstep/internal/program ./functions/pipeline/dispatch ./...

parts:
	@LOCKSTEP_PARTS='$(PARTS)' sh .ci/parts

# What is held of the code without running it.
check:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	go vet -tags clients ./cmd/lockstep/internal/localpipeline
	go tool staticcheck ./...

# The size of each package, its largest file and type, the largest first. It is read by people: no
# test fails for a size.
sizes:
	go test -count=1 -v -run '^TestMeasures$$' ./cmd/architecture

# The documentation: the pages that are generated from tables of the code, each example, each link, and the sentences of all texts for
# people. With UPDATE=-update the generated pages are written anew.
UPDATE ?=
docs:
	go test -vet=off -ldflags='-s -w' -run '^TestReference$$' $(GENERATED) $(UPDATE)
	go test -vet=off -ldflags='-s -w' -run '^Test(Index|Links|DocumentLinks|Alarms|Addresses|Shown|Prose|Docs.*)$$' ./cmd/docs ./cmd/lockstep $(UPDATE)

# The packages whose tables have a page in cmd/docs/reference.
GENERATED = ./cmd/docs ./cmd/lockstep ./cmd/lockstep/internal/deploying ./functions/comment ./functions/comment/grammar ./functions/comment/reasons ./functions/metrics \
	./functions/project/grammar ./functions/pipeline/callouts

# Known vulnerabilities in what is linked. It needs the network.
vulnerabilities:
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# What commands cost on generated configurations, beside the tools in WITH ("terraform,tofu"). Medians of RUNS. WORKLOADS
# chooses by name: see cmd/bench.
RUNS ?= 5
WITH ?=
WORKLOADS ?=
bench:
	go run ./cmd/bench -runs '$(RUNS)' -with '$(WITH)' $(WORKLOADS)

# The benchmarks of the packages.
microbench:
	go test -run '^$$' -bench . -benchmem ./engine/... ./statebackend/...

# Fuzzes each parser for FUZZTIME, one after another; FUZZ chooses by package/name.
# What is found becomes a seed in the package's testdata/fuzz, which `make test` runs.
FUZZTIME ?= 5m
FUZZ ?= .
fuzz:
	@sh .ci/fuzz '$(FUZZTIME)' '$(FUZZ)'

# Sets off all bombs of functions/pipeline/lambdatest/bombs, under the Lambda runner and in serve, and
# not only the usual ones.
bombs:
	LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_BOMBS=all go test -count=1 -v -run '^(TestBombs|TestServeBombs)$$' ./functions/pipeline/lambdatest ./cmd/lockstep

# Kills N applies of 200 resources at random moments, and looks for lost and doubled objects; a fifth
# as many with state, locks and journal on S3 and DynamoDB servers.
torture: N = 1000
torture:
	LOCKSTEP_PARTS='$(PARTS)' go test -count=1 -timeout 0 -v -run '^TestTorture' ./cmd/lockstep/internal/program -torture '$(N)'

# Applies of SECONDS in functions of 5 s: handed over at the end of each, and killed in the middle of
# a change at the end of each.
SECONDS ?= 60
long:
	LOCKSTEP_PARTS='$(PARTS)' go test -count=1 -timeout 0 -v -run '^(TestLongApply|TestKilledAtEachLimit)$$' ./functions/pipeline/lambdatest -long '$(SECONDS)'

# Plays N histories of a repository against the pipeline, with processes that die at any effect: see
# functions/pipeline/internal/simulation. One of twenty is a whole one, in one of twenty the App is taken off at times, a quarter are
# aimed, a quarter are a team's, and the others brief. FROM is the first seed; 0.04 s of CPU time a brief one, 0.06 s an aimed one, 0.1 s a team's, 0.2 s a whole one.
simulate: N = 1000000
simulate: FROM = 1
simulate:
	go test -count=1 -timeout 0 -run '^Test(Brief|Aimed|Team|Away)?Histories$$' ./functions/pipeline/internal/simulation \
		-briefs $$(($(N) - $(N) / 20 - $(N) / 20 - $(N) / 4 - $(N) / 4)) -aims $$(($(N) / 4)) -teams $$(($(N) / 4)) -histories $$(($(N) / 20)) -absences $$(($(N) / 20)) -from '$(FROM)'

# Weakens each defence in turn, and demands that its attack's test fails then. MUTANTS
# chooses rows of functions/internal/threats/testdata by a regular expression, SHARD=1/4 a part.
MUTANTS ?= all
SHARD ?=
mutants:
	LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_MUTANTS='$(MUTANTS)' LOCKSTEP_MUTANTS_SHARD='$(SHARD)' \
		go test -count=1 -timeout 0 -v -run '^TestMutants$$' ./functions/internal/threats

# Changes one thing at a time in PACKAGES, N times, runs the changed package's own tests, and
# prints the changes that no test noticed. FILE chooses one file, TESTS the tests, SEED other changes.
PACKAGES ?= ./statebackend/... ./engine/internal/order ./engine/eval
FILE ?=
TESTS ?= .
SEED ?= 1
mutate: N = 30
mutate:
	nice -n 10 go test -count=1 -timeout 0 -v -run '^TestMutate$$' ./cmd/architecture/mutating -packages '$(PACKAGES)' -file '$(FILE)' -tests '$(TESTS)' -mutants '$(N)' -seed '$(SEED)'

# Compares N random configurations and their edits with the terraform on the PATH;
# FROM is the first one's seed.
N ?= 1000
FROM ?= 1
differential:
	go test -timeout 0 -v -run '^TestDifferential$$' ./engine/internal/differential -cases '$(N)' -from '$(FROM)'

# Has the programs that drive terraform drive lockstep: Terragrunt, Atlantis, Terratest, cdktf,
# terraform-ls, terraform-exec. Installing them takes many minutes, once. Where a terraform 1.11 is on the
# PATH, both are driven, and compared. CLIENT chooses tests by a regular expression.
CLIENT ?= .
clients:
	@LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_TEST_PARTS=require sh .ci/parts clients
	LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_TEST_PARTS=require go test -count=1 -timeout 0 -v -run '$(CLIENT)' ./cmd/clients -clients
	LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_TEST_PARTS=require go test -count=1 -timeout 0 -v -tags clients -run 'TestTerragrunt' ./cmd/lockstep/internal/localpipeline

# The real tflint and conftest, whose results Lockstep reads. To build both takes 17 minutes on a machine of two busy cores, so
# `make test` reads their recorded outputs.
scanners:
	@LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_TEST_PARTS=require sh .ci/parts scanners
	LOCKSTEP_PARTS='$(PARTS)' LOCKSTEP_TEST_PARTS=require go test -count=1 -v -run TestScanners ./functions/internal/toolresults -scanners

clean:
	rm -rf bin dist .parts
