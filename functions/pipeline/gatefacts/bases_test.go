package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// TestBases holds that what is known of a commit is of its repository, and that few are known.
func TestBases(t *testing.T) {
	t.Parallel()
	b := &Bases{}
	b.put(1, "a", base{broken: true})
	if got, ok := b.get(1, "a"); !ok || !got.broken {
		t.Error("it is not remembered")
	}
	if _, ok := b.get(2, "a"); ok {
		t.Error("another repository's commit is known")
	}
	if _, ok := b.get(1, "b"); ok {
		t.Error("another commit is known")
	}
	for i := range 3 * maxBases {
		b.get(1, "a")
		b.put(1, fmt.Sprint(i), base{})
	}
	if _, ok := b.get(1, "a"); !ok || len(b.all) != maxBases {
		t.Errorf("the one in use is known: %v; %d are", ok, len(b.all))
	}
	if _, ok := b.head(1, "a"); ok {
		t.Error("a commit of a base branch is known as one of a pull request")
	}
	var none *Bases
	none.put(1, "a", base{})
	if _, ok := none.get(1, "a"); ok {
		t.Error("nil remembers")
	}
}

// finds counts how often projects are looked for in a directory, and finds one of its name.
type finds struct {
	jobs.Projects
	seen map[string]int
}

func (f finds) Discover(_ context.Context, dir string) (jobs.Discovered, error) {
	f.seen[dir]++
	if dir == "bad" {
		return jobs.Discovered{}, errors.New("it died")
	}
	return jobs.Discovered{Projects: []project.Project{{Name: dir}}}, nil
}

// TestDiscovered holds that the projects of a commit are found once, whatever message of the process has it checked out, and
// that nobody is told those of another commit or of a directory that is none, or an error again.
func TestDiscovered(t *testing.T) {
	t.Parallel()
	f, bases := finds{seen: map[string]int{}}, &Bases{}
	look := func(dir string, commits map[string]string) (string, error) {
		e := &Reader{Projects: f, Bases: bases, commits: commits}
		e.Message.Pull.Repo.ID = 7
		d, err := discovered(t.Context(), e, dir)
		if err != nil {
			return "", err
		}
		return d.Projects[0].Name, nil
	}
	for _, c := range []struct{ dir, sha, want string }{
		{"one", "a", "one"}, {"two", "a", "one"}, {"three", "b", "three"}, {"four", "", "four"}, {"five", "", "five"}, {"six", "a", "one"},
	} {
		commits := map[string]string{c.dir: c.sha}
		if c.sha == "" {
			commits = nil
		}
		if got, err := look(c.dir, commits); got != c.want || err != nil {
			t.Errorf("%v: %s, %v", c, got, err)
		}
	}
	for range 2 {
		if _, err := look("bad", map[string]string{"bad": "c"}); err == nil {
			t.Error("no error")
		}
	}
	if want := map[string]int{"one": 1, "three": 1, "four": 1, "five": 1, "bad": 2}; !maps.Equal(f.seen, want) {
		t.Errorf("looked in %v", f.seen)
	}
}

// TestLocks holds which lock files of a checkout are read from it. GitHub is asked for all others.
func TestLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(".terraform.lock.hcl", "root")
	write("net/.terraform.lock.hcl", "net")
	write("app/main.tf", "")
	write("odd/.terraform.lock.hcl/x", "a directory")
	write("big/.terraform.lock.hcl", string(make([]byte, github.MaxFile+1)))
	link("in/.terraform.lock.hcl", "../net/.terraform.lock.hcl")
	link("out/.terraform.lock.hcl", outside)
	var all []project.Project
	for _, d := range []string{".", "net", "app", "odd", "big", "in", "out"} {
		all = append(all, project.Project{Dir: d})
	}
	locks, err := locksIn(dir, all)
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[string]string{".": "root", "net": "net", "app": "", "in": "net"} {
		if got, ok := locks[d]; !ok || string(got) != want {
			t.Errorf("%s: %q, %v", d, got, ok)
		}
	}
	for _, d := range []string{"odd", "big", "out"} {
		if got, ok := locks[d]; ok {
			t.Errorf("%s: %q", d, got)
		}
	}
}

// TestManyLocks holds that the lock files of a commit take a bounded number of bytes.
func TestManyLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []project.Project
	for i := range maxLocks/(1<<20) + 3 {
		d := fmt.Sprint("p", i)
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, ".terraform.lock.hcl"), make([]byte, 1<<20), 0o644); err != nil {
			t.Fatal(err)
		}
		all = append(all, project.Project{Dir: d})
	}
	locks, err := locksIn(dir, all)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, l := range locks {
		sum += len(l)
	}
	if sum > maxLocks || sum == 0 {
		t.Errorf("%d bytes", sum)
	}
}
