package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// deploys has the deployments of a repository.
type deploys struct {
	*repo
	made *deploymentList
}

func newDeploys(r *repo) *deploys {
	return &deploys{r, &deploymentList{Repo: r, Log: r.world.log, Creator: r.world.ours}}
}

// Deployments returns the deployments of the repository, oldest first.
func (d *deploys) Deployments() []Deployment {
	defer d.world.lock()()
	return d.made.All()
}

func (d *deploys) listDeployments(r *http.Request) (int, any)        { return d.made.Find(r) }
func (d *deploys) createDeployment(r *http.Request) (int, any)       { return d.made.Create(r) }
func (d *deploys) createDeploymentStatus(r *http.Request) (int, any) { return d.made.createStatus(r) }

// A deploymentList has the deployments of a repository. It is not safe for concurrent use.
type deploymentList struct {
	Repo    fmt.Stringer // owner/name
	Log     *storyLog
	Creator func() (login string, user rest.Object) // the App's user

	list []*Deployment // oldest first
}

// A Deployment is a deployment as GitHub's pages show it.
type Deployment struct {
	Task, SHA, Environment, Description string
	// States are all states that were reported, oldest first.
	States []string

	id      int64
	creator rest.Object
	made    time.Time
}

// All returns the deployments, oldest first.
func (l *deploymentList) All() []Deployment {
	var out []Deployment
	for _, x := range l.list {
		d := *x
		d.States = slices.Clone(x.States)
		out = append(out, d)
	}
	return out
}

// Find answers GET /repos/{owner}/{repo}/deployments, newest first.
func (l *deploymentList) Find(r *http.Request) (int, any) {
	q, list := r.URL.Query(), []any{}
	wanted := func(name, value string) bool { return q.Get(name) == "" || q.Get(name) == value }
	for _, x := range slices.Backward(l.list) {
		if wanted("sha", x.SHA) && wanted("task", x.Task) && wanted("environment", x.Environment) {
			list = append(list, l.json(x))
		}
	}
	return http.StatusOK, rest.Paged(r, list)
}

// Create answers POST /repos/{owner}/{repo}/deployments. The request must switch off GitHub's automatic
// merge and its check of commit statuses. The ref counts as a commit's SHA.
func (l *deploymentList) Create(r *http.Request) (int, any) {
	var in struct {
		Ref, Task, Environment, Description string
		AutoMerge                           *bool     `json:"auto_merge"`
		RequiredContexts                    *[]string `json:"required_contexts"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Ref == "" {
		return rest.Fail(rest.Invalid("Validation Failed"))
	}
	if in.AutoMerge == nil || *in.AutoMerge || in.RequiredContexts == nil || len(*in.RequiredContexts) > 0 {
		return rest.Fail(&rest.Problem{Status: http.StatusConflict, Message: "Conflict: Commit status checks failed for " + in.Ref + "."})
	}
	_, creator := l.Creator()
	x := &Deployment{
		Task: in.Task, SHA: in.Ref, Environment: in.Environment, Description: in.Description,
		id: l.Log.nextID(), made: l.Log.Tick(), creator: creator,
	}
	l.list = append(l.list, x)
	return http.StatusCreated, l.json(x)
}

// createStatus answers POST /repos/{owner}/{repo}/deployments/{id}/statuses.
func (l *deploymentList) createStatus(r *http.Request) (int, any) {
	i := slices.IndexFunc(l.list, func(x *Deployment) bool { return x.id == rest.ID(r, "id") })
	if i < 0 {
		return rest.Fail(rest.NotFound)
	}
	x := l.list[i]
	var in struct {
		State, Description string
		LogURL             string `json:"log_url"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Description) > 140 {
		return rest.Fail(rest.Invalid("Validation Failed"))
	}
	x.States = append(x.States, in.State)
	login, user := l.Creator()
	l.Log.note(Edit{Kind: "deployment", Repo: l.Repo.String(), Who: login, Text: x.Environment + ": " + in.State + ", " + in.Description})
	api := l.address(x)
	id := l.Log.nextID()
	return http.StatusCreated, rest.Object{
		"id": id, "node_id": rest.NodeID("DeploymentStatus", id), "state": in.State, "creator": user, "description": in.Description,
		"environment": x.Environment, "target_url": "", "log_url": in.LogURL, "environment_url": "", "deployment_url": api,
		"repository_url": fmt.Sprintf("%srepos/%s", rest.APIURL, l.Repo), "url": fmt.Sprintf("%s/statuses/%d", api, id),
		"created_at": rest.Stamp(x.made), "updated_at": rest.Stamp(l.Log.Tick()),
	}
}

func (l *deploymentList) address(x *Deployment) string {
	return fmt.Sprintf("%srepos/%s/deployments/%d", rest.APIURL, l.Repo, x.id)
}

func (l *deploymentList) json(x *Deployment) rest.Object {
	api := l.address(x)
	return rest.Object{
		"id": x.id, "node_id": rest.NodeID("Deployment", x.id), "sha": x.SHA, "ref": x.SHA, "task": x.Task, "environment": x.Environment,
		"original_environment": x.Environment, "creator": x.creator, "payload": rest.Object{}, "description": x.Description, "statuses_url": api + "/statuses",
		"repository_url": fmt.Sprintf("%srepos/%s", rest.APIURL, l.Repo), "url": api, "created_at": rest.Stamp(x.made), "updated_at": rest.Stamp(x.made),
		"transient_environment": false, "production_environment": false,
	}
}
