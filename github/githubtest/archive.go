package githubtest

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// archiveLink is a short-lived address of an archive.
type archiveLink struct {
	repo *Repository
	sha  string
}

// getArchive is GET /repos/{owner}/{repo}/tarball/{ref}, which needs no token if the
// repository is public.
func (h *Hub) getArchive(r *http.Request) (int, any) {
	x := h.named(r)
	if token := r.Header.Get("Authorization"); token == "" && (x == nil || x.private) {
		return fail(notFound)
	} else if token != "" {
		var p *problem
		if x, p = h.repo(r); p != nil {
			return fail(p)
		}
	}
	c := x.find(r.PathValue("ref"))
	if c == nil {
		return fail(notFound)
	}
	link := h.secret("")
	h.links[link] = archiveLink{x, c.sha}
	return http.StatusFound, redirect(fmt.Sprintf("http://%s/archive/%s", r.Host, link))
}

// sendArchive plays codeload.github.com, which knows no tokens but its own.
func (h *Hub) sendArchive(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	link, ok := h.links[r.PathValue("link")]
	delete(h.links, r.PathValue("link"))
	h.mu.Unlock()
	if !ok || r.Header.Get("Authorization") != "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	h.mu.Lock()
	c := h.commits[link.sha]
	h.mu.Unlock()
	writeArchive(w, strings.ReplaceAll(link.repo.String(), "/", "-")+"-"+c.sha[:7], c)
}

// writeArchive writes a commit as git archive does.
func writeArchive(w io.Writer, dir string, c *commit) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": c.sha}})
	if err == nil {
		err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o775, ModTime: c.at})
	}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if err != nil {
			break
		}
		content := c.files[name]
		err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + name, Mode: 0o664, Size: int64(len(content)), ModTime: c.at})
		if err == nil {
			_, err = io.WriteString(tw, content)
		}
	}
	if err == nil {
		err = tw.Close()
	}
	if e := zw.Close(); err == nil {
		err = e
	}
	return err
}
