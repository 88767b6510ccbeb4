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

// actions is the ID of the App GitHub Actions: a workflow of a pull request can make check runs of any name by it.
// Source: https://docs.github.com/en/rest/checks/runs, where it is the App of the token of a workflow.
const actions = 15368

// DeploymentChecks are the check runs of a commit that other deployments have made: a name is anybody's, so the App's ID counts. Each deployment has the
// App whose check run was seen first under its name: the record of it is never written again. Commit statuses, and the check runs of workflows, are
// nobody's.
type DeploymentChecks struct {
	apps map[string]int64 // by the name of a deployment; 0 is unknown
	all  []github.Report
}

// DeploymentChecksOf reads the Apps of the deployments of some names, of which each App's check runs are among all.
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
			case len(seen) != 1: // of two nobody knows which one is meant
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

// By reports whether a check run is that of the deployment of a name, by its App.
func (v DeploymentChecks) By(name string, r github.Report) bool {
	return !r.Ours && r.AppID != 0 && r.AppID == v.apps[name]
}

// Done reports whether the deployment of a name has nothing left: its check has succeeded, and so has every other one of that name,
// whoever has made it.
func (v DeploymentChecks) Done(name string) bool {
	has := false
	for _, r := range v.all {
		if r.Name != pipeline.HeadCheckOf(name) {
			continue
		}
		if !r.Succeeded {
			return false
		}
		has = has || v.By(name, r)
	}
	return has
}

// Here reports whether the deployment of a name has a check of the commit.
func (v DeploymentChecks) Here(name string) bool {
	return slices.ContainsFunc(v.all, func(r github.Report) bool { return r.Name == pipeline.HeadCheckOf(name) && v.By(name, r) })
}
