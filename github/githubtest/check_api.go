package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/github"
)

// checkRequest is what may be said of a check run; what is not said stays as it is.
type checkRequest struct {
	Name       *string
	HeadSHA    string  `json:"head_sha"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Status     github.CheckStatus
	Conclusion github.Conclusion
	Output     *struct {
		Title, Summary string
		Text           *string
	}
}

func invalid(format string, args ...any) *problem {
	return &problem{http.StatusUnprocessableEntity, "Invalid request.\n\n" + fmt.Sprintf(format, args...)}
}

// read reads a request, within GitHub's limits.
func (in *checkRequest) read(r *http.Request) *problem {
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		return &problem{http.StatusBadRequest, "Problems parsing JSON"}
	}
	if in.Conclusion != "" && in.Status == "" {
		in.Status = github.CheckCompleted
	}
	switch {
	case in.DetailsURL != nil && !strings.HasPrefix(*in.DetailsURL, "http://") && !strings.HasPrefix(*in.DetailsURL, "https://"):
		return &problem{http.StatusUnprocessableEntity, "Validation Failed: details_url must use the http or https scheme"}
	case in.Status == github.CheckCompleted && in.Conclusion == "":
		return invalid(`"conclusion" is required when "status" is "completed".`)
	case in.Output == nil:
		return nil
	case in.Output.Title == "" || in.Output.Summary == "":
		return invalid(`"title" and "summary" weren't supplied.`)
	}
	const most = 65535
	texts := []string{in.Output.Summary}
	if in.Output.Text != nil {
		texts = append(texts, *in.Output.Text)
	}
	for _, s := range texts {
		if n := utf8.RuneCountInString(s); n > most {
			return invalid("Only %d characters are allowed; %d were supplied.", most, n)
		}
	}
	if n := len(in.Output.Summary); n > most {
		return invalid("Summary exceeds a maximum bytesize of %d", most)
	}
	if in.Output.Text != nil && len(*in.Output.Text) > most { // without a word
		*in.Output.Text = (*in.Output.Text)[:most]
	}
	return nil
}

// into changes what a check run says.
func (in *checkRequest) into(c *checkRun) {
	s := &c.says
	for to, from := range map[*string]*string{&s.Name: in.Name, &s.ExternalID: in.ExternalID, &s.URL: in.DetailsURL} {
		if from != nil {
			*to = *from
		}
	}
	if in.Status != "" {
		s.Status, s.Conclusion = in.Status, in.Conclusion
	}
	if in.Output != nil {
		s.Title, s.Summary, s.Text, c.text = in.Output.Title, in.Output.Summary, "", in.Output.Text
		if c.text != nil {
			s.Text = *c.text
		}
	}
}

// createCheck is POST /repos/{owner}/{repo}/check-runs.
func (h *Hub) createCheck(x *Repository, r *http.Request) (int, any) {
	var in checkRequest
	if p := in.read(r); p != nil {
		return fail(p)
	}
	if in.Name == nil || *in.Name == "" {
		return fail(invalid(`"name" wasn't supplied.`))
	}
	if h.commits[in.HeadSHA] == nil || x.find(in.HeadSHA) == nil {
		return fail(&problem{http.StatusUnprocessableEntity, "No commit found for SHA: " + in.HeadSHA})
	}
	c := x.newCheck(h.ownApp(), github.Check{SHA: in.HeadSHA, Status: github.CheckQueued})
	in.into(c)
	x.noteCheck(c)
	return http.StatusCreated, h.checkJSON(x, c)
}

// updateCheck is PATCH /repos/{owner}/{repo}/check-runs/{id}.
func (h *Hub) updateCheck(x *Repository, r *http.Request) (int, any) {
	c := x.findCheck(int64(number(r, "id")))
	if c == nil {
		return fail(notFound)
	}
	if c.app != h.ownApp() {
		return fail(&problem{http.StatusForbidden, "Invalid app_id `" + number64(h.options.AppID) + "` - check run can only be modified by the GitHub App that created it."})
	}
	var in checkRequest
	if p := in.read(r); p != nil {
		return fail(p)
	}
	c.at = h.tick()
	in.into(c)
	x.noteCheck(c)
	return http.StatusOK, h.checkJSON(x, c)
}

// listChecks is GET /repos/{owner}/{repo}/commits/{ref}/check-runs, newest first.
func (h *Hub) listChecks(x *Repository, r *http.Request) (int, any) {
	at := x.find(r.PathValue("ref"))
	if at == nil {
		return fail(&problem{http.StatusUnprocessableEntity, "No commit found for SHA: " + r.PathValue("ref")})
	}
	q := r.URL.Query()
	list := []any{}
	var seen []string
	for _, c := range slices.Backward(x.checks) {
		same := fmt.Sprint(c.app.id, c.says.Name)
		if c.says.SHA != at.sha || !asked(q.Get("check_name"), c.says.Name) || !asked(q.Get("status"), string(c.says.Status)) ||
			!asked(q.Get("app_id"), number64(c.app.id)) || q.Get("filter") != "all" && slices.Contains(seen, same) {
			continue
		}
		seen = append(seen, same)
		list = append(list, h.checkJSON(x, c))
	}
	shown := paged(r, list)
	shown.items = object{"total_count": len(list), "check_runs": shown.items}
	return http.StatusOK, shown
}

func asked(want, is string) bool { return want == "" || want == is }

func (h *Hub) checkJSON(x *Repository, c *checkRun) object {
	api := fmt.Sprintf("%srepos/%s/check-runs/%d", apiURL, x, c.id)
	html := fmt.Sprintf("%s%s/runs/%d", webURL, x, c.id)
	o := object{
		"id": c.id, "node_id": nodeID("CheckRun", c.id), "name": c.says.Name, "head_sha": c.says.SHA, "external_id": c.says.ExternalID,
		"url": api, "html_url": html, "details_url": html, "status": c.says.Status, "conclusion": nil, "completed_at": nil,
		"started_at": stamp(c.started), "check_suite": object{"id": c.suite}, "app": h.appJSON(c.app),
		"pull_requests": h.headsJSON(x, c.says.SHA),
		"output": object{
			"title": orNull(c.says.Title), "summary": orNull(c.says.Summary), "text": c.text, "annotations_count": 0,
			"annotations_url": api + "/annotations",
		},
	}
	if c.says.URL != "" {
		o["details_url"] = c.says.URL
	}
	if c.says.Conclusion != "" {
		o["conclusion"], o["completed_at"] = c.says.Conclusion, stamp(c.at)
	}
	return o
}

// headsJSON is what check runs say of pull requests.
func (h *Hub) headsJSON(x *Repository, sha string) []any {
	list := []any{}
	repo := object{"id": x.id, "url": apiURL + "repos/" + x.String(), "name": x.name}
	for _, p := range x.heads(sha) {
		list = append(list, object{
			"id": p.id, "number": p.number, "url": fmt.Sprintf("%srepos/%s/pulls/%d", apiURL, x, p.number),
			"head": object{"ref": p.head, "sha": p.headSHA, "repo": repo},
			"base": object{"ref": p.base, "sha": x.branches[p.base], "repo": repo},
		})
	}
	return list
}

// checkEventJSON is a check run as webhooks show it: with its suite.
func (h *Hub) checkEventJSON(x *Repository, c *checkRun) object {
	o, suite := h.checkJSON(x, c), h.suiteJSON(x, c.app, c.says.SHA)
	suite["status"], suite["conclusion"] = c.says.Status, orNull(string(c.says.Conclusion))
	for _, name := range []string{"latest_check_runs_count", "check_runs_url", "head_commit"} {
		delete(suite, name)
	}
	o["check_suite"] = suite
	return o
}

// suiteJSON is what an App has at a commit, asked for again.
func (h *Hub) suiteJSON(x *Repository, by app, sha string) object {
	id := x.suite(by, sha)
	api := fmt.Sprintf("%srepos/%s/check-suites/%d", apiURL, x, id)
	c := h.commits[sha]
	o := object{
		"id": id, "node_id": nodeID("CheckSuite", id), "head_branch": nil, "head_sha": sha, "status": "queued", "conclusion": nil,
		"url": api, "before": nil, "after": sha, "pull_requests": h.headsJSON(x, sha), "app": h.appJSON(by),
		"created_at": stamp(c.at), "updated_at": stamp(h.clock), "latest_check_runs_count": 1, "check_runs_url": api + "/check-runs",
		"head_commit": object{
			"id": sha, "tree_id": c.tree(), "message": c.message, "timestamp": stamp(c.at), "author": c.signature(), "committer": c.signature(),
		},
	}
	if on := x.heads(sha); len(on) > 0 {
		o["head_branch"] = on[0].head
	}
	return o
}
