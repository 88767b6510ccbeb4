package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/docs"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// Options configure a World.
type Options struct {
	// Dir is the path of an existing empty directory, for all files of the world.
	Dir     string
	Version string // Lockstep's
	// OnEdit is called with every edit on the fake GitHub. It must not call the World. It may be nil.
	OnEdit func(githubtest.Edit)
	// Log is called with errors after which Lockstep tries again. It may be nil.
	Log func(error)
	// Services is the number of services that [World.Begin] creates, at most 24. New replaces 0 by 24.
	Services int
	// lockObjects is set if each state is locked by an object beside the state, as on S3: see [Story].
	lockObjects bool
	// bucket is the bucket of the fake S3 server with the states; "" means that states are local.
	bucket string
	// Page is the listener for the demo's page; nil means a free address. New takes ownership of the listener,
	// and closes it when the world is closed.
	Page net.Listener
}

// A World is a fake GitHub with one repository, and the pipeline that works for it. It is safe for concurrent
// use.
type World struct {
	// URL is the address of the page, without a slash at the end.
	URL string

	hub     *githubtest.Hub
	repo    *githubtest.Repository
	machine *localpipeline.Machine
	webhook string // URL
	api     string // URL
	data    string // the machine's directory
	version string // Lockstep's
	servers []*http.Server
	log     func(error)
	desk    changeDesk

	narrate func(format string, args ...any) // for events elsewhere

	plug     atomic.Bool // set to make the machine lose its power
	acting   sync.Mutex  // locked during an action, so that nothing changes between reading a pull request and acting on it
	moment   moment      // in an apply
	pushed   int         // the number of prepared changes that were pushed
	services []string    // of the company
	helper   helper      // applies a large plan beside the machine
	edits    page.Changes
	tool     string // the path of the tool of a story about steps; "" for none
	metrics  metrics.Registry
	cloud    cloud
}

// served is the only repository on the demo's fake GitHub, "owner/name".
const served = "acme/infrastructure"

// claimTime is how long a message remains assigned to a process that was killed. After that, another process
// handles the message. The time is short, because a user of the demo waits for it.
const claimTime = 3 * time.Second

// New returns a world whose repository has only the first commit. The world serves HTTP on its own addresses
// until it is closed.
func New(o Options) (w *World, err error) {
	if o.Services == 0 {
		o.Services = len(services)
	}
	w = &World{services: services[:o.Services], data: filepath.Join(o.Dir, "data"), version: o.Version, log: o.Log, narrate: func(string, ...any) {}}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	w.hub = githubtest.New(githubtest.Options{Secret: secret, OnEdit: func(e githubtest.Edit) {
		if o.OnEdit != nil {
			o.OnEdit(e)
		}
		w.edits.Changed()
	}})
	if o.Page == nil {
		if o.Page, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return w, err
		}
	}
	w.URL = "http://" + o.Page.Addr().String()
	if w.api, err = w.serve(w.hub); err != nil {
		o.Page.Close()
		return w, err
	}
	app, err := github.NewApp(w.hub.App(w.api))
	if err != nil {
		return w, err
	}
	serves, err := intake.ParseServes(served)
	if err != nil {
		return w, err
	}
	var environment []string
	if o.bucket != "" {
		if environment, err = s3For(o.bucket); err != nil {
			return w, err
		}
	}
	w.machine, err = localpipeline.Open(localpipeline.Config{
		PluginEnv: environment,
		Serves:    serves,
		Dir:       w.data, Version: o.Version, App: app, Secret: secret, Log: o.Log, URL: w.URL, Calls: w.desk.caller(),
		Builtin: w.cloud.over,
		Events:  w.moment.event, Measure: w.metrics.Observe,
		States: func(dir string) executor.BackendFunc {
			switch {
			case o.bucket != "":
				return executor.States(dir)
			case o.lockObjects:
				return lockedByObjects(executor.LocalStates(dir), filepath.Join(o.Dir, "locks"), &w.plug)
			}
			return watchedStates(executor.LocalStates(dir), &w.moment)
		},
	})
	if err != nil {
		return w, err
	}
	w.machine.Data.Queue.Lease = claimTime
	if w.webhook, err = w.serve(w.machine.Webhook); err != nil {
		return w, err
	}
	w.hub.SetWebhook(w.webhook)
	w.repo = w.hub.AddRepository("acme", "infrastructure", baseFiles)
	for _, p := range people {
		w.repo.Grant(p.login, p.permission)
	}
	w.serveAt(o.Page, page.Handler{Site: w.Site(), Title: "demo", About: about, Guide: guide, Manual: docs.Read(), Log: o.Log}.Server())
	return w, nil
}

// serve serves HTTP on a free address, and returns the URL.
func (w *World) serve(h http.Handler) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	w.serveAt(l, h)
	return "http://" + l.Addr().String(), nil
}

func (w *World) serveAt(l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	w.servers = append(w.servers, s)
	go s.Serve(l)
}

// Close stops the servers. The caller must have ended all work in the world before.
func (w *World) Close() error {
	w.helper.kill()
	var errs []error
	for _, s := range w.servers {
		errs = append(errs, s.Close())
	}
	if w.machine != nil {
		errs = append(errs, w.machine.Close())
	}
	return errors.Join(errs...)
}

// Settle delivers webhooks and handles messages until none are left. So the results of all edits so far are
// visible when it returns.
func (w *World) Settle(ctx context.Context) error {
	for {
		sent, err := w.hub.Deliver(ctx)
		if err != nil {
			return err
		}
		handled, err := w.machine.Settle(ctx)
		if err != nil {
			return err
		}
		if sent+handled == 0 {
			return nil
		}
	}
}

// Live sends the webhooks of edits on the fake GitHub, and handles their messages as they come, until ctx ends.
func (w *World) Live(ctx context.Context) error {
	// walk.Run returns an error if its context has ended before it starts. The end of the demo is no error, so
	// walk.Run gets a context that does not end. Work and deliver return when ctx ends.
	return errors.Join(walk.Run(context.WithoutCancel(ctx), 2, walk.Graph{N: 2}, func(_ context.Context, i int) error {
		if i == 0 {
			return w.machine.Work(ctx)
		}
		w.deliver(ctx)
		return nil
	})...)
}

// deliver sends the waiting webhooks after each edit on the fake GitHub, until ctx ends.
func (w *World) deliver(ctx context.Context) {
	for version := uint64(0); ctx.Err() == nil; {
		version = w.edits.Wait(ctx, version)
		if _, err := w.hub.Deliver(ctx); err != nil && ctx.Err() == nil && w.log != nil {
			w.log(err)
		}
	}
}
