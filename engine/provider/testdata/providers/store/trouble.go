package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Trouble is what an object's attribute "trouble" asks for: a list, separated by
// commas, of OP (the call fails and does nothing), OP-partial (it fails after it has
// done everything), OP-panic, OP-exit (the process dies), OP-hang (the call waits
// until the provider is stopped) and OP-MS (it takes that many milliseconds).
type Trouble string

// ErrAsked is the failure that was asked for.
var ErrAsked = errors.New("asked to fail")

// Before makes the trouble that comes before a call does anything.
func (t Trouble) Before(ctx context.Context, op string) error {
	for _, want := range strings.Split(string(t), ",") {
		kind, ok := strings.CutPrefix(want, op)
		if !ok {
			continue
		}
		switch kind {
		case "":
			return ErrAsked
		case "-panic":
			panic("asked to panic")
		case "-exit":
			os.Exit(3)
		case "-hang":
			underWay(op)
			<-ctx.Done()
			return errors.New("stopped: " + ctx.Err().Error())
		}
		if ms, err := strconv.Atoi(strings.TrimPrefix(kind, "-")); err == nil {
			underWay(op)
			time.Sleep(time.Duration(ms) * time.Millisecond)
		}
	}
	return nil
}

// underWay leaves a file OP.under-way in LAB_DIR, for tests that wait for the call.
func underWay(op string) {
	if dir := os.Getenv("LAB_DIR"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, op+".under-way"), nil, 0o644); err != nil {
			panic(err)
		}
	}
}

// After makes the trouble that comes when everything is done.
func (t Trouble) After(op string) error {
	for _, want := range strings.Split(string(t), ",") {
		if want == op+"-partial" {
			return ErrAsked
		}
	}
	return nil
}
