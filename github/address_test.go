package github

import (
	"net/url"
	"testing"
)

func TestByID(t *testing.T) {
	for at, want := range map[string]string{
		"https://api.github.com/repos/acme/infra/pulls/7?page=2":           "https://api.github.com/repositories/42/pulls/7?page=2",
		"https://api.github.com/repos/acme/infra":                          "https://api.github.com/repositories/42",
		"https://api.github.com/repos/acme/infra/branches/a%2Fb":           "https://api.github.com/repositories/42/branches/a%2Fb",
		"https://api.github.com/repos/acme/infra/contents/a%20b/repos/c/d": "https://api.github.com/repositories/42/contents/a%20b/repos/c/d",
		"https://api.github.com/repositories/42/pulls?page=2":              "https://api.github.com/repositories/42/pulls?page=2",
		"https://api.github.com/orgs/acme/teams/net":                       "https://api.github.com/orgs/acme/teams/net",
		"https://api.github.com/repos/acme":                                "https://api.github.com/repos/acme",
		"https://api.github.com/graphql":                                   "https://api.github.com/graphql",
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if got := addressByID(&url.URL{Path: "/"}, u, 42).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", at, got, want)
		}
	}
	u, _ := url.Parse("https://github.acme.example/api/v3/repos/acme/infra/pulls")
	if got := addressByID(&url.URL{Path: "/api/v3/"}, u, 42).Path; got != "/api/v3/repositories/42/pulls" {
		t.Errorf("on a server: %s", got)
	}
}
