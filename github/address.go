package github

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// addressByID returns a copy of an API address with the repository's ID in place of its owner and name. By the
// time of the request, the name may belong to another repository. An address outside /repos/ is returned
// unchanged.
//
// GitHub itself also uses this form of address: in its redirects of requests for a repository's former name
// (unless a new repository has that name), and in links to the next page of a list.
//
// Sources:
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers,
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func addressByID(api, address *url.URL, id int64) *url.URL {
	path, ok := strings.CutPrefix(address.EscapedPath(), api.EscapedPath()+"repos/")
	parts := strings.SplitN(path, "/", 3)
	if !ok || len(parts) < 2 {
		return address
	}
	out := *address
	out.RawPath = fmt.Sprintf("%srepositories/%d", api.EscapedPath(), id)
	if len(parts) > 2 {
		out.RawPath += "/" + parts[2]
	}
	var err error
	if out.Path, err = url.PathUnescape(out.RawPath); err != nil {
		return address // not a path of the API
	}
	return &out
}

// numberOfPage reads the number of a pull request or an issue from the web address of a comment. GitHub's lists of
// comments distinguish the two only by this address. ok is false for any other address.
func numberOfPage(page string) (number int, issue, ok bool) {
	u, err := url.Parse(page)
	if err != nil {
		return 0, false, false
	}
	kind := path.Base(path.Dir(u.Path))
	number, err = strconv.Atoi(path.Base(u.Path))
	return number, kind == "issues", err == nil && number > 0 && (kind == "pull" || kind == "issues")
}

// graphQLAddress returns the address of the GraphQL API. A GitHub Enterprise Server has its REST API at
// /api/v3/. Source: https://docs.github.com/en/enterprise-server/graphql/guides/managing-enterprise-accounts
func graphQLAddress(api *url.URL) string {
	at := *api
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	return at.String()
}
