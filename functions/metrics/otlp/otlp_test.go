package otlp

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/functions/metrics"
)

// collector is a collector that keeps the last requests.
type collector struct {
	mu      sync.Mutex
	metrics collectormetrics.ExportMetricsServiceRequest
	traces  collectortrace.ExportTraceServiceRequest
	header  http.Header
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	data, err := io.ReadAll(body)
	var into proto.Message = &c.metrics
	if r.URL.Path == "/v1/traces" {
		into = &c.traces
	}
	if err != nil || proto.Unmarshal(data, into) != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func started(t *testing.T) (*collector, *Exporter) {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	s, err := Parse(server.URL + "\nAuthorization: Bearer hunter2\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Secrets(); len(got) != 1 || got[0] != "hunter2" {
		t.Errorf("the secrets are %q", got)
	}
	s.Deployment, s.Version = "acme", "1.2.3"
	x, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(t.Context()) })
	return c, x
}

// TestExport holds that a collector gets each metric of the table with its labels, and a trace whose spans belong together.
func TestExport(t *testing.T) {
	c, x := started(t)
	for _, m := range metrics.Table() {
		x.Observe(m.Name, 1.5, "no such label")
	}
	received := time.Now().Add(-time.Minute)
	first, end := x.Trace("", "pushed", received, "repository", "acme/infra", "run", "")
	second, endSecond := x.Trace(first, "plan", time.Time{}, "run", "net/default")
	endSecond(errors.New("the secret of the log"))
	end(nil)
	if err := x.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]*v1.Metric{}
	for _, m := range c.metrics.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		got[m.Name] = m
	}
	for _, m := range metrics.Table() {
		x := got["lockstep."+string(m.Name)]
		if x == nil || x.Description != m.Help {
			t.Errorf("%s: %v", m.Name, x)
		}
	}
	if p := got["lockstep.runs_total"].GetSum().DataPoints[0]; p.GetAsDouble() != 1.5 || len(p.Attributes) != 2 || p.Attributes[0].Value.GetStringValue() != metrics.Other {
		t.Errorf("runs: %v", p)
	}
	if p := got["lockstep.message_seconds"].GetHistogram().DataPoints[0]; len(p.ExplicitBounds) != len(metrics.Buckets) {
		t.Errorf("a histogram: %v", p)
	}
	spans := c.traces.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	plan, push := spans[0], spans[1] // as they ended
	if string(plan.TraceId) != string(push.TraceId) || string(plan.ParentSpanId) != string(push.SpanId) || len(push.ParentSpanId) != 0 {
		t.Errorf("the spans do not belong together: %v", spans)
	}
	if push.Name != "pushed" || push.StartTimeUnixNano != uint64(received.UnixNano()) || len(push.Attributes) != 1 || !strings.HasPrefix(second, first[:35]) {
		t.Errorf("%v", push)
	}
	if strings.Contains(spans[0].String(), "secret of the log") || plan.Status.Message == "" {
		t.Errorf("%v", plan.Status)
	}
	if a := c.header.Get("Authorization"); a != "Bearer hunter2" {
		t.Errorf("the header is %q", a)
	}
}

// TestAbsentCollector holds that a collector that is not there costs the flush time at most, and stops nothing.
func TestAbsentCollector(t *testing.T) {
	s, err := Parse("http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	x.Observe(metrics.Messages, 1, "plan", metrics.Handled)
	_, end := x.Trace("no span", "plan", time.Time{})
	end(nil)
	if err := x.Flush(t.Context()); err == nil {
		t.Error("nobody listens there")
	}
}

// TestParse is a table of settings of collectors.
func TestParse(t *testing.T) {
	const address, header = "the first line is not the address", "each line after the first one must be a header"
	for text, want := range map[string]string{
		"": address, "collector:4318": address, "ftp://c": address, "https://hunter2@c": address, "https://c?token=hunter2": address,
		"https://c\nhunter2": header, "https://c\nA B: hunter2": header, "https://c\nA: hunter2\x01": header, "https://c\n\nA: b": header,
		"https://c:4318/otlp\nX-Key: a:b\r\nY: c\n": "",
	} {
		s, err := Parse(text)
		if want == "" && (err != nil || s.Headers["X-Key"] != "a:b" || s.Headers["Y"] != "c") {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSecrets holds that only credentials are secret: the name of a tenant or of a dataset would take the same word out of all
// comments.
func TestSecrets(t *testing.T) {
	s, err := Parse("https://collector.example.com\nauthorization: Basic YTpi\nx-api-key: 0123456789abcdef\nX-Scope-OrgID: 1\nx-honeycomb-dataset: lockstep\nX-Empty:\n")
	if err != nil {
		t.Fatal(err)
	}
	got := s.Secrets()
	slices.Sort(got)
	if want := []string{"0123456789abcdef", "YTpi"}; !slices.Equal(got, want) {
		t.Errorf("the secrets are %q, want %q", got, want)
	}
}
