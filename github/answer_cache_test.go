package github

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// transportNotes answers GET requests of a notebook: each path has a version, which is its validator, and each
// request is a line.
type transportNotes struct {
	versions map[string]int
	long     int // the length of each answer; 0 is a few bytes
	lines    []string
}

func (n *transportNotes) RoundTrip(req *http.Request) (*http.Response, error) {
	tag := fmt.Sprintf(`"%s %d"`, req.Header.Get("Authorization"), n.versions[req.URL.Path])
	n.lines = append(n.lines, strings.TrimSpace(req.Method+" "+req.URL.Path+" "+req.Header.Get("If-None-Match")))
	res := &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{"X-Ratelimit-Remaining": {fmt.Sprint(len(n.lines))}}, Body: http.NoBody, Request: req}
	if strings.HasPrefix(req.URL.Path, "/gone") {
		res.StatusCode = 404
		return res, nil
	}
	if req.Header.Get("If-None-Match") == tag {
		res.StatusCode, res.Status = 304, "304 Not Modified"
		return res, nil
	}
	if !strings.HasPrefix(req.URL.Path, "/plain") {
		res.Header.Set("ETag", tag)
	}
	res.Header.Set("Link", `<next>; rel="next"`)
	res.Body = io.NopCloser(strings.NewReader(fmt.Sprintf("%s %d%s", req.URL.Path, n.versions[req.URL.Path], strings.Repeat(".", n.long))))
	return res, nil
}

// TestRemembered tells stories of repeated requests: a step is "METHOD PATH [SCOPE]", with the answer and
// the validator that was sent, or "change PATH".
func TestRemembered(t *testing.T) {
	for _, test := range []struct{ name, story string }{
		{"it holds", `
			get /a: /a 0
			get /a: /a 0, sent "token t1 0"
			get /a: /a 0, sent "token t1 0"`},
		{"it has changed", `
			get /a: /a 0
			change /a
			get /a: /a 1, sent "token t1 0"
			get /a: /a 1, sent "token t1 1"`},
		{"another repository's token", `
			get /a: /a 0
			get /a 2: /a 0
			get /a 2: /a 0, sent "token t2 0"
			get /a: /a 0, sent "token t1 0"`},
		{"without a validator", `
			get /plain: /plain 0
			get /plain: /plain 0`},
		{"not there", `
			get /gone: 404
			get /gone: 404`},
		{"a write", `
			post /a: /a 0
			post /a: /a 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &transportNotes{versions: map[string]int{}}
			answers := &answerCache{}
			for line := range strings.Lines(strings.TrimSpace(test.story)) {
				step, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
				words := append(strings.Fields(step), "1")
				if words[0] == "change" {
					n.versions[words[1]]++
					continue
				}
				if got := askThrough(t, n, answers, strings.ToUpper(words[0]), words[1], words[2]); got != want {
					t.Errorf("%s: %s, want %s", step, got, want)
				}
			}
		})
	}
}

// askThrough makes a request with the token of a scope.
func askThrough(t *testing.T, n *transportNotes, answers *answerCache, method, path, scope string) string {
	t.Helper()
	req, err := http.NewRequest(method, "https://api.github.example"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token t"+scope)
	res, err := answers.RoundTrip(tokenScope{Repo: int64(scope[0] - '0')}, n, req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Body.Close() != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 {
		return fmt.Sprint(res.StatusCode)
	}
	if res.Header.Get("Link") == "" || res.Header.Get("X-Ratelimit-Remaining") != fmt.Sprint(len(n.lines)) {
		t.Errorf("%s: the headers are %v", path, res.Header)
	}
	got := string(body)
	if _, sent, ok := strings.Cut(n.lines[len(n.lines)-1], path+" "); ok {
		got += ", sent " + sent
	}
	return got
}

// TestRememberedIsBounded holds that a process keeps a bounded number of bytes, the last ones used, and that a
// long answer is passed on whole.
func TestRememberedIsBounded(t *testing.T) {
	n, answers := &transportNotes{versions: map[string]int{}, long: maxRemembered / 2}, &answerCache{}
	for i := range 100 {
		askThrough(t, n, answers, "GET", fmt.Sprint("/", i), "1")
		askThrough(t, n, answers, "GET", "/0", "1")
	}
	if answers.size > maxAllRemembered || answers.size < maxAllRemembered/2 || len(answers.all) != answers.order.Len() {
		t.Errorf("%d bytes of %d answers, %d in order", answers.size, len(answers.all), answers.order.Len())
	}
	if got := askThrough(t, n, answers, "GET", "/0", "1"); !strings.HasSuffix(got, `, sent "token t1 0"`) {
		t.Error("the one that is always used is forgotten")
	}
	if got := askThrough(t, n, answers, "GET", "/1", "1"); strings.Contains(got, "sent") {
		t.Error("an old one is not forgotten")
	}
	n.long = 3 * maxRemembered
	for range 2 {
		if got := askThrough(t, n, answers, "GET", "/long", "1"); len(got) != len("/long 0")+n.long {
			t.Errorf("%d bytes", len(got))
		}
	}
}
