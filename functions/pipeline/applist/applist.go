// Package applist is the list of the Apps of a deployment beside the first one, as the parameter Apps of template.yaml has
// it, and the places of their secrets. It has no secret itself.
//
//	ghes 12 https://github.acme.example/api/v3/ acme,acme-labs; emu 4711 https://api.github.com/ emu
//
// An entry has the name that whoever runs Lockstep gives the App, its ID, the address of its GitHub's API, and the owners and
// repositories that it serves, none if these are missing. The package refuses to know what an App is for. Start at [Parse].
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

// An App is one beside the first one of a deployment.
type App struct {
	Name   string
	ID     int64
	URL    string // of the API of its GitHub
	Serves string // owners and repositories, with commas between them
}

// A List is a list of Apps, whose names differ.
type List []App

// Parse reads a list. The error names its mistakes.
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

// admits returns an error if an App cannot be beside those of the list.
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

// With returns the list with an App, in the place of that with its name if there is one.
func (r List) With(a App) List {
	out := slices.Clone(r)
	if i := slices.IndexFunc(r, func(x App) bool { return x.Name == a.Name }); i >= 0 {
		out[i] = a
		return out
	}
	return append(out, a)
}

// String returns the list as [Parse] reads it.
func (r List) String() string {
	var out []string
	for _, a := range r {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", a.Name, a.ID, a.URL, a.Serves)))
	}
	return strings.Join(out, "; ")
}

// Owners are the owners and repositories that the App serves.
func (a App) Owners() intake.Serves {
	s, err := intake.ParseServes(a.Serves)
	if err != nil {
		return intake.Serves{} // of an App that Parse has not made: nobody
	}
	return s
}

// Prefix begins the names of all secrets of the Apps of a stack.
func Prefix(stack string) string { return stack + "/apps/" }

// KeySecret is the name of the secret with an App's private key, among those that begin with prefix.
func KeySecret(prefix, name string) string { return prefix + name + "/github-app-key" }

// HookSecret is the name of the secret that an App's webhooks are signed with.
func HookSecret(prefix, name string) string { return prefix + name + "/webhook-secret" }

// hookPath begins the path of the address for an App's webhooks, behind that of the first one.
const hookPath = "webhook/"

// HookURL is the address for an App's webhooks, by that for the first App's.
func HookURL(first, name string) string {
	return strings.TrimSuffix(first, "/") + "/" + hookPath + name
}

// HookOf returns the App that a path is for, "" for the first one, to which every path belongs that is not another's. A path
// of an App that is not there belongs to nobody.
func (r List) HookOf(path string) (name string, ok bool) {
	name, further := strings.CutPrefix(path, "/"+hookPath)
	if !further {
		return "", true
	}
	_, ok = r.Named(name)
	return name, ok
}
