package pricing

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// A Recording has the usage of events, and the parts of a deployment that cost something even if nothing
// happens.
type Recording struct {
	Deployment Deployment       `json:"deployment"`
	Events     map[string]Usage `json:"events"`
}

// A Deployment has the numbers of the parts of template.yaml that cost something even if nothing happens.
type Deployment struct {
	Alarms, Keys, Secrets int
	// Mappings is the number of event source mappings, which poll their queues all the time.
	Mappings int
	// Rounds is how often the janitor runs in an hour.
	Rounds int
}

// A Usage is what an event uses, including everything that follows from it.
type Usage struct {
	Functions map[string]Time  `json:"functions"` // by name
	Counts    map[Kind]float64 `json:"counts"`
	// Parts is how many of the S3Get requests have read parts of the provider's package. Each of these requests
	// comes with a KMSRequest.
	Parts int `json:"parts"`
}

// A Time is the billed time of a function: its invocations, and the starts of its environments.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
type Time struct {
	Invocations  int   `json:"invocations"`
	Milliseconds int64 `json:"milliseconds"`
	Memory       int   `json:"memory"` // in MB
	Disk         int   `json:"disk"`   // in MB
}

// These are the events of a recording.
const (
	Round     = "round"         // of the janitor, with a pull request that is open and planned
	Plan10    = "plan of 10"    // opening a pull request that affects a project with 10 objects
	Plan100   = "plan of 100"   // the same with 100 objects
	Apply10   = "apply of 10"   // commenting "lockstep apply" for a plan with 10 changes
	Apply100  = "apply of 100"  // the same with 100 changes
	Megabytes = 600             // the unpacked size of the recorded provider
	FreeDisk  = 512             // MB of a function's disk that are free
	platform  = 3*26 + 90 + 110 // see LogBytes
)

// LogBytes is the number of bytes that Lambda itself writes to the log for an invocation, with CloudWatch's
// overhead for each of the three lines.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-view.html,
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
const LogBytes = platform + 200

//go:embed recording.json
var recorded []byte

// Recorded returns the recording of the end-to-end tests.
func Recorded() (Recording, error) {
	var r Recording
	if err := json.Unmarshal(recorded, &r); err != nil {
		return Recording{}, fmt.Errorf("recording.json: %w", err)
	}
	return r, nil
}

// quantities returns the quantity of each kind in a usage.
func (u Usage) quantities() map[Kind]float64 {
	out := map[Kind]float64{}
	for k, n := range u.Counts {
		out[k] += n
	}
	for _, t := range u.Functions {
		seconds := float64(t.Milliseconds) / 1000
		out[LambdaRequest] += float64(t.Invocations)
		out[LambdaGBSecond] += seconds * float64(t.Memory) / 1024
		out[LambdaDiskGBSecond] += seconds * float64(max(0, t.Disk-FreeDisk)) / 1024
		out[LogByte] += float64(t.Invocations * LogBytes)
	}
	return out
}
