package oci

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home returns a home directory with files.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The files of docker and podman are read, each registry's entry alone.
func TestUsualFiles(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{
		".docker/config.json":          `{"auths": {"docker.example.com": {"auth": "ZG9ja2VyOnB3"}, "both.example.com": {"auth": "ZG9ja2VyOnB3"}, "https://index.docker.io/v1/": {"auth": "aHViOnB3"}}}`,
		".dockercfg":                   `{"auths": {"old.example.com": {"auth": "b2xkOnB3"}, "both.example.com": {"auth": "b2xkOnB3"}}}`,
		"own/config.json":              `{"auths": {"docker.example.com": {"auth": "b3duOnB3"}}}`,
		".config/containers/auth.json": `{"auths": {"both.example.com": {"auth": "cG9kbWFuOnB3"}}}`,
		"run/containers/auth.json":     `{"auths": {"run.example.com": {"auth": "cnVuOnB3"}, "run.example.com/team/x": {"auth": "eDpwdw=="}, "token.example.com": {"identitytoken": "t"}}}`,
	})
	env := map[string]string{"HOME": dir, "XDG_RUNTIME_DIR": filepath.Join(dir, "run")}
	getenv := func(name string) string { return env[name] }
	for _, test := range []struct{ at, docker, want string }{
		{"docker.example.com/a", "", "docker:pw"},
		{"docker.example.com/a", filepath.Join(dir, "own"), "own:pw"},
		{"both.example.com/a", "", "podman:pw"},
		{"old.example.com/a", "", "old:pw"},
		{"docker.io/library/a", "", "hub:pw"},
		{"run.example.com/team/other", "", "run:pw"},
		{"run.example.com/team/x", "", "x:pw"},
		{"run.example.com/team/x/deeper", "", "x:pw"},
		{"run.example.com/team/xy", "", "run:pw"},
		{"token.example.com/a", "", "token t"},
		{"example.com/a", "", ":"},
	} {
		env["DOCKER_CONFIG"] = test.docker
		if got := ask(t, Login{}, getenv, test.at); got != test.want {
			t.Errorf("%s: %s, want %s", test.at, got, test.want)
		}
	}
	if got := ask(t, Login{}, func(string) string { return "" }, "docker.example.com/a"); got != ":" {
		t.Errorf("without a home: %s", got)
	}
	for _, c := range []struct{ text, says string }{
		{`{`, "config.json with credentials for OCI registries cannot be used"},
		{`{"auths": {"docker.example.com": {"auth": "c2VjcmV0"}}}`, "its entry for docker.example.com is not valid"},
	} {
		dir := home(t, map[string]string{".docker/config.json": c.text})
		if got := ask(t, Login{}, func(name string) string { return map[string]string{"HOME": dir}[name] }, "docker.example.com/a"); !strings.Contains(got, c.says) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, want %s", c.text, got, c.says)
		}
	}
}

// ask returns the credentials for HOST/NAME in a line, or the error.
func ask(t *testing.T, l Login, getenv func(string) string, name string) string {
	t.Helper()
	at, repository, _ := strings.Cut(name, "/")
	got, err := l.Credentials(getenv)(t.Context(), at, repository)
	switch {
	case err != nil:
		return err.Error()
	case got.AccessToken != "" || got.RefreshToken != "":
		return "token " + strings.TrimSpace(got.AccessToken+" "+got.RefreshToken)
	}
	return got.Username + ":" + got.Password
}

// The most specific entry counts, whether a file or the CLI configuration has it. Of equal ones, the CLI
// configuration's counts.
func TestEntries(t *testing.T) {
	helper := func(user string) string {
		return "#!/bin/sh\nread server\ncase $server in\n*nothing*) echo 'credentials not found in native keychain'; exit 1;;\n*broken*) echo broken; exit 1;;\nesac\necho '{\"Username\": \"" + user + "\", \"Secret\": \"'$server'\"}'\n"
	}
	dir := home(t, map[string]string{
		"docker-credential-one": helper("one"),
		"docker-credential-all": helper("all"),
		"a.json":                `{"auths": {"file.example.com": {"auth": "ZmlsZTpwdw=="}, "both.example.com": {"auth": "ZmlsZTpwdw=="}, "both.example.com/deep": {"auth": "ZGVlcDpwdw=="}, "kept.example.com": {}}, "credHelpers": {"helped.example.com": "one"}, "credsStore": "all"}`,
		"b.json":                `{"auths": {"file.example.com": {"auth": "Yjpwdw=="}, "b.example.com": {"auth": "Yjpwdw=="}}}`,
	})
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	l := Login{
		Entries: []Entry{
			{Prefix: "both.example.com", Credential: Credential{Username: "cli", Password: "pw"}},
			{Prefix: "tokens.example.com/team", Credential: Credential{AccessToken: "a", RefreshToken: "r"}},
			{Prefix: "own.example.com", Helper: "one"},
		},
		Files: []string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")},
	}
	for _, test := range []struct{ at, want string }{
		{"both.example.com/x", "cli:pw"},
		{"both.example.com/deep/x", "deep:pw"},
		{"tokens.example.com/team/x", "token a r"},
		{"tokens.example.com/other", "all:https://tokens.example.com"},
		{"own.example.com/x", "one:https://own.example.com"},
		{"file.example.com/x", "file:pw"},
		{"b.example.com/x", "b:pw"},
		{"kept.example.com/x", "all:https://kept.example.com"},
		{"helped.example.com/x", "one:https://helped.example.com"},
		{"nothing.example.com/x", ":"},
		{"broken.example.com/x", "the credential helper docker-credential-all has none for broken.example.com: broken"},
	} {
		if got := ask(t, l, os.Getenv, test.at); got != test.want {
			t.Errorf("%s: %s, want %s", test.at, got, test.want)
		}
	}
	l.Helper = "one"
	if got := ask(t, l, os.Getenv, "other.example.com/x"); got != "one:https://other.example.com" {
		t.Errorf("with a helper for all registries: %s", got)
	}
	l.Files = []string{}
	if got := ask(t, Login{Files: []string{}}, os.Getenv, "file.example.com/x"); got != ":" {
		t.Errorf("without files: %s", got)
	}
	l.Files = []string{filepath.Join(dir, "none.json")}
	if got := ask(t, l, os.Getenv, "other.example.com/x"); !strings.Contains(got, "none.json with credentials for OCI registries cannot be used: open") && !strings.Contains(got, "no such file") {
		t.Errorf("a file that does not exist: %s", got)
	}
}
