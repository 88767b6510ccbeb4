package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

func (s *site) installed(memo *install.Memo) (map[addrs.Provider]install.Selection, diags.Diagnostics) {
	s.t.Helper()
	lock, ds := lockfile.Read(s.path(lockfile.Name))
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	return install.Installed(s.path(".terraform"), lock, append(lock.Providers(), addrs.BuiltinTerraform), memo)
}

func TestInstalled(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/bar 1.0.0")
	want := s.init("acme/foo", "acme/bar").Selections
	got, ds := s.installed(nil)
	if len(ds) > 0 || len(got) != 2 {
		t.Fatal(got, ds)
	}
	for p := range want {
		if got[p] != want[p] {
			t.Errorf("got %+v, want %+v", got[p], want[p])
		}
	}

	foo := want[source(t, registrytest.Host+"/acme/foo")]
	if err := os.WriteFile(foo.Executable, []byte("evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(want[source(t, registrytest.Host+"/acme/bar")].Dir); err != nil {
		t.Fatal(err)
	}
	got, ds = s.installed(nil)
	if len(ds) != 1 || len(got) != 0 {
		t.Fatal(got, ds)
	}
	for _, want := range []string{
		"Required plugins are not installed",
		"\n  - registry.example.com/acme/bar: there is no package for registry.example.com/acme/bar 1.0.0 cached in ",
		"\n  - registry.example.com/acme/foo: the package in " + foo.Dir + " has the checksum h1:",
		"which doesn't match any of the checksums recorded in the dependency lock file",
		"run:\n  lockstep init",
	} {
		if !strings.Contains(ds[0].String(), want) {
			t.Errorf("got %s\nwant %s", ds[0], want)
		}
	}
}

func TestInstalledWithoutAnUsableChecksum(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.init("acme/foo")
	full := s.lock()
	var zh, none string
	for line := range strings.Lines(full) {
		if !strings.Contains(line, "h1:") {
			zh += line
			if !strings.Contains(line, "zh:") && !strings.Contains(line, "hashes") && line != "  ]\n" {
				none += line
			}
		}
	}
	s.write(lockfile.Name, zh)
	if _, ds := s.installed(nil); !ds.HasErrors() {
		t.Error("a package is on trust that may be compared as an archive only")
	}
	s.write(lockfile.Name, none)
	if got, ds := s.installed(nil); len(ds) > 0 || len(got) != 1 {
		t.Errorf("nothing to compare with: %v", ds)
	}
}

func TestCheckLock(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/bar 1.0.0")
	s.init("acme/foo")
	lock, _ := lockfile.Read(s.path(lockfile.Name))
	for _, test := range []struct {
		reqs, unmanaged, want []string
	}{
		{[]string{"acme/foo", "terraform.io/builtin/terraform"}, nil, nil},
		{[]string{"acme/foo ~> 1.0"}, nil, nil},
		{[]string{"acme/bar"}, []string{"acme/bar"}, nil},
		{[]string{"acme/bar"}, nil, []string{"Inconsistent dependency lock file", "provider registry.example.com/acme/bar: needed by the configuration or the state, but no version is selected", "run:\n  lockstep init"}},
		{[]string{"acme/foo > 1.0"}, nil, []string{"provider registry.example.com/acme/foo: the selected version 1.0.0 does not meet the version constraints \"> 1.0.0\"", "run:\n  lockstep init -upgrade"}},
		{[]string{"acme/foo 1.2.3.4"}, nil, []string{"Invalid version constraint"}},
	} {
		ds := install.CheckLock(requirements(t, test.reqs...), lock, unmanaged(t, test.unmanaged...))
		if len(test.want) == 0 && len(ds) > 0 || len(test.want) > 0 && len(ds) != 1 {
			t.Errorf("%v: %v", test.reqs, ds)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(ds[0].String(), want) {
				t.Errorf("got %s\nwant %s", ds[0], want)
			}
		}
	}
}

// age sets the times of the last modification back. It cannot do so for the inode.
func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, time.Now().Add(-by), time.Now().Add(-by)); err != nil {
		t.Fatal(err)
	}
}

func TestChecksumsAreNotRememberedTooEarly(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	selected := s.init("acme/foo").Selections[source(t, registrytest.Host+"/acme/foo")]
	cache := t.TempDir()
	if _, ds := s.installed(install.OpenMemo(cache)); len(ds) > 0 {
		t.Fatal(ds)
	}
	// The package was made just now: a change within the clock's tick would not show,
	// even if the time of modification says otherwise.
	age(t, selected.Executable, time.Hour)
	if _, ds := s.installed(install.OpenMemo(cache)); len(ds) > 0 {
		t.Fatal(ds)
	}
	if content, err := os.ReadFile(filepath.Join(cache, "provider-checksums.json")); err == nil {
		t.Errorf("remembered: %s", content)
	}
}
