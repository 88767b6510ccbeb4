package install

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
)

// Registries are the provider registries of all hosts. Each provider comes from the registry of the host in
// its address. See https://developer.hashicorp.com/terraform/internals/provider-registry-protocol.
type Registries struct {
	client    *hosts.Client
	discovery *hosts.Discovery
}

var _ Source = (*Registries)(nil)

var providersService = hosts.Service{ID: "providers.v1", Name: "provider registry", Hint: "check the source address, or configure a mirror"}

// NewRegistries returns the registries, accessed with client. The configuration may give the services of
// hosts.
func NewRegistries(client *hosts.Client, config *cliconfig.Config) *Registries {
	return &Registries{client, &hosts.Discovery{Client: client, Service: providersService, Given: config.Service}}
}

type versionsDocument struct {
	Versions []struct {
		Version   string
		Protocols []string
	}
	Warnings []string
}

// Versions returns all versions in the registry's list, for all platforms and plugin protocols, and the
// registry's warnings.
func (r *Registries) Versions(ctx context.Context, p addrs.Provider) ([]constraint.Version, []string, error) {
	doc, err := r.versions(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	var versions []constraint.Version
	for _, entry := range doc.Versions {
		// Skip invalid version numbers, which no constraint can allow.
		if v, err := constraint.ParseVersion(entry.Version); err == nil {
			versions = append(versions, v)
		}
	}
	return versions, doc.Warnings, nil
}

func (r *Registries) versions(ctx context.Context, p addrs.Provider) (doc versionsDocument, err error) {
	_, err = r.get(ctx, p, "versions", &doc)
	if hosts.IsStatus(err, 404) {
		err = r.notFound(p)
	}
	return doc, err
}

// get decodes a document below the registry's path for a provider.
func (r *Registries) get(ctx context.Context, p addrs.Provider, path string, into any) (*url.URL, error) {
	base, err := r.discovery.Find(ctx, p.Host)
	if err != nil {
		return nil, err
	}
	final, err := r.client.JSON(ctx, base.JoinPath(p.Namespace, p.Type, path), p.Host, into)
	return final, r.client.Denied(err, "the registry of "+svchost.ForDisplay(p.Host), p.Host)
}

func (r *Registries) notFound(p addrs.Provider) *NotFoundError {
	return &NotFoundError{Provider: p, Places: []string{"the registry of " + svchost.ForDisplay(p.Host)}}
}

type downloadDocument struct {
	Protocols    []string
	OS           string
	Arch         string
	Filename     string
	DownloadURL  string `json:"download_url"`
	ShasumsURL   string `json:"shasums_url"`
	SignatureURL string `json:"shasums_signature_url"`
	Shasum       string
	SigningKeys  struct {
		GPGPublicKeys []signingKey `json:"gpg_public_keys"`
	} `json:"signing_keys"`
}

// Package returns the location of a package, after it has checked the signature of the package's checksums.
func (r *Registries) Package(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error) {
	var doc downloadDocument
	at, err := r.get(ctx, p, fmt.Sprintf("%s/download/%s/%s", v, platform.OS, platform.Arch), &doc)
	if hosts.IsStatus(err, 404) {
		return Package{}, r.whyMissing(ctx, p, v, platform)
	}
	if err != nil {
		return Package{}, err
	}
	if got := (Platform{doc.OS, doc.Arch}); got != platform {
		return Package{}, fmt.Errorf("the registry of %s gave a package for %s instead of %s", svchost.ForDisplay(p.Host), got, platform)
	}
	if !supported(doc.Protocols) {
		return Package{}, r.wrongProtocol(ctx, p, v, doc.Protocols)
	}
	pkg := Package{Provider: p, Version: v}
	if pkg.URL, err = at.Parse(doc.DownloadURL); err != nil || doc.DownloadURL == "" {
		return Package{}, fmt.Errorf("the registry of %s gave no valid URL of the package", svchost.ForDisplay(p.Host))
	}
	if err := r.authenticate(ctx, &pkg, at, doc); err != nil {
		return Package{}, err
	}
	return pkg, nil
}

// whyMissing returns the error for a missing package: either the version does not exist, or it does not exist
// for the platform.
func (r *Registries) whyMissing(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) error {
	missing := r.notFound(p)
	versions, _, err := r.Versions(ctx, p)
	if err != nil {
		return err
	}
	missing.Version = &v
	if slices.Contains(versions, v) {
		missing.Platform = &platform
	}
	return missing
}

// authenticate checks that the package's checksum is in the version's list of checksums, and that one of the
// provider's keys has signed this list.
func (r *Registries) authenticate(ctx context.Context, pkg *Package, at *url.URL, doc downloadDocument) error {
	list, err := r.related(ctx, at, doc.ShasumsURL, "checksums")
	if err != nil {
		return err
	}
	signature, err := r.related(ctx, at, doc.SignatureURL, "signature of the checksums")
	if err != nil {
		return err
	}
	if pkg.Auth, err = verifySignature(list, signature, doc.SigningKeys.GPGPublicKeys); err != nil {
		return fmt.Errorf("the checksums of %s %s are not authentic: %w", pkg.Provider, pkg.Version, err)
	}
	all := parseChecksums(list)
	want, err := hex.DecodeString(doc.Shasum)
	listed := all[doc.Filename]
	if err != nil || len(want) != 32 || listed != hex.EncodeToString(want) {
		return fmt.Errorf("the registry gives %s the checksum %q, but the signed list gives it %q", doc.Filename, doc.Shasum, listed)
	}
	pkg.Hashes = []string{"zh:" + listed}
	// Terraform records the checksums of all listed files, both packages and manifests.
	for _, sum := range all {
		pkg.Signed = append(pkg.Signed, "zh:"+sum)
	}
	return nil
}

func (r *Registries) related(ctx context.Context, at *url.URL, ref, noun string) ([]byte, error) {
	u, err := at.Parse(ref)
	if err != nil || ref == "" {
		return nil, fmt.Errorf("the registry gave no valid URL of the %s", noun)
	}
	doc, err := r.client.Document(ctx, u, "")
	if err != nil {
		return nil, fmt.Errorf("get the %s: %w", noun, err)
	}
	return doc.Body, nil
}

// supported reports whether Lockstep supports one of a plugin's protocol versions, such as "5.0" or "6.1".
// For an empty list it returns true: the plugin's handshake decides then.
func supported(protocols []string) bool {
	return len(protocols) == 0 || slices.ContainsFunc(protocols, func(s string) bool {
		major, _, _ := strings.Cut(s, ".")
		return major == "5" || major == "6"
	})
}

// wrongProtocol returns the error for a package with an unsupported protocol. It suggests the newest release
// with a supported one.
func (r *Registries) wrongProtocol(ctx context.Context, p addrs.Provider, v constraint.Version, protocols []string) error {
	hint := "no release of it supports these"
	if doc, err := r.versions(ctx, p); err == nil {
		var usable []constraint.Version
		for _, entry := range doc.Versions {
			if x, err := constraint.ParseVersion(entry.Version); err == nil && supported(entry.Protocols) && x != v {
				usable = append(usable, x)
			}
		}
		if newest, ok := (constraint.Set{}).Newest(usable); ok {
			hint = fmt.Sprintf("the newest release that supports one of them is %s", newest)
		}
	}
	return fmt.Errorf("provider %s %s supports only version %s of the plugin protocol, and Lockstep needs 5 or 6: %s", p, v, strings.Join(protocols, ", "), hint)
}
