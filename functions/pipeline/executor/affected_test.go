package executor

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// many is a configuration of n objects, of which one has the color.
func many(n int, color string) map[string]string {
	return map[string]string{"net/main.tf": fmt.Sprintf(`resource "terraform_data" "n" {
  count = %d
  input = "n${count.index}"
}
resource "terraform_data" "one" {
  input = %q
}
`, n, color)}
}

// TestAffected plans with refresh = "affected" in the settings, and with options in a comment. Its report says how many
// objects were not read, or why all were.
func TestAffected(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 30, 300} {
		b := newBench(t, many(n, "red"))
		affected := project.Refresh{Objects: "affected"}
		options := func(comment string) grammar.Options {
			return grammar.Parse(comment)[0].Command.Options
		}
		says := func(what, want string) {
			t.Helper()
			p := b.plan()
			if want == "" && strings.Contains(p.Report, " read") || !strings.Contains(p.Report, want) || p.Plan == nil {
				t.Errorf("%d, %s: %s", n, what, p.Report)
			}
		}
		b.job.Refresh = affected
		says("nothing is there yet", "")
		b.apply(b.plan().Plan, true)
		unread := fmt.Sprintf("%d objects were not read. The plan uses their values in the state. Lockstep last read everything on %s", n+1, time.Now().UTC().Format("2006-01-02"))
		says("nothing changes", unread)
		b.write(many(n, "blue"))
		one := fmt.Sprintf("%d objects were not read.", n)
		if n == 1 {
			one = "1 object was not read."
		}
		says("one change", one)
		says("one change", "comment `lockstep plan -refresh=true`")
		b.job.Options = options("lockstep plan -refresh=true")
		says("an option that wins", "")
		b.job.Options = options("lockstep plan -refresh=false")
		says("another option that wins", "")
		b.job.Options = options("lockstep plan -destroy")
		says("a destruction", "")
		b.job.Options = options("lockstep plan -refresh-only")
		says("a look for drift", "")
		for _, option := range []string{"-destroy", "-refresh-only"} {
			b.job.Options = options("lockstep plan -refresh=affected " + option)
			says("both", "Warning: All objects are read")
		}
		b.job.Refresh, b.job.Options = project.Refresh{}, options("lockstep plan -refresh=affected")
		says("an option alone", one)
		b.job.Refresh, b.job.Options = affected, grammar.Options{}
		b.apply(b.plan().Plan, true)
		says("after the apply", unread)
		b.job.Refresh = project.Refresh{}
		b.write(many(n, "green"))
		b.apply(b.plan().Plan, true) // which keeps no digests
		b.job.Refresh = affected
		says("after another apply", "All objects were read, because the state was last written without -refresh=affected, or by another tool.")
	}
}

// TestDigestsOfOthers puts wrong files beside the state: each is noticed, all objects are read, and the next apply
// mends it.
func TestDigestsOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, many(3, "red"))
	b.job.Refresh = project.Refresh{Objects: "affected"}
	b.apply(b.plan().Plan, true)
	path := filepath.Join(LocalState(filepath.Join(b.parent, "states"), 1, "net", "default"), ".terraform.tfstate.digests")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644} { // of the state, for which somebody has set it
		if err := os.Chmod(filepath.Join(filepath.Dir(path), "terraform.tfstate"), mode); err != nil {
			t.Fatal(err)
		}
		b.write(many(3, fmt.Sprint(mode)))
		b.apply(b.plan().Plan, true)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v, %v, the state %v", info.Mode(), err, mode)
		}
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		text []byte
		why  string
	}{
		"nothing":           {nil, "no apply with -refresh=affected has kept digests beside the state yet"},
		"an empty file":     {[]byte{}, "the digests beside the state are damaged"},
		"half of it":        {good[:len(good)/2], "the digests beside the state are damaged"},
		"a changed byte":    {[]byte(strings.Replace(string(good), "terraform_data.one", "terraform_data.two", 1)), "the digests beside the state are damaged"},
		"a hostile text":    {[]byte(strings.Repeat("<img src=x> @all\n", 1e5)), "the digests beside the state are damaged"},
		"another workspace": {resealed(t, good, `"workspace":"default"`, `"workspace":"<b>@all"`), "the digests beside the state are those of the workspace"},
		"another state":     {resealed(t, good, `"lineage":"`, `"lineage":"x`), "the digests beside the state are those of another state"},
		"a later time":      {resealed(t, good, `"full_read":"2`, `"full_read":"9`), "have a time in the future"},
		"another format":    {resealed(t, good, `"format":2`, `"format":1`), "another version of Lockstep has written the digests beside the state"},
	} {
		if os.Remove(path); c.text != nil {
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := b.plan()
		if !strings.Contains(p.Report, c.why) || p.Counts.Add+p.Counts.Change+p.Counts.Destroy != 0 {
			t.Errorf("%s: %s", what, p.Report)
		}
		if strings.Contains(strings.ReplaceAll(p.Report, "`", ""), "\n<") || strings.Contains(p.Report, " @all") {
			t.Errorf("%s: it is shown as it is: %s", what, p.Report)
		}
	}
	os.Remove(path)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if p := b.plan(); !strings.Contains(p.Report, "All objects were read, because") || !strings.Contains(p.Report, "the digests beside the state cannot be read") {
		t.Error(p.Report)
	}
	b.write(many(3, "blue"))
	if o := b.apply(b.plan().Plan, true); o.Failed || !strings.Contains(o.Report, "The digests were not kept") {
		t.Errorf("%+v", o)
	}
}

// resealed returns a record with a change, and the sum of the whole as it must be.
func resealed(t *testing.T, record []byte, old, new string) []byte {
	t.Helper()
	text := strings.Replace(string(record), old, new, 1)
	if text == string(record) {
		t.Fatalf("%q is not there", old)
	}
	text = text[:strings.LastIndex(text, "sha256 ")]
	return fmt.Appendf([]byte(text), "sha256 %x\n", sha256.Sum256([]byte(text)))
}
