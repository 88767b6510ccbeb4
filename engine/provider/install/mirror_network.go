package install

import (
	"context"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A NetworkMirror is an https server with packages of several registries; see
// https://developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol.
type NetworkMirror struct {
	client *hosts.Client
	base   *url.URL
}

var _ Source = NetworkMirror{}

// NewNetworkMirror returns the mirror at a base URL, which must end with a slash.
func NewNetworkMirror(client *hosts.Client, base string) (NetworkMirror, error) {
	u, err := url.Parse(base)
	if err != nil {
		return NetworkMirror{}, fmt.Errorf("the URL of a network mirror is invalid: %w", hosts.Plain(err))
	}
	return NetworkMirror{client, u}, nil
}

// Versions returns the versions in HOST/NAMESPACE/TYPE/index.json. There are no warnings.
func (m NetworkMirror) Versions(ctx context.Context, p addrs.Provider) ([]constraint.Version, []string, error) {
	var doc struct {
		Versions map[string]struct{}
	}
	if _, err := m.get(ctx, p, "index.json", &doc); err != nil {
		if hosts.IsStatus(err, 404) {
			err = m.notFound(p)
		}
		return nil, nil, err
	}
	var versions []constraint.Version
	for text := range doc.Versions {
		if v, err := constraint.ParseVersion(text); err == nil {
			versions = append(versions, v)
		}
	}
	return versions, nil, nil
}

// Package returns a package from HOST/NAMESPACE/TYPE/VERSION.json.
func (m NetworkMirror) Package(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error) {
	var doc struct {
		Archives map[string]struct {
			URL    string
			Hashes []string
		}
	}
	at, err := m.get(ctx, p, v.String()+".json", &doc)
	if hosts.IsStatus(err, 404) {
		missing := m.notFound(p)
		missing.Version = &v
		return Package{}, missing
	}
	if err != nil {
		return Package{}, err
	}
	archive, ok := doc.Archives[platform.String()]
	if !ok {
		missing := m.notFound(p)
		missing.Version, missing.Platform = &v, &platform
		return Package{}, missing
	}
	u, err := at.Parse(archive.URL)
	if err != nil || archive.URL == "" {
		return Package{}, fmt.Errorf("the mirror %s gave no valid URL of the package", hosts.Show(m.base))
	}
	pkg := Package{Provider: p, Version: v, URL: u, Hashes: archive.Hashes, Auth: Authentication{Kind: Unauthenticated}}
	if len(archive.Hashes) > 0 {
		pkg.Auth.Kind = VerifiedChecksum
	}
	return pkg, nil
}

// get reads a document, with the token that is configured for the mirror's own host.
func (m NetworkMirror) get(ctx context.Context, p addrs.Provider, name string, into any) (*url.URL, error) {
	final, err := m.client.JSON(ctx, m.base.JoinPath(p.Host, p.Namespace, p.Type, name), m.base.Host, into)
	return final, m.client.Denied(err, "the mirror "+hosts.Show(m.base), m.base.Host)
}

func (m NetworkMirror) notFound(p addrs.Provider) *NotFoundError {
	return &NotFoundError{Provider: p, Places: []string{"the mirror " + hosts.Show(m.base)}}
}
