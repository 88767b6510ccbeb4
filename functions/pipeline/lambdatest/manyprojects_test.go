//go:build linux

package lambdatest_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// The size of TestManyProjects.
var (
	manyProjects = flag.Int("projects", 24, "the projects of TestManyProjects")
	environments = flag.Int("environments", 2, "the environments of the function that plans in TestManyProjects, at most")
)

// asks counts the requests to GitHub that count against its limits by their kinds, "GET tarball/*", and has the times of
// projects' check runs.
type asks struct {
	mu     sync.Mutex
	kinds  map[string]int
	same   int // answers that nothing was modified
	own    int // check runs of one project that were made
	shared int // and of several projects
	checks []time.Time
}

// answered remembers the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

var (
	ofRepo  = regexp.MustCompile(`^/repositories/[0-9]+/`)
	differs = regexp.MustCompile(`[0-9a-f]{40}|\b[0-9]+\b`)
	ofCheck = regexp.MustCompile(`"name":"lockstep/(p[0-9]{3}"|projects )`)
)

// over counts what a server is asked.
func (a *asks) over(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		path := ofRepo.ReplaceAllString(r.URL.Path, "")
		x := &answered{ResponseWriter: w}
		h.ServeHTTP(x, r)
		a.mu.Lock()
		defer a.mu.Unlock()
		if x.status == http.StatusNotModified {
			a.same++
		}
		if x.status == http.StatusNotModified || strings.HasPrefix(r.URL.Path, "/archive/") {
			return // these do not count
		}
		a.kinds[r.Method+" "+differs.ReplaceAllString(path, "*")]++
		of := ofCheck.FindSubmatch(body)
		if of == nil || r.Method == http.MethodGet || !strings.HasPrefix(path, "check-runs") {
			return
		}
		a.checks = append(a.checks, time.Now())
		switch shared := string(of[1]) == "projects "; {
		case r.Method != http.MethodPost:
		case shared:
			a.shared++
		default:
			a.own++
		}
	})
}

// sum returns the number of requests whose kinds have one of the prefixes.
func (a *asks) sum(prefixes ...string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for kind, count := range a.kinds {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(kind, p) }) {
			n += count
		}
	}
	return n
}

func (a *asks) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(a.kinds)) {
		fmt.Fprintf(&b, "%6d %s\n", a.kinds[kind], kind)
	}
	return b.String()
}

// spent returns the processor time of this process and of its children that have ended.
func spent(t *testing.T) (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// together has the messages in the queues handled by so many environments at a time, and returns their number.
func (r *road) together(n int) int {
	var total, busy atomic.Int32
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for idle := 0; idle < 3; idle++ {
				for _, m := range r.stack.Mappings {
					busy.Add(1)
					k, got, err := m.Step(r.t.Context())
					busy.Add(-1)
					if err != nil || got.Error != nil {
						r.t.Errorf("%s: %v %v", m.QueueName, got.Error, err)
						return
					}
					if total.Add(int32(k)); k > 0 {
						idle = -1
					}
				}
				if idle >= 0 {
					time.Sleep(50 * time.Millisecond)
				}
				if busy.Load() > 0 {
					idle = -1
				}
			}
		})
	}
	all.Wait()
	return int(total.Load())
}

// TestManyProjects plans a push that touches many projects, by several environments of the function, and holds that
// requests to GitHub, those that create something, messages, and archives of the repository stay within bounds: each of the
// first 50 projects costs a request that creates its check run, and each other one a part of that of a hundred projects. A
// project costs a message. The comments and the check of the pull request are written ten times. The archives of the merge and of
// the base are fetched once each.
// With -projects=500 -v it tells how long that takes.
func TestManyProjects(t *testing.T) {
	t.Parallel()
	projects := *manyProjects
	files, change := githubtest.Files{"lockstep.hcl": ""}, githubtest.Files{}
	for i := range projects {
		name := fmt.Sprintf("p%03d", i)
		files["lockstep.hcl"] += fmt.Sprintf("project %q {\n  dir = %q\n}\n", name, name)
		files[name+"/main.tf"] = project(name + "/terraform.tfstate")
		change[name+"/a.tf"] = thing("a", "1")
	}
	a := &asks{kinds: map[string]int{}}
	r := newRoadTo(t, a.over, files)
	r.repo.Push("alice", "b", "Change all", change)
	n := r.repo.OpenPull("alice", "Change all", "b")
	begin, cpu := time.Now(), spent(t)
	if _, err := r.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	messages := r.together(*environments)
	took, cost := time.Since(begin), spent(t)-cpu
	r.settle()
	own := min(projects, pipeline.OwnChecks)
	if want := (projects - own + pipeline.SharedSize - 1) / pipeline.SharedSize; a.own != own || a.shared != want {
		t.Fatalf("%d checks of projects, and %d shared ones\n%s", a.own, a.shared, a)
	}
	r.expect("the status", r.status(n), fmt.Sprintf("%d to add", projects), "| `p000`, `p001`, `p002` and ", " | 1 to add")

	started := len(r.stack.Functions["plan"].Disks())
	all, made, archives := a.sum(""), a.sum("POST", "PUT"), a.sum("GET tarball/")
	sent, aws := 0, map[string]int{}
	for _, q := range r.stack.Requests() {
		aws[q.Action]++
		if strings.HasPrefix(q.Action, "sqs:SendMessage") {
			sent++
		}
	}
	t.Logf("requests to AWS: %v", aws)
	t.Logf("\n%s%6d requests to GitHub and %d without news, %d of which create something, %d archives by %d environments; %d messages, sent by %d requests; the first plan after %s, the last after %s, all after %s; %s of processor time",
		a, all, a.same, made, archives, started, messages, sent, a.checks[0].Sub(begin).Round(time.Millisecond), a.checks[len(a.checks)-1].Sub(begin).Round(time.Millisecond), took.Round(time.Millisecond), cost.Round(10*time.Millisecond))
	if all > 110+own+projects/5+10*started || made > own+a.shared+2+2*started {
		t.Errorf("%d requests to GitHub, %d of which create something", all, made)
	}
	if archives != 2 {
		t.Errorf("%d archives by %d environments", archives, started)
	}
	if messages > projects+20 || sent > projects+projects/10+20 {
		t.Errorf("%d messages, sent by %d requests", messages, sent)
	}
}
