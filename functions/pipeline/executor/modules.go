package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// dataDir is the directory for installed remote modules, in the project's directory.
const dataDir = ".terraform"

// packages returns the checksums of the installed remote modules, by the keys of their calls. A checksum covers all
// files of a package, because file functions may read any of them. An apply compares the checksums with those of the
// plan: so it notices if a module's address now leads to other files.
func (o *checkout) packages() (map[string]string, error) {
	sums := map[string]string{}
	dir := path.Join(o.job.Dir, dataDir, path.Dir(source.ManifestPath))
	for _, x := range o.Config.Manifest().Modules {
		at := path.Join(dir, x.Key)
		if x.Key == "" || !strings.HasPrefix(path.Join(o.job.Dir, x.Dir)+"/", at+"/") {
			continue // The module is in the repository, or in the package of its caller, so it has no checksum of its own.
		}
		sum, err := packageSum(o.root.FS(), at)
		if err != nil {
			return nil, fmt.Errorf("checksum of module %s: %w", x.Key, err)
		}
		sums[x.Key] = sum
	}
	return sums, nil
}

// packageSum returns the checksum of a directory with everything in it.
func packageSum(files fs.FS, dir string) (string, error) {
	all := sha256.New()
	err := fs.WalkDir(files, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%q %v", strings.TrimPrefix(name, dir), e.Type())
		switch {
		case e.Type() == fs.ModeSymlink:
			to, err := fs.ReadLink(files, name)
			fmt.Fprintf(all, " %q", to)
			if err != nil {
				return err
			}
		case e.Type().IsRegular():
			f, err := files.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			sum := sha256.New()
			if _, err := io.Copy(sum, f); err != nil {
				return err
			}
			fmt.Fprintf(all, " %x", sum.Sum(nil))
		}
		fmt.Fprintln(all)
		return nil
	})
	return hex.EncodeToString(all.Sum(nil)), err
}

// movedModules returns the modules that are not the same as in a plan, as texts for people. For example, a
// branch or a version constraint may now select another version.
func (o *checkout) movedModules(planned map[string]string) ([]string, error) {
	now, err := o.packages()
	if err != nil {
		return nil, err
	}
	var moved []string
	for _, x := range o.Config.Manifest().Modules {
		if now[x.Key] != planned[x.Key] {
			moved = append(moved, strings.TrimSpace(x.Key+" from "+source.Redact(x.Source)+" "+x.Version))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(planned)) {
		if _, ok := now[key]; !ok {
			moved = append(moved, key)
		}
	}
	return moved, nil
}

// read returns the paths in the checkout that file functions have read. Files of remote modules are left out:
// the plan has their checksums.
func (o *checkout) read() []string {
	dir := path.Join(o.job.Dir, dataDir)
	var out []string
	for _, name := range o.window.Read() {
		if at, ok := o.original(name); ok && !strings.HasPrefix(name+"/", dir+"/") {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
