package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// maxSealing is the maximum size of the files of a project with an encryption block, in bytes. maxSealings is
// the maximum size of all such files that are cached for a commit.
const (
	maxSealing  = 2 << 20
	maxSealings = 4 << 20
)

// A sealingKey identifies a project at a commit.
type sealingKey struct{ name, workspace string }

func keyOf(p project.Project) sealingKey { return sealingKey{p.Name, p.Workspace} }

// sealingsIn reads the encryption blocks of projects in a checkout, as many as may be cached. It leaves out
// blocks that it cannot read: the error belongs only to their own project.
func sealingsIn(dir string, projects []project.Project) (map[sealingKey]encryptionpolicy.Base, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out, left := map[sealingKey]encryptionpolicy.Base{}, maxSealings
	for _, p := range projects {
		if !p.Encrypts {
			continue
		}
		if b, err := encryptionpolicy.Read(root.FS(), p, min(maxSealing, left)); err == nil {
			out[keyOf(p)] = b
			left -= b.Size()
		}
	}
	return out, nil
}

// seal adds the encryption block of the base commit to a job. It is the block of the project with the same
// name, or of the project with the same state. If the base commit has neither, and the head has an encryption
// block, seal records in q that the state would not be encrypted. If there can be no job, problem is the
// reason.
func (e *Reader) seal(ctx context.Context, q *admission.Request, p project.Project, j *jobs.Job) (problem string, err error) {
	sha := q.Run.Spec.Base
	if q.Sealed != "" {
		sha = q.Sealed
	}
	b, err := e.baseAt(ctx, sha)
	if errors.Is(err, github.ErrNotFound) && q.Sealed != "" {
		sha = q.Run.Spec.Base
		b, err = e.baseAt(ctx, sha)
	}
	if err != nil {
		return "", err
	}
	key := sealingKey{p.Name, p.Workspace}
	if q.Placing.Kind == admission.RenamedPlace {
		key.name = q.Placing.Owner
	}
	i := slices.IndexFunc(b.projects, func(x project.Project) bool { return keyOf(x) == key })
	if i < 0 {
		q.Placing.InClear = p.Encrypts && !encrypts(j.Environment)
		return "", nil
	}
	known := b.projects[i]
	if !known.Encrypts {
		return "", nil
	}
	var ok bool
	if j.Sealing, ok = b.sealings[key]; ok {
		return "", nil
	}
	j.Sealing, problem, err = e.sealingAt(ctx, sha, known)
	return problem, err
}

// encrypts reports whether the secrets of an environment add something to the encryption block.
func encrypts(g environments.Granted) bool {
	return g.Encryption() != nil || slices.ContainsFunc(g.Secrets(), func(s environments.Secret) bool { return s.Name == encrypting.Variable })
}

// sealingAt reads the encryption block of a project at a commit, unless it is cached. problem is an error for
// people.
func (e *Reader) sealingAt(ctx context.Context, sha string, p project.Project) (b encryptionpolicy.Base, problem string, err error) {
	dir, done, err := e.Checkout(ctx, sha)
	if err != nil {
		return b, "", fmt.Errorf("read the base branch: %w", err)
	}
	defer done()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return b, "", fmt.Errorf("read the base branch: %w", err)
	}
	defer root.Close()
	if b, err = encryptionpolicy.Read(root.FS(), p, maxSealing); err != nil {
		return b, fmt.Sprintf("the encryption block of the project %s on the base branch holds until the merge, and cannot be read there: %s (at most %d MiB of configuration and variable files are read)", p.Name, err, maxSealing>>20), nil
	}
	return b, "", nil
}
