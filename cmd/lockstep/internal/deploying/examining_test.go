package deploying

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// factsWithoutFindings are the facts about an installation with which nothing is wrong.
func factsWithoutFindings() deploymentFacts {
	return deploymentFacts{
		Stack: "ls", Region: "eu-west-1", Status: "UPDATE_COMPLETE",
		Apps:      []examinedApp{goodApp("", "https://hook/"), goodApp("ghes", "https://hook/webhook/ghes")},
		Queues:    []examinedQueue{{Name: "events", Messages: "3", Redrives: true, TLSOnly: true}, {Name: "events-dead", Messages: "0", Dead: true, TLSOnly: true}},
		Functions: []examinedFunction{{"ls-plan", "abc", "abc"}, {"ls-apply", "def", ""}},
		Bucket:    &examinedBucket{Name: "plans", Versioned: true, Closed: true, KMS: true},
		Roles:     []examinedRole{{ARN: "arn:aws:iam::1:role/plan", Use: "plans"}},
		Skew:      map[string]time.Duration{"AWS": time.Second, "GitHub": -30 * time.Second},
	}
}

func goodApp(name, address string) examinedApp {
	return examinedApp{
		Name: name, Slug: "ls", Page: "https://github.com/apps/ls", HookURL: address, Address: address, Needed: map[string]string{"checks": "write", "contents": "read"},
		Permissions: map[string]string{"checks": "write", "contents": "read"}, Wanted: []string{"check_run"}, Events: []string{"check_run"}, Installed: []string{"acme"}, Delivered: 9,
	}
}

// ills are changes of these facts, by name.
var ills = map[string]func(f *deploymentFacts){
	"no stack":            func(f *deploymentFacts) { *f = deploymentFacts{Stack: "ls", Region: "eu-west-1"} },
	"a stack that fell":   func(f *deploymentFacts) { f.Status = "ROLLBACK_COMPLETE" },
	"a stack that failed": func(f *deploymentFacts) { f.Status = "UPDATE_ROLLBACK_FAILED" },
	"a stack under way":   func(f *deploymentFacts) { f.Status = "UPDATE_IN_PROGRESS" },
	"nobody may look": func(f *deploymentFacts) {
		f.Apps, f.Unknown = f.Apps[1:], []unknownFact{{"the App", "read the secret: AccessDenied"}}
	},
	"another address": func(f *deploymentFacts) { f.Apps[0].HookURL = "https://other/" },
	"a missing permission": func(f *deploymentFacts) {
		f.Apps[0].Permissions = map[string]string{"checks": "read", "contents": "read"}
	},
	"too much permission": func(f *deploymentFacts) {
		f.Apps[0].Permissions["contents"], f.Apps[0].Permissions["secrets"] = "write", "read"
	},
	"a missing event":        func(f *deploymentFacts) { f.Apps[0].Events = nil },
	"nowhere installed":      func(f *deploymentFacts) { f.Apps[0].Installed = nil },
	"suspended":              func(f *deploymentFacts) { f.Apps[0].Suspended = []string{"acme"} },
	"failed deliveries":      func(f *deploymentFacts) { f.Apps[0].Failed, f.Apps[0].LastFailure = 2, "Invalid HTTP Response: 500" },
	"another's address":      func(f *deploymentFacts) { f.Apps[1].HookURL = "https://hook/" },
	"another's permission":   func(f *deploymentFacts) { f.Apps[1].Permissions = map[string]string{"contents": "read"} },
	"another's events":       func(f *deploymentFacts) { f.Apps[1].Events = nil },
	"another's deliveries":   func(f *deploymentFacts) { f.Apps[1].Failed, f.Apps[1].LastFailure = 2, "Invalid HTTP Response: 401" },
	"dead letters":           func(f *deploymentFacts) { f.Queues[1].Messages = "4" },
	"no dead letters kept":   func(f *deploymentFacts) { f.Queues[0].Redrives = false },
	"a queue without TLS":    func(f *deploymentFacts) { f.Queues[1].TLSOnly = false },
	"exchanged code":         func(f *deploymentFacts) { f.Functions[0].Digest = "evil" },
	"no versions":            func(f *deploymentFacts) { f.Bucket.Versioned = false },
	"no key":                 func(f *deploymentFacts) { f.Bucket.KMS = false },
	"a public bucket":        func(f *deploymentFacts) { f.Bucket.Closed = false },
	"a role that is missing": func(f *deploymentFacts) { f.Roles[0].Problem = "there is no such role" },
	"a clock that is behind": func(f *deploymentFacts) { f.Skew["AWS"] = 6 * time.Minute },
	"a clock that is ahead":  func(f *deploymentFacts) { f.Skew["GitHub"] = -2 * time.Minute },
}

// TestFindings compares the findings about each illness with testdata/findings.txt.
func TestFindings(t *testing.T) {
	if got := examine(factsWithoutFindings()); len(got) != 0 {
		t.Errorf("a good installation: %v", got)
	}
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(ills)) {
		f := factsWithoutFindings()
		ills[name](&f)
		found := examine(f)
		if len(found) != 1 {
			t.Errorf("%s: %d findings", name, len(found))
		}
		for _, x := range found {
			fmt.Fprintf(&got, "%s\n  %s\n  -> %s\n\n", name, x.Problem, x.Remedy)
		}
	}
	golden.File(t, "testdata/findings.txt", got.String())
}
