package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A labeling is an event: a user added a label to a pull request, or removed it.
type labeling struct {
	id    int64
	by    *user
	label string
	added bool
	at    time.Time
}

// Label adds a label to a pull request. GitHub requires the role "triage" for that; the fake requires "read".
func (l *pulls) Label(who string, number int, label string) { l.label(who, number, label, true) }

// Unlabel removes a label from a pull request.
func (l *pulls) Unlabel(who string, number int, label string) { l.label(who, number, label, false) }

func (l *pulls) label(who string, number int, label string, added bool) {
	w := l.repo.world
	defer w.lock()()
	p := l.mustPull(number)
	p.touched = w.log.Tick()
	p.labels = slices.DeleteFunc(p.labels, func(x string) bool { return x == label })
	text := "-" + label
	if added {
		p.labels, text = append(p.labels, label), "+"+label
	}
	p.labelings = append(p.labelings, labeling{w.log.nextID(), w.person(who), label, added, p.touched})
	l.repo.note(Edit{Kind: "label", Who: who, Number: number, Text: text})
	action := "unlabeled"
	if added {
		action = "labeled"
	}
	l.send(p, w.person(who), action, rest.Object{"label": labelsJSON([]string{label})[0]})
}

// listEvents answers GET /repos/{owner}/{repo}/issues/{issue_number}/events.
func (l *pulls) listEvents(r *http.Request) (int, any) {
	p := l.requested(r)
	if p == nil && rest.ID(r, "number") >= firstIssue { // the fake's issues have no labels
		return http.StatusOK, rest.Paged(r, []any{})
	}
	if p == nil {
		return rest.Fail(rest.NotFound)
	}
	list := []any{}
	for _, e := range p.labelings {
		kind := "unlabeled"
		if e.added {
			kind = "labeled"
		}
		list = append(list, rest.Object{
			"id": e.id, "node_id": rest.NodeID("LabeledEvent", e.id), "url": fmt.Sprintf("%srepos/%s/issues/events/%d", rest.APIURL, l.repo, e.id),
			"actor": e.by.json(), "event": kind, "commit_id": nil, "commit_url": nil, "created_at": rest.Stamp(e.at),
			"label": rest.Object{"name": e.label, "color": "ededed"}, "performed_via_github_app": nil,
		})
	}
	return http.StatusOK, rest.Paged(r, list)
}

// labelsJSON returns labels by their names.
func labelsJSON(labels []string) []any {
	list := []any{}
	for i, name := range labels {
		id := int64(5000 + i)
		list = append(list, rest.Object{
			"id": id, "node_id": rest.NodeID("Label", id), "url": rest.APIURL + "labels/" + name, "name": name, "color": "ededed", "default": false, "description": "",
		})
	}
	return list
}
