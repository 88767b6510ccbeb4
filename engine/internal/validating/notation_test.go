package validating_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/validating"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// fake is the provider of all configurations.
const fake = `
provider
  region string optional
resource t_x
  id    string computed keep
  name  string required replace
  color string optional
  rule  block(list) {
    port number required
  }
  kind  block(set) {
    word string required
  }
data t_x
  name string required
ephemeral t_x
  name string required
`

// TestConfigurations validates the configurations in testdata. Each begins with "== NAME". Its
// files are those of a txtar archive; "on" has rules for the provider, one a line (see
// [providertest.Provider.On]), and "want" the diagnostics, as FILE:LINE: SEVERITY: SUMMARY, or
// with the address in place of the line. "again" has those that an apply repeats which changes t_x.a alone.
//
// The option -update rewrites "want" and "again".
func TestConfigurations(t *testing.T) {
	const file = "testdata/configurations.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	head, rest, _ := strings.Cut("\n"+string(text), "\n== ")
	for one := range strings.SplitSeq(rest, "\n== ") {
		name, body, _ := strings.Cut(one, "\n")
		a := txtar.Parse([]byte(body))
		t.Run(name, func(t *testing.T) { check(t, a) })
		out = append(out, name+"\n"+string(txtar.Format(a)))
	}
	golden.Update(t, file, strings.TrimPrefix(head, "\n")+"\n== "+strings.Join(out, "\n== "))
}

// check validates one configuration.
func check(t *testing.T, a *txtar.Archive) {
	p := providertest.New(t, fake)
	files, want := map[string][]byte{}, map[string]string{}
	for _, f := range a.Files {
		switch f.Name {
		case "on":
			for rule := range strings.Lines(string(f.Data)) {
				if rule = strings.TrimSpace(rule); rule != "" {
					p.On(rule)
				}
			}
		case "want", "again":
			want[f.Name] = string(f.Data)
		default:
			files[f.Name] = f.Data
		}
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): p.Start})
	defer pool.Close()
	found := validating.Validate(t.Context(), validating.Input{Environment: session.Environment{
		Program:   eval.Program{Config: cfg, Refs: rs, Functions: funcs.Table(funcs.Scope{PureOnly: true})},
		Providers: pool,
	}})
	changed := addrs.ConfigResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}}
	again := found.Again(cfg, rs, func(cr addrs.ConfigResource) bool { return cr == changed })
	got := map[string]string{"want": lines(found.All()), "again": lines(again)}
	if !golden.Updating() {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		return
	}
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" || f.Name == "again" })
	for _, name := range []string{"want", "again"} {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
}

// lines returns diagnostics in lines, sorted.
func lines(ds diags.Diagnostics) string {
	var out []string
	for _, d := range ds {
		at := d.Address
		if d.Subject != nil {
			at = fmt.Sprintf("%s:%d", d.Subject.Filename, d.Subject.Start.Line)
		}
		out = append(out, fmt.Sprintf("%s: %s: %s\n", at, d.Severity, d.Summary))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}
