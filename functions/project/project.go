// Package project knows which projects a repository has: directories with a root
// module of their own, planned and applied each for itself, and which files matter
// to which.
//
// It looks at a checkout and nothing else, and refuses to know pull requests, states
// and plans. Start at [Discover].
package project

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// A Project is a root module and the workspace that its state is in.
type Project struct {
	// Name is what people call it; it is unique in the repository.
	Name string
	// Dir is its directory, slash-separated, from the repository's own, which is ".".
	Dir       string
	Workspace string
	// Modules are the directories of the local modules that it calls, and those call,
	// sorted.
	Modules []string
}

// MaxProjects is how many projects a repository may have, so that no pull request
// can ask for more plans than anybody would read.
const MaxProjects = 200

// Discover finds the projects of a checkout, sorted by name: all directories with
// configuration files that no other directory calls as a module. Directories whose
// names begin with a dot are not looked into. A project is named after its directory
// and has the workspace "default". What does not load is a project too: planning it
// says what is wrong.
func Discover(files fs.FS) ([]Project, error) {
	dirs, err := configurations(files)
	if err != nil {
		return nil, fmt.Errorf("look for projects: %w", err)
	}
	called := map[string]bool{}
	var all []Project
	for _, dir := range dirs {
		p := Project{Name: dir, Dir: dir, Workspace: "default", Modules: modules(files, dir)}
		for _, m := range p.Modules {
			called[m] = true
		}
		all = append(all, p)
	}
	all = slices.DeleteFunc(all, func(p Project) bool { return called[p.Dir] })
	if len(all) > MaxProjects {
		return nil, fmt.Errorf("look for projects: there are %d, and at most %d are allowed", len(all), MaxProjects)
	}
	return all, nil
}

// configurations returns the directories that have configuration files, sorted.
func configurations(files fs.FS) ([]string, error) {
	found := map[string]bool{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular() && (strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json")):
			found[path.Dir(name)] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), err
}

// modules returns the directories that the configuration in dir reads beside its own.
func modules(files fs.FS, dir string) []string {
	cfg, _ := config.Load(config.Input{Tree: source.FS(files, dir)})
	found := map[string]bool{}
	for _, m := range cfg.Order {
		if at := path.Join(dir, m.Dir); at != dir && fs.ValidPath(at) {
			found[at] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Touched returns those of the projects that a change of files matters to. A file
// matters to the projects whose modules are in its directory or above, and to the
// innermost project whose directory that is.
func Touched(all []Project, files []string) []Project {
	touched := map[string]bool{}
	for _, f := range files {
		inner := ""
		for _, p := range all {
			if within(f, p.Dir) && len(p.Dir) > len(inner) {
				inner = p.Dir
			}
			if slices.ContainsFunc(p.Modules, func(m string) bool { return within(f, m) }) {
				touched[p.Dir] = true
			}
		}
		touched[inner] = true
	}
	var out []Project
	for _, p := range all {
		if touched[p.Dir] {
			out = append(out, p)
		}
	}
	return out
}

func within(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
