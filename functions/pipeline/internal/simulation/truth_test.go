package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// approved holds that somebody with permission has approved the content of a plan, for this apply and
// no other.
func (s *simulation) approved(j jobs.Job, p saved) {
	t := p.token()
	var spent string
	for _, a := range s.approvals {
		if a.number != j.Number || !a.tokens[t] && a.seen != j.Head || a.merged != "" && a.merged != j.Head {
			continue
		}
		if s.removing() && j.Options.Destroy && a.own != j.Project {
			continue // nobody removes the objects of a project by an apply of all, or a merge
		}
		if s.opting() && a.merged != "" && !entire(p.Options) {
			continue // a merge applies all that its pull request changes
		}
		if used := a.used[t]; used == "" || used == j.Run {
			a.used[t] = j.Run
			return
		} else {
			spent = used
		}
	}
	if spent != "" {
		s.bug("%s is applied for #%d as %s, whose approval was for %s", t, j.Number, j.Run, spent)
		return
	}
	s.bug("%s is applied for #%d, and nobody approved it", t, j.Number)
}

// reverts holds that an apply does not take back what another pull request has applied that was open when it
// asked for its permission.
func (s *simulation) reverts(a *applying, dir, name string) {
	by := a.st.by[name]
	if by == 0 || by == a.j.Number || s.reopened[by].After(a.asked) {
		return
	}
	for _, p := range s.repo.Pulls() {
		if p.Number == by && p.State == "open" {
			s.bug("#%d changes %s of %s, which #%d has applied and not merged", a.j.Number, name, dir, by)
		}
	}
}

// trespasses holds that an apply leaves alone what a person had locked for another open pull request when it
// asked for its permission, and began.
func (s *simulation) trespasses(a *applying) {
	target := a.j.Project + "@default"
	names := []string{runs.StateName(a.j.State.String(), target), target}
	if s.migrating() {
		names = append(names, runs.StateName("s3://states/"+other(stateOf(a.j)), target))
	}
	for _, rec := range s.Peek(fmt.Sprintf("lock/%d", a.j.Repo.ID)) {
		if _, name, _ := strings.Cut(strings.TrimPrefix(rec.Key, "lock/"), "/"); !slices.Contains(names, name) {
			continue
		}
		at, known := s.records.locked[rec.Key+string(rec.Value)]
		var v runs.Reservation
		if err := json.Unmarshal(rec.Value, &v); err != nil || !known {
			s.bug("the lock %s: %v", rec.Value, err)
		}
		for _, p := range s.repo.Pulls() {
			if v.Blocks(a.j.Number) != nil && p.Number == v.Number && p.State == "open" && at.Before(s.beginnings[a.j.Run]) && s.reopened[p.Number].Before(at) {
				s.bug("#%d changes %s, which %s has locked for #%d", a.j.Number, a.j.Project, v.By, v.Number)
			}
		}
	}
}

// outOfOrder returns the reason for which an apply may not begin yet, as far as another project is one: the base
// branch has p1 depend on p0, and the pull request has changes of p0 that are not applied. It is "" if
// there is none.
func (s *simulation) outOfOrder(j jobs.Job) string {
	if origin(j.Project) != "p1" || !strings.Contains(string(s.repo.Files(s.repo.Head("main"))["lockstep.hcl"]), "depends_on") {
		return ""
	}
	pull := pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: j.Number}
	for _, rec := range s.Peek(pull.Runs()) {
		r, err := ledger.DecodeRun(rec)
		if err != nil || origin(r.Project) != "p0" || r.End.Renamed != "" || r.Spec.Head != j.Head {
			continue
		}
		phase := r.Phase
		if phase == runs.Dropped {
			phase = r.End.Was
		}
		if phase == runs.Applied || phase == runs.Superseded || phase == runs.Planned && !r.Plan.Applyable {
			return ""
		}
		return fmt.Sprintf("p0, which it depends on, is %s", phase)
	}
	// A push after the apply was asked for may touch more than it was about.
	same := func(p githubtest.PullView) bool { return p.Number == j.Number && p.Head == j.Head }
	if slices.ContainsFunc(s.repo.Pulls(), same) && slices.ContainsFunc(s.touched(j.Number), func(dir string) bool { return origin(dir) == "p0" }) {
		return "p0, which it depends on, is not planned"
	}
	return ""
}

// atTheEnd holds what must be true when everything has come to rest.
func (s *simulation) atTheEnd() {
	for dir, st := range s.states {
		if st.lock != nil && s.elsewhere(st.lock.number) {
			continue // who may release it cannot be told; another apply takes it over
		}
		// That of an apply whose processes all died stays, as its journal does if it has one: it may have changed something.
		if st.lock != nil && st.lock.lapses.IsZero() && !s.records.told[st.lock.run] {
			s.bug("the state of %s stays locked by %s", dir, st.lock.run)
		}
	}
	if left := s.Peek("lease"); len(left) > 0 {
		s.bug("a lease is left: %s", left[0].Value)
	}
	s.proven()
	s.answers()
	s.grouped()
	s.left()
	s.orphaned()
	s.deployedAtRest()
	for _, p := range s.repo.Pulls() {
		if s.abandoned[p.Number] {
			continue
		}
		s.pullAtRest(p.Number, p.State, p.Head, p.Conflicts)
	}
}

// proven holds that the audit records prove that only what was allowed was applied, and that all is recorded.
func (s *simulation) proven() {
	for chain, records := range s.chains.All() {
		v := audit.Verification{}
		for i, data := range records {
			v.Add(chain, i+1, data)
		}
		for _, f := range v.End() {
			if f.Break {
				s.bug("audit record %d of %s: %s", f.N, chain, f.Text)
			}
		}
	}
}

// lands holds that a pull request that Lockstep merges has all of its projects applied, at this head.
func (s *simulation) lands(number int, sha string) {
	s.note("#%d is to be merged", number)
	if !s.automerges() || slices.Contains(s.drafts, number) {
		s.bug("#%d is merged, and nobody has asked for it", number)
	}
	pull := pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: number}
	left := s.touched(number)
	for _, rec := range s.Peek(pull.Runs()) {
		r, err := ledger.DecodeRun(rec)
		if err != nil {
			s.bug("%v", err)
			continue
		}
		if r.Spec.Head == sha && !leavesOut(r) && (r.Phase == runs.Applied || r.Phase == runs.Planned && !r.Plan.Applyable) {
			left = slices.DeleteFunc(left, func(dir string) bool { return dir == r.Spec.Dir })
		}
	}
	if p, ok := s.view(number); ok && p.State == "open" && p.Head == sha && len(left) > 0 {
		s.bug("#%d is merged, and %v are not applied", number, left)
	}
}

// view is a pull request as people see it.
func (s *simulation) view(number int) (githubtest.PullView, bool) {
	all := s.repo.Pulls()
	i := slices.IndexFunc(all, func(p githubtest.PullView) bool { return p.Number == number })
	if i < 0 {
		return githubtest.PullView{}, false
	}
	return all[i], true
}

// pullAtRest holds that no run of a pull request waits for anybody but people, that an open one is
// planned at its head, and that its checks and its status tell so.
func (s *simulation) pullAtRest(number int, state, head string, conflicts bool) {
	pull := pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: number}
	shown := 0
	for _, x := range s.repo.Comments(number) {
		if x.Author == "lockstep[bot]" && strings.HasPrefix(x.Body, comment.StatusMarker) {
			shown++
		}
	}
	var all []runs.Run
	for _, rec := range s.Peek(pull.Runs()) {
		r, err := ledger.DecodeRun(rec)
		if err != nil {
			s.bug("%v", err)
			continue
		}
		all = append(all, r)
		s.toldByTeam(r)
		if r.Waiting() && (state != "merged" || !s.landsLater(r)) {
			s.bug("%s of #%d waits for %s for ever", r.Project, number, r.Asked.Waits.On)
		}
		switch r.Phase {
		case runs.Queued, runs.Planning, runs.ApplyQueued, runs.Applying, runs.Continuing:
			s.bug("%s of #%d is %s for ever", r.Project, number, r.Phase)
		}
	}
	if shown > 1 {
		s.bug("#%d has %d status comments", number, shown)
	}
	if s.elsewhere(number) {
		return // nothing of it is planned
	}
	if state != "open" {
		s.followedUp(number, state, head, all)
		for _, r := range all {
			// Of what was merged a person may have asked for a plan, and may apply it.
			if r.End.FinishedBy != 0 || r.Waiting() && r.Asked.Late {
				continue // nothing is left of it, or it was looked at above
			}
			if r.Phase == runs.Planned && r.Plan.Applyable && !(r.Spec.AfterMerge && state == "merged") {
				s.bug("%s of #%d waits for an apply, and it is %s", r.Project, number, state)
			} else if r.Phase == runs.Planned && r.Plan.Applyable {
				s.checked(r)
			}
		}
		return
	}
	if shown == 0 && slices.ContainsFunc(all, func(r runs.Run) bool { return r.Spec.Head == head && r.Phase != runs.Superseded }) {
		s.bug("#%d has no status comment, and %s is %s", number, all[0].Project, all[0].Phase)
	}
	checks := s.newest(head)
	s.required(number, head, conflicts, all, checks)
	if s.ofFork(number) {
		return // it is planned if somebody names it
	}
	for _, dir := range s.touched(number) {
		i := slices.IndexFunc(all, func(r runs.Run) bool { return r.Project == dir })
		switch {
		case conflicts:
		case s.twins() && !slices.Contains(s.asPushed[number], dir):
		case i < 0:
			s.bug("%s of #%d was never planned", dir, number)
		case all[i].Spec.Head != head && all[i].Phase != runs.Applied:
			s.bug("%s of #%d is %s at %.7s, and the head is %.7s", dir, number, all[i].Phase, all[i].Spec.Head, head)
		case all[i].Spec.Head == head:
			s.checked(all[i])
			s.merges(all[i])
		}
	}
}

// newest are the check runs of a commit by name. Two processes that make a check run at the same time leave two of one
// name: people and rules see the newest.
func (s *simulation) newest(sha string) map[string]github.Check {
	checks := map[string]github.Check{}
	for _, c := range s.repo.Checks(sha) {
		checks[c.Name] = c.Check
	}
	return checks
}

// left holds that no check of a commit that was a head is left without its end.
func (s *simulation) left() {
	for _, sha := range slices.Sorted(maps.Keys(s.pushed)) {
		if slices.ContainsFunc(s.pushed[sha], func(number int) bool { return s.abandoned[number] }) {
			continue
		}
		checks := s.newest(sha)
		for _, name := range slices.Sorted(maps.Keys(checks)) {
			if c := checks[name]; c.Status != github.CheckCompleted {
				s.bug("the check %s of %.7s, a head of #%v, is %s for ever: %s", name, sha, s.pushed[sha], c.Status, c.Title)
			}
		}
	}
}

// merges holds that a plan is of the head, merged into the tip of the base branch that it names.
func (s *simulation) merges(r runs.Run) {
	if r.Phase != runs.Planned || r.Spec.AfterMerge || r.Spec.Removed {
		return
	}
	want := s.repo.Files(r.Spec.Base)
	before, after := s.repo.ChangesInto(r.Spec.Base, r.Spec.Head)
	for name := range before {
		delete(want, name)
	}
	maps.Copy(want, after)
	if got := s.repo.Files(r.Spec.Merge); !maps.Equal(got, want) {
		s.bug("%s of #%d is planned of %.7s, which is not %.7s merged into %.7s", r.Project, r.Pull.Number, r.Spec.Merge, r.Spec.Head, r.Spec.Base)
	}
}

// leavesOut reports whether the plan of a run leaves out changes of its pull request. One of what has changed outside of the
// configuration does not, where that is applied: see TestDriftOfAnUnappliedHead.
func leavesOut(r runs.Run) bool {
	return !entire(r.Spec.Options) && !r.Spec.Removed && !stands(r) && (!r.Plan.Upheld || !r.Spec.Options.RefreshOnly)
}

// stands reports whether a plan with options has failed, or was stopped, of a head that has nothing left to be applied.
func stands(r runs.Run) bool {
	plain := r.Spec.Options
	plain.Destroy = plain.Destroy && !r.Spec.Removed
	return r.Phase == runs.PlanFailed && r.Plan.Upheld && !plain.IsZero()
}

// required holds that the head has the check that a rule can require, and that it is not green while a
// plan of the head has failed, or waits for its apply.
func (s *simulation) required(number int, head string, conflicts bool, all []runs.Run, checks map[string]github.Check) {
	c, ok := checks["lockstep"]
	if !ok {
		s.bug("the head of #%d has no required check", number)
		return
	}
	green := true
	for _, r := range all {
		if r.Spec.Head == head && r.Phase != runs.Superseded {
			green = green && !leavesOut(r) && (r.Phase == runs.Applied || stands(r) || r.Phase == runs.Planned && (!r.Plan.Applyable || r.Spec.ApplyOn == project.OnMerge))
		}
	}
	// A conflict that comes of the base branch has no event of its own; GitHub shows it beside the check.
	if c.Conclusion == github.ConcludedSuccess && !green && !conflicts {
		s.bug("the required check of #%d is green (%s), and it is not done", number, c.Title)
	}
}

// checked holds that the check of a run tells its phase. Another pull request with the same head has one of the same name.
func (s *simulation) checked(r runs.Run) {
	if r.Apply.Lost && s.ended[fmt.Sprintf("%s/%d", r.Key(), r.Asked.Try)] {
		s.bug("the apply of %s for #%d has come to its end, and is told as lost", r.Project, r.Pull.Number)
	}
	if !r.Spec.Shared.IsZero() {
		s.checkedShared(r)
		return
	}
	var c github.Check
	ok := false
	for _, x := range s.repo.Checks(r.Spec.Head) {
		if x.Name == r.Check() && x.ExternalID == gatefacts.ExternalID(r) {
			c, ok = x.Check, true
		}
	}
	want := map[runs.Phase]github.Conclusion{runs.Applied: github.ConcludedSuccess, runs.Planned: github.ConcludedSuccess, runs.PlanFailed: github.ConcludedFailure, runs.ApplyFailed: github.ConcludedFailure}[r.Phase]
	if stands(r) {
		want = github.ConcludedSuccess
	} else if r.Phase == runs.PlanFailed && r.End.StoppedBy != "" {
		want = github.ConcludedActionRequired
	}
	if (r.Phase == runs.Applied || r.Phase == runs.Planned && (!r.Plan.Applyable || r.Spec.ApplyOn == project.OnMerge && !r.Spec.AfterMerge)) && leavesOut(r) {
		want = github.ConcludedActionRequired // it leaves out what the pull request changes
	}
	if r.Phase == runs.Planned && r.Plan.Applyable && r.Plan.Checked != nil && r.Plan.Checked.Renewed {
		want = github.ConcludedActionRequired // nobody has asked for it
	}
	held, lifted := s.held(r)
	if held {
		want = github.ConcludedActionRequired // its review is missing
		if strings.HasPrefix(c.Title, "Denied by ") {
			want = github.ConcludedFailure
		}
	}
	other, left := s.worst(r)
	if other == github.ConcludedFailure || other != "" && want == github.ConcludedSuccess {
		want = other
	}
	if left || lifted {
		want = ""
	}
	switch {
	case r.Phase == runs.Planned && s.locked(r) && left:
		want = "" // another one has the check, too, and may have failed
	case r.Phase == runs.Planned && s.locked(r) && want != github.ConcludedFailure:
		want = github.ConcludedActionRequired
	case s.inTheWay(r.Project, r.Pull.Number):
		want = "" // another pull request was applied since, or when the check was written
	}
	if r.Phase == runs.Planned && strings.Contains(c.Summary, "Locked by #") != s.locked(r) {
		s.bug("the check of %s of #%d does not tell whether it is locked: %s", r.Project, r.Pull.Number, c.Summary)
	}
	if !ok {
		s.bug("%s of #%d has no check", r.Project, r.Pull.Number)
	} else if want != "" && c.Conclusion != want {
		s.bug("the check of %s of #%d is %s (%s), and it is %s", r.Project, r.Pull.Number, c.Conclusion, c.Title, r.Phase)
	}
}

// checkedShared holds that the check run that a run shares with others has its plan, and tells its phase.
func (s *simulation) checkedShared(r runs.Run) {
	c, ok := s.newest(r.Spec.Head)[r.CheckRun()]
	if !ok {
		s.bug("%s of #%d has no check", r.Project, r.Pull.Number)
		return
	}
	row := ""
	for line := range strings.Lines(c.Summary) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.TrimSpace(cells[2]) == "`"+r.Project+"`" {
			row = strings.TrimSpace(cells[1])
		}
	}
	want := map[runs.Phase]string{runs.Applied: "applied", runs.PlanFailed: "failed to plan", runs.ApplyFailed: "failed to apply"}[r.Phase]
	if r.Phase == runs.PlanFailed && (r.End.StoppedBy != "" || stands(r)) || r.End.FinishedBy != 0 {
		want = ""
	}
	if !strings.Contains(row, want) || row == "" || c.Status != github.CheckCompleted {
		s.bug("the check of %s of #%d is %s and tells %q, and it is %s", r.Project, r.Pull.Number, c.Status, row, r.Phase)
	}
	if got := markdown.ProofsIn(c.Text).Of(r.Target()); r.Phase == runs.Planned && r.Plan.Applyable && got.Hash != r.Plan.Hash {
		s.bug("the check of %s of #%d has the plan %+v, and it is %s: %s", r.Project, r.Pull.Number, got, r.Plan.Hash, row)
	}
}

// worst is the conclusion, failed or to be acted on, that a run of another pull request has at the same commit, where GitHub
// shows it on both; "" if there is none. left reports whether such a run is of a pull request that has another head by now, or
// has another pull request's apply in its way: its last conclusion may stand there until the next look, or not. It is set for a merged
// pull request beside an open one, too, whose conclusion it shows; of a merged one an open one shows nothing.
func (s *simulation) worst(r runs.Run) (found github.Conclusion, left bool) {
	merged := s.merged(r)
	for _, p := range s.repo.Pulls() {
		if p.State == "merged" && !merged {
			continue
		}
		other := r.Pull
		other.Number = p.Number
		for _, rec := range s.Peek(other.Runs()) {
			o, err := ledger.DecodeRun(rec)
			if err != nil {
				s.bug("%v", err)
			}
			if p.Number == r.Pull.Number || o.Spec.Head != r.Spec.Head || o.Check() != r.Check() {
				continue
			}
			if p.Head != r.Spec.Head || merged && p.State == "open" {
				left = true
				continue
			}
			waits := o.Phase == runs.Planned && (p.State == "open" || p.State == "merged" && o.Spec.AfterMerge)
			held, lifted := s.held(o)
			left = left || waits && lifted
			left = left || waits && held && s.teaming() // a policy or a gate may deny it
			if waits && (held || s.locked(o)) {         // a person has to act
				found = cmp.Or(found, github.ConcludedActionRequired)
				continue
			}
			if waits && s.inTheWay(o.Project, p.Number) {
				left = true // nor can it, but its check may be older
				continue
			}
			if _, c := runs.Conclude(o.Standing()); c == github.ConcludedFailure || c == github.ConcludedActionRequired && found == "" {
				found = c
			}
		}
	}
	return found, left
}

// merged reports whether the pull request of a run is.
func (s *simulation) merged(r runs.Run) bool {
	return slices.ContainsFunc(s.repo.Pulls(), func(p githubtest.PullView) bool { return p.Number == r.Pull.Number && p.State == "merged" })
}

// locked reports whether a person has locked the state of a plan that could be applied for another open pull request.
func (s *simulation) locked(r runs.Run) bool {
	v, err := ledger.Ledger{Records: &s.Store}.Reservation(context.Background(), r)
	if err != nil {
		s.bug("%v", err)
	}
	if v.Blocks(r.Pull.Number) == nil || !r.Plan.Applyable || r.Standing() == comment.PartPlanned {
		return false
	}
	for _, p := range s.repo.Pulls() {
		if p.Number == v.Number && p.State == "open" {
			return true
		}
	}
	s.bug("the state of %s is locked for #%d, which is not open", r.Project, v.Number)
	return false
}

// inTheWay reports whether another open pull request was applied to a state, or may have been.
func (s *simulation) inTheWay(dir string, number int) bool {
	for _, p := range s.repo.Pulls() {
		in := slices.Concat(slices.Collect(maps.Values(s.state(origin(dir)).by)), s.state(origin(dir)).doubt)
		if p.State == "open" && p.Number != number && slices.Contains(in, p.Number) {
			return true
		}
	}
	return false
}

// touched returns the directories of the projects that a pull request changes, as far as that is planned.
func (s *simulation) touched(number int) []string {
	before, after := s.repo.Changes(number)
	differs := s.repo.Differs(number)
	var out []string
	for _, dir := range s.places() {
		if !hold(before, dir) && !hold(after, dir) && !hold(s.repo.Files(s.repo.Head("main")), dir) {
			continue // no project, or none any more
		} else if s.removing() && removed(before, after, dir) && (s.onMerge(dir) || s.removedElsewhere(number, dir)) {
			continue // nothing plans it: see orphaned
		} else if s.renaming() && hold(before, dir) && !hold(after, dir) && (hold(after, twin(dir)) || hold(s.repo.Files(s.repo.Head("main")), twin(dir))) {
			continue // planned by its other name, by this pull request or by one that has brought it back
		} else if s.renaming() && !hold(before, dir) && hold(after, dir) && hold(s.repo.Files(s.repo.Head("main")), twin(dir)) {
			continue // it would be two projects with one state, which people are told
		}
		// What the base branch has already, by another pull request, touches nothing.
		if slices.ContainsFunc(differs, func(name string) bool { return strings.HasPrefix(name, dir+"/") }) {
			out = append(out, dir)
		}
	}
	return out
}

// text returns a history as text, its end if it is long.
func (s *simulation) text() string {
	return fmt.Sprintf("seed %d\n%s", s.seed, strings.Join(s.trace, "\n"))
}
