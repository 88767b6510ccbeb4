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

// pullOfPage reads the number of a pull request from the web address of a comment. ok is false if the comment
// is on an issue. GitHub's lists of comments distinguish the two only by this address.
func pullOfPage(page string) (number int, ok bool) {
	u, err := url.Parse(page)
	if err != nil || path.Base(path.Dir(u.Path)) != "pull" {
		return 0, false
	}
	number, err = strconv.Atoi(path.Base(u.Path))
	return number, err == nil && number > 0
}

// graphQLAddress returns the address of the GraphQL API. A GitHub Enterprise Server has its REST API at
// /api/v3/. Source: https://docs.github.com/en/enterprise-server/graphql/guides/managing-enterprise-accounts
func graphQLAddress(api *url.URL) string {
	at := *api
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	return at.String()
}
