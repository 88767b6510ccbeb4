package page

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// maxPage is the largest number of a page that an address may have.
const maxPage = 100_000

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
		number, err := pageNumber(r)
		if err == nil {
			f.Repository, err = c.Repository(r.Context(), repositoryID(r), v, number)
		}
		if err == nil && number > max(1, f.Repository.Of) {
			err = ErrNotFound
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		f.Subject = f.Repository.RepositoryID.String()
		h.write(w, r, http.StatusOK, "repository", f)
	}
}

// search shows the projects that have the words of a search.
func (h Handler) search(c Catalog, w http.ResponseWriter, r *http.Request) {
	f := frame{Title: h.Title, Subject: "Search", Query: query(r)}
	var err error
	if words := strings.Fields(f.Query); len(words) > 0 {
		f.Matches, f.More, err = c.Find(r.Context(), words)
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

// pageNumber returns the number of the page of a list in a request's query; 1 if there is none.
func pageNumber(r *http.Request) (int, error) {
	text := r.URL.Query().Get("page")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
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

// Newer and Older return the addresses of the neighbouring pages of a list; "" if there is none.
func (x Repository) Newer() string { return x.page(x.Number - 1) }
func (x Repository) Older() string { return x.page(x.Number + 1) }

func (x Repository) page(n int) string {
	if n < 1 || n > x.Of {
		return ""
	}
	return fmt.Sprintf("%s?page=%d", x.ViewPath(x.View), n)
}
