package rest

import (
	"encoding/base64"
	"fmt"
	"time"
)

// Where the API and the pages for people are, in all the addresses of answers.
const (
	WebURL = "https://github.example/"
	APIURL = "https://api.github.example/"
)

// An Object is one of JSON. It has every member that GitHub's own description of its API
// requires, which the package contract checks.
type Object map[string]any

// URLs adds members that are addresses below base: "keys" becomes "keys_url". They are added once an object, and are
// there when it is encoded.
func (o Object) URLs(base string, names ...string) { o[addresses] = urls{base, names} }

// addresses is the name of what URLs adds, which no member has.
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

// NodeID returns the identifier of an object in GitHub's other, GraphQL API.
func NodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// OrNull returns nil for "".
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
