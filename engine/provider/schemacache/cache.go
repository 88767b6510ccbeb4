// Package schemacache keeps the schemas of plugins from one run to the next, in files, so that a plugin
// need not be asked again: an answer of some megabytes takes a large one half a second.
//
// It refuses to know the meaning of the bytes, and when a plugin may be left unasked: package tfplugin
// does. Start at [Cache].
//
// # Trust
//
// An entry belongs to the checksum of a plugin's verified package, so that another plugin, or another
// version, has another entry. A damaged file has another checksum than its head, and counts as missing.
// That is no defence against a forger, who could have a secret attribute declared as a public one: who
// can write to the directory is trusted as the plugin is. Therefore it is the user's own cache directory,
// a file that others may write to counts as missing, and the pipeline, where programs of a pull request
// run, has no such cache: nobody can check an answer but by asking the plugin, as a checksum checks a package,
// and the answer comes when a program runs already, from where on the pipeline keeps nothing that a run's process
// tells (package apart). A store that many repositories read would carry one's forgery to all others. The
// price is small. Of a plugin of 600 MB with 1,500 types the answer has 11 MB and takes 0.1 s of a plan; the first call
// comes 6.7 s after the message where the package is downloaded, 4.2 s from a store, and 1.5 s where it is installed
// (TestLargeProvider in lambdatest, medians of three on two cores without other work).
package schemacache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Cache is a directory of entries. Safe for concurrent use, by many processes.
type Cache struct{ dir string }

// Open returns the cache in a directory, which need not exist. "" is a cache that keeps nothing.
func Open(dir string) Cache { return Cache{dir} }

// A Plugin has the facts that decide on a schema.
type Plugin struct {
	Source, Version string
	// Checksum is that of the verified package, such as "h1:...". Without one nothing is kept.
	Checksum string
	// Environ is the plugin's environment: there are plugins that declare more if a variable is set.
	Environ []string
}

// Of returns the entry of a plugin.
func (c Cache) Of(p Plugin) *Entry {
	if c.dir == "" || p.Checksum == "" {
		return &Entry{}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %s %s %q", p.Source, p.Version, p.Checksum, runtime.GOOS, runtime.GOARCH, deciding(p.Environ))
	key := hex.EncodeToString(h.Sum(nil))
	return &Entry{dir: c.dir, path: filepath.Join(c.dir, key+suffix), key: key}
}

const suffix = ".schema"

// An Entry is the kept answer of one plugin.
type Entry struct{ dir, path, key string }

// most is the largest entry in bytes.
const most = 64 << 20

// mostEntries is the number of entries that stay when another one is added: those read last.
const mostEntries = 30

// Recall returns the answer that was kept, or nil.
func (e *Entry) Recall() []byte {
	if e.path == "" {
		return nil
	}
	f, err := os.Open(e.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	shared := info != nil && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" // where modes mean nothing
	if err != nil || !info.Mode().IsRegular() || shared || info.Size() > most {
		return nil
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil
	}
	head, body, _ := bytes.Cut(content, []byte("\n"))
	if string(head) != e.head(body) {
		return nil
	}
	if now := time.Now(); now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(e.path, now, now) // so that it counts as read
	}
	return body
}

// head is the first line of an entry.
func (e *Entry) head(body []byte) string {
	h := sha256.New()
	io.WriteString(h, e.key)
	h.Write(body)
	return "lockstep schema 1 " + hex.EncodeToString(h.Sum(nil))
}

// Keep keeps an answer, if the directory can be written to. Others see it whole or not at all.
func (e *Entry) Keep(answer []byte) {
	if e.path == "" || len(answer) > most-1000 {
		return
	}
	if os.MkdirAll(e.dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(e.dir, "new-*"+suffix) // for its owner only
	if err != nil {
		return
	}
	_, err = io.WriteString(f, e.head(answer)+"\n")
	if err == nil {
		_, err = f.Write(answer)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), e.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	e.prune()
}

// prune removes the entries that were not read for longest, and the drafts of dead processes.
func (e *Entry) prune() {
	paths, err := filepath.Glob(filepath.Join(e.dir, "*"+suffix))
	if err != nil || len(paths) <= mostEntries {
		return
	}
	age := map[string]time.Time{}
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil {
			age[p] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return age[b].Compare(age[a]) })
	for _, p := range paths[mostEntries:] {
		if p != e.path {
			os.Remove(p)
		}
	}
}

// deciding returns the variables of an environment that a schema may depend on, sorted. Left out are
// those that Lockstep itself reads, that a shell changes, and credentials, which are nobody's schema.
func deciding(environ []string) []string {
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(ofShell, name) ||
			slices.ContainsFunc(ofLockstep, func(p string) bool { return strings.HasPrefix(name, p) }) ||
			slices.ContainsFunc(ofSecrets, func(p string) bool { return strings.Contains(strings.ToUpper(name), p) }) {
			continue
		}
		out = append(out, entry)
	}
	slices.Sort(out)
	return out
}

var (
	ofShell    = []string{"_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "TERM", "WINDOWID"}
	ofLockstep = []string{"TF_VAR_", "TF_CLI_", "TF_LOG", "TF_DATA_DIR", "TF_WORKSPACE", "TF_IN_AUTOMATION", "TF_INPUT", "TF_PLUGIN_CACHE", "LOCKSTEP_"}
	ofSecrets  = []string{"TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL"}
)
