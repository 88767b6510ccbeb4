// Package encryptionpolicy has the base branch decide how the states, journals and plans of a project are
// encrypted. It carries the part of the base commit that an encryption block depends on to the process
// that needs it, and makes the ciphers there.
//
// Before a merge the block of the base commit holds, for plans and for applies: the block of a pull
// request is compared with it, and nothing else. Its author could otherwise have a state written in
// clear, or with a key that nobody else has. Of the same commit are the values that the block is
// evaluated with: defaults and files of variables, and lockstep.hcl. The values of secrets, and
// [encrypting.Variable], come from the environment that the base branch grants; -var options of a comment
// count for nothing here. Functions see no files.
//
// The life of a block, then:
//
//   - It is introduced, with the method "unencrypted" as a fallback. Plans and applies before the merge
//     leave the state in clear, as it is. After the merge the commit that was merged is the base: the
//     first apply writes the state encrypted, that on the merge as any later one. A project that the
//     base does not have yet is planned, and not applied before the merge: its block would not count,
//     and secrets that were once written in clear stay in the versions of a bucket. An environment
//     with [encrypting.Variable] lifts that.
//   - Its key is rolled over, with the former key as a fallback. Plans made before the merge are
//     decrypted with the fallback, and so are journals of applies that died. The fallback may go when the
//     state was written again and no apply is under way.
//   - It is removed, by way of the method "unencrypted" with the former one as a fallback. Until the
//     merge everything stays encrypted.
//   - The states of others, which terraform_remote_state reads, are decrypted by the base's block, too: its key
//     for one is merged before the data source that needs it.
//   - The base moves while an apply is under way. An apply that goes on in another process keeps the base
//     commit that it began with; if GitHub has forgotten that, it is the present one.
//
// The package refuses to know engines, runs and AWS. Start at [Base].
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

// A Base is a project at a commit of the base branch, as far as its encryption block depends on it. The
// zero value has no block.
type Base struct {
	// Files are those of the root module, and its files with values of variables, by paths from Dir.
	Files map[string][]byte `json:",omitempty"`
	// VarFiles are the names in Files of those that lockstep.hcl names, and Variables the values there,
	// as JSON.
	VarFiles  []string                   `json:",omitempty"`
	Variables map[string]json.RawMessage `json:",omitempty"`
}

// errTooLarge is wrapped by the error about files that are longer than the limit.
var errTooLarge = errors.New("the files are too large")

// Size is the length of the files in bytes.
func (b Base) Size() int {
	n := 0
	for _, src := range b.Files {
		n += len(src)
	}
	return n
}

// Read reads a project of a checkout of the base branch, with files of limit bytes at most. It is the zero
// value if the project has no encryption block.
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
		// A missing one is reported where the project is planned.
		if limit, err = b.add(files, named(name), name, limit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Base{}, err
		}
	}
	return b, nil
}

// named is the name in Files of a file that lockstep.hcl names. No file of a directory has it.
func named(file string) string { return "//" + file }

// add adds a file, and returns the rest of the limit.
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
