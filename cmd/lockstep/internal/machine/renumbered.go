package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
)

// named returns the repositories, OWNER/NAME, that dir has states of under their names, as
// former versions kept them.
func named(dir string) ([]string, error) {
	var out []string
	owners, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, o := range owners {
		if err != nil || !o.IsDir() || strings.HasPrefix(o.Name(), executor.Numbered) {
			continue
		}
		var names []os.DirEntry
		names, err = os.ReadDir(filepath.Join(dir, o.Name()))
		for _, n := range names {
			owner, bad := url.PathUnescape(o.Name())
			name, worse := url.PathUnescape(n.Name())
			if n.IsDir() && bad == nil && worse == nil {
				out = append(out, owner+"/"+name)
			}
		}
	}
	return out, err
}

// renumbered moves the states in dir from a repository's name to its ID, in one step: a crash leaves
// them at the one or at the other. If there are states at the ID already, both stay, and the error
// says so.
func renumbered(dir, owner, name string, repo int64) error {
	old := filepath.Join(dir, url.PathEscape(owner), url.PathEscape(name))
	now := filepath.Join(dir, fmt.Sprintf("%s%d", executor.Numbered, repo))
	if _, err := os.Lstat(now); err == nil {
		return fmt.Errorf("the states in %s are of a former name of a repository that has others in %s, which are used: move those that are missing there by hand, or delete the directory", old, now)
	}
	if err := os.Rename(old, now); err != nil {
		return fmt.Errorf("move the states of %s/%s to the repository's ID: %w", owner, name, err)
	}
	os.Remove(filepath.Dir(old)) // if it is empty now
	return nil
}
