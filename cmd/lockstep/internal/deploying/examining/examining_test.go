package examining

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
)

// well are the facts about an installation with which nothing is wrong.
func well() Facts {
	return Facts{
		Stack: "ls", Region: "eu-west-1", Status: "UPDATE_COMPLETE",
		Apps:      []App{goodApp("", "https://hook/"), goodApp("ghes", "https://hook/webhook/ghes")},
		Queues:    []Queue{{Name: "events", Messages: "3", Redrives: true, TLSOnly: true}, {Name: "events-dead", Messages: "0", Dead: true, TLSOnly: true}},
		Functions: []Function{{"ls-plan", "abc", "abc"}, {"ls-apply", "def", ""}},
		Bucket:    &Bucket{Name: "plans", Versioned: true, Closed: true, KMS: true},
		Roles:     []Role{{ARN: "arn:aws:iam::1:role/plan", Use: "plans"}},
		Skew:      map[string]time.Duration{"AWS": time.Second, "GitHub": -30 * time.Second},
	}
}

func goodApp(name, address string) App {
	return App{
		Name: name, Slug: "ls", Page: "https://github.com/apps/ls", HookURL: address, Address: address, Needed: map[string]string{"checks": "write", "contents": "read"},
		Permissions: map[string]string{"checks": "write", "contents": "read"}, Wanted: []string{"check_run"}, Events: []string{"check_run"}, Installed: []string{"acme"}, Delivered: 9,
	}
}

// ills are changes of these facts, by name.
var ills = map[string]func(f *Facts){
	"no stack":            func(f *Facts) { *f = Facts{Stack: "ls", Region: "eu-west-1"} },
	"a stack that fell":   func(f *Facts) { f.Status = "ROLLBACK_COMPLETE" },
	"a stack that failed": func(f *Facts) { f.Status = "UPDATE_ROLLBACK_FAILED" },
	"a stack under way":   func(f *Facts) { f.Status = "UPDATE_IN_PROGRESS" },
	"nobody may look": func(f *Facts) {
		f.Apps, f.Unknown = f.Apps[1:], []Unknown{{"the App", "read the secret: AccessDenied"}}
	},
	"another address":        func(f *Facts) { f.Apps[0].HookURL = "https://other/" },
	"a missing permission":   func(f *Facts) { f.Apps[0].Permissions = map[string]string{"checks": "read", "contents": "read"} },
	"too much permission":    func(f *Facts) { f.Apps[0].Permissions["contents"], f.Apps[0].Permissions["secrets"] = "write", "read" },
	"a missing event":        func(f *Facts) { f.Apps[0].Events = nil },
	"nowhere installed":      func(f *Facts) { f.Apps[0].Installed = nil },
	"suspended":              func(f *Facts) { f.Apps[0].Suspended = []string{"acme"} },
	"failed deliveries":      func(f *Facts) { f.Apps[0].Failed, f.Apps[0].LastFailure = 2, "Invalid HTTP Response: 500" },
	"another's address":      func(f *Facts) { f.Apps[1].HookURL = "https://hook/" },
	"another's permission":   func(f *Facts) { f.Apps[1].Permissions = map[string]string{"contents": "read"} },
	"another's events":       func(f *Facts) { f.Apps[1].Events = nil },
	"another's deliveries":   func(f *Facts) { f.Apps[1].Failed, f.Apps[1].LastFailure = 2, "Invalid HTTP Response: 401" },
	"dead letters":           func(f *Facts) { f.Queues[1].Messages = "4" },
	"no dead letters kept":   func(f *Facts) { f.Queues[0].Redrives = false },
	"a queue without TLS":    func(f *Facts) { f.Queues[1].TLSOnly = false },
	"exchanged code":         func(f *Facts) { f.Functions[0].Digest = "evil" },
	"no versions":            func(f *Facts) { f.Bucket.Versioned = false },
	"no key":                 func(f *Facts) { f.Bucket.KMS = false },
	"a public bucket":        func(f *Facts) { f.Bucket.Closed = false },
	"a role that is missing": func(f *Facts) { f.Roles[0].Problem = "there is no such role" },
	"a clock that is behind": func(f *Facts) { f.Skew["AWS"] = 6 * time.Minute },
	"a clock that is ahead":  func(f *Facts) { f.Skew["GitHub"] = -2 * time.Minute },
}

// TestFindings compares the findings about each illness with testdata/findings.txt.
func TestFindings(t *testing.T) {
	if got := Examine(well()); len(got) != 0 {
		t.Errorf("a good installation: %v", got)
	}
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(ills)) {
		f := well()
		ills[name](&f)
		found := Examine(f)
		if len(found) != 1 {
			t.Errorf("%s: %d findings", name, len(found))
		}
		for _, x := range found {
			fmt.Fprintf(&got, "%s\n  %s\n  -> %s\n\n", name, x.Problem, x.Remedy)
		}
	}
	golden.File(t, "testdata/findings.txt", got.String())
}
