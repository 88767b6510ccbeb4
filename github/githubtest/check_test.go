package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestCheckRequests holds that the Hub takes check runs as GitHub does, also where that
// is odd.
func TestCheckRequests(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	a := newAsker(t, h)
	token, sha := a.installation(t, r, "{}"), r.Head("main")
	output := func(summary, text string) string {
		out, err := json.Marshal(map[string]string{"title": "T", "summary": summary, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		return `,"output":` + string(out)
	}
	bytes := func(n int) string { return strings.Repeat("ü", n/2) }
	const note = `{"path":"a","start_line":2,"end_line":2,"annotation_level":"failure","message":"no"}`
	for name, test := range map[string]struct {
		rest   string
		status int
		part   string
	}{
		"plain":                          {"", 201, `"status":"queued"`},
		"conclusion alone completes":     {`,"conclusion":"success"`, 201, `"status":"completed"`},
		"completed without a conclusion": {`,"status":"completed"`, 422, `\"conclusion\" is required`},
		"output without a summary":       {`,"output":{"title":"T"}`, 422, "weren't supplied"},
		"summary of too many bytes":      {output(bytes(65536), ""), 422, "bytesize of 65535"},
		"summary of too many characters": {output(strings.Repeat("x", 65536), ""), 422, "Only 65535 characters are allowed; 65536 were supplied."},
		"text of too many characters":    {output("S", strings.Repeat("x", 65536)), 422, "Only 65535 characters are allowed"},
		"text of too many bytes":         {output("S", bytes(65536)), 201, strings.Repeat("ü", 32767)},
		"annotations":                    {`,"output":{"title":"T","summary":"S","annotations":[` + strings.Repeat(note+",", 49) + note + `]}`, 201, `"annotations_count":50`},
		"too many annotations":           {`,"output":{"title":"T","summary":"S","annotations":[` + strings.Repeat(note+",", 50) + note + `]}`, 422, "No more than 50"},
		"an annotation without a line":   {`,"output":{"title":"T","summary":"S","annotations":[` + strings.Replace(note, "2", "0", 1) + `]}`, 422, "incomplete"},
		"a URL that is none":             {`,"details_url":"s3://x"`, 422, "http or https scheme"},
	} {
		status, text := a.ask(t, "POST", "/repos/acme/infra/check-runs", token, fmt.Sprintf(`{"name":%q,"head_sha":%q%s}`, name, sha, test.rest))
		if status != test.status || !strings.Contains(text, test.part) {
			t.Errorf("%s: %d %.200s, want %d with %.50s", name, status, text, test.status, test.part)
		}
	}
	for _, c := range r.Checks(sha) {
		if len(c.Text) > 65535 || c.Name == "text of too many bytes" && len(c.Text) != 65535 {
			t.Errorf("%s: the text has %d bytes", c.Name, len(c.Text))
		}
	}
	foreign := r.AddCheck("other", github.Check{Name: "plain", SHA: sha, Status: github.CheckQueued})
	if status, _ := a.ask(t, "PATCH", "/repos/acme/infra/check-runs/"+strconv.FormatInt(foreign, 10), token, `{"status":"queued"}`); status != http.StatusForbidden {
		t.Errorf("a foreign check run was changed: %d", status)
	}
	for query, want := range map[string]int{
		"":                             5,
		"check_name=plain":             2,
		"check_name=plain&app_id=4711": 1,
		"check_name=plain&filter=all":  2,
		"status=completed":             1,
		"check_name=plain&app_id=4711&per_page=1": 1,
		"check_name=nothing":                      0,
	} {
		_, text := a.ask(t, "GET", "/repos/acme/infra/commits/"+sha+"/check-runs?"+query, token, "")
		var got struct {
			Runs []struct{} `json:"check_runs"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Runs) != want {
			t.Errorf("%s: %d check runs, want %d", query, len(got.Runs), want)
		}
	}
}
