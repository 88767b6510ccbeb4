package getting

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/opencontainers/go-digest"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/lockstep-iac/lockstep/engine/oci"
)

// moduleType is the artifact type of a module package.
// Source: https://opentofu.org/docs/cli/oci_registries/module-package/
const moduleType = "application/vnd.opentofu.modulepkg"

// tagName matches a tag.
// Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
var tagName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)

// OCI returns a getter for module packages in OCI registries: oci://HOST/NAME?tag=TAG, or digest=DIGEST in place
// of the tag. Without both, the tag is "latest".
func OCI(client *oci.Client, limits Limits) Getter {
	return ociGetter{dirOnly{[]string{"oci"}}, client, limits}
}

type ociGetter struct {
	dirOnly
	client *oci.Client
	limits Limits
}

func (g ociGetter) Get(ctx context.Context, req *Request) (err error) {
	repository, reference, err := g.parse(req)
	if err != nil {
		return err
	}
	m, err := repository.Manifest(ctx, reference, moduleType)
	if err != nil {
		return err
	}
	layer, err := oci.Package(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(req.Dst), 0o755); err != nil {
		return err
	}
	archive, err := os.CreateTemp(filepath.Dir(req.Dst), ".package-*.zip")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(archive.Name())) }()
	if err := errors.Join(repository.Download(ctx, layer, g.limits.Archive, archive), archive.Close()); err != nil {
		return err
	}
	return getter.LimitedDecompressors(g.limits.Files, g.limits.Bytes)["zip"].Decompress(req.Dst, archive.Name(), true, 0o022)
}

// parse returns the repository of an address, and a tag or a digest.
func (g ociGetter) parse(req *Request) (*oci.Repository, string, error) {
	u := req.URL()
	q := u.Query()
	for name := range q {
		if name != "tag" && name != "digest" || len(q[name]) > 1 {
			return nil, "", fmt.Errorf("the address of an OCI registry's module may have tag or digest, each once, and not %q: write oci://HOST/NAME?tag=TAG", name)
		}
	}
	switch {
	case u.User != nil:
		return nil, "", fmt.Errorf("the address of an OCI registry must have no user: log in with \"docker login %s\", and remove the user", u.Host)
	case q.Has("tag") && q.Has("digest"):
		return nil, "", errors.New("the address has a tag and a digest, which may name different packages: remove one of them")
	}
	repository, err := g.client.Open(u.Host + "/" + strings.Trim(u.Path, "/"))
	if err != nil {
		return nil, "", err
	}
	switch {
	case q.Has("digest"):
		d, err := digest.Parse(q.Get("digest"))
		if err != nil {
			return nil, "", fmt.Errorf("digest=%s is not a digest, such as sha256:0123...", q.Get("digest"))
		}
		return repository, d.String(), nil
	case q.Has("tag") && !tagName.MatchString(q.Get("tag")):
		return nil, "", fmt.Errorf("tag=%s is not a tag: a tag has letters, digits, dots, dashes and underscores", q.Get("tag"))
	case q.Has("tag"):
		return repository, q.Get("tag"), nil
	}
	return repository, "latest", nil
}
