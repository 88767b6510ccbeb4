package dispatch_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestWalkOfAPlan follows the comment "lockstep plan" from its webhook to the message that has the plan made. At each effect on the way, a
// record or a message, it looks at the stack. testdata/walk.txt has the walk: a new room on this road, or a longer road, is seen there.
func TestWalkOfAPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.settle()
	w := &walk{stations: map[string]bool{}}
	gate := memory.Gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		w.effect(x)
		return do(ctx)
	})
	s.pipeline.Records, s.pipeline.Queue = gate.Records(s.pipeline.Records), gate.Queue(s.pipeline.Queue)
	s.webhook.Intake = s.pipeline.Intake()
	s.expect("the plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
	golden.File(t, "testdata/walk.txt", w.String(t))
}

// A walk is the functions of the pipeline that were on the stack at an effect, until the plan is asked for.
type walk struct {
	mu       sync.Mutex
	ended    bool
	effects  int
	stations map[string]bool
	road     []runtime.Frame // the stack at the last message, the outermost function first; those of the webhook come before it
}

func (w *walk) effect(x memory.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.effects++
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var stack []runtime.Frame
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); station(f) != "" {
			w.stations[station(f)] = true
			stack = append(stack, f)
		}
	}
	if m, is := x.With.(pipeline.Message); is && (m.Kind == pipeline.Commanded || m.Kind == pipeline.ToPlan) {
		slices.Reverse(stack)
		w.road = append(w.road, stack...)
		w.ended = m.Kind == pipeline.ToPlan
	}
}

var (
	ours    = regexp.MustCompile(`^github\.com/lockstep-iac/lockstep/(functions/[\w/]+)\.(.*)$`)
	closure = regexp.MustCompile(`(\.func\d+|\.\d+|\.gowrap\d+|-fm|-range\d+|\[\.\.\.\])+$`)
)

// station returns the package and the function of a frame; "" if it is not the pipeline's, or is in a store. A function literal belongs to its
// function.
func station(f runtime.Frame) string {
	m := ours.FindStringSubmatch(f.Function)
	if m == nil || strings.HasSuffix(f.File, "_test.go") || slices.Contains([]string{"memory", "storytest", "localstore"}, path.Base(m[1])) {
		return ""
	}
	return m[1] + "." + closure.ReplaceAllString(strings.NewReplacer("(*", "", ")", "").Replace(m[2]), "")
}

// String prints the figures, the road to the message and the stations on its sides.
func (w *walk) String(t *testing.T) string {
	t.Helper()
	rooms := map[string]bool{}
	for x := range w.stations {
		rooms[x[:strings.Index(x, ".")]] = true
	}
	var b strings.Builder
	returns, on := 0, map[string]bool{}
	for _, f := range w.road {
		name := station(f)
		n := returnsBefore(t, f)
		if !on[name] {
			returns += n
			fmt.Fprintf(&b, "%3d  %s\n", n, name)
		}
		on[name] = true
	}
	var sides strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.stations)) {
		if !on[name] {
			fmt.Fprintf(&sides, "     %s\n", name)
		}
	}
	return fmt.Sprintf("%d stations in %d rooms; on the road %d stations, with %d returns before the message that report no error; %d effects\n\nThe road, with these returns before its next station:\n\n%s\nBeside the road:\n\n%s",
		len(w.stations), len(rooms), len(on), returns, w.effects, b.String(), sides.String())
}

// returnsBefore counts the return statements of a frame's function before the line at which it has called the next one, without those that
// return the variable err.
func returnsBefore(t *testing.T, f runtime.Frame) (n int) {
	t.Helper()
	i := strings.Index(f.File, "functions/pipeline/")
	if i < 0 {
		return 0
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path.Join("../../..", f.File[i:]), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		from, to := fset.Position(d.Pos()).Line, fset.Position(d.End()).Line
		if fn, ok := d.(*ast.FuncDecl); !ok || f.Line < from || f.Line > to {
			continue
		} else {
			ast.Inspect(fn, func(x ast.Node) bool {
				if r, ok := x.(*ast.ReturnStmt); ok && fset.Position(r.Pos()).Line < f.Line && !reportsError(r) {
					n++
				}
				return true
			})
		}
	}
	return n
}

func reportsError(r *ast.ReturnStmt) bool {
	if len(r.Results) == 0 {
		return false
	}
	last, ok := r.Results[len(r.Results)-1].(*ast.Ident)
	return ok && last.Name == "err"
}
