package serving

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	demoworld "github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
)

const demoUsage = `demo [OPTIONS]

  A small company in one process: a simulated GitHub on this machine, a repository with
  two projects, pull requests with plans, and all of Lockstep. It needs no account and
  no network, and leaves nothing behind.

  Without options the demo is a page in the browser: read the plans, comment
  "lockstep apply", and watch. With -script it tells its stories as text, checks their
  results, and exits.`

var Demo = cli.Command{Name: "demo", Synopsis: "Try the pull-request workflow on this machine", Run: func(a *cli.App, args []string) int {
	var p demoPage
	var s demoScript
	f := a.NewFlags("demo", demoUsage)
	f.StringVar(&p.addr, "addr", "127.0.0.1:0", "the address of the page, HOST:PORT of this machine")
	f.StringVar(&p.data, "data", "", "an empty directory for the data, which is kept")
	f.BoolVar(&s.script, "script", false, "tell the stories as text")
	f.BoolVar(&s.list, "list", false, "list the stories")
	f.Var((*cli.ListFlag)(&s.names), "story", "tell this story only; may be given several times")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return a.Usage("demo takes options only, not %q", f.Arg(0))
	}
	run := p.run
	if s.script || s.list || len(s.names) > 0 {
		run = s.run
	}
	if err := run(a); err != nil {
		return a.Failed(err)
	}
	return 0
}}

// demoScript is the selection of stories to tell as text.
type demoScript struct {
	script, list bool
	names        []string
}

func (s demoScript) run(a *cli.App) error {
	stories := demoworld.Stories()
	if s.list {
		for _, x := range stories {
			fmt.Fprintf(a.Out, "%-16s %s\n", x.Name, x.Shows)
		}
		return nil
	}
	if len(s.names) > 0 {
		stories = nil
	}
	for _, name := range s.names {
		x, ok := demoworld.Find(name)
		if !ok {
			return cli.Hinted(fmt.Errorf("there is no story %q", name), "`lockstep demo -list` lists them")
		}
		stories = append(stories, x)
	}
	return tellStories(a, stories)
}

// tellStories tells stories, each in a new world. It stops at the first one that fails.
func tellStories(a *cli.App, stories []demoworld.Story) error {
	fmt.Fprintln(a.Out, "Everything that follows happens now, on this machine: a small GitHub, its webhooks, the\npipeline, and the engine. Nothing leaves it.")
	dir, err := os.MkdirTemp("", "lockstep-demo-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &demoworld.Teller{Out: a.Out, Bold: func(s string) string { return a.Print().Bold(s) }}
	var names []string
	for _, s := range stories {
		o := demoworld.Options{Dir: filepath.Join(dir, s.Name), Version: a.Version, Log: func(err error) { t.Aside(err.Error()) }}
		if err := t.Tell(a.Ctx, s, o); err != nil {
			return err
		}
		names = append(names, s.Name)
	}
	fmt.Fprintf(a.Out, "\n%s\nTold: %s.\n", a.Print().Bold("Everything went as it should."), strings.Join(names, ", "))
	return nil
}
