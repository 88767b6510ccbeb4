package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	pipeline "github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/operating"
	"github.com/lockstep-iac/lockstep/functions/run/runlocal"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var demoCommand = command{name: "demo", synopsis: "See what Lockstep does on a pull request, here and now", run: func(a *app, args []string) int {
	var script bool
	f := a.newFlags("demo", "demo -script\n\n  Tells the story of two pull requests, from the webhook to the apply, on a small\n  GitHub of our own inside this process: no account, no network, nothing to install,\n  and nothing stays behind.")
	f.BoolVar(&script, "script", false, "tell the story as text")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() > 0 || !script {
		return a.usage("the demo is told as text: lockstep demo -script")
	}
	return a.demo(demoScenes)
}}

// demo tells scenes. It fails with the first one that does not go as it should.
func (a *app) demo(scenes []scene) int {
	d, err := newDemo(a)
	if err == nil {
		defer d.close()
		for i, s := range scenes {
			if err = d.tell(i+1, s); err != nil {
				err = fmt.Errorf("scene %d, %s: %w", i+1, s.title, err)
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintf(a.err, "lockstep: error: the demo went wrong in %s\n", err)
		return 1
	}
	fmt.Fprintf(a.out, "\n%s\n", a.print().Bold("Everything went as it should."))
	return 0
}

// A scene is one thing that somebody does, with what is to be expected of it.
type scene struct {
	title string
	do    func(d *demo) error
	// want are parts of what Lockstep writes on the pull requests meanwhile.
	want []string
}

// The network of a company, as small as it can be.
var demoFiles = githubtest.Files{
	"README.md": "The network, as code.\n",
	"network/main.tf": `terraform {
  backend "local" {
  }
}

locals {
  range = "10.20.0.0/16"
}

resource "terraform_data" "vpc" {
  input = { range = local.range, region = "eu-central-1" }
}
`,
}

const demoSubnets = `resource "terraform_data" "subnet" {
  for_each = { a = 0, b = 1 }
  input    = { zone = each.key, range = cidrsubnet(local.range, 8, each.value), vpc = terraform_data.vpc.input.region }
}

output "ranges" {
  value = [for s in terraform_data.subnet : s.input.range]
}
`

const demoPeering = `resource "terraform_data" "peering" {
  input = { from = local.range, to = "10.99.0.0/16" }
}
`

// demoScenes is the story. Pull request 1 is alice's, 2 is bob's; mallory may read.
var demoScenes = []scene{
	{"alice opens a pull request, and it is planned", func(d *demo) error {
		d.repo.Push("alice", "subnets", "Two subnets", githubtest.Files{"network/subnets.tf": demoSubnets})
		d.repo.OpenPull("alice", "Two subnets", "subnets")
		return nil
	}, []string{"3 to add, 0 to change, 0 to destroy", `"10.20.1.0/24"`}},
	{"so does bob", func(d *demo) error {
		d.repo.Push("bob", "peering", "Peering with the office", githubtest.Files{"network/peering.tf": demoPeering})
		d.repo.OpenPull("bob", "Peering with the office", "peering")
		return nil
	}, []string{"2 to add, 0 to change, 0 to destroy"}},
	{"mallory, who may only read, tries to apply", func(d *demo) error {
		d.repo.Comment("mallory", 1, "lockstep apply")
		return nil
	}, []string{"has the permission `read`"}},
	{"alice applies her plan", func(d *demo) error {
		d.repo.Comment("alice", 1, "Looks right to me.\n\nlockstep apply")
		return nil
	}, []string{"**Applied** `network`: 3 added, 0 changed, 0 destroyed"}},
	{"and merges it", func(d *demo) error {
		d.repo.Merge("alice", 1)
		return nil
	}, nil},
	{"bob's plan was made before that: it is stale", func(d *demo) error {
		d.repo.Comment("bob", 2, "lockstep apply")
		return nil
	}, []string{"The plan was made from other files"}},
	{"bob brings his branch up to date, and it is planned anew", func(d *demo) error {
		d.repo.UpdateBranch("bob", 2)
		return nil
	}, []string{"1 to add, 0 to change, 0 to destroy"}},
	{"now it can be applied", func(d *demo) error {
		d.repo.Comment("bob", 2, "lockstep aply")
		d.repo.Comment("bob", 2, "lockstep apply")
		return nil
	}, []string{"Did you mean `lockstep apply`?", "**Applied** `network`: 1 added, 0 changed, 0 destroyed"}},
	{"somebody sends a webhook that GitHub sent, once more, and a forged one", func(d *demo) error {
		return errors.Join(d.replay(), d.forge())
	}, nil},
}

// demo is everything put together in one process.
type demo struct {
	a       *app
	dir     string
	hub     *githubtest.Hub
	repo    *githubtest.Repository
	data    *runlocal.Dir
	handle  func(context.Context, pipeline.Message) error
	webhook string // URL
	said    []string
	servers []*http.Server
}

func newDemo(a *app) (d *demo, err error) {
	d = &demo{a: a}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if d.dir, err = os.MkdirTemp("", "lockstep-demo-*"); err != nil {
		return d, err
	}
	if d.data, err = runlocal.Open(filepath.Join(d.dir, "data")); err != nil {
		return d, err
	}
	secret := github.NewSecret("the webhook's secret")
	d.hub = githubtest.New(githubtest.Options{Secret: secret, OnEdit: d.show})
	api, err := d.serve(d.hub)
	if err != nil {
		return d, err
	}
	app, err := github.NewApp(d.hub.App(api))
	if err != nil {
		return d, err
	}
	p := &pipeline.Pipeline{
		Connect: func(p pipeline.Pull) (pipeline.GitHub, error) { return app.Repository(p.Installation, p.Repo) },
		Records: d.data.Records, Artifacts: d.data.Artifacts, Queue: d.data.Queue,
		Engine:  &operating.Engine{Version: version, Backend: operating.LocalStates(d.data.States), Rescued: d.dir},
		Scratch: d.dir, Secrets: []github.Secret{secret},
	}
	d.handle = p.Handle
	if d.webhook, err = d.serve(pipeline.Webhook{Pipeline: p, Secrets: []github.Secret{secret}}); err != nil {
		return d, err
	}
	d.hub.SetWebhook(d.webhook)
	d.say("A pull request on its way through Lockstep, all of it in this process: a small GitHub on\n%s, its webhooks to %s, the pipeline, and the engine. Nothing leaves this machine.\n", api, d.webhook)
	d.repo = d.hub.AddRepository("acme", "infrastructure", demoFiles)
	for who, permission := range map[string]string{"alice": "write", "bob": "write", "mallory": "read"} {
		d.repo.Grant(who, permission)
	}
	return d, nil
}

// serve serves HTTP on an address of its own, until the demo is closed.
func (d *demo) serve(h http.Handler) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	d.servers = append(d.servers, s)
	go s.Serve(l)
	return "http://" + l.Addr().String(), nil
}

func (d *demo) close() {
	for _, s := range d.servers {
		s.Close()
	}
	if d.dir != "" {
		os.RemoveAll(d.dir)
	}
}

// tell plays a scene, lets everything happen that follows from it, and checks that it
// was what was wanted.
func (d *demo) tell(n int, s scene) error {
	d.said = nil
	d.say("\n%s\n", d.a.print().Bold(fmt.Sprintf("%d. %s", n, s.title)))
	if err := s.do(d); err != nil {
		return err
	}
	for {
		sent, err := d.hub.Deliver(d.a.ctx)
		if err != nil {
			return err
		}
		handled, err := d.data.Queue.Drain(d.a.ctx, runlocal.Worker{Handle: d.handle})
		if err != nil {
			return err
		}
		if sent+handled == 0 {
			break
		}
	}
	for _, w := range s.want {
		if !slices.ContainsFunc(d.said, func(x string) bool { return strings.Contains(x, w) }) {
			return fmt.Errorf("nothing was said of %q", w)
		}
	}
	return nil
}

// replay sends the first webhook of all again.
func (d *demo) replay() error {
	answer, err := d.hub.Redeliver(d.a.ctx, d.hub.Deliveries()[0])
	if err != nil {
		return err
	}
	d.say("   the webhook answers: %s\n", strings.TrimSpace(answer))
	if !strings.Contains(answer, "received before") {
		return errors.New("a delivery was taken twice")
	}
	return nil
}

// forge sends a webhook that is signed with another secret.
func (d *demo) forge() error {
	body := `{"action":"opened"}`
	req, err := http.NewRequestWithContext(d.a.ctx, http.MethodPost, d.webhook, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(github.EventHeader, "pull_request")
	req.Header.Set(github.DeliveryHeader, "00000000-0000-4000-8000-00000000face")
	req.Header.Set(github.SignatureHeader, github.Sign(github.NewSecret("a guess"), []byte(body)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return err
	}
	d.say("   the webhook answers: %s %s\n", res.Status, strings.TrimSpace(string(text)))
	if res.StatusCode != http.StatusUnauthorized {
		return errors.New("a forged delivery was taken")
	}
	return nil
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.a.out, format, args...) }

// show prints what happens on the pull requests.
func (d *demo) show(e githubtest.Edit) {
	bot := strings.HasSuffix(e.Who, "[bot]")
	switch {
	case e.Kind == "push":
		d.say("   %s pushes to %s\n", e.Who, e.Text)
	case e.Kind == "pull request":
		d.say("   %s opens #%d: %s\n", e.Who, e.Number, e.Text)
	case e.Kind == "merge":
		d.say("   %s merges #%d\n", e.Who, e.Number)
	case e.Kind == "check":
		d.say("   %s: %s\n", e.Who, e.Text)
	case e.Kind == "reaction":
		d.say("   %s reacts with %q\n", e.Who, e.Text)
	case e.Kind == "comment" && !bot:
		d.say("   %s on #%d:\n%s", e.Who, e.Number, quoted(e.Text))
	case bot:
		d.said = append(d.said, e.Text)
		verb := "writes"
		if e.Kind == "edit" {
			verb = "edits its comment"
		}
		text := plainText(e.Text)
		// Of a status, the plan is shown once, when it is there to be read.
		if strings.HasPrefix(e.Text, comment.StatusMarker) && !strings.Contains(e.Text, "To apply this plan") {
			text, _, _ = strings.Cut(text, "\n")
		}
		d.say("   %s %s on #%d:\n%s", e.Who, verb, e.Number, quoted(text))
	}
}

// quoted puts a bar before each line.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString(strings.TrimRight("   │ "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

var (
	htmlTag    = regexp.MustCompile(`</?(details|summary|code|b)( open)?>`)
	blankLines = regexp.MustCompile(`\n{3,}`)
)

// plainText makes the Markdown of our comments readable on a terminal.
func plainText(markdown string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced:
		case strings.HasPrefix(line, "<!--"), strings.HasPrefix(line, "|---"):
			continue
		default:
			line = html.UnescapeString(htmlTag.ReplaceAllString(line, ""))
			line = strings.TrimPrefix(strings.ReplaceAll(line, "**", ""), "### ")
			if strings.HasPrefix(line, "|") {
				line = strings.TrimRight(strings.ReplaceAll(strings.Trim(line, "| "), " | ", "   "), " ")
			}
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n\n")) + "\n"
}
