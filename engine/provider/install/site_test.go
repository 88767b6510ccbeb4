package install_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	goversion "github.com/hashicorp/go-version"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// A site is a working directory with a registry to install from.
type site struct {
	t      *testing.T
	dir    string
	server *registrytest.Server
	config string
	// tune changes the installer before each use, if set.
	tune   func(*install.Installer)
	events []string
}

// newSite returns a site whose registry has the given releases, written
// `acme/foo 1.0.0`.
func newSite(t *testing.T, releases ...string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), server: registrytest.New(t)}
	for _, r := range releases {
		s.server.Add(release(t, r))
	}
	s.config = s.server.CLIConfig()
	return s
}

func release(t *testing.T, text string) registrytest.Release {
	name, version, ok := strings.Cut(text, " ")
	namespace, typeName, ok2 := strings.Cut(name, "/")
	if !ok || !ok2 {
		t.Fatalf("not a release: %s", text)
	}
	return registrytest.Release{Namespace: namespace, Type: typeName, Version: version}
}

func source(t *testing.T, s string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProvider(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// requirements reads `registry.example.com/acme/foo ~> 1.0`, one a line. A name
// without a host is of the test's registry.
func requirements(t *testing.T, lines ...string) install.Requirements {
	t.Helper()
	reqs := install.Requirements{}
	for _, line := range lines {
		name, constraints, _ := strings.Cut(line, " ")
		if strings.Count(name, "/") == 1 {
			name = registrytest.Host + "/" + name
		}
		var parsed goversion.Constraints
		if constraints != "" {
			var err error
			if parsed, err = goversion.NewConstraint(constraints); err != nil {
				t.Fatal(err)
			}
		}
		reqs[source(t, name)] = parsed
	}
	return reqs
}

func (s *site) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *site) write(name, content string) string {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) installer() *install.Installer {
	s.t.Helper()
	path := s.write("cli.tfrc", s.config)
	config, ds := cliconfig.Load(cliconfig.Surroundings{Environ: []string{"TF_CLI_CONFIG_FILE=" + path}})
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	in := install.New(config, func(string) string { return "" })
	in.Client.Transport = s.server.Transport()
	in.Client.Backoff = time.Millisecond
	in.DataDir = s.path(".terraform")
	in.Events = func(e install.Event) { s.events = append(s.events, e.String()) }
	if s.tune != nil {
		s.tune(in)
	}
	return in
}

// ensure runs an installation, and saves the lock file as init would.
func (s *site) ensure(req install.Request) (install.Result, diags.Diagnostics) {
	s.t.Helper()
	lock, ds := lockfile.Read(s.path(lockfile.Name))
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	s.events = nil
	s.server.Requests()
	req.Lock = lock
	result, ds := s.installer().Ensure(s.t.Context(), req)
	if !ds.HasErrors() && !req.ReadOnly {
		if _, err := result.Lock.Save(s.path(lockfile.Name)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.noRubbish()
	return result, ds
}

// init requires providers, and that there are no diagnostics at all.
func (s *site) init(lines ...string) install.Result {
	s.t.Helper()
	result, ds := s.ensure(install.Request{Requirements: requirements(s.t, lines...)})
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	return result
}

func (s *site) lock() string {
	s.t.Helper()
	content, err := os.ReadFile(s.path(lockfile.Name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

// tree lists the files below a directory of the site, links with their targets.
func (s *site) tree(dir string) (found []string) {
	s.t.Helper()
	root := s.path(dir)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if target, err := os.Readlink(path); err == nil {
			name += " -> " + strings.ReplaceAll(target, s.dir, "SITE")
		}
		found = append(found, name)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// noRubbish checks that no temporary files stay.
func (s *site) noRubbish() {
	s.t.Helper()
	for _, path := range s.tree(".") {
		if strings.Contains(path, ".new-") || strings.HasSuffix(path, "package.zip") {
			s.t.Errorf("left behind: %s", path)
		}
	}
	_ = filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), ".new-") {
			s.t.Errorf("left behind: %s", path)
		}
		return nil
	})
}
