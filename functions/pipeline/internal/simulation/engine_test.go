package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// cloud is all states, with their objects.
type cloud struct {
	states map[string]*state // by key, or directory of the project
	// ended are the applies that have told their outcome and have no journal any more, by job.Run.
	ended map[string]bool
	// beginnings are the times at which applies asked for their permission, the last ones before their first changes, by job.Run.
	beginnings map[string]time.Time
}

// A state is what is remembered about objects, and the objects themselves: a change is both at once.
type state struct {
	*content
	lock  *lock
	begun *begun // an apply that has not come to its end
}

// content is that of a state, and of its copy at another key.
type content struct {
	serial  uint64
	objects map[string]string
	by      map[string]int // the pull request that last changed an object
	doubt   []int          // pull requests with an apply whose end nobody was told of: it may have changed something
}

// A lock is held by a run, from its first process to its last.
type lock struct {
	run, owner string
	number     int // the pull request
	by         *process
	left       bool // by a process that came to its end, for the next one
	// lapses is the end of the lease of a lock that could not be released.
	lapses time.Time
}

// over reports whether anybody may take the lock: its process died or could not release it, and its lease
// has ended.
func (l *lock) over() bool {
	now := time.Now()
	if !l.lapses.IsZero() {
		return now.After(l.lapses)
	}
	return !l.by.alive() && now.After(l.by.hardStop.Add(time.Minute))
}

// begun is the journal of an apply.
type begun struct {
	plan string
	done int
}

func (c *cloud) state(key string) *state {
	switch {
	case c.states[key] != nil:
	case key != original(key):
		c.states[key] = &state{content: c.state(original(key)).content}
	default:
		c.states[key] = &state{content: &content{objects: map[string]string{}, by: map[string]int{}}}
	}
	return c.states[key]
}

func (st *state) id() runs.StateID {
	if st.serial == 0 {
		return runs.StateID{}
	}
	return runs.StateID{Lineage: "l", Serial: st.serial, Version: fmt.Sprint("v", st.serial)}
}

// saved is a saved plan.
type saved struct {
	Dir      string
	Number   int // distinguishes plans of the same content
	Wanted   map[string]string
	Changes  []string // "+a=1", "~a=2", "-a", "!a=1" for a replacement, "^a" for one that is forgotten
	From, To map[string]string
	Options  grammar.Options `json:",omitzero"`
}

// plan compares objects with a configuration.
func planOf(dir string, number int, wanted, now map[string]string) saved {
	p := saved{Dir: dir, Number: number, Wanted: wanted}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch is, ok := now[name]; {
		case !ok:
			p.Changes = append(p.Changes, "+"+name+"="+wanted[name])
		case is != wanted[name]:
			p.Changes = append(p.Changes, "~"+name+"="+wanted[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := wanted[name]; !ok {
			p.Changes = append(p.Changes, "-"+name)
		}
	}
	return p
}

// token is the content of a plan as people read it.
func (p saved) token() string { return "«" + p.Dir + ": " + strings.Join(p.Changes, " ") + "»" }

func (p saved) counts() (n counting.Counts) {
	for _, c := range p.Changes {
		switch c[0] {
		case '+':
			n.Add++
		case '~':
			n.Change++
		case '-':
			n.Destroy++
		case '!':
			n.Add++
			n.Destroy++
		case '^':
			n.Forget++
		}
	}
	return n
}

func (p saved) encode() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return data
}

var tokens = regexp.MustCompile("«[^»]*»")

// settings are the lines of a configuration that stand for objects: "# name = value".
var settings = regexp.MustCompile(`(?m)^# (\w+) = (\w+)$`)

// wantedIn reads a project in a checkout.
func (s *simulation) wantedIn(j jobs.Job) map[string]string {
	wanted := map[string]string{}
	for name, file := range s.files(s.checkouts[j.Checkout]) {
		if path.Dir(name) == j.Dir && path.Ext(name) == ".tf" {
			for _, m := range settings.FindAllStringSubmatch(string(file.Data), -1) {
				wanted[m[1]] = m[2]
			}
		}
	}
	return wanted
}

// engine is the jobs.Engine of one process.
type engine struct{ *process }

// work takes a while.
func (e engine) work(ctx context.Context, seconds int) error {
	var d time.Duration
	err := e.do(ctx, "work", func() error {
		// Never at the same moment as a ticker: of two goroutines that wake at once, either may be first.
		d = time.Duration(1+e.s.IntN(seconds*1000))*time.Millisecond + 137*time.Microsecond
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// Plan implements jobs.Engine. It takes no lock: a plan whose state moved is made again.
func (e engine) Plan(ctx context.Context, j jobs.Job) (res jobs.PlanResult, err error) {
	e.s.nameless(j, "planned")
	var made saved
	for {
		var before uint64
		var now map[string]string
		if err := e.do(ctx, "read the state of "+j.Dir, func() error {
			st := e.s.state(stateOf(j))
			before, now = st.serial, maps.Clone(st.objects)
			return nil
		}); err != nil {
			return res, err
		}
		if err := e.work(ctx, 40); err != nil {
			return res, err
		}
		moved := false
		if err := e.do(ctx, "look at the state of "+j.Dir, func() error {
			st := e.s.state(stateOf(j))
			if moved = st.serial != before; !moved {
				made = opted(j.Dir, e.s.number(), e.s.wantedIn(j), now, j.Options)
				res = e.s.result(st, made)
			}
			return nil
		}); err != nil {
			return res, err
		}
		if moved {
			continue
		}
		if j.Snapshot != nil {
			res.Plan, res.Applyable, res.Previewed = nil, false, true
			return res, nil
		}
		return res, e.judge(ctx, j, made, &res)
	}
}

// Check implements jobs.Engine.
func (e engine) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	var kept saved
	if err := json.Unmarshal(plan, &kept); err != nil {
		return jobs.Checked{}, err
	}
	now, err := e.Plan(ctx, j)
	if err != nil {
		return jobs.Checked{}, err
	}
	again := &jobs.Replanned{Plan: now, Equal: now.Report == kept.token()}
	if !again.Equal {
		again.Difference = "it is another"
	}
	return jobs.Checked{Now: jobs.BeforeApply{State: now.State, Again: again}}, nil
}

// number is a new one.
func (s *simulation) number() int { s.numbers++; return s.numbers }

func (s *simulation) result(st *state, p saved) jobs.PlanResult {
	return jobs.PlanResult{
		Plan: p.encode(), State: st.id(), Parts: runs.PlanParts{State: st.id(), Variables: "none", Engine: "simulated"},
		Counts: p.counts(), Applyable: len(p.Changes) > 0, Report: p.token(),
	}
}

// Apply implements jobs.Engine.
func (e engine) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (out jobs.Outcome, err error) {
	var p saved
	if err := json.Unmarshal(plan, &p); err != nil {
		return out, err
	}
	st := e.s.state(stateOf(j))
	a := &applying{engine: e, j: j, st: st}
	if err := e.do(ctx, "lock "+j.Dir, func() error { return a.lock() }); err != nil {
		var locked lockedError
		if errors.As(err, &locked) {
			return jobs.Outcome{Failed: true, State: st.id(), Report: locked.Error()}, nil
		}
		return out, err
	}
	defer func() {
		if !a.keep {
			if err := e.do(context.WithoutCancel(ctx), "unlock "+j.Dir, func() error { a.unlock(); return nil }); errors.Is(err, errDown) {
				a.lapse()
			}
		}
	}()
	if st.begun != nil && st.begun.plan != string(plan) {
		st.begun = nil // of another plan: its results are in the state
	}
	if j.Continues && st.begun == nil && st.id() != j.Planned {
		return jobs.Outcome{Failed: true, Lost: true, State: st.id(), Report: "nothing to go on with"}, nil
	}
	a.asked = time.Now()
	if st.begun == nil {
		e.s.beginnings[j.Run] = a.asked
	}
	use, res, err := a.permitted(ctx, p, permit)
	if use == nil || err != nil {
		return res, err
	}
	return a.carryOut(ctx, *use)
}

// applying is one process' part of an apply.
type applying struct {
	engine
	j    jobs.Job
	st   *state
	keep bool // the lock
	// denied is whether a gate has not allowed the plan, when it was asked last.
	denied bool
	// asked is the time at which it asked for its permission.
	asked time.Time
}

type lockedError string

func (e lockedError) Error() string { return "the state is locked by " + string(e) }

// lock takes the lock, that of a dead process included.
func (a *applying) lock() error {
	l := a.st.lock
	switch {
	case l == nil:
	case l.over():
	case l.by != a.process && l.by.alive() && !l.left:
		if l.run == a.j.Run {
			a.s.bug("%d goes on with %s while %d is at it", a.id, a.j.Run, l.by.id)
		}
		return lockedError(l.run)
	case l.run != a.j.Run:
		return lockedError(l.run)
	}
	a.st.lock = &lock{run: a.j.Run, owner: holder(a.j), number: a.j.Number, by: a.process}
	return nil
}

func (a *applying) unlock() {
	if l := a.st.lock; l != nil && l.by == a.process {
		a.st.lock = nil
	}
}

// lapse ends the renewals of the lock's lease: nobody releases it.
func (a *applying) lapse() {
	if l := a.st.lock; l != nil && l.by == a.process {
		l.lapses = time.Now().Add(time.Minute)
	}
}

// permitted asks for the permission, and makes the plan again where that is wanted. It returns no
// plan where nothing may be applied.
func (a *applying) permitted(ctx context.Context, p saved, permit func(jobs.BeforeApply) jobs.Permit) (*saved, jobs.Outcome, error) {
	refused := jobs.Outcome{Refused: true}
	now := jobs.BeforeApply{State: a.st.id()}
	early, tip := a.s.outOfOrder(a.j), a.s.repo.Head("main")
	begins := a.st.begun == nil && !a.j.Continues
	if begins {
		if err := a.judged(ctx, p, &now.Content); err != nil {
			return nil, refused, err
		}
	}
	answer := permit(now)
	if late := a.s.outOfOrder(a.j); answer == jobs.Permitted && begins && early != "" && early == late && tip == a.s.repo.Head("main") {
		a.s.bug("the apply of %s for #%d begins, and %s", a.j.Project, a.j.Number, late)
	}
	if a.st.begun != nil && answer != jobs.Permitted {
		return nil, refused, nil
	}
	if answer == jobs.Permitted && begins && tip == a.s.repo.Head("main") {
		a.s.back(a.j)
	}
	wanted := p.Wanted
	switch answer {
	case jobs.Permitted:
		return &p, refused, nil
	case jobs.PlanCheckout:
		wanted = a.s.wantedIn(a.j)
	case jobs.PlanAgain:
	default:
		return nil, refused, nil
	}
	if err := a.work(ctx, 20); err != nil {
		return nil, refused, err
	}
	again := opted(p.Dir, a.s.number(), wanted, a.st.objects, a.j.Options)
	now.Again = &jobs.Replanned{Plan: a.s.result(a.st, again), Equal: again.token() == p.token(), Difference: "it is another"}
	if err := a.judged(ctx, again, &now.Again.Plan.Content); err != nil {
		return nil, refused, err
	}
	if permit(now) != jobs.Permitted {
		return nil, refused, nil
	}
	return &again, refused, nil
}

// carryOut makes the changes that are left.
func (a *applying) carryOut(ctx context.Context, p saved) (jobs.Outcome, error) {
	if a.st.begun == nil {
		a.st.begun = &begun{plan: string(p.encode())}
	}
	progress := func() comment.Progress { return comment.Progress{Done: a.st.begun.done, Of: len(p.Changes)} }
	out := func() jobs.Outcome {
		return jobs.Outcome{State: a.st.id(), Counts: saved{Changes: p.Changes[:a.st.begun.done]}.counts(), Progress: progress(), Remaining: len(p.Changes) - a.st.begun.done}
	}
	for a.st.begun.done < len(p.Changes) {
		over := !a.j.Times.StopStarting.IsZero() && !time.Now().Before(a.j.Times.StopStarting)
		if over || ctx.Err() != nil {
			o := out()
			o.Failed, o.Resumable = true, true
			if a.keep = over; over {
				err := a.do(context.WithoutCancel(ctx), "leave the lock of "+p.Dir, func() error { a.st.lock.left = true; return nil })
				if err != nil {
					return o, err
				}
			}
			return o, nil
		}
		if err := a.work(context.WithoutCancel(ctx), 25); err != nil {
			a.st.doubt = append(a.st.doubt, a.j.Number)
			return jobs.Outcome{}, err
		}
		change := p.Changes[a.st.begun.done]
		var refused bool
		err := a.do(context.WithoutCancel(ctx), "change "+p.Dir+" "+change, func() error {
			if refused = a.s.mishap(); refused {
				return nil
			}
			a.change(p, change)
			return nil
		})
		if a.dead {
			return jobs.Outcome{}, errDead
		}
		if err != nil || refused {
			if err != nil && a.st.begun.done < len(p.Changes) && p.Changes[a.st.begun.done] != change {
				continue // the answer was lost, and the journal has it
			}
			o := out()
			o.Failed, o.Report = true, "the provider refuses"
			return a.end(o)
		}
		if a.j.Progress != nil {
			a.j.Progress(comment.Ongoing{Progress: progress()})
		}
	}
	return a.end(out())
}

// end tells the outcome, and removes the journal.
func (a *applying) end(o jobs.Outcome) (jobs.Outcome, error) {
	err := a.j.Ended(o)
	if a.dead {
		return jobs.Outcome{}, errDead
	}
	if err == nil {
		a.s.ended[a.j.Run], a.st.begun = true, nil
	}
	return o, nil
}

// change makes one change, and looks whether it may.
func (a *applying) change(p saved, change string) {
	s, st := a.s, a.st
	if st.lock == nil || st.lock.by != a.process {
		s.bug("%d changes %s without its lock", a.id, p.Dir)
	}
	name, value, _ := strings.Cut(change[1:], "=")
	_, exists := st.objects[name]
	switch change[0] {
	case '+':
		if exists {
			s.bug("%s of %s exists twice", name, p.Dir)
		}
		st.objects[name] = value
	case '~':
		if !exists {
			s.bug("%s of %s is changed and does not exist", name, p.Dir)
		}
		st.objects[name] = value
	case '!':
		if !exists {
			s.bug("%s of %s is replaced and does not exist", name, p.Dir)
		}
		st.objects[name] = value
	case '-', '^':
		if !exists {
			s.bug("%s of %s is destroyed twice", name, p.Dir)
		}
		delete(st.objects, name)
	}
	s.approved(a.j, p)
	s.asOpted(a.j, p)
	s.isReviewed(a, p)
	s.allowed(a, p)
	if !a.j.Continues {
		s.astray(a.j, a.hardStop.Add(-limits[pipeline.Applies]))
	}
	s.reverts(a, p.Dir, name)
	s.trespasses(a)
	s.beside(a)
	st.by[name] = a.j.Number
	st.serial++
	st.begun.done++
	s.note("%d applies %s of %s for #%d", a.id, change, p.Dir, a.j.Number)
}

// holder is the owner of a job's locks, by the ID of its repository as in package executor: the name may be another one later.
func holder(j jobs.Job) string { return fmt.Sprintf("lockstep %d#%d", j.Repo.ID, j.Number) }

// Unlock implements jobs.Engine.
func (e engine) Unlock(ctx context.Context, j jobs.Job) (u jobs.Unlocked, err error) {
	err = e.do(ctx, "release the locks of "+j.Dir, func() error {
		st := e.s.state(stateOf(j))
		switch l := st.lock; {
		case l == nil:
		case l.owner == holder(j):
			st.lock, u.Locks = nil, 1
		default:
			u.Others = []string{l.owner}
		}
		return nil
	})
	return u, err
}

// Snapshot implements jobs.Engine.
func (e engine) Snapshot(ctx context.Context, j jobs.Job) (s jobs.Snapshot, err error) {
	e.s.nameless(j, "read")
	err = e.do(ctx, "make a snapshot of "+j.Dir, func() error {
		s = jobs.Snapshot{State: []byte("{}"), ID: e.s.state(stateOf(j)).id()}
		return nil
	})
	return s, err
}

// Query implements jobs.Engine.
func (e engine) Query(ctx context.Context, j jobs.Job, _ int) (q comment.Queried, failure string, err error) {
	return q, "", e.do(ctx, "query "+j.Dir, func() error { return nil })
}

// Show implements jobs.Engine.
func (e engine) Show(ctx context.Context, j jobs.Job, c comment.Command) (s comment.Shown, failure string, err error) {
	return comment.Shown{Command: c, Project: j.Project}, "", e.do(ctx, "show "+j.Dir, func() error { return nil })
}

// Test implements jobs.Engine.
func (e engine) Test(ctx context.Context, j jobs.Job) (t comment.Tests, err error) {
	err = e.do(ctx, "test "+j.Dir, func() error {
		t = comment.Tests{Project: j.Project, Count: comment.TestCount{Pass: 1}}
		return nil
	})
	return t, err
}

// Recover implements jobs.Engine: the changes are in the state already.
func (e engine) Recover(ctx context.Context, j jobs.Job) (r comment.Recovered, err error) {
	r.Project = j.Project
	err = e.do(ctx, "recover "+j.Dir, func() error {
		st := e.s.state(stateOf(j))
		if l := st.lock; l != nil && !l.over() {
			return &jobs.StateError{Why: "it is locked by " + l.run}
		}
		st.lock = nil
		return nil
	})
	return r, err
}
