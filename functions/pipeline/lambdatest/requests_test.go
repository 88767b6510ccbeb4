//go:build linux

package lambdatest_test

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// updateRequests writes the requests of a whole run of this package's tests to the file that a simulator of IAM
// is asked about.
var updateRequests = flag.Bool("requests", false, "write "+requestsFile+" anew, after all tests: read the difference")

const requestsFile = "../../internal/template/testdata/requests.txt"

const requestsHead = `# What the functions, and AWS around them, ask IAM in the end-to-end tests, and what it says. The notation is in
# lambdatest/templates/requests.go; what differs between runs and pull requests has one value here. Written by
# "go test ./functions/pipeline/lambdatest -requests".

`

// asked is what all tests of this process have asked of IAM.
var asked = struct {
	mu sync.Mutex
	by map[string]templates.Decision // by its text
	of map[string]string             // sessions' policies by name
}{by: map[string]templates.Decision{}, of: map[string]string{}}

// remember keeps the decisions of a stack, each once.
func remember(s *lambdatest.Stack) {
	asked.mu.Lock()
	defer asked.mu.Unlock()
	for _, d := range s.Decisions() {
		d, policy := general(s, d)
		if d.Session != "" {
			asked.of[d.Session] = policy
		}
		asked.by[fmt.Sprint(d)] = d
	}
}

// general removes from a decision what is of one run only: numbers, and names of projects, people and
// states. It returns the session's policy, and the decision with a name for it.
func general(s *lambdatest.Stack, d templates.Decision) (templates.Decision, string) {
	policy := s.Written(d.Session)
	write := func(text string) string { return s.Written(text) }
	if found := stateOf.FindStringSubmatch(policy); found != nil {
		own := found[1]
		write = func(text string) string {
			text = strings.ReplaceAll(s.Written(text), url.PathEscape(own), "net%2Fterraform.tfstate")
			return strings.ReplaceAll(text, own, "net/terraform.tfstate")
		}
		policy = write(policy)
	}
	d.Who = strings.TrimSuffix(strings.Trim(s.Written(d.Who), "${}"), ".Arn")
	d.Resource = write(d.Resource)
	for _, x := range parts {
		d.Resource = x.of.ReplaceAllString(d.Resource, x.by)
	}
	context := map[string][]string{}
	for k, of := range d.Context {
		for _, v := range of {
			v = write(v)
			if by, ok := values[k]; ok && v != "" {
				v = by
			}
			if k == "dynamodb:LeadingKeys" && d.Resource == "${Records.Arn}" {
				v = kindOf(d.Who, v)
			}
			context[k] = append(context[k], v)
		}
	}
	d.Context = context
	if d.Session != "" {
		d.Session = nameOf(policy)
	}
	return d, policy
}

// kindOf is the directory of a record in one word where it is of no kind that the webhook's function reads. The page reads some
// kinds; the others read all.
func kindOf(who, dir string) string {
	switch {
	case dir == "delivery" || strings.HasPrefix(dir, "delivery/~"):
		return dir
	case who == "WebRole":
		collection, rest, _ := strings.Cut(dir, "/")
		if rest != "" {
			collection += "/5"
		}
		return collection
	case who == "WebhookRole" && strings.HasPrefix(dir, "watch/"):
		return watchedDir.ReplaceAllString(dir, "${1}5/c0ffee")
	case who == "WebhookRole" && strings.HasPrefix(dir, "issue/"):
		return issueDir.ReplaceAllString(dir, "${1}5")
	}
	return "run"
}

var issueDir = regexp.MustCompile(`^(issue/(?:~[a-z0-9-]+/)?)[0-9]+$`)

var watchedDir = regexp.MustCompile(`^(watch/(?:~[a-z0-9-]+/)?)[0-9]+/[0-9a-f]+$`)

// stateOf finds the key of the state that a session is for.
var stateOf = regexp.MustCompile(`"arn:aws:s3:::states/([^"]*)"`)

// values are those of condition keys that differ between pull requests. What is empty or missing stays so.
var values = map[string]string{
	"aws:RequestTag/pull": "7", "aws:RequestTag/project": "net", "aws:RequestTag/actor": "alice",
	"kms:EncryptionContext:pull": "7", "kms:EncryptionContext:sha": "c0ffee", "kms:EncryptionContext:repository": "acme/infra", "kms:EncryptionContext:package": "a.zip",
}

// parts are those of resources that differ between runs.
var parts = []struct {
	of *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`(/\.lockstep/journal/[^/]+/).+`), "${1}1"},
	{regexp.MustCompile(`^(\$\{Artifacts\.Arn}/(~[a-z0-9-]+/)?)[0-9]+/[0-9]+/.+/[0-9]+/`), "${1}5/7/net@default/1/"},
	{regexp.MustCompile(`(/result-).+(\.md)$`), "${1}1${2}"},
	{regexp.MustCompile(`^(\$\{Artifacts\.Arn}/(rescued|providers)/).+`), "${1}a"},
	{regexp.MustCompile(`^(\$\{Artifacts\.Arn}/tarballs/)([a-z][a-z0-9-]*/)?[0-9]+/.+`), "${1}5/c0ffee.tar.gz"},
	{regexp.MustCompile(`^(\$\{Toolbox\.Arn}/tools/).+`), "${1}0123"},
	{regexp.MustCompile(`^(\$\{Audit\.Arn}/).+`), "${1}5/net@default/0000000001.json"},
	{regexp.MustCompile(`(log-stream:).+`), "${1}a"},
}

// nameOf names a session by the most that its policy allows.
func nameOf(policy string) string {
	name := "keys"
	for _, x := range [][2]string{{"s3:GetObject", "reads"}, {"s3:DeleteObject", "unlocks"}, {"s3:PutObject", "writes"}} {
		if strings.Contains(policy, x[0]) {
			name = x[1]
		}
	}
	if strings.Contains(policy, "dynamodb:") {
		name += "-with-table"
	}
	return name
}

// compareRequests compares the requests of all tests with the file.
func compareRequests() error {
	got := templates.Requests{Sessions: asked.of, Asked: slices.Collect(maps.Values(asked.by))}.String()
	if *updateRequests {
		return os.WriteFile(requestsFile, []byte(requestsHead+got), 0o666)
	}
	data, err := os.ReadFile(requestsFile)
	if err != nil {
		return err
	}
	want, err := templates.ReadRequests(string(data))
	if err != nil {
		return fmt.Errorf("%s: %w", requestsFile, err)
	}
	known, made := linesOf(want), linesOf(templates.Requests{Sessions: asked.of, Asked: slices.Collect(maps.Values(asked.by))})
	var out []string
	for line := range made {
		if !known[line] {
			out = append(out, "new: "+line)
		}
	}
	for line := range known {
		if !made[line] && whole() {
			out = append(out, "no longer there: "+line)
		}
	}
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	return fmt.Errorf("the tests' requests are not those of %s, which the option -requests writes anew after all tests:\n%s", requestsFile, strings.Join(out, ""))
}

// linesOf are the records of requests, one for each action.
func linesOf(r templates.Requests) map[string]bool {
	out := map[string]bool{}
	for name, policy := range r.Sessions {
		out[templates.Requests{Sessions: map[string]string{name: policy}}.String()] = true
	}
	for _, d := range r.Asked {
		out[templates.Requests{Asked: []templates.Decision{d}}.String()] = true
	}
	return out
}

// whole reports whether all tests have run, on real servers.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return os.Getenv("LOCKSTEP_TEST_PARTS") == "require" && !testing.Short()
}
