package program

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A meter notes the requests to servers of S3 and DynamoDB.
type meter struct {
	mu       sync.Mutex
	requests []string
}

func (m *meter) note(request string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request)
}

// since returns the requests so far, and forgets them.
func (m *meter) since() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.requests
	m.requests = nil
	return all
}

var segmentKey = regexp.MustCompile(`^journal/\d{20}$`)

// s3 notes the requests to a server of S3, by the kind of their object.
func (m *meter) s3(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.URL.Path, "/states/")
		key = strings.Replace(key, ".lockstep/journal/app%2Fterraform.tfstate/", "journal/", 1)
		switch {
		case key == "app/terraform.tfstate":
			key = "state"
		case key == "app/terraform.tfstate.tflock":
			key = "lock object"
		case segmentKey.MatchString(key):
			key = "journal segment"
		case r.URL.Query().Has("list-type"):
			key = "list of the journal"
		}
		switch {
		case r.Header.Get("If-None-Match") != "":
			key += " if there is none"
		case r.Header.Get("If-Match") != "":
			key += " if unchanged"
		}
		m.note(r.Method + " " + key)
		server.ServeHTTP(w, r)
	})
}

// dynamodb is the same with items.
func (m *meter) dynamodb(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		_, request, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if request += " lock item"; bytes.Contains(body, []byte(`-md5"`)) {
			request = strings.Replace(request, "lock", "digest", 1)
		}
		switch {
		case bytes.Contains(body, []byte(`attribute_not_exists(LockID)`)):
			request += " if there is none"
		case bytes.Contains(body, []byte("ConditionExpression")):
			request += " if unchanged"
		}
		m.note(request)
		server.ServeHTTP(w, r)
	})
}

// metered is a directory whose state is on servers that count.
func metered(t *testing.T, main, more string) (*labDir, *meter) {
	m, items := new(meter), new(statebackendtest.DynamoDB).Start(t)
	objects := httptest.NewServer(m.s3(new(statebackendtest.S3)))
	t.Cleanup(objects.Close)
	table := httptest.NewServer(m.dynamodb(items))
	t.Cleanup(table.Close)
	d := newLab(t, "main.tf", main)
	d.Write("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"app/terraform.tfstate\"\n"+more+realCloud{objects.URL, table.URL}.settings()+"    max_retries = 0\n  }\n}\n")
	d.want(0, "init -input=false")
	return d, m
}

// The requests of runs on a server that is reached at an address of its own. Package statebackend says for each
// why it is needed.
var (
	requestsOfOpening = []string{
		"PUT journal/conditions if there is none",
		"PUT lock object if there is none",
		"GET state",
		"GET list of the journal",
		"GET journal segment",
	}
	requestsOfRelease = []string{
		"PUT lock object if unchanged",
		"DELETE lock object if unchanged",
	}
	openingWithTable = []string{
		"PUT journal/conditions if there is none",
		"PUT lock object if there is none",
		"PutItem lock item if there is none",
		"GET state",
		"GetItem digest item",
		"GET list of the journal",
		"GET journal segment",
	}
	releaseWithTable = []string{
		"DeleteItem lock item if unchanged",
		"GET lock object",
		"DELETE lock object if unchanged",
	}
)

var (
	requestsOfConfirming = []string{
		"PUT lock object if unchanged",
	}
	confirmingWithTable = []string{
		"GET lock object",
		"PutItem lock item if unchanged",
	}
	requestsOfSaving = []string{
		"GET lock object",
		"PUT state if unchanged",
		"PUT journal segment if there is none",
	}
	savingWithTable = []string{
		"GET lock object",
		"PutItem lock item if unchanged",
		"PUT state if unchanged",
		"PutItem digest item if unchanged",
		"PUT journal segment if there is none",
	}
)

const (
	noTable   = "    use_lockfile = true\n"
	withTable = "    dynamodb_table = \"locks\"\n"
)

// TestRequestsOfAnApply holds what an apply of three changes costs on S3, request by request: on a distant server
// each is a wait. The first run of a state has some more.
func TestRequestsOfAnApply(t *testing.T) {
	t.Parallel()
	const three = `
variable "n" {}
resource "terraform_data" "a" {
  count = 3
  input = var.n
}
`
	// Each comes after the one before.
	const chain = `
variable "n" {}
resource "terraform_data" "a" { input = var.n }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "c" { input = terraform_data.b.output }
`
	for _, c := range []struct {
		name, main, more string
		opening          []string
		confirm, save    []string
		segments         int // that are written before the save
		release          []string
	}{
		{"three objects", three, noTable, requestsOfOpening, requestsOfConfirming, requestsOfSaving, 3, requestsOfRelease},
		{"a chain", chain, noTable, requestsOfOpening, requestsOfConfirming, requestsOfSaving, 7, requestsOfRelease},
		{"three objects, with a table", three, withTable, openingWithTable, confirmingWithTable, savingWithTable, 3, releaseWithTable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, m := metered(t, c.main, c.more)
			d.want(0, "apply -auto-approve -var=n=0")
			want := func(what string, parts ...[]string) {
				t.Helper()
				all, got := slices.Concat(parts...), m.since()
				if diff := cmp.Diff(all, got); diff != "" {
					t.Errorf("%s: %d requests, want %d (-want +got):\n%s", what, len(got), len(all), diff)
				}
			}
			segments := slices.Repeat([]string{"PUT journal segment if there is none"}, c.segments)
			for n := range 3 {
				m.since()
				d.want(0, fmt.Sprintf("apply -auto-approve -var=n=%d", n+1), "0 added, 3 changed, 0 destroyed")
				want("an apply", c.opening, c.confirm, segments, c.save, c.release)
			}
			d.want(0, "plan -var=n=3", "No changes")
			want("a plan", c.opening, c.release)
			d.want(0, "apply -auto-approve -var=n=3", "No changes")
			want("an apply of nothing", c.opening, c.confirm, c.release)
		})
	}
}
