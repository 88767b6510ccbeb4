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

  Runs all of Lockstep on this machine, with a simulated GitHub, a repository and pull
  requests with plans. The demo needs no account and no network, and removes its data at
  the end.

  Without options, it serves a page and prints its address. Read a plan, comment "lockstep apply",
  and watch. With -script it prints one story as text and lists the others. With -all it
  prints all of them.`

var Demo = cli.Command{Name: "demo", Synopsis: "Try the pull-request workflow on this machine", Run: func(a *cli.App, args []string) int {
	var p demoPage
	var s demoScript
	f := a.NewFlags("demo", demoUsage)
	f.StringVar(&p.addr, "addr", "127.0.0.1:0", "address of the page, HOST:PORT")
	f.StringVar(&p.data, "data", "", "empty directory for the data, which the demo then keeps")
	f.BoolVar(&s.script, "script", false, "print one story, and list the others")
	f.BoolVar(&s.all, "all", false, "print all stories")
	f.BoolVar(&s.list, "list", false, "list the stories")
	f.Var((*cli.ListFlag)(&s.names), "story", "print this story; can be given several times")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return a.Usage("for one story run `lockstep demo -story NAME`, and for all names `lockstep demo -list`", "demo takes no arguments, and you gave %q", f.Arg(0))
	}
	run := p.run
	if s.script || s.all || s.list || len(s.names) > 0 {
		run = s.run
	}
	if err := run(a); err != nil {
		return a.Failed(err)
	}
	return 0
}}

// demoScript are the options that select stories to print as text.
type demoScript struct {
	script, all, list bool
	names             []string
}

func (s demoScript) run(a *cli.App) error {
	stories := demoworld.Stories()
	t := &demoworld.Teller{Out: a.Out, Bold: func(s string) string { return a.Print().Bold(s) }}
	switch {
	case s.list:
		list(a, stories)
		return nil
	case len(s.names) > 0:
		stories = nil
		for _, name := range s.names {
			x, ok := demoworld.Find(name)
			if !ok {
				return cli.Hinted(fmt.Errorf("there is no story %q", name), "run `lockstep demo -list` for all stories")
			}
			stories = append(stories, x)
		}
	case s.script && !s.all:
		t.Brief = true
		if err := tell(a, t, stories[:1]); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "\n%s\nPrint one with `lockstep demo -story NAME`, or all with `lockstep demo -all`.\n\n", a.Print().Bold("More stories"))
		list(a, stories[1:])
		return nil
	}
	return tell(a, t, stories)
}

func list(a *cli.App, stories []demoworld.Story) {
	for _, x := range stories {
		fmt.Fprintf(a.Out, "%-18s %s\n", x.Name, x.Shows)
	}
}

// tell runs stories, each in a new world, and prints them. It stops at the first story that fails.
func tell(a *cli.App, t *demoworld.Teller, stories []demoworld.Story) error {
	fmt.Fprintln(a.Out, "Everything below happens now, on this machine: a small GitHub, its webhooks, the pipeline\nand the engine.")
	dir, err := os.MkdirTemp("", "lockstep-demo-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var names []string
	for _, s := range stories {
		o := demoworld.Options{Dir: filepath.Join(dir, s.Name), Version: a.Version, Log: func(err error) { t.Aside(err.Error()) }}
		if err := t.Tell(a.Ctx, s, o); err != nil {
			return err
		}
		names = append(names, s.Name)
	}
	fmt.Fprintf(a.Out, "\n%s\nTold: %s.\n", a.Print().Bold("All results were as expected."), strings.Join(names, ", "))
	return nil
}
