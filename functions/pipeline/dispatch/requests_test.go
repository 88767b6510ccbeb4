package dispatch_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// counted counts requests to GitHub by their kinds: "GET pulls/1/files".
type counted struct {
	mu    sync.Mutex
	kinds map[string]int
}

// ofRepo is the part of a path that names the repository.
var ofRepo = regexp.MustCompile(`^/repositories/[0-9]+/`)

// specific are the parts of a path that differ between requests of one kind.
var specific = regexp.MustCompile(`[0-9a-f]{40}|p[0-9]{3}|\b[0-9]+\b`)

func (c *counted) count(r *http.Request, status int) {
	if status == http.StatusNotModified || strings.HasPrefix(r.URL.Path, "/archive/") {
		return // these do not count against the limit of an installation
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds[r.Method+" "+specific.ReplaceAllString(ofRepo.ReplaceAllString(r.URL.Path, ""), "*")]++
}

func (c *counted) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	sum := 0
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		fmt.Fprintf(&b, "%5d %s\n", c.kinds[kind], kind)
		sum += c.kinds[kind]
	}
	return fmt.Sprintf("%s%5d requests", b.String(), sum)
}

// sum returns the number of requests whose kinds have a prefix.
func (c *counted) sum(prefix string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, count := range c.kinds {
		if strings.HasPrefix(kind, prefix) {
			n += count
		}
	}
	return n
}

// manyProjects is the size of the push of TestRequestsOfManyProjects.
var manyProjects = flag.Int("projects", 0, "the projects of TestRequestsOfManyProjects; 0 for several sizes")

// TestRequestsOfManyProjects holds that a push which touches many projects stays far below GitHub's limits: of
// 5,000 requests an hour, and of 500 an hour that create content. Each of the first 50 projects costs a request that creates
// its check run, and a hundred others share one.
//
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func TestRequestsOfManyProjects(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 30, 51}
	if *manyProjects > 0 {
		sizes = []int{*manyProjects}
	}
	for _, projects := range sizes {
		t.Run(fmt.Sprint(projects), func(t *testing.T) {
			t.Parallel()
			requestsOf(t, projects)
		})
	}
}

func requestsOf(t *testing.T, projects int) {
	files, change := githubtest.Files{"lockstep.hcl": ""}, githubtest.Files{}
	for i := range projects {
		name := fmt.Sprintf("p%03d", i)
		files["lockstep.hcl"] += fmt.Sprintf("project %q {\n  dir = %q\n}\n", name, name)
		files[name+"/main.tf"] = ""
		change[name+"/a.tf"] = resource("a", "1")
	}
	s := newStage(t, files)
	c := &counted{kinds: map[string]int{}}
	s.answered = c.count
	n := s.pull("alice", "b", change)
	t.Logf("\n%s", c)
	own := min(projects, 50)
	checks := own + (projects-own+99)/100 + 1
	if all, made := c.sum(""), c.sum("POST"); all > own+projects/5+40 || made > checks+4 {
		t.Errorf("%d requests, %d of which create something", all, made)
	}
	if got := len(s.repo.Checks(s.repo.Head("b"))); got != checks {
		t.Errorf("%d checks, want %d", got, checks)
	}
	if projects == 1 {
		return
	}
	s.expect("the status", s.status(n), fmt.Sprintf("%d to add", projects), "| `p000`, `p001`, `p002` and ", fmt.Sprintf("- `p%03d`: Plan ", projects-1))
}

// TestRequestsOfManyComments holds that a command costs as many requests on a pull request with many comments as on another one: our own are
// found without a look at all others.
func TestRequestsOfManyComments(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	c := &counted{kinds: map[string]int{}}
	s.answered = c.count
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	cost := func() int {
		before := c.sum("")
		s.expect("a command", s.say("alice", n, "lockstep plan"), "**Planned** `.`")
		return c.sum("") - before
	}
	cost() // the next one folds its answer
	few := cost()
	for range 1500 {
		s.repo.Comment("bob", n, "By the way ...")
	}
	s.settle()
	many := cost()
	if t.Logf("\n%s", c); many > few+1 {
		t.Errorf("a command costs %d requests beside 1,500 comments, and %d beside none", many, few)
	}
}
