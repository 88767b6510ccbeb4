// Package serving has the commands that run the pipeline on this machine: serve, for a GitHub App, and
// demo, with a GitHub of its own. Both read options and set up package localpipeline, which does the work. gate explain
// decides again about what a pipeline has recorded.
//
// Start at [Serve].
package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/shield"
	"github.com/lockstep-iac/lockstep/github"
)

const serveUsage = `serve [OPTIONS]

  Runs the whole pipeline on this machine, for the repositories of a GitHub App that
  -serves names: "acme" for all repositories of an owner, "acme/infra", "acme/team-*",
  separated by commas. Without -serves, none is served. A name stands for the first
  repository that had it; "acme/infra=ID" gives it to another one. Keep the App private:
  otherwise anybody can install it.

  Several deployments can serve one repository, each with an App of its own. That of
  -deployment serves the projects whose environments name it in lockstep.hcl on the base
  branch: deployment = "ou-a". Its required check is "lockstep (ou-a)". The one without a
  name serves all others.

  -apps names a file with further Apps, of other organizations or of a GitHub Enterprise
  Server: a list in JSON, each with a name, app_id, app_key, webhook_secret, github_url and
  serves. Webhooks of the App NAME go to /webhook/NAME. Their repositories share nothing with
  those of other Apps; the page does not show them, and -states is not for them.

  Webhooks go to /webhook. The page at / shows runs and whole plans. Sign in there with
  the token in the file of -page-token, or page-token in the data directory. To open the
  page to others, behind a proxy, set its address with -url. States of the "local" backend are kept in the data directory; those
  of "s3" stay in S3.

  Each plan and apply is a process of its own. It is ended with all processes that it
  has started, and at the limits of -run-memory, -run-cpu, -run-time and -run-disk.
  Providers must be allowed by the base branch, and run as the user of serve. If the
  kernel supports it, they see only the checkout, their own files, the system's programs,
  and the files of -plugin-files; the first run reports the restrictions in effect. Their
  environment is that of -plugin-env, and nothing of this one. TF_CLI_CONFIG_FILE selects
  the sources of providers.

  The base branch determines where a state in S3 is. It belongs to one project of one
  repository, and is reached with serve's own credentials, or with a session of
  -state-role that reaches this state only.

  The base branch may have gates, hooks and notifications of its own. serve calls the Lambda
  functions that -functions matches, the webhooks whose secrets -webhook-keys matches, and the
  topics that -topics matches, with its own credentials for AWS; and the programs in
  -hook-programs, with its own rights. Without the options, none.

  The App needs: contents, metadata, commit statuses, members, merge queues: read; checks,
  issues, pull requests: write; the events pull_request, issue_comment, merge_group,
  pull_request_review, pull_request_review_comment, pull_request_review_thread, check_run, check_suite, status.

  After an interrupt, runs under way finish, and no others begin. The remaining work is
  done after the next start.

  Each option can also be set in the environment: -app-id as LOCKSTEP_APP_ID.`

var Serve = cli.Command{Name: "serve", Synopsis: "Run the pipeline on this machine, for a GitHub App", Run: func(a *cli.App, args []string) int {
	var o serveOptions
	f := a.NewFlags("serve", serveUsage)
	o.flags(f)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return a.Usage("serve takes options only, not %q", f.Arg(0))
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

// sweepInterval is the time between two searches of the janitor for work that nothing else would
// resume. Each costs a few requests a repository.
const sweepInterval = 5 * time.Minute

// serve serves until it is interrupted.
func serve(a *cli.App, s *serveSettings) error {
	// Plugins are processes of the same user.
	if err := errors.Join(shield.Raise(), confine.Adopt()); err != nil {
		return err
	}
	login, err := s.app.Login(a.Ctx)
	if err != nil {
		return cli.Hinted(err, "-app-id is the App's ID, -app-key one of its private keys, both from the App's settings on GitHub; -github-url is for a GitHub of your own")
	}
	l, err := listen(s.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	log := func(err error) { fmt.Fprintf(a.Err, "lockstep: note: %s\n", err) }
	base := s.base(l)
	m, err := localpipeline.Open(localpipeline.Config{
		Dir: s.data, Version: a.Version, App: s.app, Secret: s.secret, OwnStates: s.ownStates,
		PluginEnv: s.pluginEnv, CLIConfig: s.cliConfig, Environ: a.Environ, Secrets: s.secrets,
		Further: s.further, Serves: s.serves, Deployment: s.deployment, Calls: s.calls, URL: base, Log: log, Apart: s.runs(l, log),
	})
	if err == nil {
		_, err = m.Data.Queue.Waiting(a.Ctx) // opens the database
	}
	if err != nil {
		return cli.Hinted(err, "-data names a directory that this user can write to")
	}
	defer m.Close()
	if s.credentials == nil {
		log(errors.New(ownCredentials))
	}
	ctx, stop := context.WithCancel(a.Ctx)
	server := &http.Server{Handler: s.handler(ctx, m, base, log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	fmt.Fprintf(a.Out, "Lockstep works as %s. Webhooks: %s/webhook. Page: %s/, which the token in %s opens. Data: %s.\n", login, base, base, s.tokenFile, s.data)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	failed := make(chan error, 2)
	if s.serves.Empty() {
		log(errors.New("no repository is served: -serves names the owners and repositories that are"))
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
	// Webhooks under way are received to their end.
	end, cancel := context.WithTimeout(context.WithoutCancel(a.Ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(end))
}

// runs returns the settings of runs in processes of their own.
func (s *serveSettings) runs(l net.Listener, log func(error)) *localpipeline.Apart {
	o := &localpipeline.Apart{
		Limits: s.limits, Show: s.show, Credentials: s.credentials,
		Remedy: "Something in the configuration grows without end, or exceeds the limits of this installation. Make it smaller and push again, or ask the operator of Lockstep to raise the limit: `lockstep serve -help` lists them.",
		Protection: func(lines []string) {
			log(fmt.Errorf("restrictions on the programs of runs:\n  %s", strings.Join(lines, "\n  ")))
		},
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		o.Ports = []int{a.Port}
	}
	return o
}

// janitor looks for abandoned work until ctx ends: at once, and at each interval.
func janitor(ctx context.Context, m *localpipeline.Machine, log func(error)) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		found, err := m.Round(ctx)
		if err != nil && ctx.Err() == nil {
			log(fmt.Errorf("look for missed work: %w", err))
		}
		if n := found.Deliveries + found.Leases + found.Heads + found.Comments + found.Strays; n > 0 {
			log(fmt.Errorf("found missed work: %d webhooks, %d pull requests, %d comments, %d runs of processes that ended, %d tasks of repositories that were out of reach", found.Deliveries, found.Heads, found.Comments, found.Leases, found.Strays))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// handler serves webhooks, and the pages to those who may see them.
func (s *serveSettings) handler(ctx context.Context, m *localpipeline.Machine, base string, log func(error)) http.Handler {
	pages := page.Handler{Site: m.Site(s.web), Access: s.access, Title: "runs", Log: log}.Server()
	mux := http.NewServeMux()
	mux.Handle("/webhook", m.Webhook)
	for name, x := range m.Webhooks() {
		mux.Handle("/webhook/"+name, x)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		// Streams of events end when the server is to end.
		c, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		pages.ServeHTTP(w, r.WithContext(c))
	})
	return mux
}

// base is the address of the pages, without a slash at the end.
func (s *serveSettings) base(l net.Listener) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + l.Addr().String()
}

// A serveSettings is the parsed options of serve.
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
	tokenFile   string // with the token of access
	pluginEnv   []string
	cliConfig   string
	ownStates   places.Own
	credentials executor.Sessions // for states in S3, each run's for its own; nil: serve's own
	calls       *callouts.Caller
	limits      confine.Limits
	show        []string // that programs may read
	secrets     []string // contents of files that must appear in no output
}
