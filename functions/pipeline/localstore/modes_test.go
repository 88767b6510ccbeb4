package localstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

func openDir(t *testing.T) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestRecords(t *testing.T) {
	t.Parallel()
	lambdatest.TestRecords(t, func(t *testing.T) pipeline.Records { return openDir(t).Records })
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	lambdatest.TestArtifacts(t, func(t *testing.T) pipeline.Artifacts { return openDir(t).Artifacts })
}

func TestChains(t *testing.T) {
	t.Parallel()
	lambdatest.TestChains(t, func(t *testing.T) pipeline.Chains { return openDir(t).Chains })
}

func TestQueue(t *testing.T) {
	t.Parallel()
	lambdatest.TestLine(t, func(t *testing.T) lambdatest.Line { return line{openDir(t).Queue} })
}

// line handles messages one at a time, and makes time pass by writing that it did.
type line struct{ *Queue }

func (l line) Work(ctx context.Context, handle func(context.Context, pipeline.Message) error) error {
	w := Worker{Handle: handle, Abandon: func(context.Context, pipeline.Message, string) error { return errors.New("not yet") }}
	for {
		if _, ok, err := l.next(ctx, w, false); err != nil && !strings.HasSuffix(err.Error(), "not yet") || !ok {
			return err
		}
	}
}

func (l line) Take(ctx context.Context) (pipeline.Message, bool, error) {
	c, ok, err := l.claim(ctx, false)
	return c.Message, ok, err
}

func (l line) Pass(ctx context.Context) error {
	_, err := l.db.exec(ctx, "UPDATE message SET ready = 0")
	return err
}

func (l line) Dead(ctx context.Context) (dead []pipeline.Message, err error) {
	_, err = l.Drain(ctx, Worker{Abandon: func(_ context.Context, m pipeline.Message, reason string) error {
		dead = append(dead, m)
		return nil
	}})
	return dead, err
}

// TestModes holds that nobody else on the machine can read what is kept.
func TestModes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b#c%20?d", "data")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Records.Put(t.Context(), "run/b", []byte("x"), ""); err != nil {
		t.Fatal(err)
	}
	if err := d.Artifacts.Put(t.Context(), pipeline.Artifact{Key: "plan/x"}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		seen++
		return err
	})
	if err != nil || seen < 8 { // the database is three files
		t.Errorf("%d files, %v", seen, err)
	}
}

// TestLazy holds that who needs no record and no queue does not wait for a database.
func TestLazy(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, "lockstep.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a database: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	t.Run("no database", func(t *testing.T) {
		d := openDir(t)
		if err := os.WriteFile(d.Records.db.path, []byte(strings.Repeat("something else ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Records.Get(t.Context(), "run/b"); err == nil || !strings.Contains(err.Error(), "lockstep.db") {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("another version", func(t *testing.T) {
		d := openDir(t)
		if _, err := d.Records.db.exec(t.Context(), "PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Records.Get(t.Context(), "run/b"); err == nil || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("error: %v", err)
		}
	})
}
