package operating

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
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// dataDir is where modules from elsewhere go, below the project's directory.
const dataDir = ".terraform"

// packages returns the checksums of what was installed of modules from elsewhere, by the
// keys of their calls: everything in each package, for file functions read what is no
// configuration. It is what a plan was made with, whatever addresses lead to later.
func (o *operation) packages() (map[string]string, error) {
	sums := map[string]string{}
	dir := path.Join(o.job.Dir, dataDir, path.Dir(source.ManifestPath))
	for _, x := range o.cfg.Manifest().Modules {
		at := path.Join(dir, x.Key)
		if x.Key == "" || !strings.HasPrefix(path.Join(o.job.Dir, x.Dir)+"/", at+"/") {
			continue // in the repository, or in its caller's package
		}
		sum, err := packageSum(o.root.FS(), at)
		if err != nil {
			return nil, fmt.Errorf("checksum of module %s: %w", x.Key, err)
		}
		sums[x.Key] = sum
	}
	return sums, nil
}

// packageSum is the checksum of a directory with everything in it.
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

// sameModules refuses to apply a plan with other modules than those it was made with: a
// branch, or a range of versions, may have come to mean something else.
func (o *operation) sameModules(planned map[string]string) diags.Diagnostics {
	now, err := o.packages()
	if err != nil {
		return diags.FromError("Modules cannot be compared", err)
	}
	var ds diags.Diagnostics
	for _, x := range o.cfg.Manifest().Modules {
		if now[x.Key] == planned[x.Key] {
			continue
		}
		from := source.Redact(x.Source)
		if x.Version != "" {
			from += " " + x.Version
		}
		ds = append(ds, diags.Errorf(nil, "Saved plan is for other modules",
			"The module %q, from %s, is not what it was when the plan was made: its source means something else now. Comment \"lockstep plan\" for a new plan, look at it, and apply that one. A source that names a tag or a commit, or an exact version, does not move.", x.Key, from)...)
		delete(planned, x.Key)
	}
	if ds == nil && !maps.Equal(now, planned) {
		ds = diags.Errorf(nil, "Saved plan is for other modules", "The configuration calls other modules than the plan was made with. Comment \"lockstep plan\" for a new plan.")
	}
	return ds
}

// read returns the paths in the checkout that file functions have looked at: those of
// modules from elsewhere are in no checkout, and have checksums in the plan.
func (o *operation) read() []string {
	dir := path.Join(o.job.Dir, dataDir)
	return slices.DeleteFunc(o.window.read(), func(name string) bool { return strings.HasPrefix(name+"/", dir+"/") })
}
