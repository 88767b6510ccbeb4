package install_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// A full archive is one for whose files the disk has no room as often as it is told.
type fullArchive struct {
	install.Archive
	left *int
}

func (a fullArchive) ReadAt(p []byte, offset int64) (int, error) {
	if *a.left > 0 {
		*a.left--
		return 0, syscall.ENOSPC
	}
	return a.Archive.ReadAt(p, offset)
}

// TestRoom is a table of disks, and of the packages that stay when acme/new is installed after acme/a, acme/b and
// acme/c, of which acme/a was used again at last.
func TestRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frees []int64 // bytes that are free, each time that it is asked; the last one for ever
		full  int     // times that the disk turns out to be full
		want  string
	}{
		"enough room":                  {[]int64{100}, 0, "a b c new"},
		"after one":                    {[]int64{99, 100}, 0, "a c new"},
		"after two":                    {[]int64{0, 50, 100}, 0, "a new"},
		"never":                        {[]int64{0}, 0, "new"},
		"unknown":                      {nil, 0, "a b c new"},
		"full in spite of the numbers": {[]int64{100}, 1, "new"},
		"full in any case":             {[]int64{100}, 99, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "acme/a 1.0.0", "acme/b 1.0.0", "acme/c 1.0.0", "acme/new 1.0.0")
			st := withStore(t, s)
			s.init("acme/a", "acme/b", "acme/c", "acme/new")
			if err := os.RemoveAll(s.path(".terraform/providers/registry.example.com/acme/new")); err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"b", "c", "a"} { // the last one is used by a run of its own
				used := time.Now().Add(time.Duration(i-10) * time.Hour)
				for _, dir := range s.dirs("acme/" + name) {
					if err := os.Chtimes(dir, used, used); err != nil {
						t.Fatal(err)
					}
				}
			}
			s.write(".terraform/providers/registry.example.com/acme/b/1.0.0/.new-123/package.zip", "of a process that was killed")
			keep, left, asked := s.tune, c.full, 0
			s.tune = func(in *install.Installer) {
				keep(in)
				in.Room = &install.Room{Want: 100, Free: func() (int64, error) {
					if asked++; c.frees == nil {
						return 0, errors.New("unknown")
					}
					return c.frees[min(asked, len(c.frees))-1], nil
				}}
				store := in.Store
				in.Store = func(ctx context.Context, k install.Kept) (install.Package, error) {
					pkg, err := store(ctx, k)
					remote := pkg.Remote
					pkg.Remote = func(ctx context.Context) (install.Archive, error) {
						a, err := remote(ctx)
						return fullArchive{a, &left}, err
					}
					return pkg, err
				}
				if st.alone = c.full > 1; st.alone {
					in.Client.Transport = st
				}
			}
			_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/new")})
			var stay []string
			for _, name := range []string{"a", "b", "c", "new"} {
				if len(s.dirs("acme/"+name)) > 0 {
					stay = append(stay, name)
				}
			}
			if got := strings.Join(stay, " "); got != c.want || ds.HasErrors() != (c.want == "") {
				t.Errorf("%q stay, want %q: %v", got, c.want, ds)
			}
		})
	}
}

// TestRoomForOneRun holds that a run does not remove what it needs itself.
func TestRoomForOneRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, "acme/a 1.0.0", "acme/b 1.0.0", "acme/c 1.0.0")
	s.tune = func(in *install.Installer) {
		in.Room = &install.Room{Want: 1, Free: func() (int64, error) { return 0, nil }}
	}
	s.init("acme/a", "acme/b", "acme/c")
	s.init("acme/a", "acme/b", "acme/c")
	for _, name := range []string{"acme/a", "acme/b", "acme/c"} {
		if len(s.dirs(name)) != 1 {
			t.Errorf("%s is gone", name)
		}
	}
}

// dirs returns the directories of a provider's packages.
func (s *site) dirs(provider string) (found []string) {
	const root = ".terraform/providers/registry.example.com/"
	for _, path := range s.tree(root + provider) {
		parts := strings.Split(path, "/")
		if dir := s.path(root+provider, parts[0], parts[1]); !strings.Contains(dir, ".new-") && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	return found
}
