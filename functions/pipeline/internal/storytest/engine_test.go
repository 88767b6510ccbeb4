package storytest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// engine is the engine of a story. Its plans add a resource for each line "resource" in the project's
// directory that the state does not have yet. Results of a step "engine CALL PROJECT RESULT" come first:
//
//	plan     fails, error TEXT, death TEXT, full, read FILE, empty, drifts,
//	         meanwhile STEP: the step happens while it is made, and ends it
//	check    fails, error TEXT, differs, same
//	apply    fails, error TEXT, lost, rests, moved MODULE, other-version, differs,
//	         stops STEP, goes STEP, rests STEP: the step happens while it is made, and ends it, or does not
//	discover, inputs   death TEXT: see [projects]
//	state    written: somebody else writes the state; takes effect at once
//	snapshot fails, error TEXT
//	unlock   1, 1 other, fails TEXT
//	test     fails TEXT, breaks TEXT, none, error TEXT, meanwhile STEP: as of a plan
//	query, show    fails TEXT, error TEXT
//	recover  changed, doubt ADDRESS, conflict ADDRESS, fails TEXT
type engine struct {
	w *world
	// meanwhile plays a step while a plan is being made.
	meanwhile func(step string)
	states    map[string]*state
	rules     []rule
	done      []rule // of applies that have changed something
}

// A state is that of a project.
type state struct {
	runs.StateID
	resources int
}

// A rule is the result of the next call for a project.
type rule struct{ call, project, word, rest string }

// add takes in a step.
func (e *engine) add(text string) error {
	words := strings.SplitN(text, " ", 4)
	if len(words) < 3 {
		return fmt.Errorf("engine %s: call, project and result are wanted", text)
	}
	r := rule{call: words[0], project: words[1], word: words[2]}
	if len(words) == 4 {
		r.rest = words[3]
	}
	if r.call == "state" {
		e.state(r.project).write()
		return nil
	}
	e.rules = append(e.rules, r)
	return nil
}

// take removes the rule for a call.
func (e *engine) take(call, project string) rule {
	for i, r := range e.rules {
		if r.call == call && r.project == project {
			e.rules = append(e.rules[:i], e.rules[i+1:]...)
			return r
		}
	}
	return rule{}
}

func (e *engine) state(project string) *state {
	if e.states[project] == nil {
		e.states[project] = &state{}
	}
	return e.states[project]
}

// write is a write of the state, by anybody.
func (s *state) write() {
	s.Lineage = "lineage"
	s.Serial++
	s.Version = fmt.Sprintf("version%d", s.Serial)
}

// start traces a job, and returns an error if its process is dead.
func (e *engine) start(call string, j jobs.Job) error {
	text := fmt.Sprintf("%s %s in %s", call, j.Project, j.Dir)
	for _, x := range []struct{ name, value string }{
		{"workspace", strings.TrimPrefix(j.Workspace, "default")},
		{"for", j.Owner},
		{"pull", fmt.Sprintf("%s %d #%d at %s", j.Repo, j.Installation, j.Number, j.Head)},
		{"variables", strings.Join(j.VarFiles, " ")},
		{"limited", limited(j)},
		{"language", string(j.Language)},
		{"refresh", strings.TrimSpace(string(j.Refresh.Objects + " " + j.Refresh.Data))},
		{"state", j.State.String()},
		{"without a state because", j.NoState},
		{"sealed by", sealedBy(j)},
		{"run", j.Run},
		{"foreseen", foreseen(j)},
		{"linked", linked(j)},
	} {
		if x.value != "" {
			text += ", " + x.name + " " + x.value
		}
	}
	if j.Snapshot != nil {
		text += ", of a snapshot"
	}
	if j.Continues {
		text += ", continues"
	}
	if j.Planned != (runs.StateID{}) {
		text += fmt.Sprintf(", planned %d", j.Planned.Serial)
	}
	return e.w.decide(memory.Effect{Call: text, Reads: true}).Undone
}

// limited are the limits of providers.
func limited(j jobs.Job) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(j.ProviderParallelism)) {
		out = append(out, fmt.Sprintf("%s=%d", name, j.ProviderParallelism[name]))
	}
	return strings.Join(out, " ")
}

// foreseen are the projects with planned outputs, and "FAILED" behind those whose plans have failed.
func foreseen(j jobs.Job) string {
	var out []string
	for _, f := range j.Foreseen {
		name := f.Project
		if f.Failed {
			name += " FAILED"
		} else if f.Plan == "" {
			name += " as it is"
		}
		out = append(out, name)
	}
	return strings.Join(out, " and ")
}

// linked are the projects whose outputs it has as inputs, with the places of their states.
func linked(j jobs.Job) string {
	var out []string
	for _, l := range j.Linked {
		out = append(out, l.Project+" at "+l.Place.String()+l.Nowhere)
	}
	return strings.Join(out, " and ")
}

// sealedBy are the files with the encryption block that holds, with their first lines.
func sealedBy(j jobs.Job) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(j.Sealing.Files)) {
		first, _, _ := strings.Cut(string(j.Sealing.Files[name]), "\n")
		out = append(out, name+" "+first)
	}
	return strings.Join(out, " ")
}

// Plan implements [jobs.Engine].
func (e *engine) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if err := e.start("plan", j); err != nil {
		return jobs.PlanResult{}, err
	}
	r := e.take("plan", j.Project)
	if r.word == "meanwhile" {
		e.meanwhile(r.rest)
		<-ctx.Done()
		return jobs.PlanResult{}, fmt.Errorf("plan %s: %w", j.Project, context.Cause(ctx))
	}
	return e.plan(j, r)
}

// Check implements [jobs.Engine]: a plan is another one if its bytes are others, but for the state.
func (e *engine) Check(_ context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	if err := e.start("check", j); err != nil {
		return jobs.Checked{}, err
	}
	r := e.take("check", j.Project)
	switch r.word {
	case "error":
		return jobs.Checked{}, errors.New(r.rest)
	case "fails":
		return jobs.Checked{Problem: "It cannot be planned."}, nil
	}
	now, err := e.plan(j, rule{})
	if err != nil {
		return jobs.Checked{}, err
	}
	was, _, _ := strings.Cut(string(plan), " to add to ")
	is, _, _ := strings.Cut(string(now.Plan), " to add to ")
	again := &jobs.Replanned{Plan: now, Equal: was == is && r.word != "differs" || r.word == "same"}
	if !again.Equal {
		again.Difference = "The changes differ."
	}
	return jobs.Checked{Now: jobs.BeforeApply{State: now.State, Again: again}}, nil
}

func (e *engine) plan(j jobs.Job, r rule) (jobs.PlanResult, error) {
	st := e.state(j.Project)
	add, reads, err := countResources(filepath.Join(j.Checkout, filepath.FromSlash(j.Dir)))
	if err != nil {
		return jobs.PlanResult{}, err
	}
	if add -= st.resources; j.Options.RefreshOnly {
		add = 0
	}
	p := jobs.PlanResult{
		State: st.StateID, Counts: counting.Counts{Add: add}, Applyable: add != 0,
		Plan:   fmt.Appendf(nil, "the plan of %s, %d to add to %d", j.Project, add, st.Serial),
		Parts:  runs.PlanParts{State: st.StateID, Variables: "variables", Engine: "test"},
		Report: fmt.Sprintf("%d to add in %s.", add, j.Project),
	}
	if j.Foresee && p.Applyable {
		p.Outputs = fmt.Appendf(nil, "the outputs of %s", p.Plan)
	}
	for _, f := range j.Foreseen {
		if reads || len(j.Linked) > 0 {
			p.Asked = append(p.Asked, f.Place)
		}
	}
	if j.PlanJSON {
		var changes []string
		for i := range add {
			changes = append(changes, fmt.Sprintf(`{"address":"x.new[%d]","mode":"managed","change":{"actions":["create"]}}`, i))
		}
		p.JSON = fmt.Appendf(nil, `{"resource_changes":[%s]}`, strings.Join(changes, ","))
	}
	if j.Snapshot != nil {
		p.Plan, p.Applyable, p.Previewed = nil, false, true
	}
	switch r.word {
	case "error":
		return jobs.PlanResult{}, errors.New(r.rest)
	case "death":
		return jobs.PlanResult{}, &jobs.DeathError{What: "planning", Why: r.rest, Remedy: "Make it smaller."}
	case "fails":
		p.Plan, p.Applyable, p.Report, p.Outputs, p.Previewed = nil, false, "It cannot be planned.", nil, false
	case "full":
		p.Full = p.Report + " And more."
	case "read":
		p.Read = strings.Fields(r.rest)
	case "drifts":
		p.Applyable, p.Drifted, p.Report = true, 1, "lab_thing.a has changed."
	case "empty":
		p.Counts, p.Applyable = counting.Counts{}, false
	}
	return p, nil
}

// countResources counts the resources in the files of a directory. reads is set if one reads the states of others.
func countResources(dir string) (n int, reads bool, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		return 0, false, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, false, err
		}
		reads = reads || strings.Contains(string(text), "terraform_remote_state")
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "resource ") {
				n++
			}
		}
	}
	return n, reads, nil
}

// Apply implements [jobs.Engine].
func (e *engine) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if err := e.start("apply "+string(plan)+" of", j); err != nil {
		return jobs.Outcome{}, err
	}
	r, st := e.take("apply", j.Project), e.state(j.Project)
	switch r.word {
	case "error":
		return jobs.Outcome{}, errors.New(r.rest)
	case "moved":
		return jobs.Outcome{Moved: []string{r.rest}}, nil
	}
	present := jobs.BeforeApply{State: st.StateID, OtherVersion: r.word == "other-version"}
	answer := permit(present)
	if answer == jobs.PlanAgain || answer == jobs.PlanCheckout {
		again, err := e.plan(j, e.take("plan", j.Project))
		if err != nil {
			return jobs.Outcome{}, err
		}
		e.w.trace("plan again: " + string(again.Plan) + ", as " + string(answer))
		present.Again = &jobs.Replanned{Plan: again, Equal: r.word != "differs"}
		if !present.Again.Equal {
			present.Again.Difference = "One more."
		}
		answer, plan = permit(present), again.Plan
	}
	if answer != jobs.Permitted {
		return jobs.Outcome{Refused: true, State: st.StateID}, nil
	}
	var project string
	var add int
	if _, err := fmt.Sscanf(string(plan), "the plan of %s %d to add", &project, &add); err != nil {
		return jobs.Outcome{}, fmt.Errorf("not a plan of ours: %w", err)
	}
	if err := e.w.decide(memory.Effect{Call: "change " + j.Project, Reads: true}).Undone; err != nil {
		return jobs.Outcome{}, err
	}
	switch r.word {
	case "stops":
		e.meanwhile(r.rest)
		<-ctx.Done()
	case "goes":
		e.meanwhile(r.rest)
	case "rests":
		if r.rest != "" {
			e.meanwhile(r.rest)
		}
	}
	return e.carryOut(r, st, add), nil
}

// again takes in rules for the repetition of a message, but for those of applies that will not be repeated.
func (e *engine) again(rules []rule) {
	e.rules = slices.DeleteFunc(rules, func(r rule) bool { return slices.Contains(e.done, r) })
}

// carryOut changes a state by a plan.
func (e *engine) carryOut(r rule, st *state, add int) jobs.Outcome {
	e.done = append(e.done, r)
	st.write()
	out := jobs.Outcome{State: st.StateID, Progress: comment.Progress{Done: add, Of: add}}
	switch r.word {
	case "lost":
		return jobs.Outcome{Lost: true, Report: "The process was killed."}
	case "fails":
		out.Failed, out.Report, out.Remaining = true, "It cannot be applied.", add
		out.Progress.Done = 0
	case "rests", "stops":
		out.Resumable, out.Remaining, out.Progress.Done = true, add, 0
	default:
		st.resources += add
		out.Counts = counting.Counts{Add: add}
	}
	return out
}

// Snapshot implements [jobs.Engine].
func (e *engine) Snapshot(_ context.Context, j jobs.Job) (jobs.Snapshot, error) {
	if err := e.start("snapshot", j); err != nil {
		return jobs.Snapshot{}, err
	}
	switch r := e.take("snapshot", j.Project); r.word {
	case "fails":
		return jobs.Snapshot{Problem: "It cannot be read."}, nil
	case "error":
		return jobs.Snapshot{}, errors.New(r.rest)
	}
	return jobs.Snapshot{State: []byte("{}"), ID: e.state(j.Project).StateID}, nil
}

// Show implements [jobs.Engine].
func (e *engine) Show(_ context.Context, j jobs.Job, c comment.Command) (comment.Shown, string, error) {
	if err := e.start(c.String(), j); err != nil {
		return comment.Shown{}, "", err
	}
	switch r := e.take("show", j.Project); r.word {
	case "fails":
		return comment.Shown{}, r.rest, nil
	case "error":
		return comment.Shown{}, "", errors.New(r.rest)
	}
	s := comment.Shown{Command: c, Project: j.Project}
	for i := range e.state(j.Project).resources {
		s.Add(fmt.Sprintf("x.r%d\n", i))
	}
	return s, "", nil
}

// Query implements [jobs.Engine].
func (e *engine) Query(_ context.Context, j jobs.Job, room int) (comment.Queried, string, error) {
	if err := e.start(fmt.Sprintf("query %d", room), j); err != nil {
		return comment.Queried{}, "", err
	}
	r := e.take("query", j.Project)
	switch r.word {
	case "fails":
		return comment.Queried{}, r.rest, nil
	case "error":
		return comment.Queried{}, "", errors.New(r.rest)
	}
	out := comment.Queried{Project: j.Project, Dir: j.Dir, Lists: []comment.QueriedList{{Address: "list.x.all", Found: 2, Managed: 1}}}
	if room > 0 {
		out.Config = "import {}"
	}
	return out, "", nil
}

// Test implements [jobs.Engine].
func (e *engine) Test(ctx context.Context, j jobs.Job) (comment.Tests, error) {
	out := comment.Tests{Project: j.Project, Count: comment.TestCount{Pass: 2}}
	if err := e.start("test", j); err != nil {
		return out, err
	}
	switch r := e.take("test", j.Project); r.word {
	case "fails":
		out.Count = comment.TestCount{Pass: 1, Fail: 1}
		out.Notes = []comment.LineNote{{Path: j.Dir + "/a.tftest.hcl", Line: 3, Last: 4, Title: "Test assertion failed", Message: r.rest}}
	case "breaks":
		out.Broken, out.Report, out.Count = true, r.rest, comment.TestCount{}
	case "none":
		out.Count = comment.TestCount{}
	case "error":
		return out, errors.New(r.rest)
	case "meanwhile":
		e.meanwhile(r.rest)
		<-ctx.Done()
		return out, fmt.Errorf("test %s: %w", j.Project, context.Cause(ctx))
	}
	return out, nil
}

// Recover implements [jobs.Engine].
func (e *engine) Recover(_ context.Context, j jobs.Job) (comment.Recovered, error) {
	if err := e.start("recover", j); err != nil {
		return comment.Recovered{}, err
	}
	out := comment.Recovered{Project: j.Project}
	switch r := e.take("recover", j.Project); r.word {
	case "fails":
		return out, &jobs.StateError{Why: r.rest, Remedy: "Look for it."}
	case "error":
		return out, errors.New(r.rest)
	case "changed":
		out.Changed = true
	case "conflict":
		out.Conflicts = []string{r.rest}
	}
	return out, nil
}

// Unlock implements [jobs.Engine].
func (e *engine) Unlock(_ context.Context, j jobs.Job) (jobs.Unlocked, error) {
	if err := e.start("unlock", j); err != nil {
		return jobs.Unlocked{}, err
	}
	var out jobs.Unlocked
	switch r := e.take("unlock", j.Project); r.word {
	case "fails":
		return out, &jobs.StateError{Why: r.rest, Remedy: "Look for it."}
	case "error":
		return out, errors.New(r.rest)
	case "other":
		out.Others = []string{r.rest}
	case "":
	default:
		out.Locks = 1
	}
	return out, nil
}
