package demo

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// listen returns a func that returns what the browser has complained about: errors in
// scripts, and what the content security policy did not allow.
func listen(t *testing.T, ctx context.Context) func() []string {
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
