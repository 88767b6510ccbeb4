package page

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A stream of events ends after this time; browsers connect again by themselves.
const streamLife = 10 * time.Minute

// events reports each change: server-sent events, whose data and ID are the version. Last-Event-ID,
// or else the query, is the version that the browser has.
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
