package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// createCheck answers POST /repos/{owner}/{repo}/check-runs.
func (l *checks) createCheck(r *http.Request) (int, any) {
	var in checkRequest
	if p := in.Read(r); p != nil {
		return rest.Fail(p)
	}
	if in.Name == nil || *in.Name == "" {
		return rest.Fail(invalidCheck(`"name" wasn't supplied.`))
	}
	if l.repo.world.history[in.HeadSHA] == nil || l.repo.find(in.HeadSHA) == nil {
		return rest.Fail(rest.Invalid("No commit found for SHA: %s", in.HeadSHA))
	}
	c := l.newCheck(l.ownApp(), github.Check{SHA: in.HeadSHA, Status: github.CheckQueued})
	in.Into(&c.shown, &c.text)
	l.noteCheck(c)
	l.autoMerge(c)
	return http.StatusCreated, l.json(c)
}

// updateCheck answers PATCH /repos/{owner}/{repo}/check-runs/{id}.
func (l *checks) updateCheck(r *http.Request) (int, any) {
	c := l.findCheck(rest.ID(r, "id"))
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	if c.app != l.ownApp() {
		return rest.Fail(&rest.Problem{Status: http.StatusForbidden, Message: "Invalid app_id `" + strconv.FormatInt(l.ownApp().id, 10) + "` - check run can only be modified by the GitHub App that created it."})
	}
	var in checkRequest
	if p := in.Read(r); p != nil {
		return rest.Fail(p)
	}
	c.at = l.repo.world.log.Tick()
	in.Into(&c.shown, &c.text)
	l.noteCheck(c)
	l.autoMerge(c)
	return http.StatusOK, l.json(c)
}

// listChecks answers GET /repos/{owner}/{repo}/commits/{ref}/check-runs, newest first.
func (l *checks) listChecks(r *http.Request) (int, any) {
	at := l.repo.find(r.PathValue("ref"))
	if at == nil {
		return rest.Fail(rest.Invalid("No commit found for SHA: %s", r.PathValue("ref")))
	}
	q := r.URL.Query()
	list := []any{}
	var seen []string
	for _, c := range slices.Backward(l.list) {
		same := fmt.Sprint(c.app.id, c.shown.Name)
		if c.shown.SHA != at.SHA || !rest.Selects(q.Get("check_name"), c.shown.Name) || !rest.Selects(q.Get("status"), string(c.shown.Status)) ||
			!rest.Selects(q.Get("app_id"), strconv.FormatInt(c.app.id, 10)) || q.Get("filter") != "all" && slices.Contains(seen, same) {
			continue
		}
		seen = append(seen, same)
		list = append(list, l.json(c))
	}
	shown := rest.Paged(r, list)
	shown.Items = rest.Object{"total_count": len(list), "check_runs": shown.Items}
	return http.StatusOK, shown
}

// listAnnotations answers GET /repos/{owner}/{repo}/check-runs/{id}/annotations.
func (l *checks) listAnnotations(r *http.Request) (int, any) {
	c := l.findCheck(rest.ID(r, "id"))
	if c == nil {
		return rest.Fail(rest.NotFound)
	}
	list := []any{}
	for _, a := range c.shown.Annotations {
		list = append(list, rest.Object{
			"path": a.Path, "start_line": a.First, "end_line": a.Last, "start_column": nil, "end_column": nil, "annotation_level": a.Level,
			"title": rest.OrNull(a.Title), "message": a.Message, "raw_details": nil,
			"blob_href": fmt.Sprintf("%s%s/blob/%s/%s", rest.WebURL, l.repo, c.shown.SHA, a.Path),
		})
	}
	return http.StatusOK, rest.Paged(r, list)
}

func (l *checks) json(c *checkRun) rest.Object {
	api := fmt.Sprintf("%srepos/%s/check-runs/%d", rest.APIURL, l.repo, c.id)
	html := fmt.Sprintf("%s%s/runs/%d", rest.WebURL, l.repo, c.id)
	o := rest.Object{
		"id": c.id, "node_id": rest.NodeID("CheckRun", c.id), "name": c.shown.Name, "head_sha": c.shown.SHA, "external_id": c.shown.ExternalID,
		"url": api, "html_url": html, "details_url": html, "status": c.shown.Status, "conclusion": nil, "completed_at": nil,
		"started_at": rest.Stamp(c.started), "check_suite": rest.Object{"id": c.suite}, "app": l.repo.world.appJSON(c.app),
		"pull_requests": l.headsJSON(c.shown.SHA),
		"output": rest.Object{
			"title": rest.OrNull(c.shown.Title), "summary": rest.OrNull(c.shown.Summary), "text": c.text, "annotations_count": len(c.shown.Annotations),
			"annotations_url": api + "/annotations",
		},
	}
	if c.shown.URL != "" {
		o["details_url"] = c.shown.URL
	}
	if c.shown.Conclusion != "" {
		o["conclusion"], o["completed_at"] = c.shown.Conclusion, rest.Stamp(c.at)
	}
	return o
}

// headsJSON returns the member pull_requests of check runs and check suites.
func (l *checks) headsJSON(sha string) []any {
	list := []any{}
	repo := rest.Object{"id": l.repo.id, "url": rest.APIURL + "repos/" + l.repo.String(), "name": l.repo.name}
	for _, p := range l.heads(sha) {
		list = append(list, rest.Object{
			"id": p.id, "number": p.number, "url": fmt.Sprintf("%srepos/%s/pulls/%d", rest.APIURL, l.repo, p.number),
			"head": rest.Object{"ref": p.head, "sha": p.headSHA, "repo": repo},
			"base": rest.Object{"ref": p.base, "sha": l.repo.branches[p.base], "repo": repo},
		})
	}
	return list
}

// eventJSON returns a check run as webhooks show it, with its check suite.
func (l *checks) eventJSON(c *checkRun) rest.Object {
	o, suite := l.json(c), l.suiteJSON(c.app, c.shown.SHA)
	suite["status"], suite["conclusion"] = c.shown.Status, rest.OrNull(string(c.shown.Conclusion))
	for _, name := range []string{"latest_check_runs_count", "check_runs_url", "head_commit"} {
		delete(suite, name)
	}
	o["check_suite"] = suite
	return o
}

// suiteJSON returns an App's check suite for a commit, as the webhooks of check runs and check suites show
// it.
func (l *checks) suiteJSON(by app, sha string) rest.Object {
	id := l.suite(by, sha)
	api := fmt.Sprintf("%srepos/%s/check-suites/%d", rest.APIURL, l.repo, id)
	c := l.repo.world.history[sha]
	o := rest.Object{
		"id": id, "node_id": rest.NodeID("CheckSuite", id), "head_branch": nil, "head_sha": sha, "status": "queued", "conclusion": nil,
		"url": api, "before": nil, "after": sha, "pull_requests": l.headsJSON(sha), "app": l.repo.world.appJSON(by),
		"created_at": rest.Stamp(c.At), "updated_at": rest.Stamp(l.repo.world.log.Now()), "latest_check_runs_count": 1, "check_runs_url": api + "/check-runs",
		"head_commit": rest.Object{
			"id": sha, "tree_id": c.Tree(), "message": c.Message, "timestamp": rest.Stamp(c.At), "author": c.Signature(), "committer": c.Signature(),
		},
	}
	if on := l.heads(sha); len(on) > 0 {
		o["head_branch"] = on[0].head
	}
	return o
}

// A checkRequest is the body of a request that creates or changes a check run. Absent members keep their value.
type checkRequest struct {
	Name       *string
	HeadSHA    string  `json:"head_sha"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Status     github.CheckStatus
	Conclusion github.Conclusion
	Output     *checkOutput
	Actions    *[]github.CheckButton
}

type checkOutput struct {
	Title, Summary string
	Text           *string
	Annotations    []annotation
}

// An annotation is a problem in a file, as a request has it.
type annotation struct {
	Path           string
	First          int    `json:"start_line"`
	Last           int    `json:"end_line"`
	Level          string `json:"annotation_level"`
	Title, Message string
}

// limit returns a problem if GitHub refuses the annotation.
func (a annotation) limit() *rest.Problem {
	level := slices.Contains([]string{"notice", "warning", "failure"}, a.Level)
	if a.Path == "" || a.Message == "" || a.First < 1 || a.Last < a.First || !level || len(a.Message) > 64<<10 || utf8.RuneCountInString(a.Title) > 255 {
		return invalidCheck("The annotation of %q is incomplete, or too long.", a.Path)
	}
	return nil
}

// invalidCheck returns GitHub's answer to a request that it refuses.
func invalidCheck(format string, args ...any) *rest.Problem {
	return rest.Invalid("Invalid request.\n\n"+format, args...)
}

// Read decodes the body of a request, and returns a problem if it exceeds GitHub's limits.
//
// Source: https://docs.github.com/en/rest/checks/runs
func (in *checkRequest) Read(r *http.Request) *rest.Problem {
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		return &rest.Problem{Status: http.StatusBadRequest, Message: "Problems parsing JSON"}
	}
	if in.Conclusion != "" && in.Status == "" {
		in.Status = github.CheckCompleted
	}
	if in.Actions != nil {
		if p := checkButtons(*in.Actions); p != nil {
			return p
		}
	}
	switch {
	case in.DetailsURL != nil && !strings.HasPrefix(*in.DetailsURL, "http://") && !strings.HasPrefix(*in.DetailsURL, "https://"):
		return rest.Invalid("Validation Failed: details_url must use the http or https scheme")
	case in.Status == github.CheckCompleted && in.Conclusion == "":
		return invalidCheck(`"conclusion" is required when "status" is "completed".`)
	case in.Output == nil:
		return nil
	}
	return in.Output.limit()
}

func checkButtons(buttons []github.CheckButton) *rest.Problem {
	if len(buttons) > 3 {
		return invalidCheck("Only 3 actions are allowed; %d were supplied.", len(buttons))
	}
	fits := func(s string, most int) bool { return s != "" && len(s) <= most }
	for _, b := range buttons {
		if !fits(b.Label, 20) || !fits(b.Description, 40) || !fits(b.Identifier, 20) {
			return invalidCheck("The action %q is too long, or has no text.", b.Label)
		}
	}
	return nil
}

// limit returns a problem if a text is too long, and cuts the text that GitHub cuts silently.
func (o *checkOutput) limit() *rest.Problem {
	if o.Title == "" || o.Summary == "" {
		return invalidCheck(`"title" and "summary" weren't supplied.`)
	}
	if n := len(o.Annotations); n > 50 {
		return invalidCheck("No more than 50 annotations are allowed; %d were supplied.", n)
	}
	for _, a := range o.Annotations {
		if p := a.limit(); p != nil {
			return p
		}
	}
	const most = 65535
	texts := []string{o.Summary}
	if o.Text != nil {
		texts = append(texts, *o.Text)
	}
	for _, s := range texts {
		if n := utf8.RuneCountInString(s); n > most {
			return invalidCheck("Only %d characters are allowed; %d were supplied.", most, n)
		}
	}
	if n := len(o.Summary); n > most {
		return invalidCheck("Summary exceeds a maximum bytesize of %d", most)
	}
	if o.Text != nil && len(*o.Text) > most {
		*o.Text = (*o.Text)[:most]
	}
	return nil
}

// Into writes the request's members into the check run s. *text becomes nil if the request's text is null.
func (in *checkRequest) Into(s *github.Check, text **string) {
	for to, from := range map[*string]*string{&s.Name: in.Name, &s.ExternalID: in.ExternalID, &s.URL: in.DetailsURL} {
		if from != nil {
			*to = *from
		}
	}
	if in.Status != "" {
		s.Status, s.Conclusion = in.Status, in.Conclusion
	}
	if in.Actions != nil {
		s.Buttons = slices.Concat(*in.Actions) // nil without any
	}
	if in.Output != nil {
		s.Title, s.Summary, s.Text, *text = in.Output.Title, in.Output.Summary, "", in.Output.Text
		if *text != nil {
			s.Text = **text
		}
		for _, a := range in.Output.Annotations { // to those before
			s.Annotations = append(s.Annotations, github.Annotation{Path: a.Path, First: a.First, Last: a.Last, Level: github.Level(a.Level), Title: a.Title, Message: a.Message})
		}
	}
}
