package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestServeGates holds that serve asks the functions that its option matches, and no others that a base branch names.
func TestServeGates(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	lambda := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		io.WriteString(w, `{"verdict":"allow","messages":["17 euros a month"]}`)
	}))
	defer lambda.Close()
	s := newServed(t)
	s.Env = append(s.Env, "AWS_ENDPOINT_URL_LAMBDA="+lambda.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=testtesttest")
	const settings = "project \"network\" {\n  dir = \"network\"\n}\n\ngate \"cost\" {\n  function = \"arn:aws:lambda:eu-west-1:123456789012:function:%s\"\n}\n"
	s.repo.Push("alice", "main", "A gate", githubtest.Files{"lockstep.hcl": fmt.Sprintf(settings, "payments")})
	p := s.start("-functions", "arn:aws:lambda:*:123456789012:function:gate-*")
	s.repo.Push("alice", "hosts", "Two hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 2)})
	s.repo.OpenPull("alice", "Two hosts", "hosts")
	s.deliver()
	s.await("for which the option -functions of lockstep serve must match its ARN")

	s.repo.Push("alice", "main", "Another gate", githubtest.Files{"lockstep.hcl": fmt.Sprintf(settings, "gate-cost")})
	s.repo.Comment("alice", 1, "lockstep plan")
	s.deliver()
	s.await("17 euros a month")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Applied** `network`: 2 added")
	p.stop(os.Interrupt)
	mu.Lock()
	defer mu.Unlock()
	if asked["/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:gate-cost/invocations"] != 2 || len(asked) != 1 {
		t.Errorf("asked: %v", asked)
	}
}
