package dispatch

import "github.com/lockstep-iac/lockstep/functions/pipeline/jobs"

// projects are the pipeline's.
func (p *Pipeline) projects() jobs.Projects {
	if p.Projects == nil {
		return jobs.Here{}
	}
	return p.Projects
}
