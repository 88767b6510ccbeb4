package gatefacts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// actions is the ID of the App GitHub Actions. A pull request's workflow can create check runs with any name
// through it. Source: https://docs.github.com/en/rest/checks/runs (it is the App of a workflow's token).
const actions = 15368

// DeploymentChecks are the check runs of a commit that other deployments created. Anybody can use any name, so
// the ID of the App counts. A deployment's App is the one whose check run was first seen under its name; that
// record never changes. Commit statuses, and check runs of workflows, belong to no deployment.
type DeploymentChecks struct {
	apps map[string]int64 // by the name of a deployment; 0 is unknown
	all  []github.Report
}

// DeploymentChecksOf reads the Apps of the named deployments. all are the reports of a commit.
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
		_, err := e.Ledger.Change(ctx, fmt.Sprintf("app/%d/%s", e.Message.Pull.Repo.ID, url.PathEscape("="+name)), func(old []byte) ([]byte, error) {
			switch {
			case old != nil:
				var id int64
				if err := json.Unmarshal(old, &id); err != nil {
					return nil, fmt.Errorf("the record is damaged: %w", err)
				}
				v.apps[name] = id
				return nil, ledger.ErrAsIs
			case len(seen) != 1: // with two Apps, nobody knows which one is meant
				v.apps[name] = 0
				return nil, ledger.ErrAsIs
			}
			v.apps[name] = seen[0]
			return pipeline.Encode(seen[0]), nil
		})
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// MadeBy reports whether the App of the named deployment created a check run.
func (v DeploymentChecks) MadeBy(name string, r github.Report) bool {
	return !r.Ours && r.AppID != 0 && r.AppID == v.apps[name]
}

// Done reports whether the named deployment has nothing left to do: there is a check of its name, and all checks of that
// name have succeeded, whoever created them.
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

// Has reports whether the named deployment has a check of the commit.
func (v DeploymentChecks) Has(name string) bool {
	return slices.ContainsFunc(v.all, func(r github.Report) bool { return r.Name == pipeline.HeadCheckOf(name) && v.MadeBy(name, r) })
}
