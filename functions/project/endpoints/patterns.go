package endpoints

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Patterns are ARNs in which each * stands for any text. If there are no patterns, no ARN matches.
type Patterns []*regexp.Regexp

// ParsePatterns parses patterns of ARNs of a service ("lambda" or "secretsmanager"), separated by commas.
func ParsePatterns(service, text string) (Patterns, error) {
	out := Patterns{}
	for p := range strings.SplitSeq(text, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if parts := strings.SplitN(p, ":", 6); len(parts) < 6 || parts[0] != "arn" || parts[2] != service || parts[4] == "" {
			return nil, fmt.Errorf("%q is no pattern of ARNs that begins with arn:aws:%s:REGION:ACCOUNT:", p, service)
		}
		out = append(out, regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*")+"$"))
	}
	return out, nil
}

// Match reports whether one of the patterns matches an ARN.
func (all Patterns) Match(arn string) bool {
	return slices.ContainsFunc(all, func(p *regexp.Regexp) bool { return p.MatchString(arn) })
}
