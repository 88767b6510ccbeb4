package page

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// streamLife is the maximum duration of a stream of events. The browser then connects once more by itself.
const streamLife = 10 * time.Minute

// live reports whether the site announces changes.
func (h Handler) live() bool { return h.Site != nil && h.Site.Changed(context.Background(), 0) > 0 }

// events sends an event after each change of the site, as server-sent events. The data and the ID of an event
// are the site's version. The browser's version is in the header Last-Event-ID or, without that, in the query.
func (h Handler) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), streamLife)
	defer cancel()
	since := r.Header.Get("Last-Event-Id")
	if since == "" {
		since = r.URL.Query().Get("since")
	}
	version, _ := strconv.ParseUint(since, 10, 64)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	flush.Flush()
	for ctx.Err() == nil {
		now := h.Site.Changed(ctx, version)
		if now == version {
			continue
		}
		version = now
		text := strconv.FormatUint(version, 10)
		if _, err := io.WriteString(w, "id: "+text+"\ndata: "+text+"\n\n"); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
}
