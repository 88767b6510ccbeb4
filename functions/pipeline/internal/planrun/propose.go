package planrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// ProposalHub opens pull requests.
type ProposalHub interface {
	// Propose opens a pull request, and returns its number. own is false if it returns another open pull request of the
	// proposal's group. A proposal that is repeated has no further effect.
	Propose(ctx context.Context, p github.Proposal) (number int, own bool, err error)
}

// propose opens a pull request with the configuration that a query has generated. Its base branch is that of the
// pull request with the command. dir is the checkout that was queried, and in the project's directory on the base
// branch.
func (qy *Querier) propose(ctx context.Context, r runs.Run, dir, in string, found comment.Queried) (comment.Reply, error) {
	config := found.Config
	found.Config, found.Import = "", &comment.QueriedImport{}
	if config == "" {
		return found, nil
	}
	name, err := freeName(filepath.Join(dir, filepath.FromSlash(r.Spec.Dir)))
	if err != nil {
		return nil, err
	}
	m := qy.Facts.Message
	text := comment.ImportPull{Queried: found, By: m.Actor, Number: m.Pull.Number}
	p := github.Proposal{
		Base: qy.Facts.Pull.Base.Ref, Files: []github.ProposedFile{{Path: path.Join(in, name), Content: []byte(generatedBy + config)}},
		Group: runs.Branches("query", r.Target()), Title: text.Title(github.MaxTitle), Body: text.Body(github.MaxComment),
	}
	p.Branch = p.Group + runs.BranchOf(m.Pull.Number, m.Answer)
	p.Message = fmt.Sprintf("%s\n\nRequested by %s in #%d.\n\n%s\n", p.Title, m.Actor, m.Pull.Number, github.CoAuthor(m.Actor))
	number, own, err := qy.Hub.Propose(ctx, p)
	var final *github.FinalError
	switch {
	case errors.As(err, &final):
		found.Import.Problem, found.Import.Remedy = qy.Report.Clean(final.Error()), final.Remedy
		return found, nil
	case err != nil:
		return nil, err
	}
	found.Import = &comment.QueriedImport{Number: number, Earlier: !own, File: p.Files[0].Path}
	return found, nil
}

// generatedBy is the beginning of a generated file. Programs recognize such files by its first line.
const generatedBy = "# __generated__ by Lockstep\n# Please review these resources and move them into your main configuration files.\n\n"

// freeName returns the name for a new configuration file in a directory: imports.tf, or the first of imports_2.tf,
// imports_3.tf, ... that does not exist.
func freeName(dir string) (string, error) {
	for n := 1; ; n++ {
		name := "imports.tf"
		if n > 1 {
			name = fmt.Sprintf("imports_%d.tf", n)
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", fmt.Errorf("find a name for a file: %w", err)
		}
	}
}
