package terragrunt

import (
	"io/fs"
	"os"
	"path"
)

// Dirs returns the directories of a checkout with a terragrunt.hcl, sorted, and the number of stacks. checkout is a path
// on this machine. Symbolic links are not followed.
func Dirs(checkout string) (dirs []string, stacks int, err error) {
	err = fs.WalkDir(os.DirFS(checkout), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".terraform" || d.Name() == Cache):
			return fs.SkipDir
		case d.IsDir():
		case d.Name() == FileName:
			dirs = append(dirs, path.Dir(name))
		case d.Name() == StackName:
			stacks++
		}
		return nil
	})
	return dirs, stacks, err
}

// In reports whether a checkout has files from which Terragrunt makes projects.
func In(checkout string) (bool, error) {
	dirs, stacks, err := Dirs(checkout)
	return len(dirs)+stacks > 0, err
}
