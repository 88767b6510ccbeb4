package deploying

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// Doctor is the command deploy doctor. It examines a deployment.
var Doctor = cli.Command{Name: "deploy doctor", Synopsis: "Examine a deployment, and show what to repair", Run: func(a *cli.App, args []string) int {
	return doctor(a, args, world(a))
}}

func doctor(a *cli.App, args []string, out surroundings) int {
	o := options{parameters: pairs{}, site: "https://github.com"}
	f := a.NewFlags("deploy doctor", "deploy doctor [OPTIONS]")
	o.place(f)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	d := examination{&deployment{cli: a, options: o, out: out}}
	clock := &clocks{base: out.github}
	d.out.github = clock
	if err := d.ownCode(); err != nil {
		return a.Failed(err)
	}
	if err := d.connect(a.Ctx); err != nil {
		return a.Failed(shortError{err})
	}
	facts := d.facts(a.Ctx)
	if skew, ok := clock.skew(); ok {
		facts.Skew["GitHub"] = skew
	}
	if a.Ctx.Err() != nil {
		return a.Failed(context.Cause(a.Ctx))
	}
	return d.tell(facts)
}

// An examination finds the facts about a deployment. It uses the methods of deployment.
type examination struct{ *deployment }

// tell prints the problems that follow from the facts, and returns the exit code.
func (d examination) tell(facts deploymentFacts) int {
	found := examine(facts)
	for _, x := range found {
		fmt.Fprintf(d.cli.Out, "%s\n  %s\n", d.cli.Print().Bold(x.Problem), x.Remedy)
	}
	if len(found) > 0 {
		return 1
	}
	fmt.Fprintf(d.cli.Out, "No problems found in the stack %s in %s. Checked: Apps, webhooks, queues, functions, roles, bucket and page.\n", d.options.stack, d.region)
	if len(d.files) == 0 {
		fmt.Fprintln(d.cli.Out, "The functions' code was not checked, because this program does not have it. To check it, use a release, or -artifacts DIR with a build.")
	}
	return 0
}

// ownCode reads this program's code of the functions, to compare it with the deployed code. If this program
// contains no such code, nothing is compared.
func (d examination) ownCode() error {
	files, err := findEmbedded(d.options.artifacts)
	if errors.Is(err, errNothingEmbedded) {
		return nil
	}
	if err != nil {
		return err
	}
	if d.template, err = readTemplate(files.Template); err != nil {
		return err
	}
	d.files = map[string][]byte{}
	for _, name := range d.template.Code() {
		if d.files[name], err = files.Read(name); err != nil {
			return fmt.Errorf("the template needs %s, which cannot be read: %s", name, cli.Reason(err))
		}
	}
	return nil
}

// needs sets which permissions and events an App needs.
func needs(a *examinedApp) {
	a.Needed, a.Wanted = appPermissions(), appEvents()
}

// clocks measures the difference between this machine's clock and a server's clock, as an http.RoundTripper.
type clocks struct {
	base http.RoundTripper
	mu   sync.Mutex
	last time.Duration
	seen bool
}

// RoundTrip implements http.RoundTripper.
func (c *clocks) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		c.mu.Lock()
		c.last, c.seen = time.Until(at), true
		c.mu.Unlock()
	}
	return res, nil
}

func (c *clocks) skew() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.seen
}
