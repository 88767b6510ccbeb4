package modules

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// git returns getters with ours for git.
func git(s *sourcetest.Server, token string, limits getting.Limits) *getting.Getters {
	g := bare(s, token, limits)
	return &getting.Getters{Policy: g.policy, Transport: s.Transport(), More: []getting.Getter{g}, Limits: limits}
}

// bare is our getter for git, for one server and with a token of it.
func bare(s *sourcetest.Server, token string, limits getting.Limits) gitGetter {
	policy := hosts.Policy{PublicOnly: true, Host: func(name string) error {
		if name != sourcetest.Host {
			return fmt.Errorf("the host %s is not allowed", name)
		}
		return nil
	}}
	g := gitGetter{policy, (&hosts.Client{Policy: policy, Transport: s.Transport()}).HTTP(), nil, limits}
	if token != "" {
		g.token = func(host string) (hosts.Token, bool) { return hosts.NewToken(token), host == sourcetest.Host }
	}
	return g
}

// fetched are the files of a directory with their contents.
func fetched(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		data, err := os.ReadFile(name)
		out = append(out, fmt.Sprintf("%s=%s", rel, data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(slices.Values(out)), " ")
}

// TestGit fetches refs of a repository from git's own server, which demands a token.
func TestGit(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Password = "s3cret"
	first := s.Repository("net", "v1", map[string]string{"main.tf": "1", "sub/x.tf": "x", "link.tf": "-> main.tf"})
	s.Repository("net", "v2", map[string]string{"main.tf": "2"})
	s.Annotate("net", "release", first)
	s.Repository("away", "v1", map[string]string{"main.tf": ""})
	for name, to := range map[string]string{"elsewhere": "https://example.org/git/net.git", "inside": "https://169.254.169.254/git/net.git", "here": "https://" + sourcetest.Host + "/git/net.git"} {
		s.Redirect("/to/"+name+".git/info/refs", to+"/info/refs?service=git-upload-pack")
	}
	const one, two = "link.tf=1 main.tf=1 sub/x.tf=x", "link.tf=2 main.tf=2 sub/x.tf=x"
	at := "git::https://" + sourcetest.Host
	for _, test := range []struct{ token, source, want string }{
		{"s3cret", at + "/git/net.git", two},
		{"s3cret", at + "/git/net.git?ref=main", two},
		{"s3cret", at + "/git/net.git?ref=v1", one},
		{"s3cret", at + "/git/net.git?ref=v1&depth=1", one},
		{"s3cret", at + "/git/net.git?ref=refs/tags/v2", two},
		{"s3cret", at + "/git/net.git?ref=release", one},
		{"s3cret", at + "/git/net.git?ref=" + first, one},
		{"s3cret", at + "/git/net.git//sub?ref=v1", "x.tf=x"},
		{"somebody:s3cret", at + "/git/net.git", two},
		{"s3cret", "git::ssh://git@" + sourcetest.Host + "/git/net.git?ref=v1", one},
		{"s3cret", at + "/to/here.git?ref=v1", one},
		{"", "git::https://x:s3cret@" + sourcetest.Host + "/git/net.git?ref=v1", one},

		{"s3cret", at + "/git/net.git?ref=v3", `has no branch and no tag "v3", and it is not the whole ID of a commit`},
		{"s3cret", at + "/git/net.git?ref=" + first[:8], "it is not the whole ID of a commit"},
		{"s3cret", at + "/git/net.git?ref=" + strings.Repeat("1", 40), "the server does not give the commit 1111"},
		{"s3cret", at + "/git/none.git", "the git server " + sourcetest.Host + " has no repository git/none.git, or its token may not read it"},
		{"s3cret", at + "/git/net.git?sshkey=s3cret", "a private key in the address is not used here"},
		{"", at + "/git/net.git", `demands other credentials: name the secret with a token in the project's environment block of lockstep.hcl on the base branch: secrets = { TF_TOKEN_modules_example_com = "arn:aws:secretsmanager:..." }`},
		{"other", at + "/git/net.git", "demands other credentials"},
		{"s3cret", "git::https://gitlab.com/acme/net.git", "the host gitlab.com is not allowed"},
		{"s3cret", "git::http://" + sourcetest.Host + "/git/net.git", "only https URLs are followed"},
		{"s3cret", "git::https://10.0.0.1/git/net.git", "the host 10.0.0.1 is not allowed"},
		{"s3cret", at + "/to/elsewhere.git", "leads to another host, example.org"},
		{"s3cret", at + "/to/inside.git", "leads to another host, 169.254.169.254"},
	} {
		dir := filepath.Join(t.TempDir(), "m")
		err := git(s, test.token, getting.DefaultLimits).Fetch(t.Context(), test.source, dir)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) || strings.Contains(strings.ReplaceAll(err.Error(), test.want, ""), "s3cret") {
				t.Errorf("%s with %q: %v, want %s", test.source, test.token, err, test.want)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s: something stays", test.source)
			}
			continue
		}
		if got := fetched(t, dir); got != test.want {
			t.Errorf("%s with %q: %s, want %s", test.source, test.token, got, test.want)
		}
	}
}

// TestHostileGit holds the bounds of a package, and that nothing of a repository is written outside its
// directory: git itself never makes such trees, but serves them.
func TestHostileGit(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("large", "v1", map[string]string{"a.tf": strings.Repeat("a", 5000), "b.tf": "", "c.tf": ""})
	s.Repository("links", "v1", map[string]string{"a.tf": "-> ../../../../../etc/passwd"})
	for i, file := range []string{"../x", ".git", ".GIT", "a/../../../x", "/etc/x"} {
		s.Tree(fmt.Sprint("tree", i), file)
	}
	for _, test := range []struct {
		repository, want string
		limits           getting.Limits
	}{
		{"large", "more than 2 files", getting.Limits{Files: 2, Bytes: 1 << 20, Archive: 1 << 20}},
		{"large", "more than 4000 bytes", getting.Limits{Files: 10, Bytes: 4000, Archive: 1 << 20}},
		{"large", "more than 100 bytes, packed", getting.Limits{Files: 10, Bytes: 1 << 20, Archive: 100}},
		{"links", "a.tf", getting.DefaultLimits},
		{"tree0", "", getting.DefaultLimits},
		{"tree1", "", getting.DefaultLimits},
		{"tree2", ".GIT", getting.DefaultLimits},
		{"tree3", "", getting.DefaultLimits},
		{"tree4", "", getting.DefaultLimits},
	} {
		parent := t.TempDir()
		err := git(s, "", test.limits).Fetch(t.Context(), "git::https://"+sourcetest.Host+"/git/"+test.repository+".git", filepath.Join(parent, "m"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %v: %v, want %s", test.repository, test.limits, err, test.want)
		}
		if got := fetched(t, parent); got != "" {
			t.Errorf("%s: %s stays", test.repository, got)
		}
	}
}

// TestGitStops holds that a package that is too large is not unpacked to its end.
func TestGitStops(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("large", "v1", map[string]string{"a.tf": strings.Repeat("a", 5000), "b.tf": "b", "c.tf": "c"})
	u, err := url.Parse("https://" + sourcetest.Host + "/git/large.git")
	if err != nil {
		t.Fatal(err)
	}
	for want, limits := range map[string]getting.Limits{
		"more than 2 files":    {Files: 2, Bytes: 1 << 20, Archive: 1 << 20},
		"more than 5000 bytes": {Files: 10, Bytes: 5000, Archive: 1 << 20},
	} {
		dir := t.TempDir()
		err := bare(s, "", limits).fetch(t.Context(), u, "", dir)
		_, last := os.Stat(filepath.Join(dir, "c.tf"))
		if err == nil || !strings.Contains(err.Error(), want) || last == nil {
			t.Errorf("%v: %v, want %s; c.tf: %v", limits, err, want, last)
		}
	}
}
