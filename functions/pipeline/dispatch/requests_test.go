package dispatch_test

import (
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

// specific are the parts of a path that differ between requests of one kind.
var specific = regexp.MustCompile(`[0-9a-f]{40}|p[0-9]{3}|\b[0-9]+\b`)

func (c *counted) count(_ http.ResponseWriter, r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, path, _ := strings.Cut(r.URL.Path, "/acme/infra/")
	c.kinds[r.Method+" "+specific.ReplaceAllString(path, "*")]++
	return false
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

// TestRequestsOfManyProjects counts the requests to GitHub for a push that touches 150 projects.
func TestRequestsOfManyProjects(t *testing.T) {
	t.Parallel()
	files, change := githubtest.Files{}, githubtest.Files{}
	for i := range 150 {
		files[fmt.Sprintf("p%03d/main.tf", i)] = ""
		change[fmt.Sprintf("p%03d/a.tf", i)] = resource("a", "1")
	}
	s := newStage(t, files)
	c := &counted{kinds: map[string]int{}}
	s.fault = c.count
	s.pull("alice", "b", change)
	t.Logf("\n%s", c)
}
