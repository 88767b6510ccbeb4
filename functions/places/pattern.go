package places

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// A Pattern allows places of the backend "s3": "s3://bucket/acme/infra/**". The bucket is an exact name, and
// the key is in doublestar's notation.
type Pattern struct{ bucket, key string }

const scheme = "s3://"

// These are the limits of a pattern: its length in bytes, and the number of pairs of braces. Matching tries all
// combinations of the alternatives in braces.
const (
	maxPattern = 1200
	maxBraces  = 4
)

// ParsePattern parses a pattern. The error is a sentence for users, without a full stop.
func ParsePattern(s string) (Pattern, error) {
	rest, ok := strings.CutPrefix(s, scheme)
	bucket, key, both := strings.Cut(rest, "/")
	switch {
	case !ok || !both || key == "" || !bucketPattern.MatchString(bucket):
		return Pattern{}, fmt.Errorf("%q is not a pattern of states: write s3://BUCKET/KEY, with the bucket's own name, and * for any name or ** for any names with slashes between in the key", s)
	case len(s) > maxPattern || strings.Count(key, "{") > maxBraces:
		return Pattern{}, fmt.Errorf("a pattern of states has at most %d bytes, and %d braces: write several patterns instead", maxPattern, maxBraces)
	case !utf8.ValidString(key) || !doublestar.ValidatePattern(key):
		return Pattern{}, fmt.Errorf("%q is not a pattern of states: in the key * stands for any name, ** for any names with slashes between, {a,b} for either", s)
	}
	return Pattern{bucket, key}, nil
}

// String returns the pattern as it is written.
func (p Pattern) String() string { return scheme + p.bucket + "/" + p.key }

// Matches reports whether the pattern allows a place.
func (p Pattern) Matches(x Place) bool {
	return p.key != "" && x.Backend == "s3" && x.Bucket == p.bucket && doublestar.MatchUnvalidated(p.key, x.Key)
}

// Own are patterns of the places that every repository may use. In "s3://states/{owner}/{name}/**", {owner} and
// {name} are the owner and the name of the repository. {id} is the ID of the repository. Another repository can
// get the same name later, but never the same ID.
type Own []string

// ParseOwn parses patterns separated by spaces or commas. The error is a sentence for users, without a full
// stop.
func ParseOwn(s string) (Own, error) {
	own := Own(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }))
	for _, x := range own {
		if !strings.Contains(x, "{name}") && !strings.Contains(x, "{id}") {
			return nil, fmt.Errorf("the pattern %q is the same for all repositories: it needs {owner}/{name} or {id}, so that each has its own", x)
		}
		if strings.Contains(x, "{name}") && !strings.Contains(x, "{owner}") && !strings.Contains(x, "{id}") {
			return nil, fmt.Errorf("the pattern %q is the same for repositories of one name: it also needs {owner} or {id}", x)
		}
		if _, err := ParsePattern(expand(x, "o", "n", 1)); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// Of returns the patterns for one repository. The repository's owner, name and ID replace the placeholders.
func (o Own) Of(owner, name string, id int64) []Pattern {
	var out []Pattern
	for _, x := range o {
		if p, err := ParsePattern(expand(x, owner, name, id)); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// expand replaces the placeholders in a pattern. Owners and names contain no character with a meaning in
// patterns, because GitHub does not allow them.
func expand(s, owner, name string, id int64) string {
	return strings.NewReplacer("{owner}", owner, "{name}", name, "{id}", strconv.FormatInt(id, 10)).Replace(s)
}
