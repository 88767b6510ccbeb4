package serving

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	demoworld "github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
)

// demoPage are the options of the demo in a browser.
type demoPage struct {
	addr string // to listen on
	data string // a directory to keep; "" for one that is removed afterwards
}

// run runs the demo in a browser, until it is interrupted.
func (d demoPage) run(a *cli.App) error {
	dir, done, err := d.dir()
	if err != nil {
		return err
	}
	defer done()
	l, err := listen(d.addr)
	if err != nil {
		return err
	}
	log := func(err error) { fmt.Fprintf(a.Err, "lockstep: note: %s\n", err) }
	w, err := demoworld.New(demoworld.Options{Dir: dir, Version: a.Version, Log: log, Page: l})
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Fprintln(a.Err, "Starting the demo: projects, pull requests and their plans. This takes some seconds.")
	if err := w.Begin(a.Ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "The demo is at %s/\nIts data is in %s. Press Ctrl-C to end it.\n", w.URL, dir)
	return w.Live(a.Ctx)
}

// dir returns the directory for the demo's data. The directory must be empty, because each demo starts without
// data. If it is a temporary directory, done removes it; otherwise done does nothing.
func (d demoPage) dir() (path string, done func(), err error) {
	if d.data == "" {
		path, err = os.MkdirTemp("", "lockstep-demo-*")
		return path, func() { os.RemoveAll(path) }, err
	}
	if err := os.MkdirAll(d.data, 0o700); err != nil {
		return "", nil, cli.Hinted(fmt.Errorf("the data directory cannot be created: %w", err), "choose another directory with -data, or leave -data out for a temporary one")
	}
	entries, err := os.ReadDir(d.data)
	if err == nil && len(entries) > 0 {
		err = cli.Hinted(fmt.Errorf("%s is not empty", d.data), "name an empty or new directory: each demo starts from the beginning")
	}
	path, _ = filepath.Abs(d.data)
	return path, func() {}, err
}
