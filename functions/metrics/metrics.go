// Package metrics has the table of what Lockstep measures, and writes measurements in two formats: for CloudWatch ([EMF]) and
// for Prometheus ([Registry]).
//
// A metric is one row of a table. The values of its labels are closed sets, so no name from a repository or a pull request, and
// no secret, becomes a label. The package does not know what is measured. Start reading at metrics.go.
package metrics

import "slices"

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
)

// A Kind is what the values of a metric mean together.
type Kind string

// These are the kinds.
const (
	counter   Kind = "counter"   // values add up
	gauge     Kind = "gauge"     // the last value counts
	histogram Kind = "histogram" // the distribution of the values counts
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

// table has all metrics.
var table = []Metric{
	{WebhookSeconds, histogram, "Seconds", []Label{codes}, "Time from a webhook's request to its answer.", "the function for webhooks, and `lockstep serve`"},
	{QueueSeconds, histogram, "Seconds", []Label{kinds}, "Time that a message waited in its queue before its first handling.", "the functions"},
	{MessageSeconds, histogram, "Seconds", []Label{kinds}, "Time of handling one message. The kind `plan` is the whole plan of a project, `apply` is the part of an apply that one process makes.", "the functions, builds, and `lockstep serve`"},
	{Messages, counter, "Count", []Label{kinds, results}, "Messages by how their handling ended.", "the functions, builds, and `lockstep serve`"},
	{GitHubRequests, counter, "Count", nil, "Requests to GitHub.", "the functions, builds, and `lockstep serve`"},
	{GitHubLeft, gauge, "Count", nil, "Requests to GitHub that an installation has left in this hour, by GitHub's last answer.", "the functions, builds, and `lockstep serve`"},
	{DeadLetters, counter, "Count", []Label{kinds}, "Messages that were given up.", "the function of the janitor"},
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

// Observe records a measurement, unless f is nil.
func (f Func) Observe(name Name, value float64, labels ...string) {
	if f != nil {
		f(name, value, labels...)
	}
}
