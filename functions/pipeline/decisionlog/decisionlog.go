// Package decisionlog records each decision whether the requirements in lockstep.hcl are met: the question,
// the answer and all facts that were read. So the decision can be made again later, and explained.
//
// This package does not answer a question: package requirementrules does. Start reading at [Asked].
package decisionlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An Asked is a recorded question: whether a command is allowed for a project of a pull request. It has all
// facts for the answer, including the time of the question.
type Asked struct {
	Repo      string // OWNER/NAME
	Number    int    // of the pull request
	Project   string
	Dir       string
	Workspace string
	SHA       string // the head
	requirementrules.Question
	// TooLarge is set if the facts did not fit into a record. They are then missing, and the decision cannot be
	// repeated.
	TooLarge bool `json:",omitempty"`
}

// dir returns the beginning of the keys of all recorded questions about a pull request. It contains the
// repository's name rather than its ID, because people know the name.
func dir(r github.Repo, number int) string {
	return fmt.Sprintf("asked/%s/%s/%d", strings.ToLower(r.Owner), strings.ToLower(r.Name), number)
}

// Keep records a question about a run. It replaces the previous question about the same command. If two such
// questions are asked at the same time, only one of them is recorded.
func Keep(ctx context.Context, records pipeline.Records, r runs.Run, q requirementrules.Question) error {
	a := Asked{Repo: r.Pull.Repo.String(), Number: r.Pull.Number, Project: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, SHA: r.Spec.Head, Question: q}
	value := pipeline.Encode(a)
	if len(value) > pipeline.MaxRecord {
		a.TooLarge, a.Requirements, a.Facts = true, nil, requirementrules.Facts{Now: q.Facts.Now, Actor: q.Facts.Actor}
		value = pipeline.Encode(a)
	}
	key := dir(r.Pull.Repo, r.Pull.Number) + "/" + r.Target() + "." + q.Command
	old, err := records.Get(ctx, key)
	if err == nil {
		_, err = records.Put(ctx, key, value, old.Version)
	}
	if errors.Is(err, pipeline.ErrConflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep the question about %s: %w", r.Project, err)
	}
	return nil
}

// Of returns the recorded questions about a pull request, by project and command.
func Of(ctx context.Context, records pipeline.Records, r github.Repo, number int) (out []Asked, err error) {
	list, err := records.List(ctx, dir(r, number))
	if err != nil {
		return nil, fmt.Errorf("list the questions about %s#%d: %w", r, number, err)
	}
	for _, rec := range list {
		var a Asked
		if err := json.Unmarshal(rec.Value, &a); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		out = append(out, a)
	}
	return out, nil
}
