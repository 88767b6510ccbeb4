package localpipeline

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/pagedata"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// recordLog replaces the log of a job's project. Only the page shows it, so an error does not matter.
func recordLog(ctx context.Context, records pipeline.Records, j jobs.Job, o comment.Ongoing) {
	key := pagedata.LogKey(runs.ID{Pull: pipeline.Pull{App: j.App, Repo: j.Repo, Number: j.Number}, Project: j.Project, Workspace: j.Workspace})
	was, err := records.Get(ctx, key)
	if err != nil || was.Version == "" && len(o.Log) == 0 {
		return
	}
	_, _ = records.Put(ctx, key, pipeline.Encode(pagedata.ProviderLog{Lines: o.Log, Left: o.Unlogged}), was.Version)
}
