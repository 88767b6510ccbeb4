package github_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// queued returns a check run that waits, at the head of pull request 1.
func (s *setting) queued() github.Check {
	return github.Check{
		Name: "lockstep/network", SHA: s.repo.Head("topic"), ExternalID: "1/network", Status: github.CheckQueued,
		Title: "Waiting", Summary: "The plan waits for its turn.", Text: "More.", URL: "https://lockstep.example/1",
	}
}

func (s *setting) put(t *testing.T, id int64, c github.Check) int64 {
	t.Helper()
	id, err := s.client.PutCheck(t.Context(), id, c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestPutCheck tells the life of a check run: made once, found again, completed, and
// begun once more.
func TestPutCheck(t *testing.T) {
	s := newSetting(t)
	c := s.queued()
	id := s.put(t, 0, c)
	if again := s.put(t, 0, c); again != id {
		t.Errorf("the same again is %d, not %d", again, id)
	}
	c.Status, c.Title, c.Text = github.CheckInProgress, "Planning", ""
	if again := s.put(t, 0, c); again != id {
		t.Errorf("found again it is %d, not %d", again, id)
	}
	c.Status, c.Conclusion, c.Title = github.CheckCompleted, github.ConcludedSuccess, "1 to add"
	s.put(t, id, c)
	if diff := cmp.Diff([]githubtest.Check{{ID: id, Check: c, App: "lockstep"}}, s.repo.Checks(c.SHA)); diff != "" {
		t.Error(diff)
	}
	s.put(t, id, s.queued())
	if diff := cmp.Diff([]githubtest.Check{{ID: id, Check: s.queued(), App: "lockstep"}}, s.repo.Checks(c.SHA)); diff != "" {
		t.Errorf("a completed one did not begin once more: %s", diff)
	}
	var lines []string
	for _, l := range s.hub.Lines() {
		if strings.HasPrefix(l, "check ") {
			lines = append(lines, strings.TrimPrefix(l, "check lockstep/network on #1 by lockstep[bot]: "))
		}
	}
	if diff := cmp.Diff([]string{"queued, Waiting", "in_progress, Planning", "success, 1 to add", "queued, Waiting"}, lines); diff != "" {
		t.Error(diff)
	}
}

// TestAnnotations holds that a check run has each annotation once and in its order, also if a request fails in between and all
// is repeated, and that none that GitHub refuses is sent.
func TestAnnotations(t *testing.T) {
	s := newSetting(t)
	c := s.queued()
	id := s.put(t, github.NewCheck, c)
	c.Status, c.Conclusion = github.CheckCompleted, github.ConcludedFailure
	for i := range 120 {
		c.Annotations = append(c.Annotations, github.Annotation{Path: "a.tf", First: i + 1, Last: i + 2, Level: github.Failure, Title: "no", Message: "It is not.\xff"})
	}
	n := 0
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if n++; n == 3 {
			http.Error(w, "{}", http.StatusUnprocessableEntity)
		}
		return n == 3
	}
	if _, err := s.client.PutCheck(t.Context(), id, c); err == nil {
		t.Error("a request that failed was not noticed")
	}
	if have := s.repo.Checks(c.SHA); len(have[0].Annotations) != 50 || have[0].Conclusion != github.ConcludedFailure {
		t.Errorf("%d annotations, %s", len(have[0].Annotations), have[0].Conclusion)
	}
	s.fault = nil
	for _, id := range []int64{id, 0, id} {
		s.put(t, id, c)
		for i := range c.Annotations {
			c.Annotations[i].Message = "It is not.?"
		}
		if diff := cmp.Diff(c.Annotations, s.repo.Checks(c.SHA)[0].Annotations); diff != "" {
			t.Error(diff)
		}
	}
	c.Annotations = append(c.Annotations, github.Annotation{Path: "b.tf", First: 1, Last: 1, Level: github.Notice, Message: "New."})
	if s.put(t, id, c); len(s.repo.Checks(c.SHA)[0].Annotations) != 121 {
		t.Error("an annotation that is added later")
	}
	made := c
	made.Name, made.Annotations = "lockstep/new", c.Annotations[:51]
	if s.put(t, github.NewCheck, made); len(s.repo.Checks(c.SHA)[1].Annotations) != 51 {
		t.Error("a new check run")
	}
	for _, bad := range []github.Annotation{{Path: "a", Level: github.Notice, Message: "m"}, {Path: "a", First: 2, Last: 1, Level: github.Notice, Message: "m"}, {Path: "a", First: 1, Last: 1, Message: "m"}, {First: 1, Last: 1, Level: github.Notice, Message: "m"}, {Path: "a", First: 1, Last: 1, Level: github.Notice},
		{Path: "a", First: 1, Last: 1, Level: github.Notice, Message: strings.Repeat("x", github.MaxAnnotationMessage+1)}, {Path: "a", First: 1, Last: 1, Level: github.Notice, Message: "m", Title: strings.Repeat("x", github.MaxCheckTitle+1)}} {
		c.Annotations = []github.Annotation{bad}
		if _, err := s.client.PutCheck(t.Context(), id, c); err == nil || !strings.Contains(err.Error(), "annotation") {
			t.Errorf("%.100v: %v", bad, err)
		}
	}
}

// TestCheckOfOthers holds that what looks like ours, but is not, stays as it is.
func TestCheckOfOthers(t *testing.T) {
	s := newSetting(t)
	c := s.queued()
	foreign := s.repo.AddCheck("mimic", c)
	another := c
	another.ExternalID = "2/network" // another pull request with this head
	second := s.put(t, 0, another)
	old := c
	old.SHA = s.repo.Head("main")
	third := s.put(t, 0, old)
	own := s.put(t, 0, c)
	if own == foreign || own == second || own == third {
		t.Errorf("%d is not its own; others are %d, %d, %d", own, foreign, second, third)
	}
	if again := s.put(t, 0, c); again != own {
		t.Errorf("found again it is %d, not %d", again, own)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool { // should GitHub list all Apps'
		q := r.URL.Query()
		q.Del("app_id")
		r.URL.RawQuery = q.Encode()
		return false
	}
	late := c
	late.Name = "lockstep/late"
	mimic := s.repo.AddCheck("mimic", late)
	if id := s.put(t, 0, late); id == mimic {
		t.Error("a foreign check run was taken for ours")
	}
	s.fault = nil
	if _, err := s.client.PutCheck(t.Context(), foreign, c); err == nil {
		t.Error("a foreign check run was changed")
	}
}

// TestTwinChecks holds that of several check runs that calls at the same time have made the newest is
// changed, and that no older one stays pending for ever.
func TestTwinChecks(t *testing.T) {
	s := newSetting(t)
	c := s.queued()
	first := s.put(t, github.NewCheck, c)
	done := c
	done.Status, done.Conclusion = github.CheckCompleted, github.ConcludedFailure
	second := s.put(t, github.NewCheck, done)
	third := s.put(t, github.NewCheck, c)
	c.Status, c.Title = github.CheckInProgress, "Planning"
	if id := s.put(t, 0, c); id != third {
		t.Errorf("%d was changed, and not %d", id, third)
	}
	ended := c
	ended.Status, ended.Conclusion = github.CheckCompleted, github.ConcludedNeutral
	want := []githubtest.Check{{ID: first, Check: ended, App: "lockstep"}, {ID: second, Check: done, App: "lockstep"}, {ID: third, Check: c, App: "lockstep"}}
	if diff := cmp.Diff(want, s.repo.Checks(c.SHA)); diff != "" {
		t.Error(diff)
	}
	before := s.count("PATCH")
	if s.put(t, 0, c); s.count("PATCH") != before {
		t.Error("the same again was written again")
	}
}

// TestForgottenCheck holds that a check run that GitHub has deleted is made anew.
func TestForgottenCheck(t *testing.T) {
	s := newSetting(t)
	id := s.put(t, 0, s.queued())
	s.repo.ForgetChecks()
	again := s.put(t, id, s.queued())
	if have := s.repo.Checks(s.repo.Head("topic")); again == id || len(have) != 1 || have[0].ID != again {
		t.Errorf("%d after %d: %+v", again, id, have)
	}
}

// TestLostCheck holds that a check run whose making was not confirmed is not made
// twice: it is not asked for again, and found later.
func TestLostCheck(t *testing.T) {
	s := newSetting(t)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != "POST" || !strings.HasSuffix(r.URL.Path, "/check-runs") {
			return false
		}
		s.repo.AddCheck("lockstep-other", s.queued()) // counts the attempts
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	if _, err := s.client.PutCheck(t.Context(), 0, s.queued()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("error: %v", err)
	}
	if n := len(s.repo.Checks(s.repo.Head("topic"))); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

func TestCheckLimits(t *testing.T) {
	s := newSetting(t)
	long := func(n int) string { return strings.Repeat("ü", n/2) + strings.Repeat("x", n%2) } // n bytes
	for name, test := range map[string]struct {
		change func(*github.Check)
		fails  string
	}{
		"all at their limits": {func(c *github.Check) {
			c.Summary, c.Text, c.Title = long(github.MaxCheckText), long(github.MaxCheckText), long(github.MaxCheckTitle)
		}, ""},
		"not UTF-8": {func(c *github.Check) { c.Text = strings.Repeat("\xff\n", github.MaxCheckText/2) }, ""},
		"text":      {func(c *github.Check) { c.Text = long(github.MaxCheckText + 1) }, "its text is 65536 bytes long, and 65535 are allowed"},
		"summary":   {func(c *github.Check) { c.Summary = long(github.MaxCheckText + 1) }, "its summary is 65536 bytes"},
		"title":     {func(c *github.Check) { c.Title = long(github.MaxCheckTitle + 1) }, "its title is 256 bytes"},
		"all buttons": {func(c *github.Check) {
			b := github.CheckButton{Label: long(github.MaxButtonLabel), Description: long(github.MaxButtonDescription), Identifier: long(github.MaxButtonIdentifier)}
			c.Buttons = []github.CheckButton{b, b, b}
		}, ""},
		"buttons": {func(c *github.Check) { c.Buttons = make([]github.CheckButton, github.MaxButtons+1) }, "its buttons need a label"},
		"too many buttons": {func(c *github.Check) {
			b := github.CheckButton{Label: "Plan", Description: "Plan", Identifier: "plan"}
			c.Buttons = []github.CheckButton{b, b, b, b}
		}, "it has 4 buttons, and 3 are allowed"},
		"button's label": {func(c *github.Check) {
			c.Buttons = []github.CheckButton{{Label: long(github.MaxButtonLabel + 1), Description: "Plan", Identifier: "plan"}}
		}, "its button's label is 21 bytes"},
		"no title":        {func(c *github.Check) { c.Title = "" }, "it needs"},
		"no external ID":  {func(c *github.Check) { c.ExternalID = "" }, "it needs"},
		"no conclusion":   {func(c *github.Check) { c.Status = github.CheckCompleted }, "conclusion"},
		"conclusion soon": {func(c *github.Check) { c.Conclusion = github.ConcludedSuccess }, "conclusion"},
		"command":         {func(c *github.Check) { c.URL = "aws s3 cp s3://bucket/plan ." }, "is not an http(s) URL"},
		"no host":         {func(c *github.Check) { c.URL = "https:///x" }, "is not an http(s) URL"},
		"no URL":          {func(c *github.Check) { c.URL = "" }, ""},
		"branch":          {func(c *github.Check) { c.SHA = "topic" }, "not the full name of a commit"},
		"unknown commit":  {func(c *github.Check) { c.SHA = strings.Repeat("0", 40) }, "not found"},
	} {
		c := s.queued()
		c.ExternalID = name
		test.change(&c)
		_, err := s.client.PutCheck(t.Context(), 0, c)
		if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if got := s.repo.Checks(c.SHA); got[len(got)-1].Text != strings.ToValidUTF8(c.Text, "?") {
			t.Errorf("%s: the text was cut to %d bytes", name, len(got[len(got)-1].Text))
		}
	}
}
