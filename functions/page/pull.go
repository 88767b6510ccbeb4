package page

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The tabs of a pull request, by their paths. The first tab, the conversation, has none.
const (
	tabChecks   = "checks"
	tabFiles    = "files"
	tabProjects = "projects"
)

func (h Handler) pull(tab string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.showPull(w, r, tab, http.StatusOK, frame{})
	}
}

// showPull writes the page of a pull request with one of its tabs. f has the content that the caller already
// knows.
func (h Handler) showPull(w http.ResponseWriter, r *http.Request, tab string, status int, f frame) {
	// The version is read before the content. If a change happens in between, the page reloads once too often,
	// but never misses the change.
	f.Title, f.Guide, f.Tab, f.Version = h.Title, h.Guide, tab, h.Site.Changed(r.Context(), 0)
	id, err := pullID(r)
	if err == nil {
		f.Pull, err = h.Site.Pull(r.Context(), id)
	}
	if err == nil && !f.has(tab) {
		err = ErrNotFound
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if tab == "" && f.Pull.Entries == nil {
		f.Tab = tabProjects
	}
	if f.As == "" {
		f.As = speaker(r, f.Pull)
	}
	h.write(w, r, status, "pull", f)
}

func (h Handler) text(kind TextKind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := frame{Title: h.Title, Project: r.PathValue("project"), Kind: kind}
		id, err := pullID(r)
		if err == nil {
			f.Text, err = h.Site.Text(r.Context(), id, kind, f.Project)
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		f.Pull.PullID = id
		if r.URL.Query().Has("raw") {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, f.Text)
			return
		}
		h.write(w, r, http.StatusOK, "text", f)
	}
}

// act performs the action that a user has chosen in a form.
func (h Handler) act(w http.ResponseWriter, r *http.Request) {
	id, err := pullID(r)
	actor, ok := h.Site.(Actor)
	if err == nil && !ok {
		http.Error(w, "This page is read-only.", http.StatusMethodNotAllowed)
		return
	}
	if err == nil {
		err = r.ParseForm()
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	d := Action{
		Pull: id, As: r.PostForm.Get("as"), Name: r.PostForm.Get("do"),
		Text:   strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"),
		Button: r.PostForm.Get("button"),
	}
	d.Check, _ = strconv.ParseInt(r.PostForm.Get("check"), 10, 64)
	if d.Name == Comment && strings.TrimSpace(d.Text) == "" {
		err = &RefusedError{"A comment needs some text."}
	} else {
		err = actor.Act(r.Context(), d)
	}
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		h.showPull(w, r, "", http.StatusConflict, frame{Notice: refused.Reason, As: d.As, Draft: d.Text})
		return
	case err != nil:
		h.fail(w, r, err)
		return
	}
	access, local := h.Door.(Access)
	secure := !local || access.Secure
	http.SetCookie(w, &http.Cookie{Name: speakerCookie, Value: d.As, Path: id.Path(), HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
	to := id.Path() + "#say"
	if d.Name == Press {
		to = id.Path() + "/" + tabChecks
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// speakerCookie is the cookie with the login as which the user acted last.
const speakerCookie = "lockstep-speaker"

// speaker returns the login as which the user acts: the one in speakerCookie, or the first speaker of the pull
// request.
func speaker(r *http.Request, p Pull) string {
	if len(p.Speakers) == 0 {
		return ""
	}
	if c, err := r.Cookie(speakerCookie); err == nil {
		for _, s := range p.Speakers {
			if s.Login == c.Value {
				return s.Login
			}
		}
	}
	return p.Speakers[0].Login
}

func pullID(r *http.Request) (PullID, error) {
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || n <= 0 {
		return PullID{}, ErrNotFound
	}
	return PullID{Owner: r.PathValue("owner"), Name: r.PathValue("name"), Number: n}, nil
}
