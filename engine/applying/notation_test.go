package applying_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/applying"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/planning"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// fake is the provider of all stories.
const fake = `
resource t_x
  id    string computed keep
  name  string required replace
  color string optional
  note  string optional computed
data t_x
  name string required
ephemeral t_x
  name string required
`

// TestStories plays the stories in testdata. A story begins with "== NAME"; its parts are those of
// a txtar archive:
//
//	-- before --  a configuration that is applied first, if there is one
//	-- config --  the configuration to plan, and to apply
//	-- during --  rules for the apply alone, one a line:
//	                on ...           see [providertest.Provider.On]
//	                stop CALL        the apply is interrupted when this call begins
//	                die CALL         the process dies during this call: the call is carried out, but
//	                                 its outcome gets lost, and another process goes on. The rules
//	                                 before this line are for the first process, those behind it
//	                                 for the second
//	                replace ATTR     the provider demands a replacement for a change of ATTR
//	                destroy, refresh-only, no-refresh, targets | excludes ADDRESS ...   the kind of plan
//	                sensitive ATTR   for the plan and the apply, the schema declares ATTR sensitive;
//	                                 actions that begin are shown, too
//	-- want --    the result: "> CALL" for provider calls that read data, open or close ephemeral
//	              resources, or change something, and commands of provisioners; the state, one object a line with a word for its
//	              status; outputs; the results of checks that did not pass; errors and warnings
//
// The option -update rewrites "want".
func TestStories(t *testing.T) {
	const file = "testdata/stories.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	head, rest, _ := strings.Cut("\n"+string(text), "\n== ")
	for one := range strings.SplitSeq(rest, "\n== ") {
		name, body, _ := strings.Cut(one, "\n")
		a := txtar.Parse([]byte(body))
		t.Run(name, func(t *testing.T) {
			s := newStory(t, a)
			got := s.play()
			if !*update {
				if diff := cmp.Diff(s.parts["want"], got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
		})
		out = append(out, name+"\n"+string(txtar.Format(a)))
	}
	if *update {
		text := strings.TrimPrefix(head, "\n") + "\n== " + strings.Join(out, "\n== ")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A story is one plan and its apply.
type story struct {
	t     *testing.T
	parts map[string]string
	fake  *providertest.Provider

	mu      sync.Mutex
	log     []string
	stopAt  string
	disk    disk
	stop    context.CancelCauseFunc
	replace string
	paths   bool           // actions are logged, too
	output  bool           // as is the output of commands
	in      planning.Input // the kind of plan
}

func newStory(t *testing.T, a *txtar.Archive) *story {
	s := &story{t: t, parts: map[string]string{}}
	for _, f := range a.Files {
		s.parts[f.Name] = string(f.Data)
	}
	s.provide(fake)
	return s
}

// provide starts a provider without any objects.
func (s *story) provide(described string) {
	s.fake = providertest.New(s.t, described)
	s.fake.Hook = func(_ context.Context, call string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch op, _, _ := strings.Cut(call, " "); op {
		case "create", "update", "delete", "data", "open", "close":
			s.log = append(s.log, "> "+call)
		}
		if call == s.disk.dieAt {
			s.disk.dead = true
		}
		if call == s.stopAt {
			s.stop(errors.New("interrupted"))
		}
	}
}

// play returns the result of the story.
func (s *story) play() string {
	st := states.Empty()
	if before := s.parts["before"]; before != "" {
		plan := s.plan(before, st)
		st, _ = s.apply(before, plan)
	}
	var rules []string
	for line := range strings.Lines(s.parts["during"]) {
		if rule := strings.TrimSpace(line); !s.kind(rule) {
			rules = append(rules, rule)
		}
	}
	plan := s.plan(s.parts["config"], st)
	s.log = nil
	for i, rule := range rules {
		if s.rule(rule); s.disk.dieAt != "" {
			s.disk.after = rules[i+1:]
			break
		}
	}
	st, ds := s.apply(s.parts["config"], plan)
	if s.disk.dead {
		st, ds = s.goOn(plan)
	}
	lines := append(s.log, state(st)...)
	for _, d := range ds {
		line := fmt.Sprintf("%s: %s", d.Severity, d.Summary)
		if s.output {
			line += ": " + strings.ReplaceAll(d.Detail, "\n", " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// kind takes in a line about the kind of plan.
func (s *story) kind(rule string) bool {
	word, rest, _ := strings.Cut(rule, " ")
	switch word {
	case "destroy":
		s.in.Mode = plans.DestroyMode
	case "refresh-only":
		s.in.Mode = plans.RefreshOnlyMode
	case "output":
		s.output = true
	case "no-refresh":
		s.in.SkipRefresh = true
	case "sensitive":
		s.paths = true
		s.provide(strings.Replace(fake, "  "+rest+" string optional", "  "+rest+" string optional sensitive", 1))
	case "targets", "excludes":
		for a := range strings.FieldsSeq(rest) {
			x, err := addrs.ParseTarget(a)
			if err != nil {
				s.t.Fatal(err)
			}
			if word == "targets" {
				s.in.Targets = append(s.in.Targets, x)
			} else {
				s.in.Excludes = append(s.in.Excludes, x)
			}
		}
	default:
		return false
	}
	return true
}

// rule takes in a line about the apply.
func (s *story) rule(rule string) {
	switch word, rest, _ := strings.Cut(rule, " "); word {
	case "on":
		s.fake.On(rest)
	case "stop":
		s.stopAt = rest
	case "die":
		s.disk.dieAt = rest
	case "replace":
		s.replace = rest
	case "":
	default:
		s.t.Fatalf("unknown rule %q", rule)
	}
}

// pool has the provider, which may be demanding.
func (s *story) pool() *provider.Pool {
	p := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): s.fake.Start})
	if s.replace != "" {
		p = provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): demanding(s.fake.Client(), s.replace)})
	}
	s.t.Cleanup(func() { p.Close() })
	return p
}

func (s *story) plan(text string, st *states.State) *plans.Plan {
	s.t.Helper()
	in := s.in
	if in.Mode == 0 {
		in.Mode = plans.NormalMode
	}
	in.Environment, in.State = load(s.t, text, s.pool()), st
	in.Variables = map[string]cty.Value{}
	plan, ds := planning.Plan(s.t.Context(), in)
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	return plan
}

func (s *story) apply(text string, plan *plans.Plan) (*states.State, diags.Diagnostics) {
	s.t.Helper()
	ctx, stop := context.WithCancelCause(s.t.Context())
	defer stop(nil)
	s.stop = stop
	env := load(s.t, text, s.pool())
	env.Parallelism = 1
	env.Events = func(e events.Event) {
		if e.Kind == events.ApplyStart && s.paths {
			s.log = append(s.log, fmt.Sprintf("%s %s", e.Action, e.Addr))
		}
		if e.Kind == events.ProvisionOutput && s.output {
			s.log = append(s.log, "output: "+e.Text)
		}
	}
	in := applying.Input{
		Environment: env, Plan: plan, Variables: map[string]cty.Value{}, LocalExec: s.command,
		Save: func(context.Context, *states.State) error { return nil },
	}
	if s.disk.dieAt != "" || len(s.disk.lines) > 0 {
		in.Journal, in.Progress = s.journal(plan)
	}
	done, ds := applying.Apply(ctx, in)
	return done.State, ds
}

// command is the runner of local-exec: a command "fail ..." fails.
func (s *story) command(_ context.Context, c provisioning.Command, say func(string)) error {
	s.mu.Lock()
	s.log = append(s.log, "> run "+c.Text)
	s.mu.Unlock()
	if text, ok := strings.CutPrefix(c.Text, "say "); ok {
		say(text)
	}
	if strings.HasPrefix(c.Text, "fail") {
		return errors.New("exit status 1")
	}
	return nil
}

// load returns the environment of a configuration.
func load(t *testing.T, text string, pool *provider.Pool) (env sessionEnvironment) {
	t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	env = environment(cfg, rs, pool)
	env.Functions = funcs.Table(funcs.Scope{})
	return env
}

// state returns the lines for a state.
func state(st *states.State) []string {
	var out []string
	for abs, r := range st.Resources() {
		if len(r.Instances) == 0 {
			out = append(out, fmt.Sprintf("%s has no instances", abs))
		}
		for k, in := range r.Instances {
			if in.Current != nil {
				status := map[states.Status]string{states.Ready: "ready", states.Tainted: "tainted"}[in.Current.Status]
				line := fmt.Sprintf("%s %s %s", abs.Instance(k), status, in.Current.AttrsJSON)
				for _, p := range in.Current.Sensitive {
					line += " sensitive " + schema.FormatPath(p)
				}
				out = append(out, line)
			}
			for range in.Deposed {
				out = append(out, fmt.Sprintf("%s deposed", abs.Instance(k)))
			}
		}
	}
	outputs := maps.Collect(st.Outputs())
	slices.Sort(out)
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		out = append(out, fmt.Sprintf("output %s = %#v", name, outputs[name].Value))
	}
	for _, c := range st.Checks {
		if c.Status != "pass" {
			out = append(out, fmt.Sprintf("%s %s %s", c.Kind, c.ConfigAddr, c.Status))
		}
	}
	return out
}
