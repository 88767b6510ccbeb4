package preparing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A loginOffer says how a user gets a token of a host. One of its fields is set:
//   - Client: by OAuth's authorization code flow with a proof key. The host redirects the browser to a listener
//     on this machine.
//   - API: the user creates a token on a page of the host and types it.
//
// Source: https://developer.hashicorp.com/terraform/internals/login-protocol
type loginOffer struct {
	Client *loginClient
	API    *loginAPI
}

// A loginClient is the OAuth client that a host defines for command line tools, in its service discovery.
type loginClient struct {
	ID       string
	Authz    *url.URL // where a person agrees
	Token    *url.URL // where a code becomes a token
	MinPort  int      // of the listener on this machine
	MaxPort  int
	Scopes   []string
	requests *hosts.Client
}

// A loginAPI is the API of HCP Terraform and Terraform Enterprise. Lockstep checks tokens with it.
type loginAPI struct {
	Base     *url.URL
	requests *hosts.Client
}

// errNoLogin reports that a host offers no login.
var errNoLogin = errors.New("it offers neither the service login.v1 nor tfe.v2")

// findLogin returns how users can log in to a host. given returns the services that the CLI configuration sets
// for a host, as encoding/json decodes them, and whether it sets any. If it sets any, findLogin does not ask
// the host.
func findLogin(ctx context.Context, client *hosts.Client, host string, given func(host string) (map[string]any, bool)) (*loginOffer, error) {
	services, at, err := servicesOf(ctx, client, host, given)
	if err != nil {
		return nil, err
	}
	if description, ok := services["login.v1"]; ok {
		c, err := decodeLogin(description, at)
		if err != nil {
			return nil, fmt.Errorf("the service login.v1 of %s: %w", svchost.ForDisplay(host), err)
		}
		c.requests = client
		return &loginOffer{Client: c}, errors.Join(client.Policy.CheckURL(c.Authz), client.Policy.CheckURL(c.Token))
	}
	for _, id := range []string{"tfe.v2", "tfe.v2.1", "tfe.v2.2"} {
		var text string
		if json.Unmarshal(services[id], &text) != nil || text == "" {
			continue
		}
		base, err := at.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the service %s of %s has an invalid URL", id, svchost.ForDisplay(host))
		}
		if !strings.HasSuffix(base.Path, "/") {
			base.Path += "/"
		}
		return &loginOffer{API: &loginAPI{base, client}}, client.Policy.CheckURL(base)
	}
	return nil, errNoLogin
}

func servicesOf(ctx context.Context, client *hosts.Client, host string, given func(string) (map[string]any, bool)) (map[string]json.RawMessage, *url.URL, error) {
	services := map[string]json.RawMessage{}
	if known, ok := given(host); ok {
		for id, description := range known {
			data, err := json.Marshal(description)
			if err != nil {
				return nil, nil, err
			}
			services[id] = data
		}
		return services, hosts.DiscoveryURL(host), nil
	}
	at, err := client.JSON(ctx, hosts.DiscoveryURL(host), host, &services)
	if hosts.IsStatus(err, 404) {
		return nil, hosts.DiscoveryURL(host), nil
	}
	return services, at, err
}

// decodeLogin parses a host's description of its service login.v1. at is the URL to which URLs in it are
// relative.
func decodeLogin(description json.RawMessage, at *url.URL) (*loginClient, error) {
	var d struct {
		Client string   `json:"client"`
		Grants []string `json:"grant_types"`
		Authz  string   `json:"authz"`
		Token  string   `json:"token"`
		Ports  []int    `json:"ports"`
		Scopes []string `json:"scopes"`
	}
	if err := json.Unmarshal(description, &d); err != nil {
		return nil, fmt.Errorf("its description is not the object that it should be: %w", err)
	}
	switch {
	case d.Client == "" || d.Authz == "" || d.Token == "":
		return nil, errors.New("client, authz and token are required")
	case d.Grants != nil && !slices.Contains(d.Grants, "authz_code"):
		return nil, errors.New("it allows none of the grant types that are supported here, which is authz_code")
	case d.Ports == nil:
		d.Ports = []int{1024, 65535}
	case len(d.Ports) != 2 || d.Ports[0] < 1024 || d.Ports[1] > 65535 || d.Ports[1] < d.Ports[0]:
		return nil, errors.New("its ports are not a range between 1024 and 65535")
	}
	authz, err := at.Parse(d.Authz)
	if err != nil {
		return nil, errors.New("the URL authz is invalid")
	}
	token, err := at.Parse(d.Token)
	if err != nil {
		return nil, errors.New("the URL token is invalid")
	}
	return &loginClient{ID: d.Client, Authz: authz, Token: token, MinPort: d.Ports[0], MaxPort: d.Ports[1], Scopes: d.Scopes}, nil
}
