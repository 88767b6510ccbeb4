package executor

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

const thing = `terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
}

resource "lab_thing" "a" {
  name = "a"
}
`

// plugins is a mirror with a real plugin that tells of its environment when it is
// started.
type plugins struct {
	t       *testing.T
	mirror  string
	program string // in the mirror, unpacked or zipped
	told    string // a directory
	objects string // the provider's
}

func newPlugins(t *testing.T, zipped bool) *plugins {
	t.Helper()
	real := providertest.Find(t, "lockstep/lab")
	p := &plugins{t: t, mirror: t.TempDir(), told: t.TempDir(), objects: t.TempDir()}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	script := fmt.Sprintf("#!/bin/sh\n/usr/bin/env > '%s'/env.$$\nexec '%s'\n", p.told, real.Path)
	name := "terraform-provider-lab_v" + real.Version
	var err error
	if zipped {
		p.program = filepath.Join(p.mirror, real.Source, fmt.Sprintf("terraform-provider-lab_%s_%s.zip", real.Version, platform))
		err = writeZip(p.program, name, script)
	} else {
		p.program = filepath.Join(p.mirror, real.Source, real.Version, platform, name)
		if err = os.MkdirAll(filepath.Dir(p.program), 0o755); err == nil {
			err = os.WriteFile(p.program, []byte(script), 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func writeZip(path, name, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	h := &zip.FileHeader{Name: name}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// started returns the environments of the plugins that were started.
func (p *plugins) started() [][]string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.told, "env.*"))
	if err != nil {
		p.t.Fatal(err)
	}
	var out [][]string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, strings.Split(strings.TrimSpace(string(data)), "\n"))
	}
	return out
}

// lock returns a lock file that knows the plugin, by the hash that init notes, or by that
// of its archive alone, as files do that were made on other platforms.
func (p *plugins) lock(scheme string) string {
	p.t.Helper()
	if scheme == "zh:" {
		data, err := os.ReadFile(p.program)
		if err != nil {
			p.t.Fatal(err)
		}
		return fmt.Sprintf("provider \"registry.terraform.io/lockstep/lab\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"zh:%x\",\n  ]\n}\n", sha256.Sum256(data))
	}
	dir := p.t.TempDir()
	d, ds := workdir.Open(dir, machineEnv(filepath.Join(dir, "data")))
	if ds.HasErrors() {
		p.t.Fatal(ds)
	}
	d.Scratch = ""
	lab := addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: "lockstep", Type: "lab"}
	if _, ds := d.Install(p.t.Context(), install.Requirements{lab: nil}, workdir.InstallOptions{PluginDirs: []string{p.mirror}}); ds.HasErrors() {
		p.t.Fatal(ds)
	}
	data, err := os.ReadFile(d.LockFile())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// flat takes the line breaks out of a report.
func flat(report string) string { return strings.Join(strings.Fields(report), " ") }

// grants are those of a base branch.
func grants(t *testing.T, settings, lock string) project.Grants {
	t.Helper()
	s, ds := project.Parse(project.FileName, []byte(settings))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	g, err := project.GrantsOf(s, []byte(lock))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const allowLab = "allow {\n  providers = [\"lockstep/*\"]\n}\n"

func (p *plugins) bench(files map[string]string) *bench {
	b := newBench(p.t, files)
	b.engine.Mirror, b.engine.DataDir = p.mirror, filepath.Join(b.parent, "data")
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"LAB_DIR=" + p.objects, "CLOUD_SECRET_KEY=lent by somebody"}, nil
	}
	return b
}

// TestPluginEnvironment holds that a plugin has the environment that it is given, and
// nothing of ours.
func TestPluginEnvironment(t *testing.T) {
	p := newPlugins(t, false)
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_LAMBDA_RUNTIME_API", "GITHUB_TOKEN", "LOCKSTEP_WEBHOOK_SECRET", "TF_VAR_x", "TF_LOG"} {
		t.Setenv(name, "ours")
	}
	b := p.bench(map[string]string{"net/main.tf": thing})
	b.job.Grants = grants(t, allowLab, "")
	planned := b.plan()
	if planned.Plan == nil {
		t.Fatal(planned.Report)
	}
	if o := b.apply(planned.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	// What a shell adds, what the plugin protocol does, and what switches off logs that nobody reads.
	others := []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_PROVIDER", "PWD", "OLDPWD", "SHLVL", "_", "TF_PLUGIN_MAGIC_COOKIE", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT", "PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_MULTIPLEX_GRPC"}
	started := p.started()
	if len(started) < 2 {
		t.Fatalf("%d plugins were started", len(started))
	}
	for _, env := range started {
		if !slices.Contains(env, "CLOUD_SECRET_KEY=lent by somebody") {
			t.Errorf("what it is given is not there: %q", env)
		}
		inPEM := false
		for _, kv := range env {
			name, _, _ := strings.Cut(kv, "=")
			inPEM = inPEM && !strings.HasPrefix(kv, "-----END")
			switch {
			case name == "PLUGIN_CLIENT_CERT":
				inPEM = true
			case kv == "", inPEM, strings.HasPrefix(kv, "-----END"), name == "LAB_DIR", name == "CLOUD_SECRET_KEY", slices.Contains(others, name):
				continue
			default:
				t.Errorf("a plugin has %q", kv)
			}
		}
	}
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) { return nil, fmt.Errorf("the role is gone") }
	if x := b.plan(); x.Plan != nil || !strings.Contains(x.Report, "The role is gone") {
		t.Errorf("without credentials: %+v", x)
	}
}

// TestSchemasAreNotKept plans twice, and looks into the user's cache directory: a program of a pull
// request that can write there would declare secrets public in the plans of others.
func TestSchemasAreNotKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing})
	b.job.Grants = grants(t, allowLab, "")
	for range 2 {
		if planned := b.plan(); planned.Plan == nil {
			t.Fatal(planned.Report)
		}
	}
	left, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestProvidersAreGranted is a table of what base branch and pull request say of a
// provider. What is refused is neither installed nor started.
func TestProvidersAreGranted(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	lock := p.lock("h1:")
	other := newPlugins(t, false)
	external := strings.ReplaceAll(lock, "lockstep/lab", "hashicorp/external")
	for name, test := range map[string]struct {
		settings, base, pull string
		config               string // "": that of thing
		file                 string // "": main.tf
		want                 string // part of the report; "" if there is a plan
	}{
		"nothing is said":             {want: "base branch does not allow the provider registry.terraform.io/lockstep/lab"},
		"the pull request says it":    {pull: lock, want: "merge a .terraform.lock.hcl with this provider first"},
		"the place is shown":          {pull: lock, want: "main.tf line 7"},
		"the base branch has it":      {base: lock, pull: lock},
		"and the pull request not":    {base: lock},
		"allowed by name":             {settings: allowLab},
		"allowed and locked":          {settings: allowLab, pull: lock},
		"another version":             {base: strings.ReplaceAll(lock, `"1.0.0"`, `"0.9.0"`), pull: lock, want: "selects version 1.0.0 of the provider"},
		"another package, locked":     {base: other.lock("h1:"), pull: lock, want: "other checksums"},
		"another package in the pull": {base: other.lock("h1:"), want: "the package doesn't match any of the checksums"},
		"a lock that is broken":       {base: lock, pull: "provider {", want: ".terraform.lock.hcl"},
		"for OpenTofu, allowed":       {settings: allowLab, file: "main.tofu", want: "does not allow the provider registry.opentofu.org/lockstep/lab"},
		"for OpenTofu, locked":        {base: lock, pull: strings.ReplaceAll(lock, "terraform.io", "opentofu.org"), want: "does not allow the provider registry.opentofu.org/lockstep/lab"},
		"external":                    {base: external, config: "data \"external\" \"x\" {\n  program = [\"id\"]\n}\n", want: "set external = true"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.config == "" {
				test.config = thing
			}
			if test.file == "" {
				test.file = "main.tf"
			}
			files := map[string]string{"net/" + test.file: test.config}
			if test.pull != "" {
				files["net/.terraform.lock.hcl"] = test.pull
			}
			x := *p
			x.t, x.told = t, p.told
			b := x.bench(files)
			b.job.Grants = grants(t, test.settings, test.base)
			before := len(p.started())
			got := b.plan()
			if (got.Plan != nil) != (test.want == "") || !strings.Contains(flat(got.Report), test.want) {
				t.Errorf("%+v", got)
			}
			if test.want == "" {
				if got.Counts.Add != 1 || len(p.started()) == before {
					t.Errorf("%+v", got)
				}
			} else if files, _ := filepath.Glob(filepath.Join(b.engine.DataDir, "*", "*", "*", "*", "*", "*", "*")); len(files) > 0 || len(p.started()) != before {
				t.Errorf("installed: %q; started: %d", files, len(p.started())-before)
			}
			data, err := os.ReadFile(filepath.Join(b.job.Checkout, "net/.terraform.lock.hcl"))
			if string(data) != test.pull || (err == nil) != (test.pull != "") {
				t.Errorf("the lock file was written: %s", data)
			}
		})
	}
}

// TestProvidersOfTheState holds that a provider has to be granted which the state alone
// needs: deleting an object runs it, too.
func TestProvidersOfTheState(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	b := p.bench(map[string]string{"net/main.tf": thing})
	b.job.Grants = grants(t, allowLab, "")
	planned := b.plan()
	if o := b.apply(planned.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	b.write(map[string]string{"net/main.tf": "# empty\n"})
	if x := b.plan(); x.Counts.Destroy != 1 {
		t.Errorf("with the grant: %+v", x)
	}
	before := len(p.started())
	b.job.Grants = project.Grants{}
	if x := b.plan(); x.Plan != nil || !strings.Contains(flat(x.Report), "does not allow the provider registry.terraform.io/lockstep/lab") {
		t.Errorf("without: %+v", x)
	}
	if o := b.apply(planned.Plan, true); !o.Failed || !strings.Contains(o.Report, "does not allow the provider") {
		t.Errorf("an apply, when the grant is gone: %+v", o)
	}
	if len(p.started()) != before {
		t.Error("it was started nevertheless")
	}
}

// TestPackages holds that what is started is what is granted, whatever happened to it
// since it was installed, and that it is not fetched again for nothing.
func TestPackages(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"h1:", "zh:"} {
		t.Run(strings.Trim(scheme, ":"), func(t *testing.T) {
			t.Parallel()
			p := newPlugins(t, true)
			lock := p.lock(scheme)
			b := p.bench(map[string]string{"net/main.tf": thing, "net/.terraform.lock.hcl": lock})
			b.job.Grants = grants(t, "", lock)
			if x := b.plan(); x.Plan == nil {
				t.Fatal(x.Report)
			}
			if err := os.Remove(p.program); err != nil {
				t.Fatal(err)
			}
			if x := b.plan(); x.Plan == nil {
				t.Errorf("what is installed is fetched again: %s", x.Report)
			}
			installed, _ := filepath.Glob(filepath.Join(b.engine.DataDir, "providers", "*", "*", "*", "*", "*", "terraform-provider-*"))
			if len(installed) != 1 {
				t.Fatalf("installed: %q", installed)
			}
			evil := filepath.Join(t.TempDir(), "evil")
			if err := os.WriteFile(installed[0], []byte("#!/bin/sh\ntouch '"+evil+"'\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if x := b.plan(); x.Plan != nil {
				t.Error("a plan with a changed package")
			}
			if _, err := os.Stat(evil); err == nil {
				t.Error("a changed package was started")
			}
		})
	}
}

// TestInstallTogether lets several install the same provider into one directory.
func TestInstallTogether(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, true)
	lock := p.lock("zh:")
	data := t.TempDir()
	var benches []*bench
	for range 4 {
		b := p.bench(map[string]string{"net/main.tf": thing, "net/.terraform.lock.hcl": lock})
		b.engine.DataDir, b.job.Grants = data, grants(t, "", lock)
		benches = append(benches, b)
	}
	reports := make([]string, len(benches))
	var all sync.WaitGroup
	for i, b := range benches {
		all.Go(func() {
			x, err := b.engine.Plan(t.Context(), b.job)
			if reports[i] = ""; err != nil || x.Plan == nil {
				reports[i] = fmt.Sprint(x.Report, err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(make([]string, len(benches)), reports); diff != "" {
		t.Error(diff)
	}
}

// TestNoProviders holds what is said where there is no place for providers.
func TestNoProviders(t *testing.T) {
	t.Parallel()
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing})
	b.job.Grants, b.engine.DataDir = grants(t, allowLab, ""), ""
	if x := b.plan(); x.Plan != nil || !strings.Contains(x.Report, "Providers cannot be installed") {
		t.Errorf("%+v", x)
	}
}
