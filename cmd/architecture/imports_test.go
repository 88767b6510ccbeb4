package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// directions is the table of rooms, from the lowest. A package belongs to the first room whose pattern it matches. It may import
// the packages of that room, and the packages that the room's row lists. A pattern that ends with /... matches the folder and all folders below it.
//
// Go forbids circles. The table keeps what is pure from effects, the three islands engine, statebackend and github from each other, and
// the program that every webhook starts from growing.
var directions = []struct {
	room string
	may  []string
}{
	{"infra/...", nil},
	{"engine/...", []string{"infra/golden"}},
	{"statebackend/...", nil},
	{"github/...", nil},

	// What people read and write.
	{"functions/internal/lazyregexp", nil},
	{"functions/places", []string{"functions/internal/lazyregexp"}},
	{"functions/project/...", []string{"engine/...", "functions/comment/grammar", "functions/internal/lazyregexp", "functions/places"}},
	{"functions/internal/toolresults", []string{"functions/internal/lazyregexp"}},
	{"functions/comment/...", []string{"engine/plans/counting", "functions/internal/lazyregexp", "functions/internal/toolresults"}},
	{"functions/page", nil},
	{"functions/page/pagetest", []string{"statebackend/..."}},
	{"functions/page/signin", []string{"functions/internal/lazyregexp", "functions/page", "github"}},
	{"functions/pricing", nil},
	{"functions/metrics", nil},

	// What holds a pull request: its records, and the decisions about it. They read and write nothing.
	{"functions/pipeline", []string{"functions/comment/...", "github"}},
	{"functions/pipeline/runs", []string{"engine/plans/counting", "functions/comment/...", "functions/pipeline", "functions/places", "functions/project/...", "github"}},
	{"functions/pipeline/requirementrules", []string{"functions/comment/...", "functions/project/..."}},
	{"functions/pipeline/internal/admission", []string{"functions/comment/...", "functions/pipeline", "functions/pipeline/runs", "functions/places", "functions/project/...", "github"}},
	{"functions/pipeline/internal/requiredcheck", []string{"functions/comment/...", "functions/project/...", "github"}},
	{"functions/pipeline/internal/ratelimits", nil},
	{"functions/pipeline/internal/estimates", nil},

	// What every webhook starts: no engine, no settings.
	{"functions/pipeline/intake", []string{"functions/comment/...", "functions/internal/lazyregexp", "functions/pipeline", "github"}},

	// The engine's side: the state, the plan and its process. It knows no records of the pipeline, and not GitHub's requests.
	{"functions/internal/encrypting", []string{"engine/...", "statebackend/..."}},
	{"functions/internal/policies", nil},
	{"functions/internal/redacting", nil},
	{"functions/confine", nil},
	{"functions/shield", nil},
	{"functions/modules/...", []string{"engine/..."}},
	{"functions/workdir", []string{"engine/...", "statebackend/...", "functions/internal/encrypting"}},
	{"functions/operation", []string{"engine/...", "statebackend/...", "functions/workdir"}},
	{"functions/pipeline/internal/encryptionpolicy", []string{"engine/...", "functions/internal/encrypting", "functions/project/..."}},
	{"functions/pipeline/patches", []string{"engine/causes"}},
	{"functions/pipeline/jobs", []string{"engine/...", "functions/comment/...", "functions/pipeline", "functions/pipeline/runs", "functions/pipeline/internal/encryptionpolicy", "functions/pipeline/internal/estimates", "functions/places", "functions/project/...", "github"}},
	{"functions/pipeline/internal/remotestates", []string{"engine/...", "statebackend/...", "functions/places", "functions/workdir"}},
	{"functions/pipeline/internal/policychecks", []string{"functions/internal/policies", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/..."}},
	{"functions/pipeline/callouts", []string{"engine/...", "functions/comment/...", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/..."}},
	{"functions/pipeline/sessions", []string{"statebackend/...", "functions/pipeline/jobs", "functions/places"}},

	// The records of the pipeline, and the facts behind decisions.
	{"functions/pipeline/shadow", []string{"functions/internal/lazyregexp", "functions/pipeline"}},
	{"functions/pipeline/internal/ledger", []string{"engine/...", "functions/comment/...", "functions/pipeline", "functions/pipeline/shadow", "functions/pipeline/runs", "functions/pipeline/jobs", "functions/pipeline/internal/admission", "functions/pipeline/internal/estimates", "functions/pipeline/internal/ratelimits", "functions/places", "functions/project/...", "github"}},
	{"functions/pipeline/audit", []string{"engine/plans/counting", "functions/comment/rulings", "functions/pipeline", "functions/pipeline/runs", "functions/pipeline/requirementrules"}},
	{"functions/pipeline/decisionlog", []string{"functions/pipeline", "functions/pipeline/runs", "functions/pipeline/requirementrules", "github"}},
	{"functions/pipeline/internal/requirementfacts", []string{"functions/comment/...", "functions/pipeline", "functions/pipeline/requirementrules", "functions/project/...", "github"}},
	{"functions/pipeline/gatefacts", []string{"engine/...", "functions/comment/...", "functions/internal/encrypting", "functions/pipeline", "functions/pipeline/runs", "functions/pipeline/jobs", "functions/pipeline/requirementrules", "functions/pipeline/decisionlog", "functions/pipeline/internal/admission", "functions/pipeline/internal/requirementfacts", "functions/pipeline/internal/ledger", "functions/pipeline/internal/encryptionpolicy", "functions/places", "functions/project/...", "github"}},

	// The stores, each with one contract.
	{"functions/pipeline/awsstore", []string{"functions/pipeline"}},
	{"functions/pipeline/localstore", []string{"engine/...", "functions/pipeline"}},
	{"functions/pipeline/internal/memory", []string{"functions/pipeline"}},
	{"functions/pipeline/internal/storytest", []string{"functions/pipeline/dispatch", "functions/pipeline/internal/memory", "github"}},
	{"functions/pipeline/tenants", []string{"functions/pipeline", "functions/places"}},
	{"functions/pipeline/applist", []string{"functions/pipeline/intake", "functions/pipeline/tenants"}},

	// The process of a run.
	{"functions/pipeline/policytrial", []string{"functions/pipeline/gatefacts", "functions/pipeline/internal/policychecks", "functions/pipeline/jobs", "functions/project/..."}},
	{"functions/pipeline/subprocess", []string{"engine/...", "functions/comment/...", "functions/confine", "functions/internal/redacting", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/pipeline/policytrial", "functions/project/...", "github"}},
	{"functions/pipeline/modules", []string{"engine/...", "functions/modules/...", "functions/pipeline/jobs", "functions/pipeline/subprocess", "github"}},
	{"functions/pipeline/executor", []string{"engine/...", "statebackend/...", "functions/comment/...", "functions/internal/...", "functions/operation", "functions/workdir", "functions/pipeline/subprocess", "functions/pipeline/modules", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/pipeline/internal/policychecks", "functions/pipeline/internal/remotestates", "functions/pipeline/internal/encryptionpolicy", "functions/pipeline/internal/estimates", "functions/places", "functions/project/...", "functions/pipeline/patches"}},

	// The chapters of a pull request's story. They do not know how a plan is made.
	{"functions/pipeline/buildrunner", []string{"functions/pipeline", "functions/pipeline/runs", "functions/pipeline/internal/ledger"}},
	{"functions/pipeline/internal/steps", []string{"functions/comment/...", "functions/internal/toolresults", "functions/pipeline", "functions/pipeline/gatefacts", "functions/pipeline/internal/admission", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/project/..."}},
	{"functions/pipeline/runstatus", []string{"functions/comment/...", "functions/pipeline", "functions/pipeline/runs", "functions/pipeline/internal/requiredcheck", "functions/pipeline/internal/ledger"}},
	{"functions/pipeline/pagedata", []string{"engine/plans/counting", "functions/comment/...", "functions/page", "functions/pipeline", "functions/pipeline/audit", "functions/pipeline/runs", "functions/pipeline/runstatus", "functions/pipeline/internal/ledger", "functions/project/...", "github"}},
	{"functions/pipeline/internal/...", []string{"engine/walk", "functions/comment/...", "functions/pipeline", "functions/pipeline/shadow", "functions/pipeline/audit", "functions/pipeline/buildrunner", "functions/pipeline/gatefacts", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/places", "functions/project/...", "github"}},
	{"functions/pipeline/dispatch", []string{"functions/comment/...", "functions/metrics", "functions/pipeline", "functions/pipeline/audit", "functions/pipeline/buildrunner", "functions/pipeline/gatefacts", "functions/pipeline/intake", "functions/pipeline/internal/...", "functions/pipeline/jobs", "functions/pipeline/runs", "functions/places", "github"}},
	{"functions/pipeline/reconcile", []string{"functions/comment/...", "functions/pipeline", "functions/pipeline/dispatch", "functions/pipeline/gatefacts", "functions/pipeline/intake", "functions/pipeline/internal/...", "functions/pipeline/runs", "functions/project/...", "github"}},

	// The programs, and their tests from outside.
	{"functions/assembly", []string{"functions/pipeline", "functions/pipeline/dispatch", "functions/pipeline/gatefacts", "functions/pipeline/intake", "functions/pipeline/reconcile", "functions/pipeline/runs", "github"}},
	{"functions/pipeline/lambdatest/...", []string{"statebackend/...", "functions/comment/...", "functions/pipeline", "functions/pricing", "github/..."}},
	{"functions/webhook", []string{"functions/internal/wiring", "functions/metrics"}},
	{"functions/web", []string{"cmd/docs", "functions/internal/wiring", "functions/page/...", "functions/pipeline", "functions/pipeline/runs", "functions/pipeline/awsstore", "functions/pipeline/intake", "functions/pipeline/pagedata", "github"}},
	{"functions/internal/...", []string{"engine/...", "functions/...", "github"}},
	{"functions/...", []string{"functions/assembly", "functions/internal/wiring/...", "functions/pipeline/..."}},
	{"cmd/...", []string{"engine/...", "statebackend/...", "functions/...", "github/...", "infra/golden"}},
}

// only says which packages may import a library; all others may not.
var only = map[string][]string{
	"github.com/aws/":                     {"statebackend/...", "functions/...", "cmd/...", "infra/..."},
	"github.com/google/go-github/":        {"github/..."},
	"github.com/hashicorp/go-plugin":      {"engine/provider/..."},
	"github.com/hashicorp/go-getter":      {"engine/config/source/getting", "functions/modules/buckets", "functions/pipeline/modules"},
	"google.golang.org/grpc":              {"engine/provider/..."},
	"oras.land/oras-go":                   {"engine/oci"},
	"github.com/hashicorp/terraform-exec": {},
}

// matches reports whether a directory is one of the patterns.
func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "..."); ok {
			return strings.HasPrefix(dir+"/", prefix)
		}
		return dir == p
	})
}

// TestImports holds the directions of dependency. Tests may import what they like.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	used := map[string]bool{} // permissions, by room and pattern
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimPrefix(p.ImportPath, module)
		at := slices.IndexFunc(directions, func(d struct {
			room string
			may  []string
		}) bool {
			return matches(dir, []string{d.room})
		})
		if at < 0 {
			t.Errorf("%s is in no room: add it to the table in imports_test.go", dir)
			continue
		}
		own := directions[at]
		used[own.room] = true
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, module)
			if ok && !matches(ours, append([]string{own.room}, own.may...)) {
				t.Errorf("%s imports %s: the table in imports_test.go does not allow that direction", dir, ours)
			}
			for _, pattern := range own.may {
				if ok && matches(ours, []string{pattern}) {
					used[own.room+" "+pattern] = true
				}
			}
			for library, users := range only {
				if strings.HasPrefix(imp, library) && !matches(dir, users) {
					t.Errorf("%s imports %s, which only %v may", dir, imp, users)
				}
			}
			if imp == "C" {
				t.Errorf("%s uses cgo", dir)
			}
		}
	}
	for _, d := range directions {
		if !used[d.room] {
			t.Errorf("no package is in the room %s: remove its row", d.room)
		}
		for _, pattern := range d.may {
			if used[d.room] && !used[d.room+" "+pattern] {
				t.Errorf("%s does not import %s: remove the permission", d.room, pattern)
			}
		}
	}
	if seen < 20 {
		t.Fatalf("only %d packages were looked at", seen)
	}
}
