package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A Matrix lists the rights of everybody; everything else is denied. It is text, one record a line;
// indented lines continue the one before.
//
//	parameter StateTable locks                   a parameter of the deployment
//	resource states/a arn:aws:s3:::states/a      a resource outside of the template
//	resource key arn:... delegates               its policy leaves it to the account's policies
//	principal admin arn:...:role/admin may-all   another principal, with all rights in its account
//	context s3:PutObject aes s3:x-amz-server-side-encryption=AES256
//	PlanRole may sqs:SendMessage on Events Plans in tls
//
// A context is the circumstances of a request: for a service or for one action. A row without one
// has the first context of its service, "in *" stands for each. "except" removes actions from a
// pattern. Of the template's own resources, Name is the resource, and Name/a an object in the
// bucket; $Name is its ARN.
type Matrix struct {
	Parameters map[string]string
	Resources  []Thing
	Principals []Somebody
	Contexts   []Context
	Rows       []Row
}

// A Thing is a resource outside of the template.
type Thing struct {
	Name, ARN string
	Delegates bool
}

// Somebody is a principal outside of the template.
type Somebody struct {
	Name, ARN string
	MayAll    bool
}

// A Context is the circumstances of a request. Names are unique.
type Context struct {
	For, Name string // a service or an action
	Keys      map[string]string
}

// A Row is a record of rights.
type Row struct {
	Who, Actions, On, In, Except []string
}

// ReadMatrix reads a matrix.
func ReadMatrix(text string) (*Matrix, error) {
	m := &Matrix{Parameters: map[string]string{}, Contexts: []Context{plain}}
	var records []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, " ") && len(records) > 0:
			records[len(records)-1] += " " + line
		default:
			records = append(records, line)
		}
	}
	for _, r := range records {
		if err := m.read(strings.Fields(r)); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(strings.Fields(r), " "), err)
		}
	}
	return m, nil
}

// plain is the context of services without one.
var plain = Context{"", "plain", map[string]string{"aws:SecureTransport": "true"}}

func (m *Matrix) read(w []string) error {
	switch {
	case len(w) < 3:
		return fmt.Errorf("it says too little")
	case w[0] == "parameter":
		m.Parameters[w[1]] = strings.Join(w[2:], " ")
	case w[0] == "resource":
		m.Resources = append(m.Resources, Thing{w[1], w[2], slices.Contains(w[3:], "delegates")})
	case w[0] == "principal":
		m.Principals = append(m.Principals, Somebody{w[1], w[2], slices.Contains(w[3:], "may-all")})
	case w[0] == "context":
		return m.context(w)
	default:
		return m.row(w)
	}
	return nil
}

func (m *Matrix) context(w []string) error {
	c := Context{w[1], w[2], map[string]string{}}
	for _, pair := range w[3:] {
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%s is no key with a value", pair)
		}
		c.Keys[k] = v
	}
	if slices.ContainsFunc(m.Contexts, func(o Context) bool { return o.Name == c.Name }) {
		return fmt.Errorf("there is a context %s", c.Name)
	}
	m.Contexts = append(m.Contexts, c)
	return nil
}

// row reads WHO... may ACTION... on RESOURCE... [in CONTEXT...] [except ACTION...].
func (m *Matrix) row(w []string) error {
	var r Row
	into := &r.Who
	for _, word := range w {
		switch word {
		case "may":
			into = &r.Actions
		case "on":
			into = &r.On
		case "in":
			into = &r.In
		case "except":
			into = &r.Except
		default:
			*into = append(*into, word)
		}
	}
	if len(r.Who) == 0 || len(r.Actions) == 0 || len(r.On) == 0 {
		return fmt.Errorf("a row is WHO may ACTION on RESOURCE")
	}
	m.Rows = append(m.Rows, r)
	return nil
}

// contextsOf returns the contexts in which an action can be requested.
func (m *Matrix) contextsOf(action string) []Context {
	service, _, _ := strings.Cut(action, ":")
	var out []Context
	for _, c := range m.Contexts {
		if c.For == service || c.For == action {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = []Context{plain}
	}
	return out
}

// want reports whether a row allows a request.
func (m *Matrix) want(a Ask) bool {
	return slices.ContainsFunc(m.Rows, func(r Row) bool { return m.covers(r, a) })
}

func (m *Matrix) covers(r Row, a Ask) bool {
	in := r.In
	if len(in) == 0 {
		in = []string{m.contextsOf(a.Action)[0].Name}
	}
	return slices.Contains(r.Who, a.Who) && slices.Contains(r.On, a.On) && matchesAny(in, a.In) &&
		matchesAny(r.Actions, a.Action) && !matchesAny(r.Except, a.Action)
}

func matchesAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, text) })
}

// matches reports whether a text matches a pattern in which * is any text and ? any character, as in IAM.
func matches(pattern, text string) bool {
	pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	if strings.Contains(pattern, "?") {
		return templates.Like(pattern, text)
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return parts[0] == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, p := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, p)
		ok, rest = ok && found, after
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}
