package page

import (
	"bytes"
	"embed"
	"errors"
	"net/http"
)

// A Handler serves the pages of a site. A stream of events lasts until the context of its request ends. So the
// server must end these contexts at shutdown.
type Handler struct {
	Site Site
	// Door decides who may see the pages; nil means a zero [Access].
	Door Door
	// Title is the title on every page, such as "Demo".
	Title string
	// About is Markdown at the top of the first page. Guide is Markdown beside every conversation. Both may be
	// empty.
	About, Guide string
	// Manual is the documentation; nil if there is none.
	Manual Manual
	// Metrics serves measurements at /metrics, for those who may see the pages; nil for none.
	Metrics http.Handler
	// Log is called with internal errors; may be nil.
	Log func(error)
}

//go:embed static
var static embed.FS

// policy is the content security policy. It allows only files that are embedded in this program.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxForm is the maximum size of a request's body, in bytes. The longest comment on GitHub fits: it has 65,536
// characters, each of which may take 12 bytes in a form.
const maxForm = 1 << 20

// Server returns the http.Handler for all pages.
func (h Handler) Server() http.Handler {
	if h.Door == nil {
		h.Door = Access{}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /static/{file}", http.FileServerFS(static))
	h.Door.Serve(mux, h)
	if h.live() {
		mux.HandleFunc("GET /events", h.guarded(h.events))
	}
	if h.Manual != nil {
		// Everybody may read the documentation, because each copy of the program contains it.
		mux.HandleFunc("GET "+docsPath, h.docs)
		mux.HandleFunc("GET "+docsPath+"/{folder}/{topic}", h.topic)
	}
	if h.Metrics != nil {
		mux.HandleFunc("GET /metrics", h.guarded(h.Metrics.ServeHTTP))
	}
	mux.HandleFunc("GET /{$}", h.guarded(h.overview))
	h.catalog(mux)
	const pull = "/{owner}/{name}/pull/{number}"
	mux.HandleFunc("GET "+pull, h.guarded(h.pull("")))
	for _, tab := range []string{tabChecks, tabFiles, tabProjects} {
		mux.HandleFunc("GET "+pull+"/"+tab, h.guarded(h.pull(tab)))
	}
	for _, kind := range []TextKind{WholePlan, StepOutputs} {
		mux.HandleFunc("GET "+pull+"/"+string(kind)+"/{project}", h.guarded(h.text(kind)))
	}
	mux.HandleFunc("POST "+pull, h.guarded(h.act))
	mux.HandleFunc("/", h.guarded(func(w http.ResponseWriter, r *http.Request) { h.fail(w, r, ErrNotFound) }))
	// Requests that come from another website are refused. (Browsers send the origin of a request.)
	return headed(http.NewCrossOriginProtection().Handler(mux))
}

// headed returns a handler that adds the headers of all pages, such as the content security policy.
func headed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// guarded returns a handler that calls next only for requests that the [Door] admits.
func (h Handler) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, no := h.Door.Enter(r)
		if no != nil {
			h.Refuse(w, r, *no)
			return
		}
		next(w, r.WithContext(ctx))
	}
}

// Refuse answers a request that a [Door] does not admit.
func (h Handler) Refuse(w http.ResponseWriter, r *http.Request, no Refusal) {
	switch {
	case no.Form != NoForm:
		h.write(w, r, no.Status, "signin", frame{Title: h.Title, Form: no.Form, Notice: no.Notice, To: no.To})
	case no.Notice != "":
		h.write(w, r, no.Status, "failed", frame{Title: h.Title, Notice: no.Notice})
	default:
		http.Error(w, no.Reason, no.Status)
	}
}

func (h Handler) overview(w http.ResponseWriter, r *http.Request) {
	f := frame{Title: h.Title, Version: h.Site.Changed(r.Context(), 0), About: h.About}
	var err error
	if c, ok := h.Site.(Catalog); ok {
		f.Repositories, err = c.Repositories(r.Context())
	}
	if err == nil {
		f.Pulls, err = h.Site.Pulls(r.Context())
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.write(w, r, http.StatusOK, "overview", f)
}

// fail shows an error page for a failed request. The error itself is only logged, because it may be internal.
func (h Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := frame{Title: h.Title, Notice: "Something went wrong on our side. The log has more."}
	status := http.StatusInternalServerError
	var tooLong *http.MaxBytesError
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		h.Refuse(w, r, *refused)
		return
	case errors.Is(err, ErrNotFound):
		status, f.Notice = http.StatusNotFound, "There is no such page."
	case errors.As(err, &tooLong):
		status, f.Notice = http.StatusRequestEntityTooLarge, "That is too long."
	case r.Context().Err() != nil:
		return // the browser is gone
	case h.Log != nil:
		h.Log(err)
	}
	h.write(w, r, status, "failed", f)
}

// write writes a page. If the template fails, it writes an error page instead, and never a part of the page.
func (h Handler) write(w http.ResponseWriter, r *http.Request, status int, name string, f frame) {
	f.Documented, f.Reader = h.Manual != nil, readerOf(r.Context())
	_, f.Catalog = h.Site.(Catalog)
	var b bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&b, "page", f); err != nil {
		if h.Log != nil {
			h.Log(err)
		}
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}
