package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// A Service is a service of a host that service discovery can find; see
// https://developer.hashicorp.com/terraform/internals/remote-service-discovery.
type Service struct {
	ID   string // "providers.v1"
	Name string // "provider registry", for messages
	Hint string // the remedy if there is none
}

// A Discovery finds one service of hosts. It remembers the result for each host.
type Discovery struct {
	Client  *Client
	Service Service
	// Given returns the URL of a host's service from the CLI configuration. known is false if the
	// configuration does not name the host.
	Given func(host, id string) (url string, known bool)
	found map[string]*url.URL
}

// Find returns the base URL of a host's service, with a slash at the end.
func (d *Discovery) Find(ctx context.Context, host string) (*url.URL, error) {
	if base, ok := d.found[host]; ok {
		return base, nil
	}
	base, err := d.ask(ctx, host)
	if err != nil {
		return nil, err
	}
	if d.found == nil {
		d.found = map[string]*url.URL{}
	}
	d.found[host] = base
	return base, nil
}

// DiscoveryURL returns the URL of the document that lists the services of a host.
func DiscoveryURL(host string) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: "/.well-known/terraform.json"}
}

// ask finds the service by a request of its own. It does not use svchost's package disco, which accepts no
// context and logs its requests.
func (d *Discovery) ask(ctx context.Context, host string) (*url.URL, error) {
	at := DiscoveryURL(host)
	var text string
	if given, known := d.given(host); known {
		text = given
	} else {
		var services map[string]json.RawMessage
		final, err := d.Client.JSON(ctx, at, host, &services)
		switch {
		case IsStatus(err, 404):
			// The host has no services.
		case err != nil:
			return nil, fmt.Errorf("discover the services of %s: %w", svchost.ForDisplay(host), err)
		default:
			at = final
			if err := json.Unmarshal(services[d.Service.ID], &text); err != nil {
				text = "" // absent, or in a form that only newer clients can read
			}
		}
	}
	if text == "" {
		return nil, fmt.Errorf("the host %s has no %s: %s", svchost.ForDisplay(host), d.Service.Name, d.Service.Hint)
	}
	base, err := at.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the host %s gives an invalid URL for its %s", svchost.ForDisplay(host), d.Service.Name)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	return base, d.Client.Policy.CheckURL(base)
}

func (d *Discovery) given(host string) (string, bool) {
	if d.Given == nil {
		return "", false
	}
	return d.Given(host, d.Service.ID)
}

// Denied adds advice to an error with status 401 or 403: how to set the credentials for host. place is the name
// of the server, for the text. Denied returns other errors unchanged.
func (c *Client) Denied(err error, place, host string) error {
	if !IsStatus(err, 401, 403) {
		return err
	}
	remedy := c.Remedy
	if remedy == nil {
		remedy = commandLineRemedy
	}
	return fmt.Errorf("%s demands other credentials: %w; %s", place, err, remedy(TokenVariable(host)))
}

func commandLineRemedy(variable string) string {
	return "set them in a credentials block of the CLI configuration, or in the environment variable " + variable
}

// TokenVariable returns the name of the environment variable for a host's token.
func TokenVariable(host string) string {
	return "TF_TOKEN_" + strings.NewReplacer("-", "__", ".", "_").Replace(host)
}
