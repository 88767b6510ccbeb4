// Package getting fetches packages of modules: archives over http, git repositories,
// directories of this machine, and whatever else a getter is given for. Archives and
// the answers of http servers are go-getter's work
// (https://github.com/hashicorp/go-getter, version 2, whose core has none of the
// clouds' libraries in it).
//
// A package is looked through before anybody reads it: no link leads out of it,
// there are no special files, and it keeps to the limits. A hosts.Policy decides where
// requests may go.
//
// The package refuses to know modules, calls and registries. Start at [Getters.Fetch].
package getting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A Getter fetches packages of one kind. It is go-getter's interface, with which it can
// be given to a go-getter client.
type Getter = getter.Getter

// A Request is go-getter's.
type Request = getter.Request

// maxForwards is how often a server may answer with another address, by the header
// X-Terraform-Get or a meta element.
const maxForwards = 5

// Getters fetch packages, each of the kind it is made for.
type Getters struct {
	// Policy decides which hosts may be asked.
	Policy hosts.Policy
	// Transport makes the connections of http; nil stands for the policy's.
	Transport http.RoundTripper
	// Netrc lets http servers have the passwords that the user's netrc file has for them.
	Netrc bool
	// More are the getters of other kinds than http.
	More []Getter
	// Limits bound one package; the zero value stands for [DefaultLimits].
	Limits Limits
}

// fetchTimeout is for one package.
const fetchTimeout = 15 * time.Minute

// Fetch brings the package that address means (source.Address.Package) into the
// directory dir, which must not exist. After an error there is no such directory. No
// message has a secret of the address in it.
func (g *Getters) Fetch(ctx context.Context, address, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, fmt.Errorf("not done within %s", fetchTimeout))
	defer cancel()
	limits := g.limits()
	err := g.get(ctx, address, dir)
	if err == nil {
		err = inspect(dir, limits)
	}
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return errors.Join(conceal(err, address), os.RemoveAll(dir))
}

func (g *Getters) get(ctx context.Context, address, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	limits := g.limits()
	web := (&hosts.Client{Policy: g.Policy, Transport: g.Transport}).HTTP()
	client := getter.Client{
		Getters: append([]Getter{checked{&getter.HttpGetter{
			Client: web, Netrc: g.Netrc, DoNotCheckHeadFirst: true,
			MaxBytes: limits.Archive, XTerraformGetLimit: maxForwards,
		}, g.Policy}}, g.More...),
		Decompressors:   getter.LimitedDecompressors(limits.Files, limits.Bytes),
		DisableSymlinks: true,
	}
	_, err = client.Get(ctx, &Request{Src: address, Dst: dir, GetMode: getter.ModeDir})
	if err != nil && strings.HasPrefix(err.Error(), "error downloading '") && errors.Unwrap(err) == nil {
		// go-getter's words for a kind that no getter is for.
		return g.unknown(address)
	}
	return err
}

// unknown returns the error for an address without a getter.
func (g *Getters) unknown(address string) error {
	kind, _, ok := strings.Cut(address, "::")
	if !ok {
		kind, _, _ = strings.Cut(address, "://")
	}
	return fmt.Errorf("modules are not fetched by %q: put the module into a git repository, an archive behind https, an S3 bucket or a registry", kind)
}

// conceal takes secrets out of messages of servers and libraries.
func conceal(err error, address string) error {
	text := hosts.Plain(err).Error()
	before := text
	for _, s := range source.Secrets(address) {
		text = strings.ReplaceAll(text, s, "REDACTED")
		text = strings.ReplaceAll(text, url.QueryEscape(s), "REDACTED")
	}
	if text == before {
		return hosts.Plain(err)
	}
	return errors.New(text)
}

// checked is go-getter's getter for http, with the policy asked first: a transport of
// somebody else's (a proxy's) connects without it.
type checked struct {
	*getter.HttpGetter
	policy hosts.Policy
}

func (c checked) Get(ctx context.Context, req *Request) error {
	if err := c.policy.CheckURL(req.URL()); err != nil {
		return err
	}
	return c.HttpGetter.Get(ctx, req)
}

func (c checked) GetFile(ctx context.Context, req *Request) error {
	if err := c.policy.CheckURL(req.URL()); err != nil {
		return err
	}
	return c.HttpGetter.GetFile(ctx, req)
}

// dirOnly is the common part of getters that fetch directories only.
type dirOnly struct{ names []string }

func (d dirOnly) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

func (d dirOnly) GetFile(context.Context, *Request) error {
	return fmt.Errorf("an archive cannot be in it: take archive= and the archive's name out of the address")
}

// Detect reports whether the request is for one of the kinds.
func (d dirOnly) Detect(req *Request) (bool, error) {
	kind := req.Forced
	if kind == "" {
		kind, _, _ = strings.Cut(req.Src, "://")
	}
	for _, n := range d.names {
		if n == kind {
			return true, nil
		}
	}
	return false, nil
}
