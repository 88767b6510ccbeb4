package localpipeline

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const reading = `terraform {
  backend "local" {
  }
  required_providers {
    local = { source = "hashicorp/local" }
  }
}

data "local_file" "read" {
  for_each = toset(["/proc/self/environ", %q, %q])
  filename = each.value
}

output "read" {
  value = [for name in sort(keys(data.local_file.read)) : replace(data.local_file.read[name].content, "\u0000", "|")]
}
`

// A real provider that the base branch allows is installed from where the CLI
// configuration says, has the environment that it is given and no more, and what it reads
// of our secrets is told to nobody.
func TestProviders(t *testing.T) {
	t.Parallel()
	providertest.Find(t, "hashicorp/local")
	dir := t.TempDir()
	hub := githubtest.New(githubtest.Options{Secret: github.NewSecret("a secret of webhooks")})
	api := httptest.NewServer(hub)
	defer api.Close()
	config := hub.App(api.URL)
	app, err := github.NewApp(config)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := file("key.pem", hub.AppKey())
	other := file("other", "of serve: ours-and-only-ours")
	m, err := Open(Config{
		Dir: filepath.Join(dir, "data"), Version: "test", App: app, Serves: serving(t), Secret: github.NewSecret("a secret of webhooks"), States: executor.States,
		PluginEnv: []string{"LENT=for plugins"}, URL: "http://127.0.0.1:8080", Log: func(err error) { t.Error(err) },
		CLIConfig: file("cli.tfrc", fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", providertest.Mirror(t))),
		Environ:   []string{"AWS_SECRET_ACCESS_KEY=ours-and-only-ours", "LOCKSTEP_WEBHOOK_SECRET=LENT"},
		Secrets:   []string{hub.AppKey()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	hook := httptest.NewServer(m.Webhook)
	defer hook.Close()
	hub.SetWebhook(hook.URL)
	repo := hub.AddRepository("acme", "infra", githubtest.Files{
		"lockstep.hcl": "allow {\n  providers = [\"hashicorp/local\"]\n}\n", "net/main.tf": "",
	})
	repo.Grant("alice", "write")
	repo.Push("alice", "read", "Read", githubtest.Files{"net/main.tf": fmt.Sprintf(reading, key, other)})
	repo.OpenPull("alice", "Read", "read")
	if _, err := hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, c := range repo.Comments(1) {
		said += c.Body
	}
	for _, c := range repo.Checks(repo.Head("read")) {
		said += c.Summary + c.Text
	}
	for _, want := range []string{"LENT=for plugins", "of serve: (sensitive value)"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.Contains(said, name+"=") {
			t.Errorf("a plugin has our variable %s", name)
		}
	}
	for line := range strings.Lines(hub.AppKey()) {
		if line = strings.TrimSpace(line); len(line) > 20 && strings.Contains(said, line) {
			t.Errorf("a line of the App's key is told")
		}
	}
	if strings.Contains(said, "ours-and-only-ours") {
		t.Error("a secret of our environment is told")
	}
	if t.Failed() {
		t.Logf("%s", said)
	}
	if installed, _ := filepath.Glob(filepath.Join(dir, "data", "providers", "*")); len(installed) == 0 {
		t.Error("the provider is not in the data directory")
	}
}
