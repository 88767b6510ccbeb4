package install

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// providersService is what hosts call the provider registry protocol; see
// https://developer.hashicorp.com/terraform/internals/remote-service-discovery.
const providersService = "providers.v1"

// A discovery finds the provider registries of hosts, each once.
type discovery struct {
	client *Client
	// given tells what the CLI configuration says about a host's services.
	given func(host, id string) (url string, known bool)
	found map[string]*url.URL
}

// registry returns the base URL of a host's provider registry, ending in a slash.
func (d *discovery) registry(ctx context.Context, host string) (*url.URL, error) {
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

// ask does not use svchost's package disco, which knows no context and logs what it does.
func (d *discovery) ask(ctx context.Context, host string) (*url.URL, error) {
	at := &url.URL{Scheme: "https", Host: host, Path: "/.well-known/terraform.json"}
	var text string
	if given, known := d.given(host, providersService); known {
		text = given
	} else {
		var services map[string]json.RawMessage
		final, err := d.client.json(ctx, at, host, &services)
		switch {
		case isStatus(err, 404):
			// A host without services.
		case err != nil:
			return nil, fmt.Errorf("discover the services of %s: %w", svchost.ForDisplay(host), err)
		default:
			at = final
			if err := json.Unmarshal(services[providersService], &text); err != nil {
				text = "" // absent, or in a form that only a newer client knows
			}
		}
	}
	if text == "" {
		return nil, fmt.Errorf("the host %s has no provider registry: check the source address, or configure a mirror", svchost.ForDisplay(host))
	}
	base, err := at.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the host %s gives an invalid URL for its provider registry", svchost.ForDisplay(host))
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	return base, checkURL(base)
}
