package templates

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Requests are decisions of IAM as text, one record a line. Resources and values contain the template's names,
// as in Fn::Sub.
//
//	session reads {"Version":...}             the policy of a session
//	PlanRole may sqs:SendMessage on ${Events.Arn} with aws:SecureTransport=true
//	StatePlanRole/reads may not s3:PutObject on arn:aws:s3:::states/a
//
// Several values of a condition key are separated by commas. In a value, a comma, a space and a percent sign
// are escaped as in URLs.
type Requests struct {
	Sessions map[string]string
	Asked    []Decision // with the names of sessions
}

// String returns the text, sorted. Actions with the same resource and context are on one line.
func (r Requests) String() string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Sessions)) {
		fmt.Fprintf(&out, "session %s %s\n", name, r.Sessions[name])
	}
	actions := map[[2]string][]string{}
	for _, d := range r.Asked {
		who, may := d.Who, "may"
		if d.Session != "" {
			who += "/" + d.Session
		}
		if !d.Allowed {
			may = "may not"
		}
		rest := d.Resource
		for i, k := range slices.Sorted(maps.Keys(d.Context)) {
			rest += map[bool]string{true: " with ", false: " "}[i == 0] + k + "=" + strings.Join(escaped(d.Context[k]), ",")
		}
		key := [2]string{who + " " + may, rest}
		if !slices.Contains(actions[key], d.Action) {
			actions[key] = append(actions[key], d.Action)
		}
	}
	var lines []string
	for key, of := range actions {
		slices.Sort(of)
		lines = append(lines, key[0]+" "+strings.Join(of, " ")+" on "+key[1]+"\n")
	}
	slices.Sort(lines)
	out.WriteString(strings.Join(lines, ""))
	return out.String()
}

func escaped(values []string) []string {
	out := slices.Clone(values)
	for i, v := range out {
		out[i] = strings.NewReplacer("%", "%25", " ", "%20", ",", "%2C").Replace(v)
	}
	return out
}

// ReadRequests parses the text. Lines that begin with # are comments.
func ReadRequests(text string) (Requests, error) {
	r := Requests{Sessions: map[string]string{}}
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) == 0 || w[0] == "#":
		case w[0] == "session" && len(w) == 3:
			r.Sessions[w[1]] = w[2]
		default:
			asked, err := r.row(w)
			if err != nil {
				return r, fmt.Errorf("%s: %w", strings.Join(w, " "), err)
			}
			r.Asked = append(r.Asked, asked...)
		}
	}
	return r, nil
}

// row parses a line: WHO[/SESSION] may [not] ACTION... on RESOURCE [with KEY=VALUE[,VALUE]...].
func (r Requests) row(w []string) ([]Decision, error) {
	who, session, narrowed := strings.Cut(w[0], "/")
	on := slices.Index(w, "on")
	if len(w) < 5 || w[1] != "may" || on < 3 || on+2 > len(w) || narrowed && r.Sessions[session] == "" {
		return nil, fmt.Errorf("a row is WHO may ACTION on RESOURCE with KEY=VALUE")
	}
	d := Decision{Who: who, Session: session, Resource: w[on+1], Allowed: w[2] != "not", Context: map[string][]string{}}
	for i, pair := range w[on+2:] {
		k, v, ok := strings.Cut(pair, "=")
		switch {
		case i == 0 && pair == "with":
		case i == 0 || !ok:
			return nil, fmt.Errorf("%s is no key with a value", pair)
		default:
			for _, x := range strings.Split(v, ",") {
				x, err := url.PathUnescape(x)
				if err != nil {
					return nil, err
				}
				d.Context[k] = append(d.Context[k], x)
			}
		}
	}
	var out []Decision
	for _, action := range w[2:on] {
		if d.Action = action; action != "not" {
			out = append(out, d)
		}
	}
	return out, nil
}
