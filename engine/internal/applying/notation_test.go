package applying_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/internal/applying"
	"github.com/lockstep-iac/lockstep/engine/internal/planning"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// fake is the provider of all stories.
const fake = `
provider
  region string optional
meta
  team string optional
resource t_x
  id    string computed keep
  name  string required replace
  color string optional
  note  string optional computed
resource t_r
  id     string required
  name   string required replace
  status string computed
resource t_n
  id    string computed keep
  name  string required
  size  number optional computed
resource t_i identity=1
  id    string computed keep
  name  string required replace identity
  area  string optional identity=optional was=region
  color string optional
data t_x
  name string required
data t_n
  name string required
  size number computed
ephemeral t_x
  name string required
`

// TestStories plays the stories in testdata. A story begins with "== NAME"; its parts are those of
// a txtar archive:
//
//	-- before --  a configuration that is applied first, if there is one
//	-- config --  the configuration to plan, and to apply
//	-- DIR/main.tf --  a module of both
//	-- journal -- the journal that an earlier process has left: see [story.earlier]
//	-- during --  rules for the apply alone, one a line:
//	                on ...           see [providertest.Provider.On]
//	                stop CALL        the apply is interrupted when this call begins
//	                die CALL         the process dies during this call: the call is carried out, but
//	                                 its outcome gets lost, and another process goes on. The rules
//	                                 before this line are for the first process, those behind it
//	                                 for the second
//	                full CALL       the journal cannot be written from this call on
//	                workspace NAME  the workspace has this name then
//	                replace ATTR     the provider demands a replacement for a change of ATTR
//	                destroy, refresh-only, no-refresh, targets | excludes ADDRESS ...   the kind of plan
//	                planned RULE    a rule "on" for the plan, not for the apply
//	                deposed A B     the object of A is a deposed one of B, before the plan
//	                identity VERSION JSON   the stored objects have this identity, before the plan; "null": none
//	                file            the changes come without schemas, as those of a plan from a file
//	                events          those of actions are shown, too
//	                metadata        so are the private data and dependencies of objects
//	                sensitive ATTR   for the plan and the apply, the schema declares ATTR sensitive;
//	                                 actions that begin are shown, too
//	-- want --    the result: "> CALL" for provider calls that read data, open or close ephemeral
//	              resources, or change something, and commands of provisioners; the state, one object a line with a word for its
//	              status; outputs; the results of checks that did not pass; errors and warnings
//
// The option -update rewrites "want".
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories: ", err)
	}
	for _, file := range files {
		testFile(t, file)
	}
}

func testFile(t *testing.T, file string) {
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
			if !golden.Updating() {
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
	golden.Update(t, file, strings.TrimPrefix(head, "\n")+"\n== "+strings.TrimRight(strings.Join(out, "\n== "), "\n")+"\n")
}

// A story is one plan and its apply.
type story struct {
	t     *testing.T
	parts map[string]string
	fake  *providertest.Provider

	mu        sync.Mutex
	log       []string
	stopAt    string
	disk      disk
	stop      context.CancelCauseFunc
	replace   string
	workspace string
	paths     bool             // actions are logged, too
	output    bool             // as is the output of commands
	events    bool             // and all events
	meta      bool             // the metadata of objects are shown
	file      bool             // the plan has no schemas
	before    []string         // rules for the plan
	identity  *states.Identity // of all objects, before the plan
	deposed   [][2]addrs.AbsResourceInstance
	impure    atomic.Int64   // the number of calls of impure functions
	in        planning.Input // the kind of plan
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
	s.fake.Hook = func(ctx context.Context, call string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		op, _, _ := strings.Cut(call, " ")
		switch op {
		case "create", "update", "delete", "data", "open", "close":
			s.log = append(s.log, "> "+call)
		}
		if call == s.disk.dieAt {
			s.disk.dead = true
		}
		if call == s.disk.fullAt {
			s.disk.full = true
		}
		if call == s.stopAt {
			s.stop(errors.New("interrupted"))
			if ctx.Err() != nil && op != "data" && op != "open" {
				s.log = append(s.log, "the stop cuts off "+call)
			}
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
	for _, pair := range s.deposed {
		e := st.Edit()
		from := addrs.ResourceInstanceObject{Instance: pair[0]}
		e.SetObject(addrs.ResourceInstanceObject{Instance: pair[1], Deposed: "00000001"}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, st.Object(from))
		e.SetObject(from, addrs.AbsProviderConfig{}, nil)
		st = e.State()
	}
	if s.identity != nil {
		st = s.identified(st)
	}
	for _, rule := range s.before {
		s.fake.On(rule)
	}
	plan := s.plan(s.parts["config"], st)
	s.fake.Off()
	for _, c := range plan.Changes {
		if s.file {
			c.Schema = nil
		}
	}
	s.log = nil
	for i, rule := range rules {
		if s.rule(rule); s.disk.dieAt != "" {
			s.disk.after = rules[i+1:]
			break
		}
	}
	s.earlier(plan)
	st, ds := s.apply(s.parts["config"], plan)
	if s.disk.dead {
		st, ds = s.goOn(plan)
	}
	lines := append(s.log, state(st, s.meta)...)
	for _, d := range ds {
		line := fmt.Sprintf("%s: %s", d.Severity, d.Summary)
		if s.output {
			line += ": " + strings.ReplaceAll(d.Detail, "\n", " ")
		}
		if d.Address != "" {
			line += ", " + d.Address
		}
		if d.Subject != nil {
			line += fmt.Sprintf(", %s:%d", d.Subject.Filename, d.Subject.Start.Line)
		}
		lines = append(lines, line)
	}
	return numbered(strings.Join(lines, "\n") + "\n")
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// numbered puts "uuid 1" in place of the first UUID of a text, wherever it stands, and so on.
func numbered(text string) string {
	known := map[string]string{}
	return uuids.ReplaceAllStringFunc(text, func(uuid string) string {
		if known[uuid] == "" {
			known[uuid] = fmt.Sprint("uuid ", len(known)+1)
		}
		return known[uuid]
	})
}

// identified returns a state whose objects have another identity.
func (s *story) identified(st *states.State) *states.State {
	e := st.Edit()
	for abs, r := range st.Resources() {
		for k, in := range r.Instances {
			o := *in.Current
			o.Identity = *s.identity
			e.SetObject(addrs.ResourceInstanceObject{Instance: abs.Instance(k)}, r.Provider, &o)
		}
	}
	return e.State()
}

// depose takes in two addresses.
func (s *story) depose(line string) {
	var pair [2]addrs.AbsResourceInstance
	for i, word := range strings.Fields(line) {
		var err error
		if pair[i], err = addrs.ParseAbsResourceInstance(word); err != nil {
			s.t.Fatal(err)
		}
	}
	s.deposed = append(s.deposed, pair)
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
	case "events":
		s.events = true
	case "metadata":
		s.meta = true
	case "file":
		s.file = true
	case "planned":
		s.before = append(s.before, rest)
	case "deposed":
		s.depose(rest)
	case "identity":
		s.identity = &states.Identity{}
		if _, err := fmt.Sscan(rest, &s.identity.Version); err != nil {
			s.t.Fatal(err)
		}
		if _, text, _ := strings.Cut(rest, " "); text != "null" {
			s.identity.JSON = []byte(text)
		}
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
	case "full":
		s.disk.fullAt = rest
	case "replace":
		s.replace = rest
	case "workspace":
		s.workspace = rest
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
	in.Environment, in.State = s.load(text), st
	in.Functions = funcs.Table(funcs.Scope{PureOnly: true})
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
	env := s.load(text)
	env.Parallelism, env.Workspace = 1, s.workspace
	env.Events = func(e events.Event) {
		if e.Kind == events.ApplyStart && s.paths {
			s.log = append(s.log, fmt.Sprintf("%s %s", e.Action, e.Addr))
		}
		if e.Kind == events.ProvisionOutput && s.output {
			s.log = append(s.log, "output: "+e.Text)
		}
		if s.events {
			s.log = append(s.log, strings.TrimSpace(fmt.Sprintf("event %s %s %s %s", kinds[e.Kind], e.Addr, word(e.Action), e.ID)))
		}
	}
	in := applying.Input{
		Environment: env, Plan: plan, Variables: map[string]cty.Value{}, LocalExec: s.command,
		Save: func(context.Context, *states.State) error { return nil },
	}
	if s.disk.dieAt != "" || s.disk.fullAt != "" || len(s.disk.lines) > 0 {
		in.Journal, in.Progress = s.journal(plan)
		in.ImpureCalls = s.impure.Load
	}
	done, ds := applying.Apply(ctx, in)
	return done.State, ds
}

// command is the runner of local-exec: a command with "fail" in it fails, "say ..." says something, and a stop
// ends each.
func (s *story) command(ctx context.Context, c provisioning.Command, say func(string)) error {
	s.mu.Lock()
	s.log = append(s.log, "> run "+c.Text)
	if "run "+c.Text == s.disk.dieAt {
		s.disk.dead = true
	}
	if "run "+c.Text == s.stopAt {
		s.stop(errors.New("interrupted"))
	}
	s.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if text, ok := strings.CutPrefix(c.Text, "say "); ok {
		say(text)
	}
	if strings.Contains(c.Text, "fail") {
		return errors.New("exit status 1")
	}
	return nil
}

var kinds = map[events.Kind]string{
	events.ApplyStart: "begin", events.ApplyDone: "end", events.ApplyFailed: "failed",
	events.ProvisionStart: "provision", events.ProvisionOutput: "says", events.ProvisionDone: "provisioned", events.ProvisionFailed: "not provisioned",
	events.EphemeralStart: "ephemeral", events.EphemeralDone: "ephemeral done", events.EphemeralFailed: "ephemeral failed",
}

// word is the name of an action, "" for none.
func word(a plans.Action) string {
	if a == 0 {
		return ""
	}
	return a.String()
}

// load returns the environment of a configuration and the story's modules.
func (s *story) load(text string) (env sessionEnvironment) {
	s.t.Helper()
	files := map[string][]byte{"main.tf": []byte(text)}
	for name, module := range s.parts {
		if strings.HasSuffix(name, ".tf") {
			files[name] = []byte(module)
		}
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	env = environment(cfg, rs, s.pool())
	env.Functions = funcs.Table(funcs.Scope{Impure: func() { s.impure.Add(1) }})
	return env
}

// state returns the lines for a state.
func state(st *states.State, metadata bool) []string {
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
				if in.Current.Identity.JSON != nil {
					line += fmt.Sprintf(" identity %d %s", in.Current.Identity.Version, in.Current.Identity.JSON)
				}
				if metadata {
					line += fmt.Sprintf(" of %s private %q cbd %v deps %s", r.ProviderOf(k), in.Current.Private, in.Current.CreateBeforeDestroy, in.Current.Dependencies.All())
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
