package localpipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A providerLog has the latest log lines of the providers in the last plan or apply of a project. Left is the number of
// lines that were left out. It is the value of a record.
type providerLog struct {
	Lines []comment.LogLine
	Left  int `json:",omitempty"`
}

func logKey(id runs.ID) string { return "log/" + runs.Run{ID: id}.Key() }

// recordLog replaces the log of a job's project. Only the page shows it, so an error does not matter.
func recordLog(ctx context.Context, records pipeline.Records, j jobs.Job, o comment.Ongoing) {
	key := logKey(runs.ID{Pull: pipeline.Pull{App: j.App, Repo: j.Repo, Number: j.Number}, Project: j.Project, Workspace: j.Workspace})
	was, err := records.Get(ctx, key)
	if err != nil || was.Version == "" && len(o.Log) == 0 {
		return
	}
	_, _ = records.Put(ctx, key, pipeline.Encode(providerLog{o.Log, o.Unlogged}), was.Version)
}

// logOf returns the log of a run for the page, without Lockstep's secrets; "" if there is none.
func (m *Machine) logOf(ctx context.Context, r runs.Run) (string, error) {
	rec, err := m.Data.Records.Get(ctx, logKey(r.ID))
	if err != nil || rec.Version == "" {
		return "", err
	}
	var l providerLog
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return "", fmt.Errorf("read %s: %w", rec.Key, err)
	}
	var b strings.Builder
	if l.Left > 0 {
		fmt.Fprintf(&b, "(%d other lines are left out)\n", l.Left)
	}
	for _, line := range l.Lines {
		b.WriteString(line.String() + "\n")
	}
	return m.censored(b.String()), nil
}
