package dispatch_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestTwinChecks is the story of a history (seed 900586): one of many plans, which has no check run yet, is done and
// makes one while a command asks for it again and makes one, too. Either process may be the last to write down which is
// the project's. It holds that the newest, which people and rules see, is the one that is completed at last.
func TestTwinChecks(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"command", "plan"} {
		t.Run(last, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "app/main.tf": resource("app", "1")})
			s.pipeline.Loud = 1
			var n int
			var plan, command sync.Once
			asked, written, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/check-runs") {
					return false
				}
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte(`"lockstep/app"`)) && bytes.Contains(body, []byte("completed")) {
					plan.Do(func() { // it is about to make its check run
						go func() { defer close(told); s.command("alice", n, "lockstep plan -p app -target=terraform_data.b") }()
						<-asked
					})
				}
				return false
			}
			s.answered = func(r *http.Request, _ int) {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/check-runs") || r.GetBody == nil {
					return
				}
				b, _ := r.GetBody()
				body, _ := io.ReadAll(b)
				switch {
				case !bytes.Contains(body, []byte(`"lockstep/app"`)):
				case bytes.Contains(body, []byte("completed")):
					if last == "plan" {
						<-told
					}
				default:
					command.Do(func() { // the command has made its own
						close(asked)
						if last == "command" {
							<-written
						}
					})
				}
			}
			s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
			n = s.repo.OpenPull("alice", "Change", "b")
			if _, err := s.hub.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			made := false
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				err := s.pipeline.Handle(ctx, m)
				select {
				case <-asked:
					if !made {
						made = true
						close(written)
						<-told
					}
				default:
				}
				return err
			})
			if !made {
				t.Fatal("the two have not met")
			}
			s.settle()
			var all []githubtest.Check
			for _, c := range s.repo.Checks(s.repo.Head("b")) {
				if c.Name == "lockstep/app" {
					all = append(all, c)
				}
			}
			if len(all) != 2 {
				t.Fatalf("%d check runs of the name", len(all))
			}
			newest := all[1]
			if newest.Status != github.CheckCompleted || newest.Conclusion != github.ConcludedSuccess || newest.Title != "Ready to apply – 1 to add, 0 to change, 0 to destroy, with -target" {
				t.Errorf("people see for ever: %s %s %s", newest.Status, newest.Conclusion, newest.Title)
			}
			if all[0].Status != github.CheckCompleted {
				t.Errorf("the older one is %s", all[0].Status)
			}
		})
	}
}
