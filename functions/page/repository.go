package page

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// catalog adds the pages of repositories to mux, if the site has any.
func (h Handler) catalog(mux *http.ServeMux) {
	c, ok := h.Site.(Catalog)
	if !ok {
		return
	}
	const repository = "GET /{owner}/{name}"
	for _, v := range views {
		path := repository
		if v.View != PullsView {
			path += "/view/" + string(v.View)
		}
		mux.HandleFunc(path, h.guarded(h.repository(c, v.View)))
	}
	mux.HandleFunc(repository+"/project/{target}", h.guarded(func(w http.ResponseWriter, r *http.Request) {
		x, err := c.Project(r.Context(), repositoryID(r), r.PathValue("target"))
		if err != nil {
			h.fail(w, r, err)
			return
		}
		h.write(w, r, http.StatusOK, "project", frame{Title: h.Title, Subject: x.Title() + " · " + x.RepositoryID.String(), History: x})
	}))
	mux.HandleFunc("GET "+searchPath, h.guarded(func(w http.ResponseWriter, r *http.Request) { h.search(c, w, r) }))
}

const searchPath = "/search"

func (h Handler) repository(c Catalog, v View) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := frame{Title: h.Title, Version: h.Site.Changed(r.Context(), 0)}
		at, err := beginning(r)
		if err == nil {
			f.Repository, err = c.Repository(r.Context(), repositoryID(r), v, at)
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		f.Subject = f.Repository.RepositoryID.String()
		h.write(w, r, http.StatusOK, "repository", f)
	}
}

// search shows the projects that have the words of a search, and with the parameter "objects" the objects, too: for these, the
// site reads a text for each state.
func (h Handler) search(c Catalog, w http.ResponseWriter, r *http.Request) {
	f := frame{Title: h.Title, Subject: "Search", Query: query(r)}
	var err error
	if words := strings.Fields(f.Query); len(words) > 0 {
		f.Matches, f.More, err = c.Find(r.Context(), words)
		if f.InObjects = r.URL.Query().Has("objects"); f.InObjects && err == nil {
			f.Objects, f.MoreObjects, err = c.FindObjects(r.Context(), words)
		}
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.write(w, r, http.StatusOK, "search", f)
}

func repositoryID(r *http.Request) RepositoryID {
	return RepositoryID{r.PathValue("owner"), r.PathValue("name")}
}

// beginning returns where the page of a list begins, from a request's query; 0 if it is the first.
func beginning(r *http.Request) (int, error) {
	text := r.URL.Query().Get("at")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, ErrNotFound
	}
	return n, nil
}

// Title returns the project's name, with its workspace unless that is the default one.
func (p ProjectState) Title() string {
	if p.Workspace == "" || p.Workspace == "default" {
		return p.Name
	}
	return p.Name + " (" + p.Workspace + ")"
}

// Views returns the tabs of the repository's page.
func (x Repository) Views() (out []tabLink) {
	for _, v := range views {
		out = append(out, tabLink{Path: x.ViewPath(v.View), Label: v.Label, Here: v.View == x.View})
	}
	return out
}

// Older returns the address of the next page of a list; "" if there is none.
func (x Repository) Older() string {
	if x.Next == 0 {
		return ""
	}
	return fmt.Sprintf("%s?at=%d", x.ViewPath(x.View), x.Next)
}

// First returns the address of the first page of a list.
func (x Repository) First() string { return x.ViewPath(x.View) }
