//go:build linux

package lambdatest_test

import (
	"context"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockstep-iac/lockstep/functions/page/pagetest"
)

var screenshots = flag.String("screenshots", "", "a directory for pictures of the page")

// TestPageInABrowser signs in with Chromium, with the keyboard alone, and looks at every page, on a narrow screen by day and on
// a wide one by night. The browser complains about nothing, so no page is against its own security policy. Axe-core finds
// nothing, and nothing is wider than the screen.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	r := newPage(t)
	r.hub.Browse("alice")
	ctx := pagetest.Browser(t)
	look := func(name, path string) {
		t.Helper()
		for width, scheme := range map[int64]string{360: "light", 1280: "dark"} {
			must(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)))
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			must(t, err)
			must(t, chromedp.Do(ctx, chromedp.Navigate(r.page+path), chromedp.WaitReady("main")))
			overflow, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
			if err != nil || overflow > 0 {
				t.Errorf("%s is %d pixels too wide for %d (%v)", path, overflow, width, err)
			}
			for _, found := range pagetest.Inspect(t, ctx) {
				t.Errorf("%s at %d, %s: %s", path, width, scheme, found)
			}
			picture(t, ctx, name, width, scheme)
		}
	}
	look("sign-in", "/acme/infra")
	complaints := pagetest.Complaints(t, ctx) // the answers until now had the status 401, about which a browser complains

	// With the keyboard: Tab leads to the link, and Enter follows it.
	for range 20 {
		must(t, chromedp.Do(ctx, chromedp.KeyEvent(kb.Tab)))
		at, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.activeElement.getAttribute("href") || ""`))
		must(t, err)
		if strings.HasPrefix(at, "/sign-in") {
			break
		}
	}
	must(t, chromedp.Do(ctx, chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[contains(., "acme/infra")]`)))
	text, err := chromedp.Run(ctx, chromedp.Text(`.reader`))
	must(t, err)
	r.expect("the head of the page", text, "alice", "Sign out")

	for name, path := range map[string]string{
		"repositories": "/", "repository": "/acme/infra", "projects": "/acme/infra/view/projects", "locks": "/acme/infra/view/locks", "drift": "/acme/infra/view/drift",
		"audit": "/acme/infra/view/audit", "project": "/acme/infra/project/net@default", "pull": "/acme/infra/pull/1", "plan": "/acme/infra/pull/1/plan/net",
		"search": "/search?q=net", "docs": "/docs", "topic": "/docs/operate/page",
	} {
		look(name, path)
	}
	if said := complaints(); len(said) > 0 {
		t.Errorf("the browser says: %q", said)
	}
	must(t, chromedp.Do(ctx, chromedp.Navigate(r.page+"/"))) // the documentation knows no reader
	answer, err := chromedp.RunResponse(ctx, chromedp.Click(`.reader button`))
	if err != nil || answer.Status != http.StatusUnauthorized {
		t.Errorf("after the sign-out: %+v, %v", answer, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// picture writes a picture of the page, if that is wanted.
func picture(t *testing.T, ctx context.Context, name string, width int64, scheme string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(*screenshots, name+"-"+map[int64]string{360: "narrow", 1280: "wide"}[width]+"-"+scheme+".png"), data, 0o644))
}
