package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// Limits of a check run, in bytes. GitHub documents characters. In fact it counts the bytes of a summary, and
// silently cuts a text that has too many bytes. For the other texts GitHub documents no limit: Lockstep uses
// GitHub's limit for the titles of annotations.
// Sources: https://docs.github.com/en/rest/checks/runs#create-a-check-run,
// https://github.com/github/docs/issues/35252
const (
	MaxCheckText  = 65535 // Summary and Text, each
	MaxCheckTitle = 255   // Title, Name and ExternalID, each
)

// A CheckStatus is the progress of a check run.
type CheckStatus string

const (
	CheckQueued     CheckStatus = "queued"
	CheckInProgress CheckStatus = "in_progress"
	CheckCompleted  CheckStatus = "completed"
)

// A Conclusion is the outcome of a completed check run. A required check passes with
// ConcludedSuccess, ConcludedNeutral and ConcludedSkipped.
// Source: https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
type Conclusion string

const (
	ConcludedSuccess        Conclusion = "success"
	ConcludedFailure        Conclusion = "failure"
	ConcludedNeutral        Conclusion = "neutral"
	ConcludedCancelled      Conclusion = "cancelled"
	ConcludedSkipped        Conclusion = "skipped"
	ConcludedTimedOut       Conclusion = "timed_out"
	ConcludedActionRequired Conclusion = "action_required"
)

// A Check is the content of a check run: one line under a pull request, which links to a page with details. It
// belongs to a commit, and so to every pull request with that commit as its head.
type Check struct {
	Name       string // shown in the line; rules name a required check by it
	SHA        string // of the commit
	ExternalID string // chosen by us; with Name and SHA it identifies our check run
	Status     CheckStatus
	Conclusion Conclusion // of a completed check run, otherwise ""
	Title      string
	Summary    string // Markdown
	Text       string // Markdown, below the summary; may be ""
	URL        string // the http or https address of a page with more details; may be ""
	// Buttons are the buttons on the page of the check run, at most MaxButtons. GitHub's API does not return them,
	// so [Client.Check] leaves them nil.
	Buttons []CheckButton
	// Annotations are problems in files of the commit, which GitHub shows beside their lines. GitHub never
	// removes an annotation from a check run. [Client.Check] leaves them nil.
	Annotations []Annotation
}

// An Annotation is a text beside some lines of a file of a check run's commit.
type Annotation struct {
	Path        string // from the root of the repository
	First, Last int    // lines, from 1
	Level       Level
	Title       string
	Message     string
}

// A Level is the importance of an annotation. GitHub shows it as a color.
type Level string

const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Failure Level = "failure"
)

// Limits of annotations: how many GitHub takes in one request, and the length of a message in bytes. A title
// has at most MaxCheckTitle bytes.
// Source: https://docs.github.com/en/rest/checks/runs#update-a-check-run
const (
	annotationsAtOnce    = 50
	MaxAnnotationMessage = 64 << 10
)

// A CheckButton is a button of a check run. Pressing it causes a [ButtonEvent].
type CheckButton struct {
	Label, Description string // for people
	Identifier         string // for us
}

// Limits of the buttons of a check run: their number, and the lengths of their texts, in bytes. GitHub
// documents characters.
// Source: https://docs.github.com/en/rest/checks/runs#create-a-check-run
const (
	MaxButtons           = 3
	MaxButtonLabel       = 20
	MaxButtonDescription = 40
	MaxButtonIdentifier  = 20
)

// check returns an error if GitHub would refuse c or cut its texts.
func (c Check) check() error {
	if err := c.checkLengths(); err != nil {
		return err
	}
	switch {
	case len(c.Buttons) > MaxButtons:
		return fmt.Errorf("it has %d buttons, and %d are allowed", len(c.Buttons), MaxButtons)
	case c.Name == "" || c.ExternalID == "" || c.Title == "" || c.Summary == "":
		return errors.New("it needs a name, an external ID, a title and a summary")
	case (c.Status == CheckCompleted) != (c.Conclusion != ""):
		return fmt.Errorf("its status is %q and its conclusion %q; a completed check run has one, and no other has", c.Status, c.Conclusion)
	}
	for _, a := range c.Annotations {
		if a.Path == "" || a.Message == "" || a.First < 1 || a.Last < a.First || a.Level == "" || len(a.Title) > MaxCheckTitle || len(a.Message) > MaxAnnotationMessage {
			return fmt.Errorf("its annotation of %q, lines %d to %d, has no text, too long a text, no level, or no lines", a.Path, a.First, a.Last)
		}
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("%q is not an http(s) URL", c.URL)
	}
	return checkSHA(c.SHA)
}

func (c Check) checkLengths() error {
	type limited struct {
		what, text string
		max        int
	}
	all := []limited{
		{"name", c.Name, MaxCheckTitle}, {"external ID", c.ExternalID, MaxCheckTitle}, {"title", c.Title, MaxCheckTitle},
		{"summary", c.Summary, MaxCheckText}, {"text", c.Text, MaxCheckText},
	}
	for _, b := range c.Buttons {
		all = append(all, limited{"button's label", b.Label, MaxButtonLabel}, limited{"button's description", b.Description, MaxButtonDescription}, limited{"button's identifier", b.Identifier, MaxButtonIdentifier})
		if b.Label == "" || b.Description == "" || b.Identifier == "" {
			return errors.New("its buttons need a label, a description and an identifier")
		}
	}
	for _, l := range all {
		if len(l.text) > l.max {
			return fmt.Errorf("its %s is %d bytes long, and %d are allowed", l.what, len(l.text), l.max)
		}
	}
	return nil
}

// NewCheck, as the id of PutCheck, means that the check run does not exist yet.
const NewCheck = -1

// PutCheck ensures that Lockstep's App has a check run with the content check, and returns the ID of the check
// run. The id says which check run to change:
//
//   - the ID of a check run: this check run, completed or not. If GitHub has deleted it, PutCheck does the same
//     as for id 0.
//   - 0: the App's check run with the name, external ID and commit of check. If there is none, PutCheck creates
//     it.
//   - NewCheck: no check run. PutCheck creates one without a search, which saves a request.
//
// PutCheck can be repeated. Two calls at the same time may create two check runs. The next call with id 0 then
// changes the newest one, which GitHub shows, and completes the older ones.
//
// A text longer than GitHub's limit is an error: the caller must cut it. Bytes that are not UTF-8 are replaced.
func (c *Client) PutCheck(ctx context.Context, id int64, check Check) (int64, error) {
	what := fmt.Sprintf("write check run %s of %s at %.7s", check.Name, c.repo, check.SHA)
	check.Title, check.Summary, check.Text = utf8Only(check.Title), utf8Only(check.Summary), utf8Only(check.Text)
	check.Annotations = slices.Clone(check.Annotations)
	for i, a := range check.Annotations {
		check.Annotations[i].Path, check.Annotations[i].Title, check.Annotations[i].Message = utf8Only(a.Path), utf8Only(a.Title), utf8Only(a.Message)
	}
	if err := check.check(); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if id == NewCheck {
		made, err := c.createCheck(ctx, check)
		return made.GetID(), failed(what, err)
	}
	if id != 0 {
		err := c.updateCheck(ctx, id, check)
		if err == nil {
			return id, nil
		}
		if err = failed(what, err); !errors.Is(err, ErrNotFound) {
			return 0, err
		}
	}
	have, err := c.ownCheckRuns(ctx, check.SHA, check.Name, check.ExternalID)
	if err != nil {
		return 0, failed(what, err)
	}
	if len(have) == 0 {
		made, err := c.createCheck(ctx, check)
		return made.GetID(), failed(what, err)
	}
	if !says(have[0], check) {
		err = c.updateCheck(ctx, have[0].GetID(), check)
	} else {
		var left []Annotation
		if left, err = c.missing(ctx, have[0].GetID(), check); err == nil {
			err = c.annotate(ctx, have[0].GetID(), check, left)
		}
	}
	if err == nil {
		err = c.endChecks(ctx, have[1:], check)
	}
	return have[0].GetID(), failed(what, err)
}

// endChecks completes older duplicates of a check run, which would otherwise stay open. It marks them as
// passed: GitHub counts only the newest.
func (c *Client) endChecks(ctx context.Context, twins []*gh.CheckRun, check Check) error {
	check.Status, check.Conclusion, check.Annotations = CheckCompleted, ConcludedNeutral, nil
	for _, x := range twins {
		if x.GetStatus() == string(CheckCompleted) {
			continue
		}
		if err := c.updateCheck(ctx, x.GetID(), check); err != nil {
			return err
		}
	}
	return nil
}

// Check returns the present content of a check run of Lockstep: the one with the name, external ID and commit
// of like. The error wraps ErrNotFound if there is none.
func (c *Client) Check(ctx context.Context, like Check) (Check, error) {
	what := fmt.Sprintf("read check run %s of %s at %.7s", like.Name, c.repo, like.SHA)
	all, err := c.ownCheckRuns(ctx, like.SHA, like.Name, like.ExternalID)
	if err != nil {
		return Check{}, failed(what, err)
	}
	if len(all) == 0 {
		return Check{}, fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	have, out := all[0], all[0].GetOutput()
	return Check{
		Name: have.GetName(), SHA: have.GetHeadSHA(), ExternalID: have.GetExternalID(), Status: CheckStatus(have.GetStatus()),
		Conclusion: Conclusion(have.GetConclusion()), Title: out.GetTitle(), Summary: out.GetSummary(), Text: out.GetText(), URL: have.GetDetailsURL(),
	}, nil
}

// says reports whether the check run x already has the content c. Then no request is needed.
func says(x *gh.CheckRun, c Check) bool {
	out := x.GetOutput()
	return x.GetStatus() == string(c.Status) && x.GetConclusion() == string(c.Conclusion) &&
		out.GetTitle() == c.Title && out.GetSummary() == c.Summary && out.GetText() == c.Text &&
		(c.URL == "" || x.GetDetailsURL() == c.URL)
}

func (c *Client) createCheck(ctx context.Context, check Check) (*gh.CheckRun, error) {
	made, _, err := c.client.Checks.CreateCheckRun(ctx, c.repo.Owner, c.repo.Name, gh.CreateCheckRunOptions{
		Name: check.Name, HeadSHA: check.SHA, ExternalID: &check.ExternalID, DetailsURL: orNil(check.URL),
		Status: gh.String(string(check.Status)), Conclusion: orNil(string(check.Conclusion)), CompletedAt: check.completedAt(),
		Output: check.output(check.Annotations[:min(len(check.Annotations), annotationsAtOnce)]), Actions: check.actions(),
	})
	if err != nil || len(check.Annotations) <= annotationsAtOnce {
		return made, err
	}
	return made, c.annotate(ctx, made.GetID(), check, check.Annotations[annotationsAtOnce:])
}

// missing returns the annotations of a check that its check run does not have yet.
func (c *Client) missing(ctx context.Context, id int64, check Check) ([]Annotation, error) {
	have := map[Annotation]bool{}
	for page := 1; page != 0 && len(check.Annotations) > 0; {
		list, res, err := c.client.Checks.ListCheckRunAnnotations(ctx, c.repo.Owner, c.repo.Name, id, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			have[Annotation{Path: a.GetPath(), First: a.GetStartLine(), Last: a.GetEndLine(), Level: Level(a.GetAnnotationLevel()), Title: a.GetTitle(), Message: a.GetMessage()}] = true
		}
		page = res.NextPage
	}
	return slices.DeleteFunc(slices.Clone(check.Annotations), func(a Annotation) bool { return have[a] }), nil
}

// annotate adds annotations to a check run. GitHub appends the annotations of each request to the existing ones,
// and removes none.
func (c *Client) annotate(ctx context.Context, id int64, check Check, all []Annotation) error {
	for batch := range slices.Chunk(all, annotationsAtOnce) {
		if _, _, err := c.client.Checks.UpdateCheckRun(ctx, c.repo.Owner, c.repo.Name, id, gh.UpdateCheckRunOptions{Name: check.Name, Output: check.output(batch)}); err != nil {
			return err
		}
	}
	return nil
}

// checkUpdate is the body of a request that updates a check run. It can contain an empty list of buttons,
// which removes the existing buttons. go-github's own type would omit an empty list.
type checkUpdate struct {
	gh.UpdateCheckRunOptions
	Actions []*gh.CheckRunAction `json:"actions"`
}

func (c *Client) updateCheck(ctx context.Context, id int64, check Check) error {
	left, err := c.missing(ctx, id, check)
	if err != nil {
		return err
	}
	first := left[:min(len(left), annotationsAtOnce)]
	update := checkUpdate{gh.UpdateCheckRunOptions{
		Name: check.Name, ExternalID: &check.ExternalID, DetailsURL: orNil(check.URL),
		Status: gh.String(string(check.Status)), Conclusion: orNil(string(check.Conclusion)), CompletedAt: check.completedAt(),
		Output: check.output(first),
	}, check.actions()}
	req, err := c.client.NewRequest(http.MethodPatch, fmt.Sprintf("repos/%s/%s/check-runs/%d", c.repo.Owner, c.repo.Name, id), update)
	if err != nil {
		return err
	}
	if _, err = c.client.Do(ctx, req, nil); err != nil {
		return err
	}
	return c.annotate(ctx, id, check, left[len(first):])
}

// actions returns the buttons in GitHub's form. Without buttons the list is empty, and not nil.
func (c Check) actions() []*gh.CheckRunAction {
	out := []*gh.CheckRunAction{}
	for _, b := range c.Buttons {
		out = append(out, &gh.CheckRunAction{Label: b.Label, Description: b.Description, Identifier: b.Identifier})
	}
	return out
}

func (c Check) completedAt() *gh.Timestamp {
	if c.Status != CheckCompleted {
		return nil
	}
	return &gh.Timestamp{Time: time.Now().UTC().Truncate(time.Second)}
}

func (c Check) output(annotations []Annotation) *gh.CheckRunOutput {
	// The text is sent even if it is empty, to replace the previous one.
	out := &gh.CheckRunOutput{Title: &c.Title, Summary: &c.Summary, Text: &c.Text}
	for _, a := range annotations {
		out.Annotations = append(out.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.First, EndLine: &a.Last, AnnotationLevel: gh.String(string(a.Level)), Title: orNil(a.Title), Message: &a.Message,
		})
	}
	return out
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
