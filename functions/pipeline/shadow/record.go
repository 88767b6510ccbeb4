package shadow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Record is a plan of Lockstep for a project in shadow mode, with what is known about the other tool's plan of the same
// commit. Other Apps and repositories have records of their own.
type Record struct {
	// Repo is the repository as "acme/infra". App is the App of another tenant; "" for the first one.
	Repo string
	App  string `json:",omitempty"`
	Pull int
	// Project, Dir and Workspace name the project. Head is the planned commit; Base and Merge are the base branch's commit
	// and their trial merge.
	Project, Dir, Workspace string
	Head, Base, Merge       string
	Tool                    Tool `json:",omitempty"`
	// Pushed is the time of the push, by GitHub's clock; zero if it is unknown. Queued is the time at which Lockstep
	// received the push. Began and Planned are the beginning and the end of Lockstep's plan; zero before that. These three
	// are by Lockstep's clock.
	Pushed  time.Time `json:",omitzero"`
	Queued  time.Time
	Began   time.Time `json:",omitzero"`
	Planned time.Time `json:",omitzero"`
	// Ours is Lockstep's plan, shortened. Problem is the reason, in Markdown, if the plan failed.
	Ours    Plan   `json:",omitzero"`
	Problem string `json:",omitempty"`
	// Serial and Lineage are those of the state from which the plan was made.
	Serial  uint64 `json:",omitempty"`
	Lineage string `json:",omitempty"`
	// Comment is the comment with the other tool's plan, and Theirs the time at which it was written; zero for none.
	Comment int64     `json:",omitempty"`
	Theirs  time.Time `json:",omitzero"`
	// Applied is the time at which Lockstep has compared its plan with the state; zero if it has not
	// compared them.
	Applied time.Time `json:",omitzero"`
	Agreement
	// Requests is how many requests to GitHub the plan has cost.
	Requests int `json:",omitempty"`
}

// Subject returns the project of a record.
func (r Record) Subject() Subject { return Subject{r.Project, r.Dir, r.Workspace} }

// Label returns the name of the project for people.
func (r Record) Label() string {
	if r.Workspace == "" || r.Workspace == "default" {
		return r.Project
	}
	return fmt.Sprintf("%s (%s)", r.Project, r.Workspace)
}

// OurTime returns the time from the push, as Lockstep received it, to Lockstep's plan. TheirTime returns the time from
// the push to the other tool's comment, by GitHub's clock. ok is false if the times are not known.
func (r Record) OurTime() (d time.Duration, ok bool) {
	return r.Planned.Sub(r.Queued), !r.Planned.IsZero() && !r.Planned.Before(r.Queued)
}

// TheirTime is described at [Record.OurTime].
func (r Record) TheirTime() (d time.Duration, ok bool) {
	return r.Theirs.Sub(r.Pushed), !r.Theirs.IsZero() && !r.Pushed.IsZero() && !r.Theirs.Before(r.Pushed)
}

// PullsDir is the directory of the records that name the pull requests with plans in shadow mode.
const PullsDir = "shadowed/pulls"

// Dir returns the directory of the records of a pull request's plans.
func Dir(p pipeline.Pull) string { return fmt.Sprintf("shadow/%d/%d", p.Repo.ID, p.Number) }

// Read returns the records of all pull requests for which selects returns true.
func Read(ctx context.Context, records pipeline.Records, selects func(pipeline.Pull) bool) (all []Record, err error) {
	pulls, err := records.List(ctx, PullsDir)
	if err != nil {
		return nil, fmt.Errorf("read plans in shadow mode: %w", err)
	}
	for _, rec := range pulls {
		var p pipeline.Pull
		if err := json.Unmarshal(rec.Value, &p); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		if !selects(p) {
			continue
		}
		list, err := records.List(ctx, Dir(p))
		if err != nil {
			return nil, fmt.Errorf("read plans in shadow mode: %w", err)
		}
		for _, rec := range list {
			var r Record
			if err := json.Unmarshal(rec.Value, &r); err != nil {
				return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// maxRecord is the maximum size of the changes in a record, in bytes of addresses.
const maxRecord = 48 << 10

// Short returns the plan with as many changes as a record can hold.
func (p Plan) Short() Plan {
	size := 0
	for i, c := range p.Changes {
		if size += len(c.Address) + len(c.From) + 40; size > maxRecord {
			p.Changes, p.Cut = p.Changes[:i:i], true
			break
		}
	}
	return p
}
