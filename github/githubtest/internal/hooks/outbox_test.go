package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// sender carries out scripts on an Outbox. The receiver answers with the statuses of a script.
type sender struct {
	*Outbox
	answers  []int
	received []string
}

func (s *sender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sum := "unsigned"
	if github.Sign(github.NewSecret("hush"), body) == r.Header.Get(github.SignatureHeader) {
		sum = "signed"
	}
	guid := r.Header.Get(github.DeliveryHeader)
	s.received = append(s.received, fmt.Sprintf("%s %s %s", strings.TrimLeft(guid[len(guid)-12:], "0"), r.Header.Get(github.EventHeader), sum))
	status := 200
	if len(s.answers) > 0 {
		status, s.answers = s.answers[0], s.answers[1:]
	}
	w.WriteHeader(status)
	fmt.Fprint(w, "told")
}

// do carries out one word of a script and returns the outcome.
func (s *sender) do(ctx context.Context, word string) string {
	verb, argument, _ := strings.Cut(word, ":")
	guid := fmt.Sprintf("00000000-0000-4000-8000-%012s", argument)
	switch verb {
	case "post":
		s.Post(Subject{Event: argument, Action: "made", Installation: 7}, rest.Object{"of": argument})
	case "lose":
		s.Lose(len(argument))
	case "deliver":
		n, err := s.Deliver(ctx)
		return fmt.Sprintf("%d %t", n, err == nil)
	case "redeliver":
		answer, err := s.Redeliver(ctx, guid)
		return fmt.Sprintf("%s %t", answer, err == nil)
	case "replay":
		status, answer, err := s.Replay(ctx, guid, "00000000-0000-4000-8000-0000000000ff", "forged")
		return fmt.Sprintf("%d %s %t", status, answer, err == nil)
	case "attempt", "get":
		r := httptest.NewRequest("POST", "/", nil)
		r.SetPathValue("id", argument)
		status, body := map[string]rest.Handler{"attempt": s.Attempt, "get": s.Get}[verb](r)
		if o := body.(rest.Object); verb == "get" && status == 200 {
			return fmt.Sprintf("%s, %s", o["status"], o["response"].(rest.Object)["payload"])
		}
		return fmt.Sprint(status)
	case "list":
		_, body := s.List(httptest.NewRequest("GET", "/list?"+argument, nil))
		p := body.(rest.Page)
		var all []string
		for _, item := range p.Items.([]any) {
			all = append(all, fmt.Sprint(item.(rest.Object)["id"], "=", item.(rest.Object)["status_code"]))
		}
		_, next, _ := strings.Cut(p.Next, "?")
		return strings.Join(append(all, next), " ")
	}
	return ""
}

// TestScripts holds what comes of webhooks. Words of a script are separated by blanks, outcomes
// by " | ", and end with the webhooks received.
func TestScripts(t *testing.T) {
	for _, test := range []struct {
		script  string
		answers []int
		want    string
	}{
		{"deliver", nil, "0 true"},
		{"post:push post:pull deliver deliver", nil, "2 true | 0 true | 1 push signed | 2 pull signed"},
		{"post:push post:pull deliver deliver", []int{503}, "0 false | 1 true | 1 push signed | 2 pull signed"},
		{"post:push lose:x deliver get:1", nil, "1 true | failed to connect to host,"},
		{"post:push deliver redeliver:1 redeliver:2", nil, "1 true | told true | false | 1 push signed | 1 push signed"},
		{"post:push replay:1 replay:2", nil, "200 told true | 0  false | ff forged signed"},
		{"post:push get:1 attempt:1 attempt:2 attempt:x", nil, "404 | 404 | 404 | 404"},
		{
			"post:push deliver attempt:1 deliver get:1 get:2", []int{500, 202},
			"0 false | 202 | 1 true | Invalid HTTP Response: 500, told | OK, told | 1 push signed | 1 push signed",
		},
		{
			"post:a post:b post:c deliver list:per_page=2 list:per_page=2&cursor=2 list:per_page=500", nil,
			"3 true | 3=200 2=200 cursor=2&per_page=2 | 1=200 | 3=200 2=200 1=200 | 1 a signed | 2 b signed | 3 c signed",
		},
	} {
		s := &sender{answers: test.answers}
		server := httptest.NewServer(s)
		s.Outbox = New("http://nowhere.example", github.NewSecret("hush"), func() time.Time { return time.Unix(0, 0) }, nil)
		s.SetURL(server.URL)
		var got []string
		for _, word := range strings.Fields(test.script) {
			if out := strings.TrimSpace(s.do(t.Context(), word)); out != "" {
				got = append(got, out)
			}
		}
		got = append(got, s.received...)
		if got := strings.Join(got, " | "); got != test.want {
			t.Errorf("%s: %s, want %s", test.script, got, test.want)
		}
		server.Close()
	}
}

// TestPayload holds that an attempt shows the payload that was sent.
func TestPayload(t *testing.T) {
	s := &sender{}
	server := httptest.NewServer(s)
	defer server.Close()
	s.Outbox = New(server.URL, github.NewSecret("hush"), time.Now, nil)
	s.do(t.Context(), "post:push")
	s.do(t.Context(), "deliver")
	r := httptest.NewRequest("GET", "/", nil)
	r.SetPathValue("id", "1")
	_, body := s.Get(r)
	text, err := json.Marshal(body.(rest.Object)["request"])
	if err != nil || !strings.Contains(string(text), `"payload":{"of":"push"}`) {
		t.Errorf("%s, %v", text, err)
	}
}
