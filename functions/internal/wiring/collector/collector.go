// Package collector opens the exporter to the deployment's collector of OpenTelemetry. It is separate from package wiring,
// so that the webhook's function does not contain the SDK.
package collector

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/metrics/otlp"
	"github.com/lockstep-iac/lockstep/github"
)

// openTimeout is the time limit for reading the secret.
const openTimeout = 5 * time.Second

// Open lets w send its measurements and traces to the collector, if the deployment has one. Without the secret, or with a mistake in
// it, Open logs the reason, and the function works without a collector: nobody's plan waits for measurements.
func Open(w *wiring.World) {
	if w.CollectorSecret == "" {
		return
	}
	if err := open(w); err != nil {
		w.Log.Error("no measurements are sent to the collector", "error", err.Error())
	}
}

func open(w *wiring.World) error {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	text, err := w.Secret(ctx, w.CollectorSecret)
	if err != nil {
		return err
	}
	s, err := otlp.Parse(text)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", w.CollectorSecret, err)
	}
	for _, value := range s.Secrets() {
		w.Secrets = append(w.Secrets, github.NewSecret(value))
	}
	s.Deployment, s.Version = w.Deployment, wiring.Version
	x, err := otlp.Open(ctx, s)
	if err != nil {
		return err
	}
	w.Measure, w.Trace = metrics.Both(w.Measure, x.Observe), x.Trace
	w.Flush = func(ctx context.Context) {
		if err := x.Flush(ctx); err != nil {
			w.Log.Warn("the collector has not got all measurements", "error", err.Error())
		}
	}
	return nil
}
