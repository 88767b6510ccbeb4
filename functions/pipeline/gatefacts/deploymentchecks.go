package gatefacts

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// actions is the ID of the App GitHub Actions. With this App's token, a workflow of a pull request can create
// check runs with any name.
// Source: https://docs.github.com/en/rest/checks/runs (it is the App of a workflow's token).
const actions = 15368

// DeploymentChecks are those check runs of a commit that other deployments have created. Anybody can use any
// name for a check run, so the ID of the App decides. The App of a deployment is the App that created the
// first check run which Lockstep saw under the deployment's name. The record of this App never changes. Commit
// statuses, and check runs of workflows, belong to no deployment.
type DeploymentChecks struct {
	apps map[string]int64 // the ID of each deployment's App, by the deployment's name; 0 if it is not known
	all  []github.Report
}

// DeploymentChecksOf returns the check runs of the deployments with these names. all are the check runs and
// statuses of a commit.
func DeploymentChecksOf(ctx context.Context, e *Reader, names []string, all []github.Report) (DeploymentChecks, error) {
	v := DeploymentChecks{map[string]int64{}, all}
	for _, name := range names {
		if _, known := v.apps[name]; known {
			continue
		}
		var seen []int64
		for _, r := range all {
			if r.Name == pipeline.HeadCheckOf(name) && !r.Ours && r.AppID != 0 && r.AppID != actions && !slices.Contains(seen, r.AppID) {
				seen = append(seen, r.AppID)
			}
		}
		err := ledger.Edit(ctx, e.Ledger, fmt.Sprintf("app/%d/%s", e.Message.Pull.Repo.ID, url.PathEscape("="+name)), func(known *int64) *int64 {
			switch {
			case known != nil:
				v.apps[name] = *known
				return nil
			case len(seen) != 1: // several Apps, or none, have made a check with this name, so the deployment's App is not known
				v.apps[name] = 0
				return nil
			}
			v.apps[name] = seen[0]
			return &seen[0]
		})
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// MadeBy reports whether the check run r was created by the App of the deployment with this name.
func (v DeploymentChecks) MadeBy(name string, r github.Report) bool {
	return !r.Ours && r.AppID != 0 && r.AppID == v.apps[name]
}

// Done reports whether the deployment with this name has nothing left to do. There must be a check with its
// name, and all checks with this name, whoever created them, must have succeeded.
func (v DeploymentChecks) Done(name string) bool {
	has := false
	for _, r := range v.all {
		if r.Name != pipeline.HeadCheckOf(name) {
			continue
		}
		if !r.Succeeded {
			return false
		}
		has = has || v.MadeBy(name, r)
	}
	return has
}

// Has reports whether the deployment with this name has a check of the commit.
func (v DeploymentChecks) Has(name string) bool {
	return slices.ContainsFunc(v.all, func(r github.Report) bool { return r.Name == pipeline.HeadCheckOf(name) && v.MadeBy(name, r) })
}
