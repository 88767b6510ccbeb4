package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// A stage is where a scenario is played: the configuration's files, the world that
// its providers change, and the state. As between two runs of a program, nothing
// else is left from one command to the next, plans and states go through their
// codecs, and providers are started anew.
type stage struct {
	t           testing.TB
	files       map[string][]byte
	fakes       map[string]*providertest.Provider // by local name
	state       *states.State
	parallelism int
	wrap        func(provider.Client) provider.Client // of the fakes; nil: as they are
	// inMemory leaves out the saved plan's codec; replay the plan after the apply,
	// too. For what was played before.
	inMemory, replay bool

	mu    sync.Mutex
	log   []string          // the calls of all providers since calls was called
	watch func(call string) // is told each call as it begins
}

// stage returns a stage on which nothing has happened yet.
func (sc *scenario) stage(t testing.TB) *stage {
	t.Helper()
	s := &stage{t: t, files: map[string][]byte{}, fakes: map[string]*providertest.Provider{}, parallelism: 1}
	s.state = states.Empty().With("lineage", 0)
	for name, text := range sc.providers {
		p := providertest.New(t, text)
		p.Hook = func(_ context.Context, call string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, call)
			if s.watch != nil {
				s.watch(call)
			}
		}
		s.fakes[name] = p
	}
	return s
}

// An order is what a step commands, once its other lines have had their effect.
type order struct {
	verb       string
	options    engine.PlanOptions
	variables  []inputs.Source
	import_    []string
	generate   bool            // blocks that imports lack
	stopAt     string          // the call at whose beginning the run is interrupted
	stopAfter  int             // or how many calls that change something begin before; 0: all
	shown      map[string]bool // operations of providers that are shown
	again      bool            // a plan after this apply is not empty
	noCommands bool            // local-exec is not allowed
	language   language.Version
	momentary  bool // a plan after part of this apply asks for less than the rest
}

// play does what a step says and returns what came of it.
func (s *stage) play(st *step) *sheet {
	s.t.Helper()
	maps.Copy(s.files, st.files)
	o := s.prepare(st)
	defer s.rulesOff()
	return s.run(o)
}

func (s *stage) rulesOff() {
	for _, p := range s.fakes {
		p.Off()
	}
}

// prepare gives the lines of a step their effect, and returns the order.
func (s *stage) prepare(st *step) *order {
	s.t.Helper()
	o := &order{shown: maps.Clone(shownCalls)}
	for _, line := range st.lines {
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "on":
			s.misbehave(rest)
		case "edit":
			s.edit(rest)
		case "drop":
			w := strings.Fields(rest)
			s.fake(w[0]).Drop(w[0], w[1])
		case "rm":
			delete(s.files, rest)
		case "var":
			v, ds := inputs.Option(rest)
			s.fatal(ds)
			o.variables = append(o.variables, v)
		case "taint", "untaint":
			s.taint(rest, word == "taint")
		case "stop":
			o.stopAt = rest
		case "calls":
			for _, op := range strings.Fields(rest) {
				o.shown[op] = true
			}
		case "again":
			o.again = true
		case "momentary":
			o.momentary = true
		case "language":
			o.language = language.Version(rest)
		case "no-commands":
			o.noCommands = true
		default:
			s.command(o, word, strings.Fields(rest))
		}
	}
	if o.verb == "" {
		s.t.Fatalf("step %s has no command", st.name)
	}
	return o
}

// shownCalls are the provider calls that are shown in any case. Plans and
// configurations are many and the same everywhere.
var shownCalls = map[string]bool{
	"read": true, "create": true, "update": true, "delete": true, "import": true,
	"invoke": true, "data": true, "open": true, "close": true, "renew": true, "move": true, "exec": true,
}

// exec stands for the shell of local-exec provisioners: "exit N" fails unless N is 0,
// everything else writes its own words.
func (s *stage) exec(_ context.Context, c provisioning.Command, output func(string)) error {
	text := strings.Join(append(slices.Clone(c.Env), c.Args...), " ")
	if c.Dir != "" {
		text = c.Dir + "$ " + text
	}
	s.mu.Lock()
	s.log = append(s.log, "exec "+text)
	s.mu.Unlock()
	output(c.Text)
	if status, ok := strings.CutPrefix(c.Text, "exit "); ok && status != "0" {
		return errors.New("exit status " + status)
	}
	return nil
}

// fake returns the provider that a type of resource belongs to.
func (s *stage) fake(typeName string) *providertest.Provider {
	s.t.Helper()
	name, _, _ := strings.Cut(typeName, "_")
	if name, _, _ = strings.Cut(name, "."); s.fakes[name] == nil {
		s.t.Fatalf("no provider has the type %s", typeName)
	}
	return s.fakes[name]
}

// misbehave adds a rule to the provider that it is for; one without a type is for lab.
func (s *stage) misbehave(rule string) {
	s.t.Helper()
	w := strings.Fields(rule)
	if w[0] == "configure" {
		w[1] = "lab"
	}
	s.fake(w[1]).On(rule)
}

// edit reads "TYPE ID {ATTR = VALUE, ...}".
func (s *stage) edit(text string) {
	s.t.Helper()
	w := strings.SplitN(text, " ", 3)
	expr, hs := hclsyntax.ParseExpression([]byte(w[2]), "step", hcl.InitialPos)
	s.fatal(diags.FromHCL(hs))
	v, hs := expr.Value(nil)
	s.fatal(diags.FromHCL(hs))
	s.fake(w[0]).Edit(w[0], w[1], v.AsValueMap())
}

// taint changes the status of an object of the state.
func (s *stage) taint(address string, tainted bool) {
	s.t.Helper()
	a, err := addrs.ParseAbsResourceInstance(address)
	if err != nil {
		s.t.Fatal(err)
	}
	obj := addrs.ResourceInstanceObject{Instance: a}
	if s.state.Object(obj) == nil {
		s.t.Fatalf("the state has no %s", a)
	}
	o := *s.state.Object(obj)
	if o.Status = states.Ready; tainted {
		o.Status = states.Tainted
	}
	e := s.state.Edit()
	e.SetObject(obj, s.state.Resource(a.AbsResource()).Provider, &o)
	s.state = e.State()
}

// command reads the command line of a step.
func (s *stage) command(o *order, verb string, args []string) {
	s.t.Helper()
	o.verb = verb
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "-destroy":
			o.options.Mode = plans.DestroyMode
		case "-generate":
			o.generate = true
		case "-refresh-only":
			o.options.Mode = plans.RefreshOnlyMode
		case "-refresh":
			o.options.SkipRefresh = value == "false"
		case "-target", "-exclude":
			t, err := addrs.ParseTarget(value)
			if err != nil {
				s.t.Fatal(err)
			}
			to := &o.options.Targets
			if name == "-exclude" {
				to = &o.options.Excludes
			}
			*to = append(*to, t)
		case "-invoke":
			a, err := addrs.ParseAction(value)
			if err != nil {
				s.t.Fatal(err)
			}
			o.options.Invoke = a
		case "-replace":
			a, err := addrs.ParseAbsResourceInstance(value)
			if err != nil {
				s.t.Fatal(err)
			}
			o.options.ForceReplace = append(o.options.ForceReplace, a)
		default:
			o.import_ = append(o.import_, arg)
		}
	}
	switch {
	case verb == "destroy":
		o.verb, o.options.Mode = "apply", plans.DestroyMode
	case verb == "import" && len(o.import_) == 2:
		return
	case verb != "plan" && verb != "apply" && verb != "validate":
		s.t.Fatalf("there is no command %q", verb)
	}
	if len(o.import_) > 0 {
		s.t.Fatalf("there is no option %q", o.import_)
	}
}

func (s *stage) fatal(ds diags.Diagnostics) {
	s.t.Helper()
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
}

// open loads the configuration and starts providers, as a program at its start.
func (s *stage) open(o *order) (engine.Run, *provider.Pool, diags.Diagnostics) {
	pool := provider.NewPool(s.factories(o.language))
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(maps.Clone(s.files)), Language: o.language})
	r := engine.Run{Config: cfg, Providers: pool, WorkingDir: "/work", Files: stageFiles(s.files), Parallelism: s.parallelism}
	if ds.HasErrors() {
		return r, pool, ds
	}
	sources := slices.Concat(s.variableFiles(), o.variables)
	inputs, more := inputs.Collect(cfg.Root.Content, sources)
	r.Variables, r.InvalidVariables = map[string]cty.Value{}, map[string]diags.Diagnostics{}
	for name, x := range inputs {
		if r.Variables[name] = x.Value; x.Problem != nil {
			r.InvalidVariables[name] = x.Problem
		}
	}
	return r, pool, append(ds, more...)
}

// stageFiles are the files that functions can read.
type stageFiles map[string][]byte

func (f stageFiles) tree() fstest.MapFS {
	out := fstest.MapFS{}
	for name, data := range f {
		out[name] = &fstest.MapFile{Data: data}
	}
	return out
}

func (f stageFiles) name(absolute string) string { return strings.TrimPrefix(absolute, "/work/") }

func (f stageFiles) Open(name string) (fs.File, error)      { return f.tree().Open(f.name(name)) }
func (f stageFiles) Stat(name string) (fs.FileInfo, error)  { return f.tree().Stat(f.name(name)) }
func (f stageFiles) Lstat(name string) (fs.FileInfo, error) { return f.tree().Lstat(f.name(name)) }

func (s *stage) factories(v language.Version) map[addrs.Provider]provider.Factory {
	out := map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.In(v, nil), nil },
	}
	for name, p := range s.fakes {
		out[addrs.DefaultProvider(name)] = func(context.Context, *schema.Provider) (provider.Client, error) {
			if s.wrap != nil {
				return s.wrap(p.Client()), nil
			}
			return p.Client(), nil
		}
	}
	return out
}

func (s *stage) variableFiles() []inputs.Source {
	var names []string
	for name := range s.files {
		if path.Dir(name) == "." {
			names = append(names, name)
		}
	}
	var out []inputs.Source
	for _, name := range inputs.AutoFiles(names) {
		v, ds := inputs.File(inputs.FromAutoFile, name, s.files[name])
		s.fatal(ds)
		out = append(out, v)
	}
	return out
}

// run carries out an order.
func (s *stage) run(o *order) *sheet {
	s.t.Helper()
	ctx, cancel := context.WithCancelCause(s.t.Context())
	defer cancel(nil)
	begun := 0
	s.watchFor(func(call string) {
		if isEffect(call) {
			begun++
		}
		if call == o.stopAt || o.stopAfter > 0 && begun == o.stopAfter {
			cancel(errInterrupted)
		}
	})
	defer s.watchFor(nil)
	w := &sheet{stage: s, shown: o.shown}
	switch o.verb {
	case "validate":
		s.validate(ctx, w, o)
	case "import":
		s.importObject(ctx, w, o)
	default:
		s.planAndApply(ctx, w, o)
	}
	return w
}

func (s *stage) watchFor(f func(call string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

// isEffect reports whether a call changes something.
func isEffect(call string) bool {
	op, _, _ := strings.Cut(call, " ")
	return op == "create" || op == "update" || op == "delete" || op == "invoke"
}

// calls returns what providers were called for since it was last called.
func (s *stage) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.log
	s.log = nil
	return out
}

func (s *stage) validate(ctx context.Context, w *sheet, o *order) {
	r, pool, ds := s.open(&order{})
	defer pool.Close()
	if r.Variables != nil { // values make no difference here
		ds = engine.Validate(ctx, r)
	}
	w.heading("validate")
	w.diagnostics(ds)
}

func (s *stage) importObject(ctx context.Context, w *sheet, o *order) {
	r, pool, ds := s.open(o)
	defer pool.Close()
	w.heading("import")
	if !ds.HasErrors() {
		a, err := addrs.ParseAbsResourceInstance(o.import_[0])
		if err != nil {
			s.t.Fatal(err)
		}
		var next *states.State
		next, ds = engine.Import(ctx, r, s.state, a, o.import_[1])
		s.state = s.stored(next)
	}
	w.calls()
	w.diagnostics(ds)
	w.state()
}

func (s *stage) planAndApply(ctx context.Context, w *sheet, o *order) {
	s.t.Helper()
	plan, ds := s.plan(ctx, o)
	w.heading("plan")
	w.plan(plan)
	w.calls()
	w.diagnostics(ds)
	if o.verb == "plan" || plan == nil || plan.Errored {
		return
	}
	ds = s.apply(ctx, o, plan)
	w.heading("apply")
	w.calls()
	w.diagnostics(ds)
	w.state()
	if w.applied = !ds.HasErrors(); w.applied && !s.replay {
		s.settled(w, o)
	}
}

// plan makes a plan, as it comes out of the file that it is saved in.
func (s *stage) plan(ctx context.Context, o *order) (*plans.Plan, diags.Diagnostics) {
	s.t.Helper()
	var ds diags.Diagnostics
	if o.generate {
		if ds = s.generate(ctx, o); ds.HasErrors() && len(o.options.Found.Failed) == 0 {
			return nil, ds
		}
	}
	r, pool, more := s.open(o)
	defer pool.Close()
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	plan, more := engine.Plan(ctx, r, s.state, o.options)
	if ds = append(ds, more...); plan == nil || s.inMemory || s.replay {
		return plan, ds
	}
	var b bytes.Buffer
	if err := planfile.Encode(&b, &planfile.File{Engine: "test", Plan: plan}); err != nil {
		s.t.Fatal(err)
	}
	f, err := planfile.Decode(b.Bytes(), planfile.Options{Engine: "test",
		Schema: func(p addrs.Provider, mode, typeName string) *schema.Schema {
			ps, ds := pool.Schema(s.t.Context(), p)
			s.fatal(ds)
			return ps.Resource(mode, typeName)
		}})
	if err != nil {
		s.t.Fatal(err)
	}
	return f.Plan, ds
}

// generate puts the blocks that imports lack into the file generated.tf.
func (s *stage) generate(ctx context.Context, o *order) diags.Diagnostics {
	s.t.Helper()
	r, pool, ds := s.open(o)
	defer pool.Close()
	s.fatal(ds)
	blocks, found, ds := engine.Generate(ctx, r, s.state)
	o.options.Found = found
	if len(blocks) > 0 {
		s.files["generated.tf"] = generating.File(blocks)
	}
	return ds
}

// apply carries out a plan. Every state that is saved on the way must be one that
// can be read again.
func (s *stage) apply(ctx context.Context, o *order, plan *plans.Plan) diags.Diagnostics {
	s.t.Helper()
	r, pool, ds := s.open(o)
	defer pool.Close()
	s.fatal(ds)
	if len(plan.EphemeralVariables) == 0 {
		r.Variables = nil // the plan has them
	}
	saved := plan.PriorState
	if r.LocalExec = s.exec; o.noCommands {
		r.LocalExec = nil
	}
	done, ds := engine.Apply(ctx, r, plan, engine.ApplyOptions{SaveEvery: time.Millisecond,
		Save: func(_ context.Context, st *states.State) (err error) {
			saved, err = s.throughFile(st)
			return err
		}})
	next := done.State
	if !saved.SameContent(next) {
		s.t.Error("the state that was saved last is not the state at the end")
	}
	s.state = s.stored(next)
	return ds
}

// stored returns a state as it comes out of a file.
func (s *stage) stored(st *states.State) *states.State {
	s.t.Helper()
	out, err := s.throughFile(st)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *stage) throughFile(st *states.State) (*states.State, error) {
	src, err := statefile.Write(st.With("lineage", s.state.Serial+1))
	if err != nil {
		return nil, err
	}
	return statefile.Read(src)
}

// settled makes sure that after an apply nothing is left to do.
func (s *stage) settled(w *sheet, o *order) {
	s.t.Helper()
	next := *o
	next.options.ForceReplace = nil
	plan, ds := s.plan(s.t.Context(), &next)
	s.calls()
	again := &sheet{stage: s}
	empty := again.plan(plan)
	if plan != nil && plan.Mode != plans.RefreshOnlyMode && len(plan.ForgottenData(plan.PriorState)) == 0 && plan.Applyable == empty {
		// A plan of -refresh-only counts objects with sensitive attributes as changed; one of
		// -destroy with targets, data that it has read itself.
		s.t.Errorf("the plan says that it is applyable: %v\n%s", plan.Applyable, again)
	}
	if empty && !ds.HasErrors() {
		if o.again {
			s.t.Error(`the line "again" is superfluous`)
		}
		return
	}
	again.diagnostics(ds)
	if !o.again {
		s.t.Errorf("a plan after the apply is not empty:\n%s", again)
		return
	}
	w.heading("again")
	w.lines = append(w.lines, again.lines...)
}

// schema returns the schema of a type.
func (s *stage) schema(a addrs.Resource) *schema.Schema {
	if strings.HasPrefix(a.Type, "terraform_") {
		ps, ds := builtin.New(nil).Schema(s.t.Context())
		s.fatal(ds)
		return ps.Resource(a.Mode.String(), a.Type)
	}
	return s.fake(a.Type).Declared().Resource(a.Mode.String(), a.Type)
}

// value returns a stored object's value, with marks.
func (s *stage) value(a addrs.Resource, o *states.Object) cty.Value {
	s.t.Helper()
	rs := s.schema(a)
	v, err := jsonvalues.Parse(o.AttrsJSON, rs.Block.ImpliedType())
	if err != nil {
		s.t.Fatal(err)
	}
	return marked(v, o.Sensitive)
}
