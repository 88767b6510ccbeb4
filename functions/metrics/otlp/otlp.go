// Package otlp sends measurements and traces to a collector of OpenTelemetry: OTLP over HTTP, by OpenTelemetry's own SDK.
//
// It is separate from package metrics, so that the webhook's function does not contain the SDK. Start at [Open].
package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"

	"github.com/lockstep-iac/lockstep/functions/metrics"
)

// Settings are the settings of an exporter.
type Settings struct {
	// Endpoint is the collector's address, such as "https://collector.example.com:4318". The paths /v1/metrics and /v1/traces
	// are added to it. Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp
	Endpoint string
	// Headers are sent with each request. They may have credentials.
	Headers map[string]string
	// Deployment is the name of the deployment, and Version Lockstep's version.
	Deployment, Version string
}

// Parse parses the text of a secret or a file with the settings of a collector: its address in the first line, and one header
// in each further line, such as "Authorization: Bearer TOKEN". The errors do not quote the text, which is secret.
func Parse(text string) (Settings, error) {
	address, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	s := Settings{Endpoint: strings.TrimSpace(address), Headers: map[string]string{}}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
		return s, errors.New("the first line is not the address of a collector, such as https://collector.example.com:4318")
	}
	for line := range strings.Lines(rest) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if value = strings.TrimSpace(value); !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return s, errors.New("each line after the first one must be a header, such as Authorization: Bearer TOKEN")
		}
		s.Headers[name] = value
	}
	return s, nil
}

// shortestSecret is the minimum length of a credential in a header other than Authorization. The value of such a header can
// also be the name of a tenant or of a dataset, and that word is not secret.
const shortestSecret = 12

// Secrets returns what nobody may read of the settings: the credentials in the headers, without the word before a token.
func (s Settings) Secrets() []string {
	var all []string
	for name, value := range s.Headers {
		last := value[strings.LastIndexByte(value, ' ')+1:]
		if last != "" && (strings.EqualFold(name, "Authorization") || len(last) >= shortestSecret) {
			all = append(all, last)
		}
	}
	return all
}

// An Exporter sends measurements and spans. It is safe for concurrent use.
type Exporter struct {
	meters      *sdkmetric.MeterProvider
	traces      *sdktrace.TracerProvider
	tracer      trace.Tracer
	instruments map[metrics.Name]func(float64, metric.MeasurementOption)
}

// interval is how often measurements are sent in a process that does not call [Exporter.Flush].
const interval = 30 * time.Second

// Open returns an exporter. It sends nothing yet. Failures to send are dropped: no collector stops a plan.
func Open(ctx context.Context, s Settings) (*Exporter, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("open the collector: %w", err)
	}
	metricExporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(u.JoinPath("v1/metrics").String()), otlpmetrichttp.WithHeaders(s.Headers))
	if err != nil {
		return nil, fmt.Errorf("open the exporter of measurements: %w", err)
	}
	spanExporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.JoinPath("v1/traces").String()), otlptracehttp.WithHeaders(s.Headers))
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	of := resource.NewSchemaless(attribute.String("service.name", "lockstep"), attribute.String("service.namespace", s.Deployment), attribute.String("service.version", s.Version))
	x := &Exporter{
		meters:      sdkmetric.NewMeterProvider(sdkmetric.WithResource(of), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter, sdkmetric.WithInterval(interval)))),
		traces:      sdktrace.NewTracerProvider(sdktrace.WithResource(of), sdktrace.WithBatcher(spanExporter)),
		instruments: map[metrics.Name]func(float64, metric.MeasurementOption){},
	}
	x.tracer = x.traces.Tracer(scope)
	return x, x.makeInstruments()
}

// scope is the name of the instruments' scope.
const scope = "github.com/lockstep-iac/lockstep/functions"

// makeInstruments makes an instrument for each metric of the table.
func (x *Exporter) makeInstruments() error {
	meter := x.meters.Meter(scope)
	var errs []error
	for _, m := range metrics.Table() {
		name, ctx := "lockstep."+string(m.Name), context.Background()
		unit := metric.WithUnit(map[string]string{"Seconds": "s", "Count": "1"}[m.Unit])
		switch m.Kind {
		case metrics.Counter:
			i, err := meter.Float64Counter(name, metric.WithDescription(m.Help), unit)
			x.instruments[m.Name] = func(v float64, o metric.MeasurementOption) { i.Add(ctx, v, o) }
			errs = append(errs, err)
		case metrics.Gauge:
			i, err := meter.Float64Gauge(name, metric.WithDescription(m.Help), unit)
			x.instruments[m.Name] = func(v float64, o metric.MeasurementOption) { i.Record(ctx, v, o) }
			errs = append(errs, err)
		case metrics.Histogram:
			i, err := meter.Float64Histogram(name, metric.WithDescription(m.Help), unit, metric.WithExplicitBucketBoundaries(metrics.Buckets...))
			x.instruments[m.Name] = func(v float64, o metric.MeasurementOption) { i.Record(ctx, v, o) }
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Observe is a [metrics.Func].
func (x *Exporter) Observe(name metrics.Name, value float64, labels ...string) {
	var all []attribute.KeyValue
	for label, v := range metrics.Labels(name, labels) {
		all = append(all, attribute.String(label, v))
	}
	x.instruments[name](value, metric.WithAttributes(all...))
}

// Trace is a [metrics.Tracer].
func (x *Exporter) Trace(parent metrics.Parent, name string, start time.Time, attributes ...string) (metrics.Parent, func(error)) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer)}
	if !start.IsZero() {
		options = append(options, trace.WithTimestamp(start))
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			options = append(options, trace.WithAttributes(attribute.String("lockstep."+attributes[i], attributes[i+1])))
		}
	}
	ctx, span := x.tracer.Start(ctx, name, options...)
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"], func(err error) {
		if err != nil { // The text of the error is left out, because it may contain names that belong only into a log.
			span.SetStatus(codes.Error, "not handled")
		}
		span.End()
	}
}

// flushTime is how long a flush may take. A function calls Flush before it is frozen, so a collector that hangs costs this time
// at each message.
const flushTime = 2 * time.Second

// Flush sends everything now. A function of Lambda calls it at the end of each invocation. The error is for a log.
func (x *Exporter) Flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return errors.Join(x.traces.ForceFlush(ctx), x.meters.ForceFlush(ctx))
}

// Close sends everything, and ends the exporter.
func (x *Exporter) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return errors.Join(x.traces.Shutdown(ctx), x.meters.Shutdown(ctx))
}
