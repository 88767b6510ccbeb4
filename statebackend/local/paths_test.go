package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// files lists what is below a directory: path and content, a line each.
func files(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		lines = append(lines, filepath.ToSlash(rel)+" "+string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func wantFiles(t *testing.T, dir, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(strings.ReplaceAll(want, "\t", "")), files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// apply locks, writes some states one after the other, and unlocks.
func apply(t *testing.T, b *Backend, workspace string, states ...string) {
	t.Helper()
	w, err := b.Open(workspace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if now.Version, err = w.Put(t.Context(), []byte(s), now.Version); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		config  map[string]any
		options Options
		before  map[string]string
		want    string
	}{
		{"no attributes", nil, Options{}, nil, `
			terraform.tfstate d2
			terraform.tfstate.d/w/terraform.tfstate w2`},
		{"the first write of a run keeps a backup", nil, Options{}, map[string]string{"terraform.tfstate": "d0"}, `
			terraform.tfstate d2
			terraform.tfstate.backup d0
			terraform.tfstate.d/w/terraform.tfstate w2`},
		{"path", map[string]any{"path": "sub/x.tfstate"}, Options{}, map[string]string{"sub/x.tfstate": "d0"}, `
			sub/x.tfstate d2
			sub/x.tfstate.backup d0
			terraform.tfstate.d/w/terraform.tfstate w2`},
		{"workspace_dir", map[string]any{"workspace_dir": "ws"}, Options{}, map[string]string{"ws/w/terraform.tfstate": "w0"}, `
			terraform.tfstate d2
			ws/w/terraform.tfstate w2
			ws/w/terraform.tfstate.backup w0`},
		{"-backup", nil, Options{BackupPath: "b"}, map[string]string{"terraform.tfstate": "d0"}, `
			b d0
			terraform.tfstate d2
			terraform.tfstate.d/w/terraform.tfstate w2`},
		{"-backup=-", nil, Options{BackupPath: "-"}, map[string]string{"terraform.tfstate": "d0"}, `
			terraform.tfstate d2
			terraform.tfstate.d/w/terraform.tfstate w2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range test.before {
				write(t, filepath.Join(dir, name), content)
			}
			test.options.Dir = dir
			b, err := Open(test.config, test.options)
			if err != nil {
				t.Fatal(err)
			}
			apply(t, b, "default", "d1", "d2")
			apply(t, b, "w", "w1", "w2")
			wantFiles(t, dir, test.want)
		})
	}
}

func TestStateOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in"), "in0")
	write(t, filepath.Join(dir, "out"), "out0")
	b, err := Open(nil, Options{Dir: dir, StatePath: "in", StateOutPath: "out"})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, b, "default", "s1", "s2")
	wantFiles(t, dir, `
		in in0
		out s2
		out.backup out0`)
}

// The same bytes again are no write, and need no backup.
func TestUnchangedState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "terraform.tfstate"), "d0")
	apply(t, open(t, dir), "default", "d0", "d0")
	wantFiles(t, dir, `terraform.tfstate d0`)
}

// -state-out makes a copy even of what has not changed.
func TestUnchangedStateOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in"), "s0")
	b, err := Open(nil, Options{Dir: dir, StatePath: "in", StateOutPath: "out"})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, b, "default", "s0")
	wantFiles(t, dir, `
		in s0
		out s0`)
}

func TestLinksAndModesStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "elsewhere", "real")
	write(t, real, "d0")
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	apply(t, open(t, dir), "default", "d1")
	wantFiles(t, dir, `
		elsewhere/real d1
		terraform.tfstate d1
		terraform.tfstate.backup d0`)
	info, err := os.Lstat(filepath.Join(dir, "terraform.tfstate"))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// A stock tool makes a directory for a workspace, and no state.
func TestWorkspaceOfAStockTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "terraform.tfstate.d", "w"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "terraform.tfstate.d", "file"), "")
	b := open(t, dir)
	got, err := b.Workspaces(t.Context())
	if err != nil || !slices.Equal(got, []string{"default", "w"}) {
		t.Errorf("Workspaces = %q, %v", got, err)
	}
	if err := b.DeleteWorkspace(t.Context(), "w", ""); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Workspaces(t.Context()); err != nil || !slices.Equal(got, []string{"default"}) {
		t.Errorf("Workspaces = %q, %v", got, err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]any{"path": "", "workspace_dir": "", "pth": "x"} {
		_, err := Open(map[string]any{attribute: value}, Options{})
		var got *statebackend.AttributeError
		if !errors.As(err, &got) || got.Attribute != attribute {
			t.Errorf("%s = %q: %v", attribute, value, err)
		}
	}
}

func TestStateThatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "terraform.tfstate"), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := open(t, dir).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("Get: %v", err)
	}
	if _, err := w.Put(t.Context(), []byte("x"), ""); err == nil {
		t.Error("Put: no error")
	}
}

// Somebody removes or replaces the file under the lock.
func TestFileReplacedUnderTheLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "terraform.tfstate")
	write(t, path, "d0")
	w, err := open(t, dir).Open("default")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	write(t, path, "theirs")
	_, err = w.Put(t.Context(), []byte("d1"), now.Version)
	var lost *statebackend.LockLostError
	if !errors.As(err, &lost) || lost.ID != id {
		t.Errorf("Put: %v; want a lost lock", err)
	}
	if err := w.Unlock(t.Context(), id); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, `
		terraform.tfstate theirs
		terraform.tfstate.moved d0`)
}
