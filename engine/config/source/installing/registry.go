package installing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

var modulesService = hosts.Service{ID: "modules.v1", Name: "module registry", Hint: "check the source address of the module"}

// errNoSuchModule is the error if a registry has no module of that name.
var errNoSuchModule = errors.New("the registry knows no such module")

// Registries implements [Registry] for the registries of all hosts.
type Registries struct {
	client    *hosts.Client
	discovery *hosts.Discovery
	versions  map[string][]constraint.Version // by package
}

// NewRegistries returns module registries that are accessed with client, by
// https://developer.hashicorp.com/terraform/internals/module-registry-protocol. The function given returns
// the services of a host in the CLI configuration; it may be nil. Registries asks for the versions of a module
// only once.
func NewRegistries(client *hosts.Client, given func(host, id string) (string, bool)) *Registries {
	return &Registries{
		client:    client,
		discovery: &hosts.Discovery{Client: client, Service: modulesService, Given: given},
		versions:  map[string][]constraint.Version{},
	}
}

// Versions returns the versions of a package, HOST/NAMESPACE/NAME/SYSTEM, in any order. If there is no such
// module, the error matches [errNoSuchModule].
func (r *Registries) Versions(ctx context.Context, pkg string) ([]constraint.Version, error) {
	if have, ok := r.versions[pkg]; ok {
		return have, nil
	}
	at, host, err := r.find(ctx, pkg, "versions")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Modules []struct {
			Versions []struct{ Version string }
		}
	}
	_, err = r.client.JSON(ctx, at, host, &doc)
	switch {
	case hosts.IsStatus(err, 404):
		return nil, errNoSuchModule
	case err != nil:
		return nil, r.client.Denied(err, "the registry of "+svchost.ForDisplay(host), host)
	case len(doc.Modules) == 0:
		return nil, errNoSuchModule
	}
	list := []constraint.Version{}
	for _, x := range doc.Modules[0].Versions {
		// Skip invalid version numbers, since no constraint could select them.
		if v, err := constraint.ParseVersion(strings.TrimPrefix(x.Version, "v")); err == nil {
			list = append(list, v)
		}
	}
	r.versions[pkg] = list
	return list, nil
}

// Location returns the source address of one version of a package. It is the address of a package to fetch,
// perhaps with a subdirectory.
func (r *Registries) Location(ctx context.Context, pkg string, v constraint.Version) (string, error) {
	at, host, err := r.find(ctx, pkg, v.String()+"/download")
	if err != nil {
		return "", err
	}
	doc, err := r.client.Document(ctx, at, host)
	if err != nil {
		return "", r.client.Denied(err, "the registry of "+svchost.ForDisplay(host), host)
	}
	location := doc.Header.Get("X-Terraform-Get")
	if location == "" {
		// OpenTofu's registries may send the location in the body of the answer instead of a header.
		var body struct{ Location string }
		if json.Unmarshal(doc.Body, &body) == nil {
			location = body.Location
		}
	}
	if location == "" {
		return "", fmt.Errorf("the registry of %s gave no address for the package of version %s", svchost.ForDisplay(host), v)
	}
	if slices.ContainsFunc([]string{"/", "./", "../"}, func(p string) bool { return strings.HasPrefix(location, p) }) {
		u, err := doc.URL.Parse(location)
		if err != nil {
			return "", fmt.Errorf("the registry of %s gave an invalid address of the package", svchost.ForDisplay(host))
		}
		location = u.String()
	}
	return location, nil
}

func (r *Registries) find(ctx context.Context, pkg, path string) (at *url.URL, host string, err error) {
	host, rest, _ := strings.Cut(pkg, "/")
	base, err := r.discovery.Find(ctx, host)
	if err != nil {
		return nil, host, err
	}
	return base.JoinPath(rest, path), host, nil
}
