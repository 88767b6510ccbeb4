package rest

import (
	"encoding/base64"
	"fmt"
	"time"
)

// The addresses of the web pages and of the API, in all answers.
const (
	WebURL = "https://github.example/"
	APIURL = "https://api.github.example/"
)

// An Object is a JSON object. It has every member that GitHub's own description of its API requires. Tests
// with package contract check that.
type Object map[string]any

// URLs adds members with addresses below base: "keys" becomes "keys_url". It may be called once for an object.
// The members are added during encoding.
func (o Object) URLs(base string, names ...string) { o[addresses] = urls{base, names} }

// addresses is the key under which URLs stores its members. No real member has that name.
const addresses = "*_url"

type urls struct {
	base  string
	names []string
}

func (u urls) into(o Object) {
	for _, n := range u.names {
		o[n+"_url"] = u.base + "/" + n
	}
}

// Stamp returns a time as the API writes it.
func Stamp(t time.Time) string { return t.Format(time.RFC3339) }

// NodeID returns the identifier of an object in GitHub's GraphQL API.
func NodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// OrNull returns s, or nil if s is "".
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
