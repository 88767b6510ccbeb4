package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Buckets are the upper limits of histograms, in seconds.
var Buckets = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}

// A Registry keeps measurements of this process, and serves them in Prometheus' text format. The zero value is empty.
type Registry struct {
	mu     sync.Mutex
	series map[Name]map[string]*series // by labels, as they are written
}

// A series has the values of a metric with certain labels.
type series struct {
	value  float64 // of a counter or gauge; the sum of a histogram
	count  int
	within []int // values of a histogram, by [Buckets]
}

// Observe is a [Func].
func (r *Registry) Observe(name Name, value float64, labels ...string) {
	m := of(name)
	var parts []string
	for i, v := range m.labels(labels) {
		parts = append(parts, m.Labels[i].Name+"="+strconv.Quote(v))
	}
	key := strings.Join(parts, ",")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.series == nil {
		r.series = map[Name]map[string]*series{}
	}
	if r.series[name] == nil {
		r.series[name] = map[string]*series{}
	}
	s := r.series[name][key]
	if s == nil {
		s = &series{within: make([]int, len(Buckets))}
		r.series[name][key] = s
	}
	if m.Kind == Gauge {
		s.value = value
		return
	}
	s.value += value
	s.count++
	for i, limit := range Buckets {
		if value <= limit {
			s.within[i]++
		}
	}
}

// Text returns the measurements in Prometheus' text format, in the order of the table.
// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
func (r *Registry) Text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, m := range table {
		name := "lockstep_" + string(m.Name)
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, m.Help, name, m.Kind)
		for _, key := range slices.Sorted(maps.Keys(r.series[m.Name])) {
			s, braces := r.series[m.Name][key], ""
			if key != "" {
				braces = "{" + key + "}"
			}
			if m.Kind != Histogram {
				fmt.Fprintf(&b, "%s%s %g\n", name, braces, s.value)
				continue
			}
			for i, limit := range Buckets {
				fmt.Fprintf(&b, "%s_bucket{%s} %d\n", name, strings.TrimPrefix(key+fmt.Sprintf(",le=\"%g\"", limit), ","), s.within[i])
			}
			fmt.Fprintf(&b, "%s_bucket{%s} %d\n", name, strings.TrimPrefix(key+",le=\"+Inf\"", ","), s.count)
			fmt.Fprintf(&b, "%s_sum%s %g\n%s_count%s %d\n", name, braces, s.value, name, braces, s.count)
		}
	}
	return b.String()
}

// ServeHTTP implements http.Handler.
func (r *Registry) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprint(w, r.Text())
}
