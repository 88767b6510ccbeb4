package demo

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockstep-iac/lockstep/functions/page/pagetest"
)

var screenshots = flag.String("screenshots", "", "a directory for pictures of the pages")

// show serves the page of a world that lives.
func show(t *testing.T) (url string) {
	t.Helper()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Live(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return w.URL
}

func newWorld(t *testing.T) *World {
	t.Helper()
	w, err := New(Options{Dir: t.TempDir(), Version: "test", Services: 2, Log: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// A person reads the plan, comments, and reads the result, without loading the page
// again. Nothing on it is against its own security policy.
func TestInABrowser(t *testing.T) {
	url := show(t)
	ctx := pagetest.Browser(t)
	complaints := pagetest.Complaints(t, ctx)
	must := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatalf("%v; the browser says: %q", err, complaints())
		}
		return text
	}
	must("", chromedp.Do(ctx,
		chromedp.Navigate(url),
		chromedp.Click(`//a[contains(., "Two subnets, and flow logs")]`, chromedp.NodeVisible),
		chromedp.WaitVisible(`article.from-bot summary`),
	))
	plan := must(chromedp.Run(ctx, chromedp.Text(`article.from-bot .prose`)))
	must("", chromedp.Do(ctx,
		chromedp.SendKeys(`#text`, "Looks right to me.\n\nlockstep apply"),
		chromedp.Click(`.say button.primary`),
		// From here on it is for the page to keep itself up to date.
		chromedp.WaitVisible(`//article//p[contains(., "Applied network")]`),
		chromedp.WaitVisible(`//aside//li[contains(., "applied")]`),
	))
	result := must(chromedp.Run(ctx, chromedp.Text(`//article//p[contains(., "Applied network")]`)))
	for what, text := range map[string]string{"2 to add, 1 to change, 0 to destroy": plan, "2 added, 1 changed, 0 destroyed": result} {
		if !strings.Contains(text, what) {
			t.Errorf("%q is not in\n%s", what, text)
		}
	}
	if said := complaints(); len(said) > 0 {
		t.Errorf("the browser says: %q", said)
	}
}

// Everything fits its window, by day and by night.
func TestPagesFit(t *testing.T) {
	url := show(t)
	ctx := pagetest.Browser(t)
	const pull = "/acme/infrastructure/pull/2"
	for name, path := range map[string]string{
		"list": "/", "conversation": pull, "files": pull + "/files", "checks": pull + "/checks", "projects": pull + "/projects", "nothing": "/nothing", "docs": "/docs", "topic": "/docs/reference/settings",
	} {
		for _, width := range []int64{360, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				look(t, ctx, url+path, fmt.Sprintf("%s-%d-%s.png", name, width, scheme), width, scheme)
			}
		}
	}
}

// look looks at a page in a window of a width.
func look(t *testing.T, ctx context.Context, url, file string, width int64, scheme string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		t.Fatal(err)
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err == nil {
		err = chromedp.Do(ctx, chromedp.Navigate(url), chromedp.WaitReady("main"))
	}
	if err != nil {
		t.Fatal(err)
	}
	const unfold = `document.querySelectorAll("details").forEach(d => d.open = true); document.documentElement.scrollWidth - document.documentElement.clientWidth`
	overflow, err := chromedp.Run(ctx, chromedp.Evaluate[int](unfold))
	if err != nil || overflow > 0 {
		t.Errorf("%s is %d pixels too wide for %d (%v)", url, overflow, width, err)
	}
	if (width == 360) == (scheme == "light") { // it takes seconds
		for _, found := range pagetest.Inspect(t, ctx) {
			t.Errorf("%s at %d, %s: %s", url, width, scheme, found)
		}
	}
	if *screenshots == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, file), picture, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
