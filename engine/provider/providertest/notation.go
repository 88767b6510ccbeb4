package providertest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/schema"
)

// traits are the properties of an attribute that its schema does not have.
type traits struct {
	replace bool   // a change needs a new object
	keep    bool   // the computed value does not change
	place   bool   // objects with the same ID are different if this attribute differs
	was     string // the name in older states
	// identity is "required" or "optional" (for an import) if the attribute belongs to the identity;
	// otherwise "".
	identity string
}

// parser reads the notation of [New].
type parser struct {
	p     *Provider
	lines [][]string // the words of each line
	at    int
}

func parse(text string) (*Provider, error) {
	ps := &parser{p: &Provider{
		declared: &schema.Provider{
			Provider:          &schema.Schema{Block: &schema.Block{}},
			Managed:           map[string]*schema.Schema{},
			Data:              map[string]*schema.Schema{},
			Ephemeral:         map[string]*schema.Schema{},
			List:              map[string]*schema.Schema{},
			Actions:           map[string]*schema.Schema{},
			Functions:         map[string]*schema.Function{},
			MoveResourceState: true,
			SchemaOptional:    true,
		},
		traits:   map[string]map[string]traits{},
		objects:  map[objectKey]object{},
		ids:      map[objectKey]bool{},
		stopping: make(chan struct{}),
	}}
	for _, line := range strings.Split(text, "\n") {
		ps.lines = append(ps.lines, words(line))
	}
	for ps.at < len(ps.lines) {
		n := ps.at + 1
		if err := ps.section(); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n, strings.Join(ps.lines[n-1], " "), err)
		}
	}
	ps.p.described = len(ps.p.rules)
	return ps.p, nil
}

// section reads one line without indentation and the indented lines below it.
func (ps *parser) section() error {
	w := ps.lines[ps.at]
	ps.at++
	if len(w) == 0 {
		return nil
	}
	var name string
	if len(w) > 1 {
		name = w[1]
	}
	d := ps.p.declared
	switch w[0] {
	case "provider":
		for _, flag := range w[1:] {
			switch flag {
			case "legacy":
				ps.p.legacy = true
			case "plan_destroy":
				d.PlanDestroy = true
			case "unmovable":
				d.MoveResourceState = false
			default:
				return fmt.Errorf("unknown word %q", flag)
			}
		}
		return ps.schema(d.Provider, nil, nil)
	case "meta":
		d.Meta = &schema.Schema{}
		return ps.schema(d.Meta, nil, nil)
	case "resource":
		d.Managed[name] = &schema.Schema{}
		ps.p.traits[name] = map[string]traits{}
		return ps.schema(d.Managed[name], w[2:], ps.p.traits[name])
	case "data":
		d.Data[name] = &schema.Schema{}
		return ps.schema(d.Data[name], w[2:], nil)
	case "ephemeral":
		d.Ephemeral[name] = &schema.Schema{}
		return ps.schema(d.Ephemeral[name], w[2:], nil)
	case "list":
		d.List[name] = &schema.Schema{}
		return ps.schema(d.List[name], w[2:], nil)
	case "action":
		d.Actions[name] = &schema.Schema{}
		return ps.schema(d.Actions[name], w[2:], nil)
	case "function":
		return ps.function(strings.Join(w[1:], " "))
	case "on":
		r, err := parseRule(w[1:])
		ps.p.rules = append(ps.p.rules, r)
		return err
	}
	return fmt.Errorf("unknown word %q", w[0])
}

// sections are the words that begin a section, and so end a body without braces.
var sections = map[string]bool{
	"provider": true, "meta": true, "resource": true, "data": true, "ephemeral": true, "list": true, "action": true, "function": true, "on": true,
}

func (ps *parser) schema(s *schema.Schema, flags []string, traits map[string]traits) error {
	identity := &schema.Identity{Attributes: map[string]*schema.IdentityAttribute{}}
	for _, flag := range flags {
		word, text, _ := strings.Cut(flag, "=")
		version, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil && word == "version":
			s.Version = version
		case err == nil && word == "identity":
			identity.Version = version
		default:
			return fmt.Errorf("unknown word %q", flag)
		}
	}
	var err error
	if s.Block, err = ps.body(traits); err != nil {
		return err
	}
	for name, t := range traits {
		if t.identity != "" {
			s.Identity = identity
			identity.Attributes[name] = &schema.IdentityAttribute{
				Type: s.Block.Attributes[name].Type, RequiredForImport: t.identity == "required", OptionalForImport: t.identity == "optional",
			}
		}
	}
	return nil
}

// body reads attributes and blocks up to a closing brace or the next section.
func (ps *parser) body(traits map[string]traits) (*schema.Block, error) {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{}, Blocks: map[string]*schema.NestedBlock{}}
	for ; ps.at < len(ps.lines); ps.at++ {
		w := ps.lines[ps.at]
		if len(w) == 0 {
			continue
		}
		if w[0] == "}" {
			return b, nil
		}
		if len(w) < 2 || sections[w[0]] && !knownKind(w[1]) {
			return b, nil
		}
		if err := ps.member(b, w, traits); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(w, " "), err)
		}
	}
	return b, nil
}

// knownKind reports whether a word begins a section. It distinguishes a section from an attribute of the same
// name.
func knownKind(word string) bool {
	_, err := parseType(word)
	return err == nil || strings.HasPrefix(word, "block(") || strings.HasPrefix(word, "nested(")
}

// member reads one attribute or block. Afterwards ps.at is at the last line of the attribute or block.
func (ps *parser) member(b *schema.Block, w []string, all map[string]traits) error {
	name, kind, flags := w[0], w[1], w[2:]
	opens := len(flags) > 0 && flags[len(flags)-1] == "{"
	var inner *schema.Block
	if opens {
		flags = flags[:len(flags)-1]
		ps.at++
		var err error
		if inner, err = ps.body(nil); err != nil {
			return err
		}
	}
	if nesting, ok := within(kind, "block"); ok {
		nb := &schema.NestedBlock{Block: inner, Nesting: nesting}
		b.Blocks[name] = nb
		return blockFlags(nb, flags, name, all)
	}
	a := &schema.Attribute{}
	b.Attributes[name] = a
	if nesting, ok := within(kind, "nested"); ok {
		a.Nested = &schema.Object{Attributes: inner.Attributes, Nesting: nesting}
	} else {
		ty, err := parseType(kind)
		if err != nil {
			return err
		}
		a.Type = ty
	}
	return attributeFlags(a, flags, name, all)
}

var nestings = map[string]schema.Nesting{
	"single": schema.NestingSingle, "group": schema.NestingGroup, "list": schema.NestingList,
	"set": schema.NestingSet, "map": schema.NestingMap,
}

// within returns the nesting in "WORD(NESTING)", such as "block(list)". The result is false if kind has another
// form.
func within(kind, word string) (schema.Nesting, bool) {
	rest, ok := strings.CutPrefix(kind, word+"(")
	n := nestings[strings.TrimSuffix(rest, ")")]
	return n, ok && n != schema.NestingInvalid
}

func blockFlags(nb *schema.NestedBlock, flags []string, name string, all map[string]traits) error {
	for _, flag := range flags {
		key, value, _ := strings.Cut(flag, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "min":
			nb.MinItems = n
		case "max":
			nb.MaxItems = n
		case "replace":
			if all == nil {
				return fmt.Errorf("%q is for what is directly in a resource", flag)
			}
			all[name] = traits{replace: true}
		default:
			return fmt.Errorf("unknown word %q", flag)
		}
	}
	return nil
}

func attributeFlags(a *schema.Attribute, flags []string, name string, all map[string]traits) error {
	var t traits
	for _, flag := range flags {
		key, value, _ := strings.Cut(flag, "=")
		switch key {
		case "required":
			a.Required = true
		case "optional":
			a.Optional = true
		case "computed":
			a.Computed = true
		case "sensitive":
			a.Sensitive = true
		case "writeonly":
			a.WriteOnly = true
		case "deprecated":
			a.Deprecated, a.Instead = true, value
		case "replace":
			t.replace = true
		case "keep":
			t.keep = true
		case "place":
			t.place = true
		case "was":
			t.was = value
		case "identity":
			t.identity = cmp.Or(value, "required")
		default:
			return fmt.Errorf("unknown word %q", flag)
		}
	}
	switch {
	case all != nil:
		all[name] = t
	case t != traits{}:
		return fmt.Errorf("replace, keep, place, was and identity are for what is directly in a resource")
	}
	return nil
}

// function reads a declaration such as "greet(who string, more... string) string".
func (ps *parser) function(text string) error {
	name, rest, ok := strings.Cut(text, "(")
	params, result, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		return fmt.Errorf("want NAME(PARAMETER TYPE, ...) TYPE")
	}
	f := &schema.Function{}
	var err error
	if f.Return, err = parseType(strings.TrimSpace(result)); err != nil {
		return err
	}
	for _, param := range strings.FieldsFunc(params, func(r rune) bool { return r == ',' }) {
		pname, kind, _ := strings.Cut(strings.TrimSpace(param), " ")
		ty, err := parseType(strings.TrimSpace(kind))
		if err != nil {
			return err
		}
		if base, variadic := strings.CutSuffix(pname, "..."); variadic {
			f.Variadic = &schema.Parameter{Name: base, Type: ty}
		} else {
			f.Parameters = append(f.Parameters, schema.Parameter{Name: pname, Type: ty})
		}
	}
	ps.p.declared.Functions[name] = f
	return nil
}

func parseType(text string) (cty.Type, error) {
	expr, hs := hclsyntax.ParseExpression([]byte(text), "type", hcl.InitialPos)
	if hs.HasErrors() {
		return cty.NilType, hs
	}
	ty, hs := typeexpr.TypeConstraint(expr)
	if hs.HasErrors() {
		return cty.NilType, hs
	}
	return ty, nil
}

// words splits a line at spaces outside of brackets and quotes; "#" begins a comment.
func words(line string) []string {
	var out []string
	word, depth, quoted := "", 0, false
	for _, r := range line + " " {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '#' && word == "":
			return out
		case r == '(' || r == '[' || r == '{' && word != "":
			depth++
		case r == ')' || r == ']' || r == '}' && depth > 0:
			depth--
		case r == ' ' || r == '\t':
			if depth > 0 {
				break
			}
			if word != "" {
				out = append(out, word)
			}
			word = ""
			continue
		}
		word += string(r)
	}
	return out
}
