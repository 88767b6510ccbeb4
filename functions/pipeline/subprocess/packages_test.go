//go:build linux

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// memory is a store of packages, by version.
type memory map[string]string

func (m memory) Address(_ context.Context, p PackageName) (string, error) {
	return fmt.Sprintf("https://store/%s/%s/%s", p.Provider, p.Version, p.Platform), nil
}

func (m memory) Keep(_ context.Context, p PackageName, f *os.File) error {
	if p.Version == "full" {
		return errors.New("there is no room")
	}
	data, err := io.ReadAll(f)
	m[p.Version] = string(data)
	return err
}

// TestPackages holds that a run gets addresses of packages, and that a package is kept unless programs could have
// written it.
func TestPackages(t *testing.T) {
	t.Parallel()
	e, m := newEngine(t), memory{}
	plan := func(project string) string {
		t.Helper()
		got, err := e.Plan(t.Context(), named(t, project))
		if err != nil {
			return err.Error()
		}
		return got.Report
	}
	for project, want := range map[string]string{"package:1": ", there is no store of packages, absent true", "keep:0": "<nil>, 0 left"} {
		if got := plan(project); got != want {
			t.Errorf("%s without a store: %s", project, got)
		}
	}
	e.Packages = m
	for project, want := range map[string]string{
		"package:1.0.0":  "https://store/registry.terraform.io/acme/x/1.0.0/linux_amd64, <nil>, absent false",
		"keep:1.0.0":     "<nil>, 0 left",
		"keep late:evil": "<nil>, 0 left",
		"keep:full":      "there is no room, 0 left",
	} {
		if got := plan(project); got != want {
			t.Errorf("%s: %s", project, got)
		}
	}
	if want := (memory{"1.0.0": "package 1.0.0"}); !maps.Equal(m, want) {
		t.Errorf("kept: %q", m)
	}
}

// TestPackagesOfAnEnemy has a child ask for more than its run needs, or name files that it did not bring.
func TestPackagesOfAnEnemy(t *testing.T) {
	t.Parallel()
	for _, a := range []action{unlocks, recovers, discovers, inputs, looks} {
		for _, k := range []kind{isPackage, isKeep} {
			c := (&Engine{Packages: memory{}}).call(order{Action: a, Fetched: t.TempDir()})
			if _, err := c.answer(t.Context(), question{Kind: k, File: "kept-1.zip"}); !errors.Is(err, errShape) {
				t.Errorf("%s, %s: %v", a, k, err)
			}
		}
	}
	outer, m := t.TempDir(), memory{}
	dir := filepath.Join(outer, "fetched")
	err := errors.Join(
		os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(dir, "directory"), 0o700), os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o600),
		os.Symlink(filepath.Join(outer, "secret"), filepath.Join(dir, "link")), os.Symlink("../secret", filepath.Join(dir, "relative")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", filepath.Join(outer, "secret"), "", ".", "..", "directory", "link", "relative", "none"} {
		c := (&Engine{Packages: m}).call(order{Action: plans, Fetched: dir, Job: jobs.Job{}})
		a, err := c.answer(t.Context(), question{Kind: isKeep, File: name, Package: PackageName{Version: "1"}})
		if err == nil && a.Error == nil || len(m) > 0 || a.Error != nil && strings.Contains(a.Error.Text, outer) {
			t.Errorf("%q: %+v, %v, %q", name, a.Error, err, m)
		}
	}
}
