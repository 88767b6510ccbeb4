package requirementrules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// required reads the text of a require block's body, or of whole policy, gate or step blocks, or the name of an environment of GitHub.
func required(t *testing.T, command, body string) []requirements.Requirement {
	t.Helper()
	if strings.HasPrefix(body, "policy ") {
		return blocks(t, body, "policy", requirements.ParsePolicies)
	}
	if strings.HasPrefix(body, "gate ") {
		return blocks(t, body, "gate", requirements.ParseGates)
	}
	if strings.HasPrefix(body, "step ") {
		return blocks(t, body, "step", requirements.ParseSteps(map[string]string{"tflint": strings.Repeat("ab", 32)}))
	}
	if name, ok := strings.CutPrefix(body, "environment "); ok {
		return []requirements.Requirement{{Command: command, Rules: requirements.Rules{Environment: strings.Trim(name, "\"\n")}}}
	}
	f, ds := hclparse.NewParser().ParseHCL(fmt.Appendf(nil, "require %q {\n%s\n}\n", command, body), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "require", LabelNames: []string{"command"}}}})
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	all, ds := requirements.Parse(content.Blocks)
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	for i := range all {
		all[i].Assess(nil)
	}
	return all
}

func blocks(t *testing.T, body, kind string, parse func(hcl.Blocks) ([]requirements.Requirement, hcl.Diagnostics)) []requirements.Requirement {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL([]byte(body), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: kind, LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	all, ds := parse(content.Blocks)
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	return all
}

const planned, older = "2222222", "1111111"

// A scene makes facts of the words of a row. Everybody may write, and is in no team, unless the row has
// another word.
type scene struct {
	Facts
	teams   map[string][]string // members
	unsure  []string            // teams and logins that nothing is known of
	rights  map[string]string
	merging Merging
	owned   []Owned
}

func facts(t *testing.T, row string, all []requirements.Requirement) Facts {
	t.Helper()
	s := &scene{teams: map[string][]string{}, rights: map[string]string{}}
	s.Facts = Facts{
		Now:   time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), // a Monday
		Actor: "zoe", Author: "ann", Planned: planned, People: map[string]Person{},
		Contributors: Known([]string{"ann"}), Reviews: Known[[]Review](nil), Behind: Known(false), Open: Known(0),
		Checks: Known[[]Check](nil), LabelMoves: Known[[]LabelMove](nil), Plan: Known(Plan{}),
		Policies: Known(map[string]string{"net": "1"}), Steps: Known(map[string]string{"lint": "now", "scan": "now"}),
	}
	for _, word := range strings.Fields(row) {
		if !s.word(word) {
			t.Fatalf("%s: there is no fact %q", row, word)
		}
	}
	if s.Merging.Problem == "" {
		s.Merging = Known(s.merging)
	}
	if s.Owned.Problem == "" {
		s.Owned = Known(s.owned)
	}
	for _, r := range all {
		for i, v := range s.Plan.Value.Verdicts {
			if r.Gate != nil && r.Gate.Name == v.Name && v.ID == "now" {
				s.Plan.Value.Verdicts[i].ID = r.Gate.ID()
			}
		}
	}
	s.everybody(all)
	return s.Facts
}

// word adds one fact.
func (s *scene) word(word string) bool {
	if name, ok := strings.CutPrefix(word, "?"); ok {
		return s.unknown(name)
	}
	name, value, _ := strings.Cut(word, ":")
	key, to, _ := strings.Cut(value, "=")
	switch name {
	case "actor":
		s.Actor = value
	case "push":
		s.Actor = ""
	case "unasked":
		s.Actor, s.Unasked = "", true
	case "author":
		s.Author = value
	case "wrote":
		s.Contributors = Known(strings.Split(value, ","))
	case "read", "none", "admin", "write":
		s.rights[value] = name
	case "unknown":
		s.UnknownOwners = append(s.UnknownOwners, value)
	case "unread":
		s.UnreadOwners = append(s.UnreadOwners, value)
	case "path":
		s.path(key, to)
	case "now":
		s.Now, _ = time.Parse("2006-01-02T15:04Z07:00", value)
		return !s.Now.IsZero()
	case "shown":
		s.Shown, _ = time.Parse("2006-01-02T15:04Z07:00", value)
		return !s.Shown.IsZero()
	case "env":
		return s.environment(key, to)
	case "lift":
		who, at, old := strings.Cut(value, "@")
		s.Lifts = append(s.Lifts, Lift{By: who, Because: "night", Planned: map[bool]string{true: older, false: planned}[old && at == "old"]})
	case "changes", "destroys", "types":
		s.plan(name, value)
	case "assessed": // the patterns of stateful types
		s.Plan.Value.Assessment = requirements.AssessmentOf(strings.FieldsFunc(value, func(r rune) bool { return r == ',' }))
	case "cost": // INCREASE=CURRENCY
		s.Plan.Value.Costs = append(s.Plan.Value.Costs, Cost{key, to})
	case "risk":
		s.Plan.Value.Risks = append(s.Plan.Value.Risks, Risk{Name: key, Objects: strings.Split(to, ",")})
	case "denied", "warned", "passed", "broken":
		s.judged(name, key, to)
	case "gate-denied", "gate-warned", "gate-passed", "gate-broken":
		name, at, _ := strings.Cut(key, "@")
		v := judgement(strings.TrimPrefix(word, "gate-")[:6], name, to)
		if v.ID = "now"; at != "" {
			v.ID = at
		}
		s.Plan.Value.Verdicts = append(s.Plan.Value.Verdicts, v)
	case "step-denied", "step-passed", "step-broken":
		name, at, _ := strings.Cut(key, "@")
		v := judgement(strings.TrimPrefix(word, "step-")[:6], name, to)
		if v.ID = "now"; at != "" {
			v.ID = at
		}
		s.Plan.Value.Steps = append(s.Plan.Value.Steps, v)
	default:
		return s.ofPull(name, key, to) || s.said(name, value)
	}
	return true
}

// judged adds the verdict of a policy: NAME=MESSAGES, where a + adds three more. The name ends with "@old" if the policy is
// another one by now, and with "@none" if it is gone.
func (s *scene) judged(how, name, value string) {
	name, at, _ := strings.Cut(name, "@")
	if s.Policies.Value == nil {
		s.Policies = Known(map[string]string{})
	}
	switch at {
	case "old":
		s.Policies.Value[name] = "2"
	case "none":
		delete(s.Policies.Value, name)
	default:
		s.Policies.Value[name] = "1"
	}
	s.Plan.Value.Judgements = append(s.Plan.Value.Judgements, judgement(how, name, value))
}

func judgement(how, name, value string) Judgement {
	v := Judgement{Name: name, ID: "1"}
	more := 0
	if strings.HasSuffix(value, "+") {
		value, more = strings.TrimSuffix(value, "+"), 3
	}
	switch messages := strings.Split(value, ","); how {
	case "denied":
		v.Denied, v.MoreDenied = messages, more
	case "warned":
		v.Warned, v.MoreWarned = messages, more
	case "broken":
		v.Mistakes = []string{value}
	}
	return v
}

func (s *scene) plan(name, value string) {
	switch p := &s.Plan.Value; name {
	case "changes":
		p.Changes, _ = strconv.Atoi(value)
	case "destroys":
		p.Destroys, _ = strconv.Atoi(value)
	case "types":
		p.Destroyed = strings.Split(value, ",")
	}
}

func (s *scene) path(path, owners string) {
	o := Owned{Path: path}
	for x := range strings.SplitSeq(owners, ",") {
		if p, err := requirements.ParseParty(x); err == nil {
			o.Owners = append(o.Owners, p)
		} else {
			o.Others = append(o.Others, x)
		}
	}
	s.owned = append(s.owned, o)
}

// environment adds a protection rule of the environment "production".
func (s *scene) environment(rule, value string) bool {
	e := s.Environments["production"].Value
	switch rule {
	case "none":
	case "reviewers", "own":
		e.OwnReview, e.Reviewers = rule == "own", []requirements.Party{}
		for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
			p, err := requirements.ParseParty(name)
			if err != nil {
				return false
			}
			e.Reviewers = append(e.Reviewers, p)
		}
	case "wait":
		n, _ := strconv.Atoi(value)
		e.Wait = time.Duration(n) * time.Minute
	case "closed":
		e.Closed = true
	case "app":
		e.Others = append(e.Others, value)
	default:
		return false
	}
	s.Environments = map[string]Fact[Environment]{"production": Known(e)}
	return true
}

func (s *scene) unknown(name string) bool {
	const down = "GitHub is down"
	switch name {
	case "reviews":
		s.Reviews = Unknown[[]Review](down)
	case "wrote":
		s.Contributors = Unknown[[]string](down)
	case "owners":
		s.Owned = Unknown[[]Owned](down)
	case "merging":
		s.Merging = Unknown[Merging](down)
	case "behind":
		s.Behind = Unknown[bool](down)
	case "open":
		s.Open = Unknown[int](down)
	case "checks":
		s.Checks = Unknown[[]Check](down)
	case "labels":
		s.LabelMoves = Unknown[[]LabelMove](down)
	case "policies":
		s.Policies, s.Steps = Unknown[map[string]string](down), Unknown[map[string]string](down)
	case "env":
		s.Environments = map[string]Fact[Environment]{"production": Unknown[Environment](down)}
	case "plan":
		s.Plan = Unknown[Plan](down)
	default:
		s.unsure = append(s.unsure, name) // a team or a login
	}
	return true
}

// ofPull adds a fact of the pull request.
func (s *scene) ofPull(name, key, to string) bool {
	switch name {
	case "draft":
		s.Pull.Draft = true
	case "issue":
		s.Pull.Issue, s.Pull.Merged = true, true
	case "merged":
		s.Pull.Merged = true
	case "grouped":
		s.Grouped = true
	case "conflict":
		s.merging.Conflict = true
	case "behind":
		s.merging.Behind, s.Behind = true, Known(true)
	case "unreviewed":
		s.merging.ReviewMissing = true
	case "blocked":
		s.merging.Blocked = true
	case "talk":
		s.merging.Unresolved = 2
	case "required":
		name, app, _ := strings.Cut(key, "@")
		id, _ := strconv.ParseInt(app, 10, 64)
		s.merging.Required = append(s.merging.Required, Required{name, id, strings.HasPrefix(name, "lockstep") && id == 0})
	case "open":
		s.Open.Value, _ = strconv.Atoi(key)
	case "check":
		state, ours := strings.CutSuffix(to, "!")
		name, app, _ := strings.Cut(key, "@")
		ids := map[string]int64{"": 0, "buildkite": 7, "github-actions": 8}
		s.Checks.Value = append(s.Checks.Value, Check{Name: name, App: app, ID: ids[app], Ours: ours, State: state})
	case "label":
		s.Pull.Labels = append(s.Pull.Labels, key)
	case "put", "took":
		s.LabelMoves.Value = append(s.LabelMoves.Value, LabelMove{Label: key, By: to, Added: name == "put"})
	default:
		return false
	}
	return true
}

// said adds a review, "bob:+", or the members of a team, "acme/sre:bob,carol".
func (s *scene) said(name, value string) bool {
	if strings.Contains(name, "/") {
		s.teams[name] = strings.Split(value, ",")
		return true
	}
	state, ok := map[string]string{"+": "approved", "+old": "approved", "+former": "approved", "-": "changes_requested", "~": "commented", "x": "dismissed"}[value]
	v := Review{Author: name, State: state, SHA: planned, Former: value == "+former"}
	if value == "+old" {
		v.SHA = older
	}
	s.Reviews.Value = append(s.Reviews.Value, v)
	return ok
}

// everybody adds the rights and teams of all people of the scene.
func (s *scene) everybody(all []requirements.Requirement) {
	logins := map[string]bool{s.Actor: true}
	for _, v := range s.Reviews.Value {
		logins[v.Author] = true
	}
	for _, m := range s.LabelMoves.Value {
		logins[m.By] = true
	}
	for _, l := range s.Lifts {
		logins[l.By] = true
	}
	n := Needed(all)
	asked := slices.Concat(n.Actor, n.Approvers, n.Lifters)
	for _, e := range s.Environments {
		asked = append(asked, e.Value.Reviewers...)
	}
	for _, o := range s.owned {
		asked = append(asked, o.Owners...)
	}
	for login := range maps.Keys(logins) {
		p := Person{Permission: Known("write"), Teams: map[string]Fact[bool]{}}
		if has := s.rights[login]; has != "" {
			p.Permission = Known(has)
		}
		if slices.Contains(s.unsure, login) {
			p.Permission = Unknown[string]("GitHub is down")
		}
		for _, team := range asked {
			if p.Teams[team.String()] = Known(slices.Contains(s.teams[team.String()], login)); slices.Contains(s.unsure, team.String()) {
				p.Teams[team.String()] = Unknown[bool]("GitHub is down")
			}
		}
		s.People[strings.ToLower(login)] = p
	}
}

// text is a ruling in one line.
func text(r rulings.Ruling) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Outcome, r.Rule)
	if r.Name != "" {
		fmt.Fprintf(&b, " %q", r.Name)
	}
	if r.Want+r.Have > 0 {
		fmt.Fprintf(&b, " %d/%d", r.Have, r.Want)
	}
	for _, name := range r.Found {
		fmt.Fprintf(&b, " +%s", name)
	}
	for _, a := range r.Against {
		fmt.Fprintf(&b, " -%s", a.Name)
		if a.Why != "" {
			fmt.Fprintf(&b, "(%s)", a.Why)
		}
	}
	if r.Problem != "" {
		fmt.Fprintf(&b, " ?%s", r.Problem)
	}
	if r.By != "" {
		fmt.Fprintf(&b, " by %s", r.By)
	}
	if len(r.Of) > 0 {
		var parts []string
		for _, x := range r.Of {
			parts = append(parts, text(x))
		}
		fmt.Fprintf(&b, " {%s}", strings.Join(parts, "; "))
	}
	return b.String()
}
