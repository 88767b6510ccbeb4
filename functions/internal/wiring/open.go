package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/functions/shield"
	"github.com/lockstep-iac/lockstep/github"
)

// Version is the version of Lockstep, which is stored in saved plans. A plan of a different version is not applied.
const Version = "0.1.0-dev"

// A World has everything that a function uses: its settings, log and open clients.
type World struct {
	Settings
	Log *slog.Logger
	// Measure records measurements, and Trace begins a span for each message; if one of them is nil, its data is dropped.
	// Flush sends what they have recorded; nil if nothing is sent.
	Measure metrics.Func
	Trace   metrics.Tracer
	Flush   func(context.Context)
	AWS     aws.Config
	SQS     *sqs.Client
	// Space is the part of the stores that belongs to the App. It is the App's name; "" for the first App.
	Space tenants.Space
	// App is the GitHub App. It is nil in the functions that do not act as the App: webhook and web.
	App *github.App
	// Intake has the records and the queue, which all functions use.
	Intake *intake.Intake
	// Artifacts and Secrets are not set in the webhook function. Secrets are texts that Lockstep must not write
	// on a pull request.
	Artifacts pipeline.Artifacts
	Secrets   []github.Secret
	// tarballs stores the archives of commits, so that later plans need not download them from GitHub. If it is
	// nil, the function always downloads them.
	tarballs *tarballStore
	// WebhookSecrets are the webhook secrets of the first App. They are set only in the webhook function.
	WebhookSecrets []github.Secret
	// PageSecrets is a JSON object with the secrets of the page. It is set only in the web function.
	PageSecrets github.Secret
}

// openTimeout is the time limit of Open. It is shorter than Lambda's own limit for starting a function.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
const openTimeout = 9 * time.Second

// Open protects the process, and opens the clients that a function needs, with the settings in its environment
// variables. It reads secrets only once. If a secret is changed, only processes that start later use the new
// value.
func Open(f Function) (*World, error) {
	if err := shield.Raise(); err != nil {
		return nil, err
	}
	s, err := readSettings(f, os.Getenv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	w := &World{Settings: s, Log: logger(f), AWS: cfg, SQS: sqs.NewFromConfig(cfg)}
	if s.Metrics != "" {
		w.Measure = metrics.EMF(os.Stdout, s.Metrics)
	}
	w.Intake = &intake.Intake{
		Records: awsstore.Records{Client: dynamodb.NewFromConfig(cfg), Table: s.Table},
		Queue:   pipeline.Stamped{Queue: awsstore.Queue{Client: w.SQS, URLs: w.queues()}},
		Serves:  s.Serves, Log: func(err error) { w.Log.Warn("turned away", "error", err.Error()) },
	}
	if s.Serves.Empty() {
		w.Log.Warn("Lockstep serves no repository: set the parameter Serves of the stack")
	}
	if f == Webhook {
		w.WebhookSecrets, err = webhookSecrets(ctx, cfg, s.WebhookSecret)
		return w, err
	}
	w.Artifacts = awsstore.Artifacts{Client: s3.NewFromConfig(cfg), Bucket: s.Bucket, KeyID: s.Key}
	if f == Web {
		w.PageSecrets, err = secret(ctx, cfg, s.PageSecret)
		return w, err
	}
	if f == Plan {
		w.tarballs = &tarballStore{Artifacts: w.Artifacts, Records: w.Intake.Records, Log: func(err error) { w.Log.Warn("tarball", "error", err.Error()) }}
	}
	return w, w.openApp(ctx)
}

// queues returns the URLs of the queues to which this function may send messages.
func (w *World) queues() map[pipeline.QueueName]string {
	out := map[pipeline.QueueName]string{}
	for name, url := range map[pipeline.QueueName]string{pipeline.Events: w.Events, pipeline.Plans: w.Plans, pipeline.Applies: w.Applies} {
		if url != "" {
			out[name] = url
		}
	}
	return out
}

func (w *World) openApp(ctx context.Context) error {
	key, err := secret(ctx, w.AWS, w.AppKeySecret)
	if err != nil {
		return err
	}
	c := github.AppConfig{ID: w.AppID, Key: key, URL: w.GitHubURL, Transport: http.DefaultTransport}
	if w.tarballs != nil {
		c.Tarballs = *w.tarballs
	}
	w.App, err = github.NewApp(c)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", w.AppKeySecret, err)
	}
	w.Secrets = append(w.Secrets, key)
	return nil
}

// Where returns a command that downloads an artifact. People use it, with their own AWS rights, for a plan that
// is too long for GitHub.
func (w *World) Where(a pipeline.Artifact) string {
	return fmt.Sprintf("aws s3 cp s3://%s/%s -", w.Bucket, w.Space.Artifact(a).Key)
}

// Consumer returns a Consumer for the function's queues. The Consumer calls handle for each message.
func (w *World) Consumer(handle func(context.Context, pipeline.Message) error) *Consumer {
	return &Consumer{Handle: handle, SQS: w.SQS, QueueURL: w.Events, Log: w.Log, Measure: w.Measure, Flush: w.Flush}
}

// Secret returns the text of a secret of the deployment. The caller must add what is secret in it to w.Secrets.
func (w *World) Secret(ctx context.Context, arn string) (string, error) {
	return secretText(ctx, w.AWS, arn)
}

// logger returns a function's log for CloudWatch: one line of JSON for each entry. Secrets cannot appear in it,
// because their types cannot be printed.
func logger(f Function) *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("function", string(f))
}

// Fail ends the process of a function that cannot start, and logs the reason.
func Fail(f Function, err error) {
	logger(f).Error("the function cannot start", "error", err.Error())
	os.Exit(1)
}
