package github

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// addressByID returns an address below that of the API, api, with the ID of the repository in the place of its name; one that is not
// about a repository stays. A name may be another repository's by the time of the request: GitHub leads requests about a
// former name to this address, as long as nobody has made a repository of that name. The links between its pages have this form, too.
//
// Sources: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers,
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func addressByID(api, at *url.URL, id int64) *url.URL {
	path, ok := strings.CutPrefix(at.EscapedPath(), api.EscapedPath()+"repos/")
	parts := strings.SplitN(path, "/", 3)
	if !ok || len(parts) < 2 {
		return at
	}
	out := *at
	out.RawPath = fmt.Sprintf("%srepositories/%d", api.EscapedPath(), id)
	if len(parts) > 2 {
		out.RawPath += "/" + parts[2]
	}
	var err error
	if out.Path, err = url.PathUnescape(out.RawPath); err != nil {
		return at // it is no path
	}
	return &out
}

// pullOfPage returns the number of the pull request of a comment, from the address of its page: no
// other member of such a list tells pull requests from issues.
func pullOfPage(page string) (number int, ok bool) {
	u, err := url.Parse(page)
	if err != nil || path.Base(path.Dir(u.Path)) != "pull" {
		return 0, false
	}
	number, err = strconv.Atoi(path.Base(u.Path))
	return number, err == nil && number > 0
}

// graphQLAddress is the address of the GraphQL API. A GitHub Enterprise server has its REST API at /api/v3/.
// Source: https://docs.github.com/en/enterprise-server/graphql/guides/managing-enterprise-accounts
func graphQLAddress(api *url.URL) string {
	at := *api
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	return at.String()
}
