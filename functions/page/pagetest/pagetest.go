// Package pagetest drives Chromium over pages, for tests: what a page shows, what the browser complains about, and what
// axe-core finds wrong for people who use a keyboard or a screen reader. The package knows nothing about particular
// pages. Start at [Browser].
package pagetest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// Browser returns a context that drives a browser of its own, which trusts every certificate. Without Chromium the
// test is skipped, or fails if LOCKSTEP_TEST_PARTS=require.
func Browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		statebackendtest.Missing(t, "Chromium is not installed: `apt-get install chromium` or the like")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", true), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("ignore-certificate-errors", true),
	)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(func() { chromedp.Cancel(ctx); cancel() })
	return ctx
}

// Complaints returns a func that returns what the browser has complained about since the call of Complaints: errors
// in scripts, and violations of the content security policy.
func Complaints(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	var mu sync.Mutex
	var said []string
	add := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, text)
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				add(e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			add(e.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// axe runs all rules of axe-core, except those that are only recommendations. It returns the violations: a line for
// each rule with the elements.
const axe = `axe.run(document, { resultTypes: ["violations"] }).then((r) =>
	r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 200)).join(" | ")))`

// Inspect has axe-core inspect the page that the browser shows, and returns its findings.
func Inspect(t *testing.T, ctx context.Context) []string {
	t.Helper()
	script, err := os.ReadFile(statebackendtest.Part(t, "npm", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](string(script)+";null")); err != nil {
		t.Fatal(err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axe, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
