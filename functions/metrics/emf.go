package metrics

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Namespace is the namespace of the metrics in CloudWatch.
const Namespace = "Lockstep"

// EMF returns a Func that writes each measurement as one line of JSON in CloudWatch's embedded metric format. CloudWatch makes
// metrics of these lines in a log. stack is the name of the deployment, a dimension of each metric.
// Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
func EMF(to io.Writer, stack string) Func {
	var mu sync.Mutex
	return func(name Name, value float64, labels ...string) {
		m := of(name)
		dimensions := []string{"stack"}
		line := map[string]any{"stack": stack, string(name): value}
		for i, v := range m.labels(labels) {
			dimensions = append(dimensions, m.Labels[i].Name)
			line[m.Labels[i].Name] = v
		}
		line["_aws"] = map[string]any{
			"Timestamp":         time.Now().UnixMilli(),
			"CloudWatchMetrics": []any{map[string]any{"Namespace": Namespace, "Dimensions": [][]string{dimensions}, "Metrics": []any{map[string]string{"Name": string(name), "Unit": m.Unit}}}},
		}
		data, err := json.Marshal(line)
		if err != nil {
			return // of a value that is no number
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = to.Write(append(data, '\n')) // A measurement that cannot be written must not stop any work.
	}
}
