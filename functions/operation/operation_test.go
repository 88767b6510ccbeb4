package operation

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestNotation runs the stories of testdata/operations.txtar. Each line is a step; the indented line
// below it is its outcome, if it has one. The backend is a fake, and the provider is the built-in one.
//
//	configure TEXT     add a line to the configuration; after close, it begins anew
//	open               open everything, with the state locked: "locked", or the errors
//	open unlocked      the same without the lock
//	open refusing      the same with words of the caller's for a held lock
//	open saved         the same for an apply of the plan that was saved: "locked", and how much is done
//	plan               make a plan
//	carry out          apply the plan: counts, actions left, errors
//	apply              plan and carry out
//	first              store an empty state if there is none
//	save the same      store the present state; "save empty": one without resources
//	save plan          keep the plan, encoded; "load plan": decode it, with its configuration
//	interrupt          end the context of the operation
//	stop after N       do so when the apply that follows has begun N actions
//	unlock, close      what they say
//	fault put          the next write of that kind fails; also "fault unlock"
//	elsewhere lock     somebody else takes the lock; "elsewhere put TEXT": or writes
//	stored             the backend's state and lock
func TestNotation(t *testing.T) {
	t.Parallel()
	file, err := txtar.ParseFile("testdata/operations.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range file.Files {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			s := &story{t: t, dir: t.TempDir()}
			s.backend.Faults = &statebackendtest.Faults{Decide: s.decide}
			var got strings.Builder
			for line := range strings.Lines(string(f.Data)) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, "  ") || line == "" {
					continue
				}
				fmt.Fprintln(&got, line)
				if outcome := s.step(line); outcome != "" {
					fmt.Fprintf(&got, "  %s\n", outcome)
				}
			}
			if diff := cmp.Diff(strings.TrimRight(string(f.Data), "\n"), strings.TrimRight(got.String(), "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if len(file.Files) < 10 {
		t.Fatalf("only %d stories", len(file.Files))
	}
}

// A story is the world of one story.
type story struct {
	t       *testing.T
	dir     string
	fresh   bool // nothing was configured since close
	backend statebackendtest.Fake
	fault   string // the kind of write that fails next

	ctx       context.Context
	interrupt context.CancelFunc
	op        *Operation
	plan      *plans.Plan
	saved     []byte
	journal   statebackendtest.Log
	stopAfter int // actions
}

func (s *story) decide(_ int, write string) statebackendtest.Fault {
	if kind, _, _ := strings.Cut(write, " "); kind == s.fault {
		s.fault = ""
		return statebackendtest.Failed
	}
	return statebackendtest.None
}

func (s *story) step(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "configure":
		s.configure(rest)
	case "open":
		return s.open(rest)
	case "plan":
		return s.makePlan()
	case "apply":
		return s.makePlan() + s.carryOut()
	case "carry":
		return s.carryOut()
	case "first":
		return message(s.op.SaveFirst(s.ctx))
	case "save":
		return s.save(rest)
	case "load":
		return s.loadPlan()
	case "interrupt":
		s.interrupt()
	case "stop":
		if _, err := fmt.Sscanf(rest, "after %d", &s.stopAfter); err != nil {
			s.t.Fatal(err)
		}
	case "unlock":
		return errorsIn(s.op.Unlock(s.ctx))
	case "close":
		s.op.Close()
		s.op.Close()
		s.fresh = true
	case "fault":
		s.fault = rest
	case "elsewhere":
		s.elsewhere(rest)
	case "stored":
		return s.stored()
	default:
		s.t.Fatalf("there is no step %q", line)
	}
	return ""
}

func (s *story) configure(line string) {
	path := filepath.Join(s.dir, "main.tf")
	text, _ := os.ReadFile(path)
	if s.fresh {
		text, s.fresh = nil, false
	}
	if err := os.WriteFile(path, append(text, line+"\n"...), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) open(how string) string {
	s.ctx, s.interrupt = context.WithCancel(s.t.Context())
	s.op = &Operation{Settings: &workdir.Settings{Type: "fake"}, Workspace: "default", Journaled: true}
	lock := &Lock{Operation: "OperationTypeApply"}
	switch how {
	case "saved":
		s.op.Planned = PlanID(s.saved)
	case "unlocked":
		lock = nil
	case "refusing":
		lock.Refused = func(err error) diags.Diagnostics {
			return diags.Errorf(nil, "Held by "+err.(*statebackend.LockedError).Info.Operation, "Wait.")
		}
	}
	d, ds := workdir.Open(s.dir, []string{"TF_CLI_CONFIG_FILE=" + os.DevNull})
	d.Scratch = ""
	cfg, more := d.Load()
	if ds = append(ds, more...); ds.HasErrors() {
		s.t.Fatal(ds)
	}
	s.op.Config = cfg
	s.op.Variables, ds = inputs.Values(cfg.Root.Content, nil)
	if ds = append(ds, s.op.OpenState(s.ctx, journaled{&s.backend, &s.journal}, "default", lock)...); ds.HasErrors() {
		return errorsIn(ds)
	}
	if ds = s.op.OpenProviders(s.ctx, d, workdir.PoolOptions{}, 0); ds.HasErrors() {
		s.t.Fatal(ds)
	}
	switch {
	case lock == nil:
		return ""
	case s.op.Begun != nil:
		return fmt.Sprintf("locked; %d of %d done", s.op.Begun.Done, Actions(s.plan))
	}
	return "locked"
}

func (s *story) makePlan() string {
	var ds diags.Diagnostics
	s.plan, ds = engine.Plan(s.ctx, s.run(), s.op.State.Current, engine.PlanOptions{})
	return errorsIn(ds)
}

func (s *story) run() engine.Run {
	r := s.op.Run()
	r.WorkingDir = s.dir
	if s.stopAfter > 0 {
		left := s.stopAfter
		s.stopAfter = 0
		r.Events = func(e events.Event) {
			if e.Kind == events.ApplyStart {
				if left--; left == 0 {
					s.interrupt()
				}
			}
		}
	}
	return r
}

func (s *story) carryOut() string {
	done, ds := s.op.Apply(s.ctx, s.run(), s.plan, engine.ApplyOptions{})
	n := done.Tally.Done()
	out := []string{fmt.Sprintf("%d added, %d changed, %d destroyed", n.Add, n.Change, n.Destroy)}
	var left []string
	for _, a := range done.Tally.Left() {
		left = append(left, map[plans.Action]string{plans.Create: "create", plans.Update: "update", plans.Delete: "destroy"}[a.Verb]+" "+a.Object.String())
	}
	if len(left) > 0 {
		out = append(out, "left: "+strings.Join(left, ", "))
	}
	if done.Resumable {
		out = append(out, fmt.Sprintf("%d steps left, resumable", done.Left))
	}
	if done.Unsaved {
		out = append(out, "unsaved: "+resources(done.State))
	}
	if text := errorsIn(ds); text != "" {
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (s *story) save(what string) string {
	switch what {
	case "the same":
		return message(s.op.Save(s.ctx, s.op.State.Current))
	case "empty":
		return message(s.op.Save(s.ctx, states.Empty()))
	}
	var b bytes.Buffer
	err := planfile.Encode(&b, s.op.PlanFile("test", s.plan))
	s.saved = b.Bytes()
	s.op.Planned = PlanID(s.saved)
	return message(err)
}

func (s *story) loadPlan() string {
	f, err := planfile.Decode(s.saved, planfile.Options{Engine: "test"})
	if err != nil {
		return message(err)
	}
	s.plan, s.op.Variables = f.Plan, f.Plan.Variables
	return errorsIn(s.op.LoadPlanned(f, nil, early.Input{BaseDir: s.dir}))
}

// elsewhere does what another process does.
func (s *story) elsewhere(what string) {
	w, err := s.backend.Open("default")
	if err != nil {
		s.t.Fatal(err)
	}
	if text, ok := strings.CutPrefix(what, "put "); ok {
		_, err = w.Put(s.t.Context(), []byte(text), "")
	} else {
		_, err = w.Lock(s.t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1"))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) stored() string {
	w, err := s.backend.Open("default")
	if err != nil {
		s.t.Fatal(err)
	}
	snap, err := w.Get(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	locks, err := w.Locks(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	held := "not locked"
	if len(locks) > 0 {
		held = "locked"
	}
	if len(snap.Bytes) == 0 {
		return "nothing; " + held
	}
	st, err := statefile.Read(snap.Bytes)
	if err != nil {
		return "unreadable; " + held
	}
	text := fmt.Sprintf("serial %d", st.Serial)
	if r := resources(st); r != "" {
		text += ": " + r
	}
	return text + "; " + held
}

func resources(s *states.State) string {
	var names []string
	for r := range s.Resources() {
		names = append(names, r.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func errorsIn(ds diags.Diagnostics) string {
	for _, d := range ds {
		if d.Severity == diags.Error {
			return "error: " + d.Summary
		}
	}
	return ""
}

func message(err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return ""
}
