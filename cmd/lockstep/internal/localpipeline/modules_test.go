package localpipeline

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const calls = `terraform {
  backend "local" {
  }
}

module "net" {
  source  = "modules.example.com/acme/net/aws"
  version = "~> 1.0"
}

module "archive" {
  source = "https://modules.example.com/m.zip"
}

output "said" {
  value = "${module.net.said} ${module.archive.said}"
}
`

// A module from a registry that the base branch allows, whose package is a private
// repository, and one from an archive, are planned, and applied by the merge.
func TestModulesFromElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hub := githubtest.New(githubtest.Options{Secret: github.NewSecret("hush")})
	api := httptest.NewServer(hub)
	defer api.Close()
	app, err := github.NewApp(hub.App(api.URL))
	if err != nil {
		t.Fatal(err)
	}
	server := sourcetest.New(t)
	server.File("/m.zip", sourcetest.Zip(t, map[string]string{"main.tf": "output \"said\" {\n  value = \"by the archive\"\n}\n"}), nil)
	server.Module("acme/net/aws", "1.0.0", "git::https://github.com/acme/net.git?ref=v1.0.0")
	m, err := Open(Config{
		Dir: dir, Version: "test", App: app, Serves: serving(t), Secret: github.NewSecret("hush"), States: executor.States,
		Modules: server.Transport(), URL: "http://127.0.0.1:8080", Log: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	hook := httptest.NewServer(m.Webhook)
	defer hook.Close()
	hub.SetWebhook(hook.URL)
	settle := func() {
		t.Helper()
		for {
			sent, err := hub.Deliver(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			handled, err := m.Settle(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if sent+handled == 0 {
				return
			}
		}
	}
	repo := hub.AddRepository("acme", "infra", githubtest.Files{
		"lockstep.hcl": "project \"app\" {\n  dir   = \"app\"\n  apply = \"merge\"\n}\n\nallow {\n  modules = [\"modules.example.com\", \"github.com/acme/net\"]\n}\n",
		"app/main.tf":  "terraform {\n  backend \"local\" {\n  }\n}\n",
	})
	repo.Grant("alice", "write")
	net := hub.AddRepository("acme", "net", githubtest.Files{"main.tf": "output \"said\" {\n  value = \"by version 1.0.0\"\n}\n"})
	net.SetPrivate()
	net.Tag("v1.0.0", "main")
	repo.Push("alice", "call", "Call modules", githubtest.Files{"app/main.tf": calls})
	n := repo.OpenPull("alice", "Call modules", "call")
	settle()
	said := func() (text string) {
		for _, c := range repo.Comments(n) {
			text += c.Body
		}
		for _, c := range repo.Checks(repo.Head("call")) {
			text += c.Title + c.Summary + c.Text
		}
		return text
	}
	if got := said(); !strings.Contains(got, "by version 1.0.0 by the archive") {
		t.Fatalf("the plan:\n%s", got)
	}
	repo.Merge("alice", n)
	settle()
	if got := said(); !strings.Contains(got, "applied by") {
		t.Errorf("after the merge:\n%s", got)
	}
	untold(t, hub, dir, said())
}

// serving serves all repositories of acme.
func serving(t testing.TB) intake.Serves {
	t.Helper()
	s, err := intake.ParseServes("acme")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// untold holds that no token that GitHub has given out is in a text, or in a file below a
// directory.
func untold(t *testing.T, hub *githubtest.Hub, dir, text string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		text += string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	given := hub.Given()
	for _, secret := range given {
		if strings.Contains(text, secret) {
			t.Error("a token is told, or in the data directory")
		}
	}
	if len(given) == 0 {
		t.Error("there are no tokens to look for")
	}
}
