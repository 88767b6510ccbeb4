// Package addressing has the addresses of GitHub's API that stay with a repository when its name changes. It refuses to know
// who asks. Start at [ByID].
package addressing

import (
	"fmt"
	"net/url"
	"strings"
)

// ByID returns an address below that of the API, api, with the ID of the repository in the place of its name; one that is not
// about a repository stays. A name may be another repository's by the time of the request: GitHub leads requests about a
// former name to this address, as long as nobody has made a repository of that name. The links between its pages have this form, too.
//
// Sources: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers,
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func ByID(api, at *url.URL, id int64) *url.URL {
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
