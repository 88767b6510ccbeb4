package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// script answers requests one after the other by what it is told: a status with
// headers ("429 Retry-After=7"), "lost" for a broken connection, "never" for an
// answer that does not come. It remembers the requests.
type script struct {
	t       *testing.T
	answers []string
	seen    []string
	start   time.Time
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		b, _ := io.ReadAll(req.Body)
		body = " " + string(b)
	}
	s.seen = append(s.seen, fmt.Sprintf("%s %s%s at %s", req.Method, req.Header.Get("Authorization"), body, time.Since(s.start)))
	if len(s.answers) == 0 {
		s.t.Fatalf("one request too many: %s", s.seen[len(s.seen)-1])
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	switch answer {
	case "lost":
		return nil, errors.New("connection reset")
	case "never":
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	words := strings.Fields(answer)
	res := &http.Response{Header: http.Header{}, Request: req}
	fmt.Sscan(words[0], &res.StatusCode)
	text := "{}"
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "body" {
			text = strings.ReplaceAll(value, "_", " ")
			continue
		}
		if seconds, ok := strings.CutPrefix(value, "+"); ok { // from now
			d, _ := time.ParseDuration(seconds)
			value = fmt.Sprint(time.Now().Add(d).Unix())
		}
		res.Header.Set(name, value)
	}
	res.Body = io.NopCloser(strings.NewReader(text))
	return res, nil
}

// TestAttempts tells what becomes of a call by what is answered. The clock is not
// the real one.
func TestAttempts(t *testing.T) {
	tests := []struct {
		name    string
		method  string
		answers []string
		want    string // status, or a part of the error
		at      string // when the last attempt was made; pauses of ours are a little longer
		left    int    // answers that were not asked for
	}{
		{"good", "GET", []string{"200"}, "200", "0s", 0},
		{"busy, then good", "GET", []string{"502", "503", "200"}, "200", "1500ms", 0},
		{"lost, then good", "GET", []string{"lost", "200"}, "200", "500ms", 0},
		{"busy for good", "GET", []string{"502", "502", "502", "502", "200"}, "502", "3500ms", 1},
		{"an edit can be done again", "PATCH", []string{"502", "200"}, "200", "500ms", 0},
		{"a comment cannot: it may be there", "POST", []string{"502", "200"}, "502", "0s", 1},
		{"nor if the answer was lost", "POST", []string{"lost", "200"}, "connection reset", "0s", 1},
		{"what was refused was not done", "POST", []string{"429 Retry-After=7", "201"}, "201", "7s", 0},
		{"limit used up", "GET", []string{"403 X-RateLimit-Remaining=0 X-RateLimit-Reset=+30s", "200"}, "200", "30s", 0},
		{"limit used up for long", "GET", []string{"403 X-RateLimit-Remaining=0 X-RateLimit-Reset=+10m", "200"}, "403", "0s", 1},
		{"secondary limit", "POST", []string{"403 body=You_have_exceeded_a_secondary_rate_limit", "201"}, "201", "1m0s", 0},
		{"no right is no limit", "GET", []string{"403 body=Resource_not_accessible", "200"}, "403", "0s", 1},
		{"busy, says when", "GET", []string{"503 Retry-After=20", "200"}, "200", "20s", 0},
		{"busy, says when, to a comment", "POST", []string{"503 Retry-After=20", "200"}, "503", "0s", 1},
		{"a deletion can be done again", "DELETE", []string{"504", "204"}, "204", "500ms", 0},
		{"limit that ended meanwhile", "GET", []string{"403 X-RateLimit-Remaining=0 X-RateLimit-Reset=+-30s", "200"}, "200", "1s", 0},
		{"limit of seconds without a number", "GET", []string{"429 Retry-After=soon", "200"}, "200", "1m0s", 0},
		{"limit, again and again", "GET", []string{"429 Retry-After=7", "429 Retry-After=7", "429 Retry-After=7", "429 Retry-After=7", "200"}, "429", "21s", 1},
		{"wrong, so wrong again", "POST", []string{"422", "201"}, "422", "0s", 1},
		{"token refused once", "POST", []string{"401", "201"}, "201", "0s", 0},
		{"token refused for good", "GET", []string{"401", "401", "200"}, "401", "0s", 1},
		{"missing", "GET", []string{"404", "200"}, "404", "0s", 1},
		{"no answer, then one", "GET", []string{"never", "200"}, "200", "30500ms", 0},
		{"no answer to a comment", "POST", []string{"never", "200"}, "no answer within 30s", "0s", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, answers: test.answers, start: time.Now()}
				minted := 0
				tr := &transport{base: s, api: &url.URL{Scheme: "https", Host: "api.github.example"}, maxWait: time.Minute, pause: retryPause, scheme: "token", token: func(_ context.Context, renew bool) (Secret, error) {
					if renew || minted == 0 {
						minted++
					}
					return NewSecret(fmt.Sprint("t", minted)), nil
				}}
				var body io.Reader
				if test.method != "GET" {
					body = strings.NewReader("text")
				}
				req, _ := http.NewRequest(test.method, "https://api.github.example/x", body)
				res, err := tr.RoundTrip(req)
				got := ""
				if err != nil {
					got = err.Error()
				} else {
					got = fmt.Sprint(res.StatusCode)
					if _, err := io.ReadAll(res.Body); err != nil {
						t.Errorf("read the answer: %v", err)
					}
					res.Body.Close()
				}
				if !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
				}
				last := s.seen[len(s.seen)-1]
				_, text, _ := strings.Cut(last, " at ")
				at, _ := time.ParseDuration(text)
				if want, _ := time.ParseDuration(test.at); at < want || at > want*3/2 {
					t.Errorf("last attempt: %s, want it at %s", last, test.at)
				}
				if body != nil && !strings.Contains(last, " text ") {
					t.Errorf("the last attempt had no body: %s", last)
				}
				if test.answers[0] == "401" && !strings.Contains(last, "token t2") {
					t.Errorf("the last attempt had the old token: %s", last)
				}
				if len(s.answers) != test.left {
					t.Errorf("%d answers left, want %d: %s", len(s.answers), test.left, s.seen)
				}
				if req.Header.Get("Authorization") != "" {
					t.Error("the caller's request got the token")
				}
			})
		})
	}
}

// TestNoTimeToWait holds that a wait which the context does not allow is not begun.
func TestNoTimeToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, answers: []string{"429 Retry-After=20"}, start: time.Now()}
		tr := &transport{base: s, api: &url.URL{Scheme: "https", Host: "api.github.example"}, maxWait: time.Minute, pause: retryPause, token: func(context.Context, bool) (Secret, error) { return Secret{}, nil }}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "https://api.github.example/x", nil)
		res, err := tr.RoundTrip(req)
		if err != nil || res.StatusCode != 429 || time.Since(s.start) != 0 {
			t.Errorf("%v, %v after %s", res, err, time.Since(s.start))
		}
	})
}
