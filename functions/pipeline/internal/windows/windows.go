// Package windows shows file functions the checkout of a run, and nothing else of the machine. It refuses to know their
// language. Start at [Open].
package windows

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/funcs"
)

// A Window confines file functions to the checkout. It notes the files that they look at, since
// the plan depends on these.
type Window struct {
	funcs.Files
	root string

	mu   sync.Mutex
	seen map[string]bool // slash-separated, from root
}

// Open returns the window to a checkout.
func Open(root *os.Root) *Window {
	return &Window{Files: funcs.Confined(root), root: root.Name(), seen: map[string]bool{}}
}

func (w *Window) note(name string) {
	rel, err := filepath.Rel(w.root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return // it is not opened either
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[filepath.ToSlash(rel)] = true
}

// Open implements funcs.Files.
func (w *Window) Open(name string) (fs.File, error) {
	w.note(name)
	return w.Files.Open(name)
}

// Stat implements funcs.Files.
func (w *Window) Stat(name string) (fs.FileInfo, error) {
	w.note(name)
	return w.Files.Stat(name)
}

// Lstat implements funcs.Files.
func (w *Window) Lstat(name string) (fs.FileInfo, error) {
	w.note(name)
	return w.Files.Lstat(name)
}

// Read returns the noted files, sorted.
func (w *Window) Read() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.seen))
}
