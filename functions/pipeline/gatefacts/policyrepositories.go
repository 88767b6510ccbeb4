package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
)

// Repositories reads other repositories of an installation. *github.App implements it.
type Repositories interface {
	// Resolve returns the commit of a ref, and Fetch unpacks that commit into an empty directory. The errors
	// wrap github.ErrNotFound if the installation does not have the repository, or the repository does not have
	// the ref.
	Resolve(ctx context.Context, installation int64, r github.Ref) (sha string, err error)
	Fetch(ctx context.Context, installation int64, r github.Ref, dir string) error
}

// policyRepositories has the policies that are in other repositories. While a message is handled, each
// repository is read at a single commit.
type policyRepositories struct {
	bases   *Bases
	pull    pipeline.Pull
	scratch string
	commits map[string]string // by repository and ref
}

// fill returns the base branch's policies, and adds the present files of those that are in other repositories.
func (e *policyRepositories) fill(ctx context.Context, policies []jobs.Policy) ([]jobs.Policy, error) {
	out := slices.Clone(policies)
	for i, p := range out {
		if p.Repository == "" {
			continue
		}
		files, err := e.directory(ctx, p)
		var final *github.FinalError
		switch {
		case errors.Is(err, github.ErrNotFound):
			out[i].Problem = fmt.Sprintf("there is no repository %s with the branch or the commit %s, or the App is not installed on it", p.Repository, p.Ref)
		case errors.As(err, &final):
			out[i].Problem = err.Error()
		case err != nil:
			return nil, fmt.Errorf("read the policies in %s: %w", p.Repository, err)
		}
		out[i].Files = files
	}
	return out, nil
}

// directory reads the files of a policy. If an error stays until a person fixes something, it is a
// *github.FinalError or wraps github.ErrNotFound.
func (e *policyRepositories) directory(ctx context.Context, p jobs.Policy) (map[string][]byte, error) {
	ref := github.Ref{Ref: p.Ref}
	ref.Owner, ref.Name, _ = strings.Cut(p.Repository, "/")
	if owner := e.pull.Repo.Owner; !strings.EqualFold(ref.Owner, owner) {
		return nil, &github.FinalError{Why: fmt.Sprintf("policies come from repositories of %s only, and %s is none", owner, p.Repository)}
	}
	if e.bases == nil || e.bases.Repositories == nil {
		return nil, &github.FinalError{Why: "this program cannot read other repositories"}
	}
	name, installation := p.Repository+" "+p.Ref, e.pull.Installation
	sha, known := e.commits[name]
	if !known {
		var err error
		if sha, err = e.bases.Repositories.Resolve(ctx, installation, ref); err != nil {
			return nil, err
		}
		e.commits[name] = sha
	}
	key := fmt.Sprintf("%d %s %s %q %q", installation, strings.ToLower(p.Repository), sha, p.Dir, p.Data)
	if files, ok := e.bases.otherDirectory(key); ok {
		return files, nil
	}
	dir, err := os.MkdirTemp(e.scratch, "policies-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ref.Ref = sha
	if err := e.bases.Repositories.Fetch(ctx, installation, ref, dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	left := maxPolicies
	files, err := policyFiles(root.FS(), fmt.Sprintf("%s at %.7s", p.Repository, sha), p.Policy, &left)
	if err != nil {
		return nil, &github.FinalError{Why: err.Error()}
	}
	e.bases.keepDirectory(key, files)
	return files, nil
}
