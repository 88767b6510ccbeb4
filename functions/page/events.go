package page

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// streamLife is how long a stream of events lasts. Then the browser connects again by itself.
const streamLife = 10 * time.Minute

// events sends an event after each change, as server-sent events. Their data and ID are the site's version. The
// header Last-Event-ID, or else the query, is the version that the browser has.
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
