package oci

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	spec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Zip is the media type of the layer that has a package. OpenTofu defines it.
const Zip = "archive/zip"

// These are the limits of a registry's documents.
const (
	maxDocument = 4 << 20 // bytes of a manifest, an index or a page of tags; oras has the same limit
	tagPage     = 1000
	maxTagPages = 100
)

// downloadTimeout is the time for one package.
const downloadTimeout = 15 * time.Minute

// A Client reads from OCI registries.
type Client struct {
	// Policy decides which URLs may be requested: those of registries, of their token servers, and those that
	// they redirect to.
	Policy hosts.Policy
	// Transport makes the connections; nil means the policy's transport.
	Transport http.RoundTripper
	// Credentials has the credentials for registries; nil means none.
	Credentials Credentials
	// Remedy returns the end of the error about a registry that demands other credentials. nil means the remedy
	// for the command line.
	Remedy func(host string) string

	mu      sync.Mutex
	clients map[string]*auth.Client // one for each repository, since credentials may be about one only
	base    *http.Client
}

// A Repository is one repository of a registry.
type Repository struct {
	client *Client
	remote *remote.Repository
}

// A Descriptor names a content by its digest.
type Descriptor = spec.Descriptor

// Open returns the repository with a name, HOST/NAME. It makes no request.
func (c *Client) Open(name string) (*Repository, error) {
	ref, err := registry.ParseReference(name)
	if err != nil || ref.Reference != "" {
		return nil, fmt.Errorf("%q is not the name of a repository of an OCI registry: write HOST/NAME in lower case, as registry.example.com/modules/net", name)
	}
	return &Repository{c, &remote.Repository{
		Client: c.authenticated(ref), Reference: ref, MaxMetadataBytes: maxDocument, TagListPageSize: tagPage, TagListMaxPages: maxTagPages,
	}}, nil
}

// authenticated returns the HTTP client for one repository. It sends the credentials to its registry only, not to hosts that
// the registry redirects to.
func (c *Client) authenticated(ref registry.Reference) *auth.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clients == nil {
		c.base = (&hosts.Client{Policy: c.Policy, Transport: c.Transport}).HTTP()
		c.base.Transport = &retry.Transport{Base: guarded{c.base.Transport, c.Policy}, Policy: func() retry.Policy {
			return &retry.GenericPolicy{Retryable: retry.DefaultPredicate, Backoff: retry.DefaultBackoff, MinWait: 200 * time.Millisecond, MaxWait: 3 * time.Second, MaxRetry: 1}
		}}
		c.clients = map[string]*auth.Client{}
	}
	name := ref.Registry + "/" + ref.Repository
	if c.clients[name] == nil {
		c.clients[name] = &auth.Client{
			Client: c.base, Header: http.Header{"User-Agent": {"lockstep"}}, Cache: auth.NewCache(),
			BlockedRealmPrefixes: []netip.Prefix{}, // the policy decides
			Credential: func(ctx context.Context, host string) (auth.Credential, error) {
				if c.Credentials == nil || host != ref.Host() {
					return auth.EmptyCredential, nil
				}
				return c.Credentials(ctx, ref.Registry, ref.Repository)
			},
		}
	}
	return c.clients[name]
}

// Manifest returns the image manifest with a tag or a digest. Its artifact type must be artifactType.
func (r *Repository) Manifest(ctx context.Context, reference, artifactType string) (m spec.Manifest, err error) {
	if err = r.document(ctx, reference, spec.MediaTypeImageManifest, &m); err != nil {
		return m, err
	}
	return m, r.checkType(reference, m.ArtifactType, artifactType)
}

// Index returns the image index with a tag or a digest. Its artifact type must be artifactType.
func (r *Repository) Index(ctx context.Context, reference, artifactType string) (x spec.Index, err error) {
	if err = r.document(ctx, reference, spec.MediaTypeImageIndex, &x); err != nil {
		return x, err
	}
	return x, r.checkType(reference, x.ArtifactType, artifactType)
}

// Package returns the only layer of a manifest that has a package. See [Zip].
func Package(m spec.Manifest) (Descriptor, error) {
	if len(m.Layers) != 1 || m.Layers[0].MediaType != Zip {
		var found []string
		for _, l := range m.Layers {
			found = append(found, l.MediaType)
		}
		return Descriptor{}, fmt.Errorf("the artifact must have one layer of the media type %s, and it has %d (%.200s): push the package as a zip archive with this media type", Zip, len(m.Layers), cmp.Or(strings.Join(found, ", "), "none"))
	}
	return m.Layers[0], nil
}

func (r *Repository) checkType(reference, is, want string) error {
	if is == want {
		return nil
	}
	return fmt.Errorf("%s has the artifact type %.200q, and %q is needed: push the artifact again with this type", r.name(reference), is, want)
}

// document gets and decodes a manifest or an index. mediaType is the one that it must have.
func (r *Repository) document(ctx context.Context, reference, mediaType string, into any) error {
	r.remote.ManifestMediaTypes = []string{mediaType}
	desc, body, err := r.remote.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return r.reason(reference, err)
	}
	defer body.Close()
	if desc.Size > maxDocument {
		return fmt.Errorf("the description of %s has %d bytes, and %d are allowed", r.name(reference), desc.Size, maxDocument)
	}
	data, err := content.ReadAll(body, desc)
	if err != nil {
		return r.reason(reference, err)
	}
	if desc.MediaType != mediaType {
		return fmt.Errorf("%s has the media type %.200q, and %q is needed: push it again as such", r.name(reference), desc.MediaType, mediaType)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the description of %s is not valid JSON: %w", r.name(reference), err)
	}
	return nil
}

// Download writes a content to a file, if it has not more than limit bytes and has its digest.
func (r *Repository) Download(ctx context.Context, d Descriptor, limit int64, to *os.File) error {
	if d.Size < 0 || d.Size > limit {
		return fmt.Errorf("the package in %s has %d bytes, and %d are allowed", r.name(""), d.Size, limit)
	}
	if err := d.Digest.Validate(); err != nil {
		return fmt.Errorf("the package in %s has no valid digest: %w", r.name(""), err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, downloadTimeout, fmt.Errorf("the registry %s did not send the whole package within %s", r.remote.Reference.Registry, downloadTimeout))
	defer cancel()
	body, err := r.remote.Blobs().Fetch(ctx, d)
	if err != nil {
		return r.reason(string(d.Digest), err)
	}
	defer body.Close()
	in := content.NewVerifyReader(body, d)
	_, err = io.Copy(to, in)
	if err == nil {
		err = in.Verify()
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return r.reason(string(d.Digest), err)
	}
	return nil
}

// Tags returns all tags of the repository. The error matches [ErrNotFound] if there is no such repository.
func (r *Repository) Tags(ctx context.Context) (tags []string, err error) {
	err = r.remote.Tags(ctx, "", func(page []string) error {
		tags = append(tags, page...)
		return nil
	})
	if err != nil {
		return nil, r.reason("", err)
	}
	return tags, nil
}

// ErrNotFound is the error for a repository, a tag or a content that the registry does not have.
var ErrNotFound = errdef.ErrNotFound

// name returns HOST/NAME:TAG or HOST/NAME@DIGEST, for messages.
func (r *Repository) name(reference string) string {
	ref := r.remote.Reference
	ref.Reference = reference
	return ref.String()
}

// query matches the query of a URL in a message. A redirect to a storage has its signature there.
var query = regexp.MustCompile(`\?[^\s"]*`)

// notFoundError adds words to [ErrNotFound].
type notFoundError struct{ text string }

func (e notFoundError) Error() string        { return e.text }
func (e notFoundError) Is(target error) bool { return target == ErrNotFound }

// reason returns an error of the library in words for users, without signatures of URLs.
func (r *Repository) reason(reference string, err error) error {
	host := r.remote.Reference.Registry
	var answer *errcode.ErrorResponse
	status := 0
	if errors.As(err, &answer) {
		status = answer.StatusCode
	}
	switch {
	case errors.Is(err, ErrNotFound), status == http.StatusNotFound:
		return notFoundError{fmt.Sprintf("the registry %s has no %s, or its credentials may not read it", host, r.name(reference))}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, errors.Is(err, auth.ErrBasicCredentialNotFound):
		remedy := fmt.Sprintf("run \"docker login %s\", \"podman login %[1]s\" or \"oras login %[1]s\"", host)
		if r.client.Remedy != nil {
			remedy = r.client.Remedy(host)
		}
		return fmt.Errorf("the registry %s demands other credentials for %s: %s", host, r.name(""), remedy)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData), errors.Is(err, content.ErrInvalidDescriptorSize),
		strings.Contains(err.Error(), "digest mismatch"):
		return fmt.Errorf("%s: the registry sent another content than its digest promises. Do not use it before you know why", r.name(reference))
	}
	return errors.New(query.ReplaceAllString(hosts.Plain(err).Error(), ""))
}

// guarded checks each request against the policy. It speaks plain http with a registry on this machine that has
// no TLS, as other tools do.
type guarded struct {
	base   http.RoundTripper
	policy hosts.Policy
}

func (g guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.policy.CheckURL(req.URL); err != nil {
		return nil, err
	}
	resp, err := g.base.RoundTrip(req)
	if !errors.As(err, new(tls.RecordHeaderError)) || !onThisMachine(req.URL.Hostname()) {
		return resp, err
	}
	plain := req.Clone(req.Context())
	plain.URL.Scheme = "http"
	if resp, err = g.base.RoundTrip(plain); err == nil {
		resp.Request = req
	}
	return resp, err
}

// onThisMachine reports whether a host name always means this machine.
func onThisMachine(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}
