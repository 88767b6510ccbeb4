//go:build linux

package lambdatest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// heard are the calls that a plugin has told of.
type heard struct {
	mu   sync.Mutex
	sent time.Time // the message of the webhook
	all  []call
}

// A call has its name, the size of its answer and the milliseconds that this took, and the time since the message.
type call struct {
	text  string
	after time.Duration
}

// ServeHTTP implements http.Handler.
func (c *heard) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, call{strings.TrimPrefix(r.URL.Path, "/"), time.Since(c.sent).Round(time.Millisecond)})
}

// of returns the calls to a plugin after an action on GitHub.
func (c *heard) of(r *road, do func()) []call {
	c.all, c.sent = nil, time.Time{}
	r.stack.Fault(func(q lambdatest.Request) int {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.sent.IsZero() && q.Function == "webhook" && q.Action == "sqs:SendMessage" {
			c.sent = time.Now()
		}
		return 0
	})
	do()
	r.stack.Fault(nil)
	return c.all
}

// TestLargeProvider plans with a provider of 1,500 types: downloaded, from the store, and in the same environment again. The
// plugin is asked for its schemas once a run. With -package=600 -v it has the size of a cloud's, and it is told how long
// after the message the first call comes, and the second one, which has waited for the schemas.
func TestLargeProvider(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", path, "./engine/provider/process/testdata/large")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing reads the padding but who installs it, as it is with most of a large program.
	program = append(program, padding(max(0, *megabytes-len(program)>>20))["padding"]...)
	g := publish(t, "large", program, nil)
	calls := &heard{}
	listener := httptest.NewServer(http.HandlerFunc(calls.ServeHTTP))
	t.Cleanup(listener.Close)
	g.files["lockstep.hcl"] = fmt.Sprintf("environment \"e\" {\n  env = { LARGE_TELL = %q }\n}\nproject \"net\" {\n  dir         = \"net\"\n  environment = \"e\"\n}\n", listener.URL)
	r := newRoad(t, g.files, g.deployed)
	large := func(name string) githubtest.Files {
		return githubtest.Files{"net/large.tf": fmt.Sprintf("terraform {\n  required_providers {\n    large = { source = %q }\n  }\n}\nresource \"large_thing_700\" %q {\n  attribute_0 = \"x\"\n}\n", g.source, name)}
	}
	var n int
	for _, x := range []struct {
		name      string
		do        func()
		downloads int
	}{
		{"downloaded", func() { n = r.pull("a", large("a")) }, 1},
		{"from the store", func() {
			r.stack.Functions["plan"].Kill()
			n = r.pull("b", large("b"))
		}, 0},
		{"in the same environment", func() { r.say("alice", n, "lockstep plan") }, 0},
	} {
		got := calls.of(r, x.do)
		r.expect("the plan", r.status(n), "1 to add", "large_thing_700")
		if len(got) < 2 || strings.Count(fmt.Sprint(got), "GetProviderSchema") != 1 || !strings.HasPrefix(got[0].text, "GetProviderSchema") {
			t.Fatalf("%s: the calls %v", x.name, got)
		}
		if d := g.downloads(); d != x.downloads {
			t.Errorf("%s: %d downloads", x.name, d)
		}
		t.Logf("%s, %d MB: the first call after %s (%s), the second %s later", x.name, len(program)>>20, got[0].after, got[0].text, got[1].after-got[0].after)
	}
}
