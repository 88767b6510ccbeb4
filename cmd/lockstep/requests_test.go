package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// counted is a server of S3 that remembers its requests.
type counted struct {
	statebackendtest.S3
	mu       sync.Mutex
	requests []string
}

// ServeHTTP implements http.Handler.
func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	condition := ""
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if r.Header.Get(name) != "" {
			condition = " " + name
		}
	}
	c.mu.Lock()
	c.requests = append(c.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/states/")+r.URL.Query().Get("prefix")+condition)
	c.mu.Unlock()
	c.S3.ServeHTTP(w, r)
}

// since returns the requests so far, and forgets them.
func (c *counted) since() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.requests
	c.requests = nil
	return all
}

// TestRequestsOfAnApply counts what an apply of three changes costs on S3: on a distant server each request is
// a wait. The first run of a state has some more.
func TestRequestsOfAnApply(t *testing.T) {
	t.Parallel()
	c := new(counted)
	server := httptest.NewServer(c)
	defer server.Close()
	c.URL = server.URL
	d := newLab(t, "main.tf", `
variable "n" {}
resource "terraform_data" "a" {
  count = 3
  input = var.n
}
`)
	d.on(&c.S3, "app/terraform.tfstate", "")
	d.want(0, "apply -auto-approve -var=n=0")
	for n := range 3 {
		c.since()
		d.want(0, fmt.Sprintf("apply -auto-approve -var=n=%d", n+1), "0 added, 3 changed, 0 destroyed")
		if all := c.since(); len(all) > mostRequests {
			t.Errorf("%d requests, want at most %d:\n%s", len(all), mostRequests, strings.Join(all, "\n"))
		}
	}
	c.since()
	d.want(0, "plan -var=n=3", "No changes")
	if all := c.since(); len(all) > mostRequestsOfAPlan {
		t.Errorf("a plan: %d requests, want at most %d:\n%s", len(all), mostRequestsOfAPlan, strings.Join(all, "\n"))
	}
}

// The most requests that an apply of three changes makes, and a plan. An apply writes to its journal once before
// the changes, up to six times for them, as they come together, and twice at the end.
const (
	mostRequests        = 26
	mostRequestsOfAPlan = 11
)
