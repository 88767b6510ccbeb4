// Package encryptionpolicy lets the base branch decide how the states, journals and plans of a project are
// encrypted. It carries the part of the base commit that an encryption block depends on to the process that
// needs it, and makes the ciphers there.
//
// Before a merge the block of the base commit counts, for plans and for applies. The block of a pull request is
// only compared with the block of the base commit. Otherwise the author of a pull request could have a state
// written in clear text, or with a key that nobody else has. The values for the block come from the same
// commit: defaults, variable files and lockstep.hcl. The values of secrets, and [encrypting.Variable], come
// from the environment that the base branch grants. -var options of a comment do not count here. Functions see
// no files.
//
// The life of a block:
//
//   - It is introduced, with the method "unencrypted" as a fallback. Plans and applies before the merge
//     leave the state in clear text. After the merge, the merged commit is the base. The first apply writes
//     the state encrypted, whether it is the one on the merge or a later one. A project that the base does
//     not have yet is planned, and not applied before the merge: its block would not count, and secrets that
//     were once written in clear text stay in the versions of a bucket. An environment with
//     [encrypting.Variable] lifts that restriction.
//   - Its key is rotated, with the former key as a fallback. Plans made before the merge are decrypted with
//     the fallback, and so are journals of applies that died. The fallback may be removed when the state was
//     written again and no apply is in progress.
//   - It is removed, by way of the method "unencrypted" with the former method as a fallback. Until the
//     merge everything stays encrypted.
//   - The states of others, which terraform_remote_state reads, are decrypted by the base's block, too. So
//     their key is merged before the data source that needs it.
//   - The base moves while an apply is in progress. An apply that continues in another process keeps the
//     base commit that it began with. If GitHub has deleted that commit, it uses the present one.
//
// This package does not know engines, runs and AWS. Start reading at [Base].
package encryptionpolicy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Base has everything of a project, at a commit of the base branch, on which the project's encryption block
// depends. The zero value means that there is no block.
type Base struct {
	// Files are the files of the root module and its variable files. Their paths are relative to Dir.
	Files map[string][]byte `json:",omitempty"`
	// VarFiles are the variable files that lockstep.hcl names, by their names in Files. Variables are the
	// values of variables in lockstep.hcl, as JSON.
	VarFiles  []string                   `json:",omitempty"`
	Variables map[string]json.RawMessage `json:",omitempty"`
}

// errTooLarge reports that files together exceed the limit. The errors for people wrap it.
var errTooLarge = errors.New("the files are too large")

// Size returns the length of the files in bytes.
func (b Base) Size() int {
	n := 0
	for _, src := range b.Files {
		n += len(src)
	}
	return n
}

// Read reads a project in a checkout of the base branch. Its files together must have at most limit bytes. Read
// returns the zero value if the project has no encryption block.
func Read(files fs.FS, p project.Project, limit int) (Base, error) {
	if !p.Encrypts {
		return Base{}, nil
	}
	b := Base{Files: map[string][]byte{}, VarFiles: p.VarFiles, Variables: p.Variables}
	entries, err := fs.ReadDir(files, p.Dir)
	if err != nil {
		return Base{}, err
	}
	var names []string
	for _, e := range entries {
		if names = append(names, e.Name()); !e.IsDir() && loading.IsFile(e.Name()) {
			if limit, err = b.add(files, e.Name(), path.Join(p.Dir, e.Name()), limit); err != nil {
				return Base{}, err
			}
		}
	}
	for _, name := range inputs.AutoFiles(names) {
		if limit, err = b.add(files, name, path.Join(p.Dir, name), limit); err != nil {
			return Base{}, err
		}
	}
	for _, name := range p.VarFiles {
		// A missing file is reported when the project is planned.
		if limit, err = b.add(files, named(name), name, limit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Base{}, err
		}
	}
	return b, nil
}

// named returns the name under which [Base.Files] has a variable file that lockstep.hcl names. It begins with "//", so
// that no file of the root module can have the same name.
func named(file string) string { return "//" + file }

// add adds the file name of the checkout, under the name at. It returns how many bytes are left of limit.
func (b Base) add(files fs.FS, name, at string, limit int) (int, error) {
	f, err := files.Open(at)
	if err != nil {
		return limit, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return limit, fmt.Errorf("%s: %w", at, err)
	}
	if len(src) > limit {
		return limit, fmt.Errorf("%s: %w", at, errTooLarge)
	}
	b.Files[name] = src
	return limit - len(src), nil
}
