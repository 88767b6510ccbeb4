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

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/functions/shield"
	"github.com/lockstep-iac/lockstep/github"
)

// A World has the open clients of a function.
type World struct {
	Settings
	Log *slog.Logger
	AWS aws.Config
	SQS *sqs.Client
	// Space is the name of the App; "" for the first App.
	Space tenants.Space
	// App is the GitHub App; nil for the webhook's function, which calls nobody.
	App *github.App
	// Intake has the records and the queue of all functions.
	Intake *intake.Intake
	// Artifacts and Secrets are not for the webhook's function. Secrets must not be in anything that is written
	// on a pull request.
	Artifacts pipeline.Artifacts
	Secrets   []github.Secret
	// tarballs stores the archives of commits for further plans; nil for functions that ask only GitHub.
	tarballs *tarballStore
	// WebhookSecrets are the first App's, only for the webhook's function.
	WebhookSecrets []github.Secret
}

// openTimeout is how long opening may take: less than a function has to begin.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
const openTimeout = 9 * time.Second

// Open protects the process, and opens the clients of a function from its environment. Secrets are read once,
// now. A changed secret reaches only environments that begin later.
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
	w.Intake = &intake.Intake{
		Records: awsstore.Records{Client: dynamodb.NewFromConfig(cfg), Table: s.Table},
		Queue:   awsstore.Queue{Client: w.SQS, URLs: w.queues()},
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
	if f == Plan {
		w.tarballs = &tarballStore{Artifacts: w.Artifacts, Records: w.Intake.Records, Log: func(err error) { w.Log.Warn("tarball", "error", err.Error()) }}
	}
	return w, w.openApp(ctx)
}

// queues returns the queues to which the function may send.
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

// Where returns a command that fetches an artifact. If a plan is too long for GitHub, people fetch it with
// their own rights.
func (w *World) Where(a pipeline.Artifact) string {
	return fmt.Sprintf("aws s3 cp s3://%s/%s -", w.Bucket, w.Space.Artifact(a).Key)
}

// Consumer returns the handler of events from the function's queues.
func (w *World) Consumer(handle func(context.Context, pipeline.Message) error) *Consumer {
	return &Consumer{Handle: handle, SQS: w.SQS, QueueURL: w.Events, Log: w.Log}
}

// logger returns a function's log for CloudWatch: one line of JSON for each entry. The types of secrets keep
// them out of it.
func logger(f Function) *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("function", string(f))
}

// Fail ends a function that cannot begin, with the reason in its log.
func Fail(f Function, err error) {
	logger(f).Error("the function cannot start", "error", err.Error())
	os.Exit(1)
}
