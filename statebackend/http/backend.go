package http

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Backend is the state at one address. It implements statebackend.Backend.
type Backend struct{ client *client }

// Open creates a backend from the attributes of a backend block. It makes no request. The error is a
// *statebackend.AttributeError.
func Open(config map[string]any) (*Backend, error) {
	var v values
	if err := statebackend.Decode(Attributes, config, &v); err != nil {
		return nil, err
	}
	s, err := settle(v)
	if err != nil {
		return nil, err
	}
	return &Backend{newClient(s)}, nil
}

// ErrNoWorkspaces is returned for all workspaces except "default": an address has one state. Its text is
// Terraform's.
var ErrNoWorkspaces = errors.New("workspaces not supported")

// Workspaces implements statebackend.Backend. It always returns ErrNoWorkspaces.
func (b *Backend) Workspaces(context.Context) ([]string, error) { return nil, ErrNoWorkspaces }

// DeleteWorkspace implements statebackend.Backend. It always fails: the address has only the default
// workspace.
func (b *Backend) DeleteWorkspace(context.Context, string, statebackend.Version) error {
	return ErrNoWorkspaces
}

// Open implements statebackend.Backend. Only the default workspace can be opened.
func (b *Backend) Open(name string) (statebackend.Workspace, error) {
	if name != statebackend.DefaultWorkspace {
		return nil, fmt.Errorf("open %q: %w", name, ErrNoWorkspaces)
	}
	return &workspace{client: b.client}, nil
}

// md5Of returns the value of the header Content-MD5.
func md5Of(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// cause returns err without the address that net/http puts before it, because the address may contain
// credentials.
func cause(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	if statebackend.Untrusted(err) {
		return fmt.Errorf("%w. The certificate of the server is not trusted. If it is of an authority of your own, write the certificate of that authority (PEM) into client_ca_certificate_pem of the backend block", err)
	}
	return err
}
