// Package serving has the commands that run the pipeline on this machine: serve, for a GitHub App, and demo,
// with a fake GitHub. Both parse options and set up package localpipeline, which does the work. A third
// command, gate explain, explains recorded decisions.
//
// Start at [Serve].
package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/docs"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/metrics/otlp"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/shield"
	"github.com/lockstep-iac/lockstep/github"
)

const serveUsage = `serve [OPTIONS]

  Runs the whole pipeline on this machine for a GitHub App of yours. Start it with -app-id,
  -app-key, -webhook-secret and -serves. To try Lockstep without an App, run "lockstep demo".

  Repositories: -serves names those to serve: acme (all of an owner), acme/infra, acme/team-*,
  separated by commas. Without -serves, Lockstep serves none. Lockstep remembers the first
  repository with a name; acme/infra=ID gives the name to another one. Keep the App private:
  otherwise anybody can install it.

  The App needs: contents, metadata, commit statuses, members, merge queues: read; checks,
  issues, pull requests: write; the events pull_request, issue_comment, merge_group,
  pull_request_review, pull_request_review_comment, pull_request_review_thread, check_run,
  check_suite, status. Set its webhook to https://HOST/webhook.

  Page: the page at / shows runs and whole plans. Sign in with the token in the file page-token
  of the data directory, or in the file of -page-token. To open the page to others, put it
  behind a proxy and set its address with -url.

  States: lockstep.hcl on the base branch says where each state is. States of the backend
  "local" are in the data directory. Lockstep reads and writes states in S3 with its own
  credentials. With -state-role, each run gets a session for its own state only.

  Protection: each plan and apply is a process with the limits of -run-memory, -run-cpu,
  -run-time and -run-disk. Providers get the environment of -plugin-env and nothing of this one.
  If the kernel supports it, they see only the checkout, their own files, the system's programs
  and the files of -plugin-files. The first run reports which restrictions are in effect.
  TF_CLI_CONFIG_FILE selects the sources of providers.

  Gates, hooks and notifications: Lockstep calls only what -functions, -webhook-keys, -topics
  and -hook-programs allow. Without these options, it calls nothing.

  Several deployments: with -deployment NAME, Lockstep serves the projects whose environments
  have deployment = "NAME", and its check is "lockstep (NAME)". With -apps FILE it serves further
  Apps. Each is an object of a list in JSON, with name, app_id, app_key, webhook_secret,
  github_url and serves. Webhooks of the App NAME go to /webhook/NAME. The page and -states
  are for the first App only.

  Stop: interrupt once. Runs in progress finish, and no others begin. Lockstep does the remaining
  work after the next start.

  Each option can also be set in the environment: -app-id as LOCKSTEP_APP_ID. See also
  "lockstep docs operate/serve".`

var Serve = cli.Command{Name: "serve", Synopsis: "Run the pipeline on this machine, for a GitHub App", Run: func(a *cli.App, args []string) int {
	var o serveOptions
	f := a.NewFlags("serve", serveUsage)
	o.flags(f)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return a.Usage("options begin with a dash: run `lockstep serve -help` for all of them", "serve takes no arguments, and you gave %q", f.Arg(0))
	}
	if o.release != "" {
		o.environment(a, f)
		if err := release(a, a.Path(o.data), o.release); err != nil {
			return a.Failed(err)
		}
		return 0
	}
	s, err := o.settings(a, f)
	if err == nil {
		err = serve(a, s)
	}
	if err != nil {
		return a.Failed(err)
	}
	return 0
}}

// sweepInterval is the interval between two rounds of the janitor, which finds lost work and resumes it. Each
// round costs a few requests to GitHub for each repository.
const sweepInterval = 5 * time.Minute

// serve runs the server until it is interrupted.
func serve(a *cli.App, s *serveSettings) error {
	// Plugins run as the same user as this process, and could read its memory. So this process protects itself.
	if err := errors.Join(shield.Raise(), confine.Adopt()); err != nil {
		return err
	}
	login, err := s.app.Login(a.Ctx)
	if err != nil {
		return cli.Hinted(err, "copy -app-id from the App's settings on GitHub, and give -app-key a private key from there. For a GitHub Enterprise Server set -github-url")
	}
	l, err := listen(s.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	log := func(err error) { fmt.Fprintf(a.Err, "lockstep: note: %s\n", err) }
	base := s.base(l)
	measure, trace := metrics.Func(s.metrics.Observe), metrics.Tracer(nil)
	if s.collector.Endpoint != "" {
		s.collector.Deployment, s.collector.Version = s.deployment, a.Version
		x, err := otlp.Open(a.Ctx, s.collector)
		if err != nil {
			return err
		}
		defer x.Close(a.Ctx)
		measure, trace = metrics.Both(measure, x.Observe), x.Trace
	}
	m, err := localpipeline.Open(localpipeline.Config{
		Dir: s.data, Version: a.Version, App: s.app, Secret: s.secret, OwnStates: s.ownStates,
		PluginEnv: s.pluginEnv, CLIConfig: s.cliConfig, Environ: a.Environ, Secrets: s.secrets,
		Further: s.further, Serves: s.serves, Deployment: s.deployment, Calls: s.calls, URL: base, Log: log, Apart: s.runs(l, log), Measure: measure, Trace: trace,
	})
	if err == nil {
		_, err = m.Data.Queue.Waiting(a.Ctx) // opens the database
	}
	if err != nil {
		return cli.Hinted(err, "name a directory that this user can write to: -data DIR")
	}
	defer m.Close()
	if s.credentials == nil {
		log(errors.New(ownCredentials))
	}
	ctx, stop := context.WithCancel(a.Ctx)
	server := &http.Server{Handler: s.handler(ctx, m, base, log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	fmt.Fprintf(a.Out, "Lockstep is running as the App %s.\n  Webhooks: %s/webhook\n  Page:     %s/ (sign in with the token in %s)\n  Data:     %s\n", login, base, base, s.tokenFile, s.data)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	failed := make(chan error, 2)
	if s.serves.Empty() {
		log(errors.New("Lockstep serves no repository. Start it with -serves, for example -serves acme/infra"))
	}
	work.Go(func() { failed <- m.Work(ctx) })
	work.Go(func() { janitor(ctx, m, log) })
	work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	})
	select {
	case <-a.Ctx.Done():
	case err = <-failed:
	}
	stop()
	// At shutdown, the server accepts no new webhooks, but completes the requests that have already begun.
	end, cancel := context.WithTimeout(context.WithoutCancel(a.Ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(end))
}

// runs returns the settings for runs that have their own processes.
func (s *serveSettings) runs(l net.Listener, log func(error)) *localpipeline.Apart {
	o := &localpipeline.Apart{
		Limits: s.limits, Show: s.show, Credentials: s.credentials,
		Remedy: "The configuration is too large for the limits of this installation, or something in it grows without end. Make it smaller and push again, or ask the operator of Lockstep to raise the limit (`lockstep serve -run-memory`, `-run-cpu`, `-run-time` or `-run-disk`).",
		Protection: func(lines []string) {
			log(fmt.Errorf("runs have these restrictions:\n  %s", strings.Join(lines, "\n  ")))
		},
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		o.Ports = []int{a.Port}
	}
	return o
}

// janitor runs the machine's janitor at once, and then at every interval, until ctx ends.
func janitor(ctx context.Context, m *localpipeline.Machine, log func(error)) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		found, err := m.Round(ctx)
		if err != nil && ctx.Err() == nil {
			log(fmt.Errorf("the search for missed work failed, and Lockstep tries again in 5 minutes: %w", err))
		}
		if n := found.Deliveries + found.Leases + found.Heads + found.Comments + found.Strays; n > 0 {
			log(fmt.Errorf("resumed missed work: %d webhooks, %d pull requests, %d comments, %d runs whose process had died, %d tasks of repositories that had been unreachable", found.Deliveries, found.Heads, found.Comments, found.Leases, found.Strays))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// handler returns the HTTP handler for webhooks and pages. Only people who may see the pages get them.
func (s *serveSettings) handler(ctx context.Context, m *localpipeline.Machine, base string, log func(error)) http.Handler {
	pages := page.Handler{Site: m.Site(s.web), Door: s.access, Title: "runs", Manual: docs.Read(), Log: log, Metrics: &s.metrics}.Server()
	mux := http.NewServeMux()
	mux.Handle("/webhook", s.measured(m.Webhook))
	for name, x := range m.Webhooks() {
		mux.Handle("/webhook/"+name, s.measured(x))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		// Pages with streams of events end only with their context. The context must end when the server shuts
		// down.
		c, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		pages.ServeHTTP(w, r.WithContext(c))
	})
	return mux
}

// measured returns a handler that records the time of each answer of next.
func (s *serveSettings) measured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, answer := time.Now(), &coded{w, http.StatusOK}
		next.ServeHTTP(answer, r)
		s.metrics.Observe(metrics.WebhookSeconds, time.Since(began).Seconds(), strconv.Itoa(answer.code))
	})
}

// coded is a response writer that keeps the code of the answer.
type coded struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (c *coded) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// base returns the address of the server's pages, without a slash at the end.
func (s *serveSettings) base(l net.Listener) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + l.Addr().String()
}

// serveSettings are the parsed options of the command serve.
type serveSettings struct {
	data, addr  string
	url         string // without a slash at the end; may be empty
	web         string // GitHub's pages, without a slash at the end
	app         *github.App
	serves      intake.Serves
	deployment  string
	further     map[string]localpipeline.Further // by name
	secret      github.Secret
	access      page.Access
	metrics     metrics.Registry
	collector   otlp.Settings // Endpoint is "" for none
	tokenFile   string        // with the token of access
	pluginEnv   []string
	cliConfig   string
	ownStates   places.Own
	credentials executor.Sessions // give each run credentials for its own state in S3; nil means that runs use those of serve
	calls       *callouts.Caller
	limits      confine.Limits
	show        []string // that programs may read
	secrets     []string // contents of files that must appear in no output
}
