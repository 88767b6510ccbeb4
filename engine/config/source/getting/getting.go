// Package getting fetches packages of modules: archives over http, git repositories, directories of this
// machine, and other kinds for which a getter is added. Archives and the answers of http servers are handled
// by go-getter (https://github.com/hashicorp/go-getter, version 2, whose core has none of the clouds'
// libraries).
//
// A package is checked before anybody reads it: its links must not lead out of it, it must have no special
// files, and it must keep to the limits. A hosts.Policy decides which URLs may be requested.
//
// The package does not know modules, calls and registries. Start at [Getters.Fetch].
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

// A Getter fetches packages of one kind. It is go-getter's interface, so a go-getter client can use it.
type Getter = getter.Getter

// A Request is a request to a [Getter]. It is go-getter's type.
type Request = getter.Request

// maxForwards is how often a server may answer with another address, in the header X-Terraform-Get or a meta
// element.
const maxForwards = 5

// Getters fetches packages of all kinds, each with the getter for its kind.
type Getters struct {
	// Policy decides which hosts may be requested.
	Policy hosts.Policy
	// Transport makes the http connections; nil means the policy's transport.
	Transport http.RoundTripper
	// Netrc sends http servers the passwords that the user's netrc file has for them.
	Netrc bool
	// More has the getters for other kinds of addresses than http, such as git.
	More []Getter
	// Limits limits one package; the zero value means [DefaultLimits].
	Limits Limits
}

// fetchTimeout is the time for fetching one package.
const fetchTimeout = 15 * time.Minute

// Fetch fetches a package into the directory dir, which must not exist. address has the form of
// source.Address.Package. After an error, dir does not exist. Errors contain no secret of the address.
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
		// go-getter returns such an error if it has no getter for this kind of address. Report the problem in
		// Lockstep's words.
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
	return fmt.Errorf("modules are not fetched by %q: put the module into a git repository, an archive behind https, an S3 bucket, an OCI registry or a registry of modules", kind)
}

// conceal removes the secrets of address from the messages of servers and libraries.
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

// checked is go-getter's http getter, but first checks whether the policy allows the URL. A transport that
// the caller gives (such as a proxy's) makes no such check itself.
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

// dirOnly is the common part of getters that fetch only directories.
type dirOnly struct{ names []string }

func (d dirOnly) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

func (d dirOnly) GetFile(context.Context, *Request) error {
	return fmt.Errorf("an archive cannot be in it: take archive= and the archive's name out of the address")
}

// Detect reports whether d handles the kind of the requested address. The kind is "git" in git::URL, for
// example, or otherwise the scheme of the URL.
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
