// Package applist has the list of a deployment's additional Apps, and the names of their secrets. The list has
// the form of the parameter Apps in template.yaml. It contains no secrets.
//
//	ghes 12 https://github.acme.example/api/v3/ acme,acme-labs; emu 4711 https://api.github.com/ emu
//
// An entry has four parts: the name that the operator gives the App, the App's ID, the address of the API of
// its GitHub server, and the owners and repositories for which it works. The last part may be missing: then the
// App works for none. The package does not know what an App does. Start reading at [Parse].
package applist

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
)

// An App is an additional App of a deployment, besides the first one.
type App struct {
	Name   string
	ID     int64
	URL    string // of the API of its GitHub
	Serves string // owners and repositories, separated by commas
}

// A List is a list of additional Apps. Their names differ.
type List []App

// Parse parses a list. The error lists the mistakes in text.
func Parse(text string) (List, error) {
	var out List
	var errs []error
	for entry := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		a, err := parseApp(strings.Fields(entry))
		if err == nil {
			err = out.admits(a)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", strings.TrimSpace(entry), err))
			continue
		}
		out = append(out, a)
	}
	return out, errors.Join(errs...)
}

func parseApp(fields []string) (a App, err error) {
	if len(fields) < 3 || len(fields) > 4 {
		return a, errors.New("an App is NAME ID URL OWNERS, such as: ghes 12 https://github.acme.example/api/v3/ acme,acme-labs")
	}
	a = App{Name: fields[0], URL: fields[2], Serves: strings.Join(fields[3:], "")}
	if err := tenants.Space(a.Name).Check(); err != nil {
		return a, err
	}
	if a.ID, err = strconv.ParseInt(fields[1], 10, 64); err != nil || a.ID <= 0 {
		return a, fmt.Errorf("%q is not the ID of a GitHub App", fields[1])
	}
	if u, err := url.Parse(a.URL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return a, errors.New("the address of GitHub's API is a URL, such as https://api.github.com/")
	}
	_, err = intake.ParseServes(a.Serves)
	return a, err
}

// admits returns an error if the App a cannot be added to the list.
func (r List) admits(a App) error {
	for _, x := range r {
		if x.Name == a.Name {
			return fmt.Errorf("another App has the name %q", a.Name)
		}
		if x.ID == a.ID && strings.TrimSuffix(x.URL, "/") == strings.TrimSuffix(a.URL, "/") {
			return fmt.Errorf("it is the App %q, too: its repositories would have records twice", x.Name)
		}
	}
	return nil
}

// Named returns the App with a name.
func (r List) Named(name string) (App, bool) {
	i := slices.IndexFunc(r, func(a App) bool { return a.Name == name })
	if i < 0 {
		return App{}, false
	}
	return r[i], true
}

// With returns the list with the App a added. It replaces an App that has the same name.
func (r List) With(a App) List {
	out := slices.Clone(r)
	if i := slices.IndexFunc(r, func(x App) bool { return x.Name == a.Name }); i >= 0 {
		out[i] = a
		return out
	}
	return append(out, a)
}

// String returns the list as [Parse] accepts it.
func (r List) String() string {
	var out []string
	for _, a := range r {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", a.Name, a.ID, a.URL, a.Serves)))
	}
	return strings.Join(out, "; ")
}

// Owners returns the owners and repositories for which the App works.
func (a App) Owners() intake.Serves {
	s, err := intake.ParseServes(a.Serves)
	if err != nil {
		return intake.Serves{} // Parse has not made this App: it serves nobody
	}
	return s
}

// Prefix returns the prefix of the names of all secrets of a stack's Apps.
func Prefix(stack string) string { return stack + "/apps/" }

// KeySecret returns the name of the secret with an App's private key. prefix is from [Prefix].
func KeySecret(prefix, name string) string { return prefix + name + "/github-app-key" }

// HookSecret returns the name of the secret that signs an App's webhooks. prefix is from [Prefix].
func HookSecret(prefix, name string) string { return prefix + name + "/webhook-secret" }

// hookPath is the path to which additional Apps send webhooks, without the name of the App: "webhook/emu". It
// is appended to the address for the first App.
const hookPath = "webhook/"

// HookURL returns the address to which an additional App sends webhooks. first is the address for the first
// App.
func HookURL(first, name string) string {
	return strings.TrimSuffix(first, "/") + "/" + hookPath + name
}

// HookOf returns for which App the path of a webhook is: its name, or "" for the first App, whose path contains
// no name. ok is false if no App has the name in the path.
func (r List) HookOf(path string) (name string, ok bool) {
	name, further := strings.CutPrefix(path, "/"+hookPath)
	if !further {
		return "", true
	}
	_, ok = r.Named(name)
	return name, ok
}
