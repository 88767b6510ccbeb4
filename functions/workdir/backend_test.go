package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// open returns a directory with files: name, content, name, content...
func open(t *testing.T, files ...string) *Dir {
	t.Helper()
	path := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(path, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, ds := Open(path, []string{"TF_CLI_CONFIG_FILE=" + os.DevNull})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	d.Scratch = ""
	return d
}

// configured reads the backend block of a configuration.
func configured(t *testing.T, block string, overrides map[string]any) *Settings {
	t.Helper()
	cfg, ds := open(t, "main.tf", block).Load()
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	s, ds := Configured(cfg.Root.Backend, overrides)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return s
}

// What init recorded is compared with what the configuration says now.
func TestBackendRecord(t *testing.T) {
	block := func(attributes string) string { return "terraform {\n  backend \"s3\" {\n" + attributes + "\n  }\n}\n" }
	recorded := configured(t, block(`bucket = "b"`+"\n"+`use_lockfile = true`), map[string]any{"key": "k", "max_retries": "3"})
	d := open(t)
	if err := d.Remember(recorded); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.recordPath()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record, which may hold credentials: %v, %v", info.Mode(), err)
	}
	old, err := d.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		now           *Settings
		same, follows bool
	}{
		{"the same", configured(t, block(`bucket = "b"`+"\n"+`use_lockfile = true`), map[string]any{"key": "k", "max_retries": 3}), true, true},
		{"without options", configured(t, block(`use_lockfile = true`+"\n"+`bucket = "b"`), nil), false, true},
		{"another value", configured(t, block(`bucket = "c"`+"\n"+`use_lockfile = true`), nil), false, false},
		{"less in the block", configured(t, block(`bucket = "b"`), nil), false, false},
		{"more in the block", configured(t, block(`bucket = "b"`+"\n"+`use_lockfile = true`+"\n"+`key = "k"`), nil), false, false},
		{"another type", configured(t, "terraform {\n  backend \"local\" {}\n}\n", nil), false, false},
		{"no block", nil, false, false},
	} {
		if got := c.now.Same(old); got != c.same {
			t.Errorf("%s: Same is %t", c.name, got)
		}
		if got := c.now.Follows(old); got != c.follows {
			t.Errorf("%s: Follows is %t", c.name, got)
		}
	}
	if err := d.Remember(nil); err != nil {
		t.Fatal(err)
	}
	if s, err := d.Recorded(); s != nil || err != nil {
		t.Errorf("after forgetting there is %v, %v", s, err)
	}
	if err := d.Remember(nil); err != nil {
		t.Errorf("forgetting nothing: %v", err)
	}
	if err := os.WriteFile(d.recordPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Recorded(); err == nil || !strings.Contains(err.Error(), "lockstep init -reconfigure") {
		t.Errorf("a damaged record: %v", err)
	}
}

// These are the hashes that Terraform 1.11.4 has recorded for such blocks.
func TestBlockHash(t *testing.T) {
	const s3 = `    bucket = "states"
    key = "x"
    region = "us-east-1"
    use_path_style = true
    skip_credentials_validation = true
    skip_region_validation = true
    skip_requesting_account_id = true
    skip_metadata_api_check = true
    use_lockfile = true
    endpoints = { s3 = "http://127.0.0.1:19057" }
`
	for _, c := range []struct {
		backendType, block string
		want               uint64
	}{
		{"s3", s3, 3007870569},
		{"s3", s3 + "max_retries = 2\nshared_config_files = [\"b\", \"a\"]\nencrypt = false\nretry_mode = \"standard\"\n", 3175894004},
		{"local", "path = \"x.tfstate\"\n", 2326359980},
	} {
		b := fmt.Sprintf("terraform {\n  backend %q {\n%s  }\n}\n", c.backendType, c.block)
		if got := configured(t, b, nil).Block; got != c.want {
			t.Errorf("%d is the hash of\n%s", got, b)
		}
	}
}

// A state gets one lineage, whatever becomes of its first writes, and a serial for
// each write that changes something.
func TestStateWrites(t *testing.T) {
	faults := new(statebackendtest.Faults)
	b := &statebackendtest.Fake{Faults: faults}
	s, ds := OpenState(b, "default")
	if ds = append(ds, s.Read(t.Context())...); ds.HasErrors() {
		t.Fatal(ds)
	}
	if err := s.Write(t.Context(), states.Empty()); err != nil || s.Exists() {
		t.Errorf("an empty state was stored: %v", err)
	}
	e := states.Empty().Edit()
	e.SetOutput("o", states.Output{Value: cty.StringVal("x")})
	next := e.State()
	rescued := s.Next(next)
	if err := s.Write(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if s.Current.Lineage == "" || s.Current.Lineage != rescued.Lineage || s.Current.Serial != 1 {
		t.Errorf("stored as %q, %d; rescued as %q", s.Current.Lineage, s.Current.Serial, rescued.Lineage)
	}
	if err := s.Write(t.Context(), next); err != nil || s.Current.Serial != 1 {
		t.Errorf("writing the same again: serial %d, %v", s.Current.Serial, err)
	}
	other, ds := OpenState(b, "default")
	if ds = append(ds, other.Read(t.Context())...); ds.HasErrors() {
		t.Fatal(ds)
	}
	if err := other.Write(t.Context(), states.Empty()); err != nil || other.Current.Serial != 2 {
		t.Errorf("emptying: serial %d, %v", other.Current.Serial, err)
	}
	e = next.Edit()
	e.SetOutput("o", states.Output{Value: cty.StringVal("y")})
	var conflict *statebackend.ConflictError
	if err := s.Write(t.Context(), e.State()); !errors.As(err, &conflict) {
		t.Errorf("writing what was read before: %v", err)
	}
}

// terraform_remote_state reads the outputs of a local state, relative to the directory.
func TestRemoteState(t *testing.T) {
	d := open(t, "other.tfstate", `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {"o": {"value": ["a"], "type": ["list", "string"]}}, "resources": []}`)
	path := func(s string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal(s)}) }
	got, err := d.RemoteState(t.Context(), nil, "local", path("other.tfstate"), "default")
	want := map[string]cty.Value{"o": cty.ListVal([]cty.Value{cty.StringVal("a")})}
	if diff := cmp.Diff(want, got, cmp.Comparer(cty.Value.RawEquals)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, c := range []struct {
		backend   string
		config    cty.Value
		workspace string
		says      string
	}{
		{"local", path("nowhere"), "default", builtin.ErrNoState.Error()},
		{"local", path("other.tfstate"), "a/b", "not a workspace name"},
		{"local", cty.ObjectVal(map[string]cty.Value{"paht": cty.StringVal("x")}), "default", "paht"},
		{"gcs", cty.NullVal(cty.DynamicPseudoType), "default", `cannot read a state in the backend "gcs"`},
	} {
		if _, err := d.RemoteState(t.Context(), nil, c.backend, c.config, c.workspace); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", c.backend, err, c.says)
		}
	}
}

// A saved plan is for the providers that it was made with.
func TestSameProviders(t *testing.T) {
	lab, err := addrs.ParseProvider("lockstep/lab")
	if err != nil {
		t.Fatal(err)
	}
	lock, ds := lockfile.Parse([]byte("provider \"registry.terraform.io/lockstep/lab\" {\n  version = \"1.2.0\"\n  hashes = [\n    \"h1:installed\",\n    \"h1:elsewhere\",\n  ]\n}\n"), "lock")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	locked, _ := lock.Lock(lab)
	p := &Providers{lock: lock, found: map[addrs.Provider]install.Selection{lab: {Provider: lab, Version: locked.Version, Hash: "h1:installed"}}}
	if got := p.Selections()[lab]; got.Version != "1.2.0" || !cmp.Equal(got.Hashes, []string{"h1:elsewhere", "h1:installed"}) {
		t.Errorf("selected %+v", got)
	}
	for _, c := range []struct {
		planned planfile.Selection
		says    string
	}{
		{planfile.Selection{Version: "1.2.0", Hashes: []string{"h1:installed"}}, ""},
		{planfile.Selection{Version: "1.2.0", Hashes: []string{"h1:elsewhere"}}, ""}, // made on another platform
		{planfile.Selection{Version: "1.2.0"}, ""},
		{planfile.Selection{Version: "1.1.0", Hashes: []string{"h1:installed"}}, "made with version 1.1.0 of provider lockstep/lab, and now version 1.2.0 is selected"},
		{planfile.Selection{Version: "1.2.0", Hashes: []string{"h1:other"}}, "differs from the one with which the plan was made"},
	} {
		err := p.SameAs(map[addrs.Provider]planfile.Selection{lab: c.planned})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v; want %q", c.planned, err, c.says)
		}
	}
	p.found = nil
	if err := p.SameAs(map[addrs.Provider]planfile.Selection{lab: {Version: "1.2.0"}}); err == nil || !strings.Contains(err.Error(), "which is not installed") {
		t.Errorf("without the provider: %v", err)
	}
}
