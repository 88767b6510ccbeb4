package preparing

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// errInvalidToken reports that the host does not accept a token.
var errInvalidToken = errors.New("the host does not accept the token")

// Page returns the address of the page on which the user creates a token.
func (a *loginAPI) Page() string {
	page := url.URL{Scheme: "https", Host: a.Base.Host, Path: "/app/settings/tokens", RawQuery: "source=terraform-login"}
	return page.String()
}

// User returns the name of the user that a token belongs to. Source:
// https://developer.hashicorp.com/terraform/cloud-docs/api-docs/account
func (a *loginAPI) User(ctx context.Context, token hosts.Token) (string, error) {
	asking := *a.requests
	asking.Token = func(string) (hosts.Token, bool) { return token, true }
	var account struct {
		Data struct {
			Attributes struct {
				Username string `json:"username"`
			} `json:"attributes"`
		} `json:"data"`
	}
	_, err := asking.JSON(ctx, a.Base.JoinPath("account/details"), a.Base.Host, &account)
	switch {
	case hosts.IsStatus(err, 401):
		return "", errInvalidToken
	case err != nil:
		return "", fmt.Errorf("ask for the user of the token: %w", err)
	}
	return account.Data.Attributes.Username, nil
}
