// Package metrics has the table of what Lockstep measures, and writes measurements in two formats: for CloudWatch ([EMF]) and
// for Prometheus ([Registry]).
//
// A metric is one row of a table. The values of its labels are closed sets, so no name from a repository or a pull request, and
// no secret, becomes a label. The package does not know what is measured. Start reading at metrics.go.
package metrics

import (
	"iter"
	"slices"
)

// A Name is the name of a metric. It is the same in CloudWatch and, after the prefix "lockstep_", in Prometheus.
type Name string

// These are the metrics.
const (
	WebhookSeconds Name = "webhook_seconds"
	QueueSeconds   Name = "queue_seconds"
	MessageSeconds Name = "message_seconds"
	Messages       Name = "messages_total"
	GitHubRequests Name = "github_requests_total"
	GitHubLeft     Name = "github_requests_left"
	DeadLetters    Name = "dead_letters_total"

	PlanReadySeconds Name = "plan_ready_seconds"
	Runs             Name = "runs_total"
	ProviderCalls    Name = "provider_calls_total"
	ProviderSeconds  Name = "provider_seconds_total"
)

// A Kind says how the values of a metric are evaluated together.
type Kind string

// These are the kinds.
const (
	Counter   Kind = "counter"   // values add up
	Gauge     Kind = "gauge"     // the last value counts
	Histogram Kind = "histogram" // the distribution of the values counts
)

// A Metric is a row of the table.
type Metric struct {
	Name Name
	Kind Kind
	// Unit is the unit of CloudWatch: "Seconds" or "Count".
	Unit string
	// Labels are the metric's labels.
	Labels []Label
	// Help says what a value means, and Where which code measures it, for people.
	Help, Where string
}

// A Label is a label of a metric with its possible values. Any other value becomes [Other].
type Label struct {
	Name   string
	Values []string
}

// Other is the value of a label in the place of a value that is not in its list.
const Other = "other"

var (
	// kinds are the kinds of messages: see pipeline.Kind.
	kinds   = Label{"kind", []string{"pushed", "commanded", "rerun", "closed", "landed", "grouped", "tell", "plan", "test", "query", "apply", "recover", "release", "told", "settled", "check", "queue", "find-drift", "drift", "shadow"}}
	results = Label{"result", []string{Handled, HandedOver, Waits, Throttled, Failed}}
	runs    = Label{"run", []string{"plan", "apply", "check"}}
	ends    = Label{"outcome", []string{Succeeded, Failed, Refused, Stopped, Died}}
	calls   = Label{"call", []string{"ApplyResourceChange", "ConfigureProvider", "GetProviderSchema", "ImportResourceState", "PlanResourceChange", "ReadDataSource", "ReadResource", "UpgradeResourceState", "ValidateResourceConfig"}}
	codes   = Label{"code", []string{"200", "202", "400", "401", "404", "413", "500", "503"}}
)

// These are the results of handling a message.
const (
	Handled    = "handled"
	HandedOver = "handed_over" // another process goes on with it
	Waits      = "waits"       // for another process
	Throttled  = "throttled"   // by GitHub's rate limit
	Failed     = "failed"      // another attempt follows, or a dead letter
)

// These are the results of plans, applies, and checks of waiting plans, in addition to [Failed].
const (
	Succeeded = "succeeded"
	Refused   = "refused" // the state had changed since the plan, or a requirement was not met any more
	Stopped   = "stopped" // before its end; another process may go on with it
	Died      = "died"    // the process of the run ended
)

// table has all metrics.
var table = []Metric{
	{WebhookSeconds, Histogram, "Seconds", []Label{codes}, "Time from a webhook's request to its answer.", "the function for webhooks, and `lockstep serve`"},
	{QueueSeconds, Histogram, "Seconds", []Label{kinds}, "Time from the sending of a message to its first handling.", "the functions, and `lockstep serve`"},
	{MessageSeconds, Histogram, "Seconds", []Label{kinds}, "Time of handling one message. The kind `plan` is the whole plan of a project, `apply` is the part of an apply that one process makes.", "the functions, builds, and `lockstep serve`"},
	{Messages, Counter, "Count", []Label{kinds, results}, "Messages by how their handling ended.", "the functions, builds, and `lockstep serve`"},
	{GitHubRequests, Counter, "Count", nil, "Requests to GitHub.", "the functions, builds, and `lockstep serve`"},
	{GitHubLeft, Gauge, "Count", nil, "Requests to GitHub that an installation has left in this hour, by GitHub's last answer.", "the functions, builds, and `lockstep serve`"},
	{DeadLetters, Counter, "Count", []Label{kinds}, "Messages that were given up.", "the function of the janitor, and `lockstep serve`"},
	{PlanReadySeconds, Histogram, "Seconds", nil, "Time from the webhook of a push or a comment to a plan. A push with several projects has one value for each plan: the least is its first plan, the greatest its last.", "the functions, builds, and `lockstep serve`"},
	{Runs, Counter, "Count", []Label{runs, ends}, "Plans, applies, and checks of waiting plans, by their results.", "the functions, builds, and `lockstep serve`"},
	{ProviderCalls, Counter, "Count", []Label{calls}, "Calls of providers.", "the functions, builds, and `lockstep serve`"},
	{ProviderSeconds, Counter, "Seconds", []Label{calls}, "Total time of the calls of providers. Calls run side by side, so the total can be longer than the run.", "the functions, builds, and `lockstep serve`"},
}

// Table returns the metrics. The caller must not change them.
func Table() []Metric { return table }

// Labels yields the labels of a metric with their values, in the table's order. A value that is not in the table becomes [Other].
func Labels(name Name, values []string) iter.Seq2[string, string] {
	m := of(name)
	return func(yield func(string, string) bool) {
		for i, v := range m.labels(values) {
			if !yield(m.Labels[i].Name, v) {
				return
			}
		}
	}
}

// of returns the row of a metric. A name that is not in the table is a mistake in the code.
func of(name Name) Metric {
	i := slices.IndexFunc(table, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		panic("metrics: there is no metric " + string(name))
	}
	return table[i]
}

// labels returns the values of the metric's labels, with [Other] in the place of values that are not in their lists.
func (m Metric) labels(values []string) []string {
	out := make([]string, len(m.Labels))
	for i, l := range m.Labels {
		if out[i] = Other; i < len(values) && slices.Contains(l.Values, values[i]) {
			out[i] = values[i]
		}
	}
	return out
}

// A Func records a measurement. labels are the values of the metric's labels, in their order. It is safe for concurrent use.
type Func func(name Name, value float64, labels ...string)

// Both returns a Func that records each measurement with both functions. Either may be nil.
func Both(f, g Func) Func {
	if f == nil {
		return g
	}
	return func(name Name, value float64, labels ...string) {
		f(name, value, labels...)
		g.Observe(name, value, labels...)
	}
}

// Observe records a measurement, unless f is nil.
func (f Func) Observe(name Name, value float64, labels ...string) {
	if f != nil {
		f(name, value, labels...)
	}
}
