package cli

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
)

// browsers are the programs that open a page in a browser, with their first arguments, by operating system.
var browsers = map[string][][]string{
	"darwin":  {{"open"}},
	"windows": {{"rundll32", "url.dll,FileProtocolHandler"}},
	"linux":   {{"xdg-open"}, {"x-www-browser"}, {"www-browser"}},
}

// Browse opens a page in a browser. It does not wait for the browser.
func (a *App) Browse(url string) error {
	for _, b := range browsers[runtime.GOOS] {
		for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
			path, err := exec.LookPath(filepath.Join(dir, b[0]))
			if err != nil || !filepath.IsAbs(path) {
				continue
			}
			cmd := exec.Command(path, append(b[1:], url)...)
			cmd.Env = a.Environ
			if err := cmd.Start(); err != nil {
				continue
			}
			return cmd.Process.Release()
		}
	}
	return errors.New("there is no browser")
}
