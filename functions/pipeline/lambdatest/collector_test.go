//go:build linux

package lambdatest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

// TestNoCollector holds that a function works without a collector whose secret it cannot use, and logs why.
func TestNoCollector(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t, func(o *lambdatest.StackOptions) {
		o.Parameters["CollectorSecretArn"] = o.Keep("collector", "collector.example.com\nAuthorization: Bearer token-of-the-collector\n")
	})
	r.expect("the plan", r.status(n), "2 to add")
	r.expect("the log", r.log.String(), "no measurements are sent to the collector", "the first line is not the address of a collector")
}

// TestCollector holds that a collector of OpenTelemetry gets the whole trace of a plan and an apply, before the functions are frozen.
func TestCollector(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	traces, measured := map[string][]string{}, 0 // names of spans by trace
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("X-Key") != "token-of-the-collector" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/v1/metrics" {
			measured++
			return
		}
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		data, err := io.ReadAll(body)
		var got collectortrace.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(data, &got) != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
			return
		}
		for _, of := range got.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, span := range scope.Spans {
					traces[string(span.TraceId)] = append(traces[string(span.TraceId)], span.Name)
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	r, n := twoThings(t, func(o *lambdatest.StackOptions) {
		o.Parameters["CollectorSecretArn"] = o.Keep("collector", server.URL+"\nX-Key: token-of-the-collector\n")
	})
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
	r.round()
	mu.Lock()
	defer mu.Unlock()
	var plan, apply bool
	for _, names := range traces {
		plan = plan || slices.Contains(names, "pushed") && slices.Contains(names, "plan")
		apply = apply || slices.Contains(names, "commanded") && slices.Contains(names, "apply")
	}
	if !plan || !apply || measured == 0 {
		t.Errorf("traces %q, %d requests with metrics", traces, measured)
	}
}
