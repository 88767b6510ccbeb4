package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestTable holds that the names of metrics and labels are valid in Prometheus, and that each row says what it is.
func TestTable(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, m := range table {
		if !valid.MatchString(string(m.Name)) || m.Help == "" || m.Where == "" || (m.Kind == Counter) != strings.HasSuffix(string(m.Name), "_total") {
			t.Errorf("%+v", m)
		}
		for _, l := range m.Labels {
			if !valid.MatchString(l.Name) || len(l.Values) == 0 || len(l.Values) > 30 {
				t.Errorf("%s: %+v", m.Name, l)
			}
		}
	}
}

// TestReference writes the page of the documentation.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Metrics\n\n<!-- Generated from functions/metrics. -->\n\nThis page lists what Lockstep measures. [Metrics](../operate/metrics.md) says how to turn the metrics on, and where to look.\n\nIn Prometheus, the names begin with `lockstep_`. In CloudWatch, the namespace is `Lockstep`, and each metric also has the dimension `stack`. A value that is not in the list of its label becomes `other`.\n\n| name | kind | unit | labels | meaning | measured by |\n|---|---|---|---|---|---|\n")
	labels := map[string][]string{}
	for _, m := range table {
		names := ""
		for _, l := range m.Labels {
			names = strings.TrimPrefix(names+", `"+l.Name+"`", ", ")
			labels[l.Name] = l.Values
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Kind, m.Unit, names, m.Help, m.Where)
	}
	b.WriteString("\n## Values of labels\n\n| label | values |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", name, strings.Join(labels[name], "`, `"))
	}
	golden.File(t, "../../cmd/docs/reference/metrics.md", b.String())
}

// TestKinds holds that each kind of message is a value of the label.
func TestKinds(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../pipeline/message.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`Kind = "([a-z-]+)"`).FindAllSubmatch(data, -1)
	for _, kind := range all {
		if !slices.Contains(kinds.Values, string(kind[1])) {
			t.Errorf("the label lacks %s", kind[1])
		}
	}
	if len(all) != len(kinds.Values) {
		t.Errorf("%d kinds of messages, and %d values", len(all), len(kinds.Values))
	}
}

const hostile = "x\"} 1\nlockstep_forged 1\n# hunter2"

// TestPrometheus shows the text for each metric. A label from outside of its list becomes "other".
func TestPrometheus(t *testing.T) {
	t.Parallel()
	var r Registry
	r.Observe(WebhookSeconds, 0.2, "202")
	r.Observe(MessageSeconds, 7, "plan")
	r.Observe(MessageSeconds, 0.1, "plan")
	r.Observe(MessageSeconds, 4000, hostile)
	r.Observe(Messages, 1, "plan", Handled)
	r.Observe(Messages, 1, "plan", Handled)
	r.Observe(Messages, 1, hostile, hostile)
	r.Observe(Messages, 1)
	r.Observe(GitHubLeft, 4999)
	r.Observe(GitHubLeft, 4900)
	golden.File(t, "testdata/metrics.prom", r.Text())
}

// TestEMF holds what CloudWatch needs of a line: the names of dimensions and metrics are members of the line.
func TestEMF(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	f := EMF(&b, "lockstep")
	f(Messages, 1, "plan", hostile)
	f(GitHubLeft, math.NaN())
	Func(nil).Observe(Messages, 1)
	if strings.Count(b.String(), "\n") != 1 || strings.Contains(b.String(), "hunter2") {
		t.Fatalf("%s", b.String())
	}
	var line struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	all := map[string]any{}
	if json.Unmarshal(b.Bytes(), &line) != nil || json.Unmarshal(b.Bytes(), &all) != nil {
		t.Fatal(b.String())
	}
	m := line.AWS.CloudWatchMetrics[0]
	if line.AWS.Timestamp < 1e12 || m.Namespace != Namespace || strings.Join(m.Dimensions[0], " ") != "stack kind result" || m.Metrics[0].Name != "messages_total" || m.Metrics[0].Unit != "Count" {
		t.Errorf("%+v", line)
	}
	if all["stack"] != "lockstep" || all["kind"] != "plan" || all["result"] != Other || all["messages_total"] != 1.0 {
		t.Errorf("%v", all)
	}
}
