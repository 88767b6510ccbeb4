package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// team is what a team has set up for its repository: in each history something else, and in some nothing.
type team struct {
	approvals, owners, override bool
	environment                 bool   // of GitHub, for p0, with bob as its reviewer
	limit                       int    // of changes in p1; 0 for none
	window                      string // of applies; "" for always
	frozen                      bool   // in the first hour
	policy                      string // about values of objects, at first; "" for none
	gate, hook, forks, merges   bool   // merges alone apply p1

	policies int                  // that there were on the base branch
	tips     map[string]string    // of the base branch when an apply asked for its permission, by jobs.Job.Run
	strict   bool                 // the gate denies what has a 2
	down     bool                 // it gives no answer
	calls    map[string]*call     // of hooks, by step
	asked    map[string]time.Time // the first change of an apply, by jobs.Job.Run
	// unanswered are the applies of which a hook could not be told, by jobs.Job.Run.
	unanswered map[string]bool
	fork       *githubtest.Repository
	named      map[string]bool // heads of the fork that somebody with rights has named
}

// A call is a step that a hook was called with, once or more, always with the same answer.
type call struct {
	jobs.HookCall
	answer reasons.Hooked
}

// teaming reports whether a history is a team's.
func (s *simulation) teaming() bool { return s.length.team }

// setUpTeam chooses the team's rules, whatever else the seed decides.
func (s *simulation) setUpTeam() {
	x := rand.New(rand.NewPCG(s.seed, 1))
	one := func(of int) bool { return x.IntN(of) == 0 }
	s.team = team{calls: map[string]*call{}, asked: map[string]time.Time{}, unanswered: map[string]bool{}, tips: map[string]string{}, named: map[string]bool{}}
	if !s.teaming() || one(8) {
		return
	}
	t := &s.team
	t.approvals, t.environment, t.gate, t.hook, t.forks, t.merges, t.override = one(3), one(3), one(3), one(3), one(4), one(4), one(2)
	t.owners = !t.approvals && one(4)
	if one(4) {
		t.limit = 1 + x.IntN(3)
	}
	if one(6) {
		t.window = fmt.Sprintf("daily 00:%02d-23:%02d UTC", 10*(1+x.IntN(5)), 10*x.IntN(6))
	}
	t.frozen = t.window == "" && one(6)
	if one(5) {
		t.policy = denies(x.IntN(3))
	}
}

// blocks are those of lockstep.hcl in a team's history, for both projects, and of other files.
func (s *simulation) blocks(files githubtest.Files) {
	t := s.team
	lift := ""
	if t.override {
		lift = "  override = [\"alice\"]\n"
	}
	text := "project \"p0\" {\n  dir = \"p0\"\n"
	if s.queues() {
		text += "  apply = \"merge\"\n"
	}
	if t.environment {
		text += "  environment = \"prod\"\n"
	}
	text += "}\nproject \"p1\" {\n  dir = \"p1\"\n"
	if t.merges || s.queues() {
		text += "  apply = \"merge\"\n"
	}
	text += "}\n"
	add := func(wanted bool, block string) {
		if wanted {
			text += block
		}
	}
	add(t.environment, "environment \"prod\" {\n  github = \"production\"\n}\n")
	add(t.approvals, "require \"apply\" {\n  approvals = 1\n"+lift+"}\n")
	add(t.owners, "require \"apply\" {\n  codeowners = true\n"+lift+"}\n")
	add(t.limit > 0, fmt.Sprintf("require \"apply\" {\n  projects = [\"p1\"]\n  max_changes = %d\n%s}\n", t.limit, lift))
	add(t.window != "", fmt.Sprintf("require \"apply\" {\n  windows = [%q]\n}\n", t.window))
	add(t.frozen, "require \"apply\" {\n  freeze = [\""+holidays+"\"]\n}\n")
	add(t.policy != "", "policy \"values\" {\n  dir = \"policy\"\n"+lift+"}\n")
	add(t.gate, "gate \"cost\" {\n  function = \"arn:aws:lambda:eu-west-1:111122223333:function:lockstep-call-cost\"\n"+lift+"}\n")
	add(t.hook, "hook \"ticket\" {\n  on = [\"after_plan\", \"before_apply\", \"after_apply\"]\n  function = \"arn:aws:lambda:eu-west-1:111122223333:function:lockstep-call-ticket\"\n}\n")
	add(t.forks, "allow {\n  forks = true\n}\n")
	files["lockstep.hcl"] = text
	if t.owners {
		files[".github/CODEOWNERS"] = "* @bob\n"
	}
	if t.policy != "" {
		files[policyFile] = t.policy
	}
}

const (
	policyFile = "policy/values.rego"
	holidays   = "1999-12-20/1999-12-31 Etc/GMT+1: holidays" // until the first hour is over in London
)

// denies is a policy against a value of objects: a model of one, which the engine's judge is, too.
func denies(value int) string { return fmt.Sprintf("package main\n# denies =%d\n", value) }

// against reports whether a policy denies a plan.
func against(policy string, p saved) bool {
	_, value, _ := strings.Cut(policy, "# denies ")
	return strings.Contains(p.token(), strings.TrimSpace(value))
}

// unpack writes the policies of a commit into a checkout, which has nothing else.
func (s *simulation) unpack(sha, dir string) error {
	if s.team.policy == "" {
		return nil
	}
	file := s.files(sha)[policyFile]
	if file == nil {
		return nil
	}
	name := filepath.Join(dir, filepath.FromSlash(policyFile))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, file.Data, 0o600)
}

// hosts sets up the team's part of GitHub.
func (s *simulation) hosts() {
	if s.team.environment {
		s.hub.Accepts("actions", "read")
		s.hub.Accepts("deployments", "write")
		s.repo.SetEnvironment("production", githubtest.Environment{Reviewers: []string{"bob"}})
	}
}

// pursue has somebody of a team take the next step to an apply, as soon as they can see that it is the next one.
func (s *simulation) pursue(p githubtest.PullView) {
	c, ok := s.newest(p.Head)["lockstep"]
	seen := ok && c.Status == github.CheckCompleted && (s.planned(p.Number) || !strings.Contains(c.Title, "to add") && !strings.Contains(c.Title, "ready to apply"))
	reviewed := s.reviewing() || s.team.environment
	switch {
	case p.Fork:
		s.visit(p)
	case !seen:
		s.goOn(60)
		s.soon = true
	case s.team.gate && s.IntN(4) == 0:
		s.goOn(60)
		s.team.strict, s.team.down = s.IntN(3) == 0, s.IntN(6) == 0
		s.note("the gate is strict: %v, and down: %v", s.team.strict, s.team.down)
	case s.team.policy != "" && s.IntN(12) == 0:
		s.note("alice changes the policy")
		s.team.policies++
		s.repo.Push("alice", "main", "Another policy", githubtest.Files{policyFile: denies(s.IntN(3))})
	case s.lifting() && s.IntN(4) == 0:
		s.goOn(60)
		s.lift(p)
	case reviewed && s.missesReview(p) && s.IntN(5) > 0:
		s.goOn(60)
		s.review(p)
	case reviewed && s.IntN(12) == 0:
		s.dismiss(p)
	case s.queues() && len(s.line) > 0:
		s.goOn(60)
		s.land()
	case s.queues() && !p.Conflicts && s.IntN(4) > 0:
		s.enqueue(p)
	case strings.HasSuffix(c.Title, "No project is affected"):
		s.goOn(60)
		sha := s.repo.Push("alice", p.From, "More", s.editAnywhere())
		s.isPushed(sha, p.Number)
	case !p.Conflicts && !s.queues() && (s.IntN(16) == 0 || c.Conclusion == github.ConcludedSuccess):
		s.merge(p)
	default:
		s.comment(p, []string{"alice", "bob"}[s.IntN(2)], "lockstep apply")
	}
}

// goOn has people act once more, up to a number of times.
func (s *simulation) goOn(most int) {
	if s.awaited++; s.awaited <= most {
		s.acts++
	}
}

// theirs has mallory open a pull request from a fork, or push to it.
func (s *simulation) theirs() {
	if s.team.fork == nil {
		s.team.fork = s.repo.Fork("mallory")
	}
	if n := s.IntN(3); n > 0 {
		branch := fmt.Sprintf("theirs-%d", n)
		push, known := s.team.fork.Push, slices.ContainsFunc(s.repo.Pulls(), func(p githubtest.PullView) bool { return p.Fork && p.From == branch && p.State == "open" })
		sha := push("mallory", branch, "Theirs", s.editAnywhere())
		if !known {
			number := s.repo.OpenPullFrom(s.team.fork, "mallory", "Theirs", branch)
			s.note("mallory opens #%d from a fork", number)
			s.pushed[sha] = append(s.pushed[sha], number)
			return
		}
		s.note("mallory pushes to %s", branch)
	}
}

// visit has somebody name the head of a fork, or try in vain to have it planned.
func (s *simulation) visit(p githubtest.PullView) {
	who := []string{"alice", "bob", "mallory"}[s.IntN(3)]
	switch s.IntN(5) {
	case 0:
		s.comment(p, who, "lockstep apply")
	case 1:
		s.comment(p, who, "lockstep plan")
	case 2:
		if !p.Conflicts && s.IntN(2) == 0 {
			s.merge(p)
			return
		}
		fallthrough
	default:
		if who != "mallory" {
			s.team.named[p.Head] = true
		}
		s.comment(p, who, "lockstep plan "+p.Head)
	}
}

// ofFork reports whether a pull request is from a fork, and not merged.
func (s *simulation) ofFork(number int) bool {
	p, ok := s.view(number)
	return ok && p.Fork && p.State != "merged"
}

// nameless holds that nothing of a fork is planned, not even read, unless somebody with rights has named the commit, and that it
// is planned of a snapshot.
func (s *simulation) nameless(j jobs.Job, doing string) {
	if s.ofFork(j.Number) && !s.team.named[j.Head] {
		s.bug("%s of #%d is %s for %.7s of a fork, which nobody has named", j.Project, j.Number, doing, j.Head)
	}
	if s.ofFork(j.Number) && j.Snapshot == nil && doing == "planned" {
		s.bug("%s of #%d, which is from a fork, is planned with rights", j.Project, j.Number)
	}
}

// judge is the content of a plan, with the answers of its gates. It waits for them.
func (e engine) judge(ctx context.Context, j jobs.Job, p saved, res *jobs.PlanResult) error {
	if !e.s.teaming() {
		return nil
	}
	c, err := e.contentOf(ctx, j, p)
	res.Content = c
	return err
}

func (e engine) contentOf(ctx context.Context, j jobs.Job, p saved) (*runs.Content, error) {
	n := p.counts()
	var destroyed []string
	if n.Destroy > 0 {
		destroyed = []string{"t"}
	}
	c := runs.ContentOf(n, destroyed)
	for _, x := range j.Policies {
		v := runs.Judgement{Name: x.Name, ID: x.ID()}
		if x.Problem != "" {
			v.Mistakes = []string{x.Problem}
		}
		for _, data := range x.Files {
			if against(string(data), p) {
				v.Denied = append(v.Denied, "a value is not allowed")
			}
		}
		c.Judgements = append(c.Judgements, v)
	}
	for _, g := range j.Gates {
		v := runs.Judgement{Name: g.Name, ID: g.ID()}
		err := e.do(ctx, "ask the gate about "+j.Dir, func() error { e.s.answer(g, p, &v); return nil })
		if err != nil && !errors.Is(err, errDown) {
			return nil, err
		}
		if err != nil {
			v.Denied, v.Mistakes = nil, []string{"it gave no answer"}
		}
		c.Verdicts = append(c.Verdicts, v)
	}
	return c, nil
}

// judged adds the content of a plan that is about to be applied, and notes whether a gate is against it.
func (a *applying) judged(ctx context.Context, p saved, to **runs.Content) (err error) {
	if !a.s.teaming() {
		return nil
	}
	if *to, err = a.contentOf(ctx, a.j, p); err != nil {
		return err
	}
	if a.s.team.tips[a.j.Run] == "" {
		a.s.team.tips[a.j.Run] = a.s.repo.Head("main")
	}
	a.denied = slices.ContainsFunc((*to).Verdicts, func(v runs.Judgement) bool { return len(v.Denied)+len(v.Mistakes) > 0 })
	return nil
}

// answer is that of the gate.
func (s *simulation) answer(_ requirements.Gate, p saved, v *runs.Judgement) {
	switch {
	case s.team.down:
		v.Mistakes = []string{"it gave no answer"}
	case s.team.strict && strings.Contains(p.token(), "=2"):
		v.Denied = []string{"a 2 is too dear"}
	}
}

// step is the jobs.HookFunc of a process.
func (s *simulation) hookOf(p *process) jobs.HookFunc {
	if !s.team.hook {
		return nil
	}
	return func(ctx context.Context, x jobs.HookCall) (said reasons.Hooked, err error) {
		said = reasons.Hooked{Hook: x.Hook.Name, Event: string(x.Event)}
		err = p.do(ctx, fmt.Sprintf("call the hook of %s for %s", x.Event, x.Run.Project), func() error {
			said = s.called(x, said)
			return nil
		})
		if errors.Is(err, errDown) {
			s.team.unanswered[fmt.Sprintf("%s/%d", x.Run.Key(), x.Run.Asked.Try)] = true
			return reasons.Hooked{Hook: x.Hook.Name, Event: string(x.Event), Mistake: "no answer in time"}, nil
		}
		return said, err
	}
}

// called is the answer of a hook, which holds that a step is the same each time.
func (s *simulation) called(x jobs.HookCall, said reasons.Hooked) reasons.Hooked {
	before := s.team.calls[x.ID()]
	if before != nil {
		if before.Failed != x.Failed || before.Counts != x.Counts || before.Event != x.Event {
			s.bug("the hook %s is called for %s of #%d with one ID, and two outcomes: %v %+v, and %v %+v", x.Event, x.Run.Project, x.Run.Pull.Number, before.Failed, before.Counts, x.Failed, x.Counts)
		}
		return before.answer
	}
	if x.Event.Before() && s.IntN(5) == 0 && !s.calm {
		said.Refuses, said.Messages = true, []string{"no ticket"}
	}
	s.team.calls[x.ID()] = &call{x, said}
	s.note("the hook of %s for %s of #%d refuses: %v", x.Event, x.Run.Project, x.Run.Pull.Number, said.Refuses)
	return said
}

// stepOf is the last call of a hook at an event for an apply, nil if there was none.
func (s *simulation) stepOf(event endpoints.HookEvent, run string) *call {
	for _, c := range s.team.calls {
		if c.Event == event && fmt.Sprintf("%s/%d", c.Run.Key(), c.Run.Asked.Try) == run {
			return c
		}
	}
	return nil
}

// allowed holds, at the first change of an apply, that all that a team demands was so after the apply had asked for its permission.
func (s *simulation) allowed(a *applying, p saved) {
	j, asked := a.j, s.beginnings[a.j.Run]
	if !s.teaming() || a.st.begun.done > 0 || j.Continues || !s.team.asked[j.Run].IsZero() {
		return
	}
	s.team.asked[j.Run] = time.Now()
	if s.ofFork(j.Number) {
		s.bug("%s of #%d is applied, which is from a fork", j.Project, j.Number)
	}
	if s.team.hook {
		if c := s.stepOf(endpoints.BeforeApply, j.Run); c == nil || c.answer.Refuses {
			s.bug("%s of #%d is applied, and its hook has not let it", j.Project, j.Number)
		}
	}
	if !s.opened(asked, time.Now()) {
		s.bug("%s of #%d is applied in a freeze, or outside of %s", j.Project, j.Number, s.team.window)
	}
	if s.team.environment && j.Project == "p0" && j.Actor != "bob" && !s.reviewedSince(j, asked) {
		s.bug("%s of #%d is applied for %s, and no reviewer of its environment has approved it", j.Project, j.Number, j.Actor)
	}
	lifted := slices.ContainsFunc(s.lifted, func(l lifted) bool {
		return l.number == j.Number && l.head == j.Head && l.tokens[p.token()]
	})
	n := p.counts()
	if n := n.Add + n.Change + n.Destroy + n.Forget; s.team.limit > 0 && j.Project == "p1" && n > s.team.limit && !lifted {
		s.bug("%s of #%d is applied with %d changes, of at most %d", j.Project, j.Number, n, s.team.limit)
	}
	denied := s.team.policy != ""
	for _, sha := range []string{s.team.tips[j.Run], s.repo.Head("main")} {
		denied = denied && against(s.repo.Files(sha)[policyFile], p)
	}
	if denied && !lifted {
		s.bug("%s of #%d is applied, and the policies deny it", j.Project, j.Number)
	}
	if s.team.gate && a.denied && !lifted {
		s.bug("%s of #%d is applied, and the gate has denied it", j.Project, j.Number)
	}
}

// reviewedSince reports whether bob's approval of a head stood at a time, or later.
func (s *simulation) reviewedSince(j jobs.Job, at time.Time) bool {
	return slices.ContainsFunc(s.reviewed, func(r review) bool {
		return r.number == j.Number && r.head == j.Head && (r.dismissed.IsZero() || !r.dismissed.Before(at))
	})
}

// opened reports whether the window of a team was open, without a freeze, at a time, or at another one.
func (s *simulation) opened(times ...time.Time) bool {
	return slices.ContainsFunc(times, func(at time.Time) bool {
		open := s.team.window == "" || requirements.Window{Text: s.team.window}.Open(at)
		return open && !(s.team.frozen && requirements.Freeze{Text: holidays}.Holds(at))
	})
}

// heldByTeam reports whether a plan that could be applied otherwise lacks what a team demands of it; unsure whether that may be lifted, or
// depends on who asks, or on the time.
func (s *simulation) heldByTeam(r runs.Run) (held, unsure bool) {
	if !s.teaming() {
		return false, false
	}
	now := time.Now()
	p, _ := s.view(r.Pull.Number)
	// The janitor has an eye on the clock, and comes between.
	clock := s.team.window != "" || s.team.frozen
	unsure = clock && s.opened(now) != s.opened(now.Add(-30*time.Minute)) || s.ofFork(p.Number)
	unsure = unsure || s.team.environment && r.Project == "p0" && s.missesReview(githubtest.PullView{Number: r.Pull.Number, Head: r.Spec.Head})
	held = !s.opened(now)
	if c := cmp.Or(r.Plan.Judged, r.Plan.Content); c != nil {
		over := s.team.limit > 0 && r.Project == "p1" && c.Changes > s.team.limit
		for _, v := range slices.Concat(c.Verdicts, c.Judgements) {
			over = over || len(v.Denied)+len(v.Mistakes) > 0
		}
		unsure = unsure || s.team.policies > 0
		held, unsure = held || over && !s.team.override, unsure || over && s.team.override
	}
	return held && !unsure, unsure
}

// toldByTeam holds, at the end, that hooks and deployments were told of the last apply of a run.
func (s *simulation) toldByTeam(r runs.Run) {
	if r.Asked.Try == 0 || r.Apply.Lost || r.Phase != runs.Applied && r.Phase != runs.ApplyFailed {
		return
	}
	run := fmt.Sprintf("%s/%d", r.Key(), r.Asked.Try)
	if c := s.stepOf(endpoints.AfterApply, run); s.team.hook && !s.team.unanswered[run] && (c == nil || c.Failed != (r.Phase == runs.ApplyFailed)) {
		s.bug("%s of #%d is %s, and its hook was not told so", r.Project, r.Pull.Number, r.Phase)
	}
	if r.Plan.Deploys == "" {
		return
	}
	want := map[runs.Phase]string{runs.Applied: "success", runs.ApplyFailed: "failure"}[r.Phase]
	task := fmt.Sprintf("lockstep:%s:%d", r.MessageName(), r.Asked.Try)
	if !slices.ContainsFunc(s.repo.Deployments(), func(d githubtest.Deployment) bool {
		return d.Task == task && d.Environment == r.Plan.Deploys && d.States[len(d.States)-1] == want
	}) {
		s.bug("%s of #%d is %s, and its deployment is not told as a %s", r.Project, r.Pull.Number, r.Phase, want)
	}
}

// deployedAtRest holds that no deployment is under way when everything has come to rest.
func (s *simulation) deployedAtRest() {
	for _, d := range s.repo.Deployments() {
		if last := d.States[len(d.States)-1]; last == "in_progress" && len(s.abandoned) == 0 {
			s.bug("the deployment %s of %.7s is %s for ever", d.Task, d.SHA, last)
		}
	}
}
