package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
)

// TestPrivateModules plans and applies a module of a private registry whose package is on a private
// git server, with the token of an environment's secret: it is in no output and no file.
func TestPrivateModules(t *testing.T) {
	t.Parallel()
	server := sourcetest.New(t)
	server.Password, server.Token = horse, horse
	server.Repository("net", "v1", map[string]string{"main.tf": "output \"o\" {\n  value = \"from the git server\"\n}\n"})
	server.Module("acme/net/aws", "1.0.0", "git::https://"+sourcetest.Host+"/git/net.git?ref=v1")
	b := newBench(t, map[string]string{"net/main.tf": "module \"m\" {\n  source = \"" + sourcetest.Host + "/acme/net/aws\"\n}\noutput \"o\" {\n  value = module.m.o\n}\n"})
	b.engine.Modules = modules.Remote{Transport: server.Transport(), Proxy: func(context.Context, string, string, string, string) error { return os.ErrNotExist }}.Install
	b.job.Grants = grants(t, "allow {\n  modules = [\""+sourcetest.Host+"\"]\n}\n", "")
	values := map[string]string{}
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) { return values, nil }

	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), `demands other credentials`) || !strings.Contains(flat(p.Report), "secrets = { TF_TOKEN_modules_example_com =") {
		t.Errorf("without a token: %s", p.Report)
	}
	values["TF_TOKEN_other_example_com"] = horse
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "demands other credentials") {
		t.Errorf("with the token of another host: %s", p.Report)
	}
	values["TF_TOKEN_modules_example_com"] = horse
	p := b.plan()
	if p.Plan == nil || !strings.Contains(p.Report, "from the git server") {
		t.Fatalf("%+v", p)
	}
	o := b.apply(p.Plan, true)
	if o.Failed || !strings.Contains(o.Report, "from the git server") {
		t.Errorf("%+v", o)
	}
	if at := found(t, b.parent, horse, p.Plan, []byte(p.Report), []byte(o.Report)); at != nil {
		t.Errorf("the token is in %q", at)
	}
	b.job.Grants = grants(t, "", "")
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "does not allow modules from the host "+sourcetest.Host) {
		t.Errorf("the token of a host that is not allowed: %s", p.Report)
	}
}

// TestPrivateProviders plans with a provider of a private registry.
func TestPrivateProviders(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	program, err := os.ReadFile(p.program)
	if err != nil {
		t.Fatal(err)
	}
	server := registrytest.New(t)
	server.Token = horse
	server.Add(registrytest.Release{Namespace: "lockstep", Type: "lab", Version: "1.0.0", Program: program})
	b := p.bench(map[string]string{"net/main.tf": strings.Replace(thing, `"lockstep/lab"`, fmt.Sprintf("%q", registrytest.Host+"/lockstep/lab"), 1)})
	b.engine.CLIConfig = filepath.Join(t.TempDir(), "cli.tfrc")
	if err := os.WriteFile(b.engine.CLIConfig, []byte(server.CLIConfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.engine.Mirror, b.engine.Registries = "", server.Transport()
	b.job.Grants = grants(t, "allow {\n  providers = [\""+registrytest.Host+"/lockstep/*\"]\n}\n", "")
	values := map[string]string{}
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) { return values, nil }
	if x := b.plan(); x.Plan != nil || !strings.Contains(flat(x.Report), "demands other credentials") || !strings.Contains(flat(x.Report), "secrets = { TF_TOKEN_registry_example_com =") {
		t.Errorf("without a token: %s", x.Report)
	}
	values["TF_TOKEN_registry_example_com"] = horse
	x := b.plan()
	if x.Plan == nil || !strings.Contains(x.Report, "1 to add") {
		t.Fatal(x.Report)
	}
	if at := found(t, b.parent, horse, x.Plan, []byte(x.Report)); at != nil {
		t.Errorf("the token is in %q", at)
	}
}
