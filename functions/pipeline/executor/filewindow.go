package executor

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

// A window lets file functions, such as file(), read only the checkout. It records which files they read,
// because the plan depends on these files.
type window struct {
	funcs.Files
	root string

	mu   sync.Mutex
	seen map[string]bool // slash-separated, relative to root
}

// openWindow returns the window for a checkout.
func openWindow(root *os.Root) *window {
	return &window{Files: funcs.Confined(root), root: root.Name(), seen: map[string]bool{}}
}

func (w *window) note(name string) {
	rel, err := filepath.Rel(w.root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return // it is not opened either
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[filepath.ToSlash(rel)] = true
}

// Open implements funcs.Files.
func (w *window) Open(name string) (fs.File, error) {
	w.note(name)
	return w.Files.Open(name)
}

// Stat implements funcs.Files.
func (w *window) Stat(name string) (fs.FileInfo, error) {
	w.note(name)
	return w.Files.Stat(name)
}

// Lstat implements funcs.Files.
func (w *window) Lstat(name string) (fs.FileInfo, error) {
	w.note(name)
	return w.Files.Lstat(name)
}

// Read returns the recorded files, sorted.
func (w *window) Read() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.seen))
}
