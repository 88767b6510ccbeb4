package cliconfig

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// CLI configuration files are written in HCL 1, of which HCL 2 accepts only a part:
// there keys may be quoted anywhere (`dev_overrides { "hashicorp/aws" = "/dir" }`),
// a block may be assigned, and `${HOME}` in a string is nothing but text. So the
// tokens are HCL 2's, and the grammar is this:
//
//	body  = { key { key } ( "=" value | "{" body "}" ) [ "," ] }
//	key   = identifier | string
//	value = string | number | "true" | "false" | "[" { value [ "," ] } "]" | "{" body "}"

// An item is `KEY LABEL... { BODY }` or `KEY = VALUE`.
type item struct {
	key      string
	labels   []string
	assigned bool // written with an equals sign (or in JSON)
	value    value
	place    hcl.Range // of the key
}

// A value is a text, a flag, a list or a body: exactly one of the fields is set.
type value struct {
	kind  kind
	text  string // of a string or number
	flag  bool
	list  []value
	body  []item
	place hcl.Range
}

type kind string

const (
	textKind   kind = "a string"
	numberKind kind = "a number"
	flagKind   kind = "true or false"
	listKind   kind = "a list"
	bodyKind   kind = "a block"
)

// maxDepth limits the nesting of blocks and lists. Real files have four levels.
const maxDepth = 50

type parser struct {
	src    []byte
	tokens hclsyntax.Tokens
	at     int
	depth  int
	ds     diags.Diagnostics
}

// parseHCL reads a file's items. With a syntax error, it returns the items before the error.
func parseHCL(src []byte, name string) ([]item, diags.Diagnostics) {
	tokens, hds := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if hds.HasErrors() {
		return nil, diags.FromHCL(hds)
	}
	p := &parser{src: src}
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			// Line ends have no meaning in this grammar.
		default:
			p.tokens = append(p.tokens, t)
		}
	}
	items := p.body(hclsyntax.TokenEOF)
	return items, p.ds
}

func (p *parser) peek() hclsyntax.Token { return p.tokens[p.at] }

// next returns the next token and moves on. At the end it always returns TokenEOF.
func (p *parser) next() hclsyntax.Token {
	t := p.tokens[p.at]
	if t.Type != hclsyntax.TokenEOF {
		p.at++
	}
	return t
}

func (p *parser) fail(t hclsyntax.Token, detail string) {
	if p.ds == nil { // errors after the first one are mostly caused by it
		if last := len(p.tokens) - 2; t.Type == hclsyntax.TokenEOF && last >= 0 {
			t = p.tokens[last] // there is nothing to see at the end of a file
		}
		p.ds = diags.Errorf(t.Range.Ptr(), "Invalid CLI configuration", "%s", detail)
	}
	p.at = len(p.tokens) - 1
}

// body reads items up to a token of the type end. It also reads this token.
func (p *parser) body(end hclsyntax.TokenType) (items []item) {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "The nesting is too deep.")
	}
	defer func() { p.depth-- }()
	for p.peek().Type != end {
		if p.peek().Type == hclsyntax.TokenEOF {
			p.fail(p.peek(), "The file ends within a block: a closing brace is missing.")
			return items
		}
		it, ok := p.item()
		if !ok {
			return items
		}
		items = append(items, it)
		if p.peek().Type == hclsyntax.TokenComma {
			p.next()
		}
	}
	p.next()
	return items
}

func (p *parser) item() (it item, ok bool) {
	it.place = p.peek().Range
	for first := true; ; first = false {
		start := p.at
		switch t := p.next(); t.Type {
		case hclsyntax.TokenIdent, hclsyntax.TokenOQuote:
			name := string(t.Bytes)
			if t.Type == hclsyntax.TokenOQuote {
				if name, ok = p.quoted(t); !ok {
					return it, false
				}
			}
			if first {
				it.key = name
			} else {
				it.labels = append(it.labels, name)
			}
			continue
		case hclsyntax.TokenEqual:
			if !first {
				it.assigned = true
				it.value, ok = p.value()
				return it, ok
			}
		case hclsyntax.TokenOBrace:
			if !first {
				it.value = value{kind: bodyKind, place: t.Range, body: p.body(hclsyntax.TokenCBrace)}
				return it, p.ds == nil
			}
		}
		p.at = start
		if first {
			p.fail(p.peek(), "The name of an argument or a block is required here.")
		} else {
			p.fail(p.peek(), "An equals sign or a block is required here.")
		}
		return it, false
	}
}

func (p *parser) value() (v value, ok bool) {
	t := p.next()
	v.place = t.Range
	switch {
	case t.Type == hclsyntax.TokenOQuote:
		v.kind = textKind
		v.text, ok = p.quoted(t)
		return v, ok
	case t.Type == hclsyntax.TokenNumberLit:
		v.kind, v.text = numberKind, string(t.Bytes)
	case t.Type == hclsyntax.TokenIdent && (string(t.Bytes) == "true" || string(t.Bytes) == "false"):
		v.kind, v.flag = flagKind, string(t.Bytes) == "true"
	case t.Type == hclsyntax.TokenOBrace:
		v.kind, v.body = bodyKind, p.body(hclsyntax.TokenCBrace)
	case t.Type == hclsyntax.TokenOBrack:
		v.kind, v.list = listKind, p.list()
	default:
		p.fail(t, "A value in quotes, a number, true, false, a list or an object is required here.")
	}
	return v, p.ds == nil
}

func (p *parser) list() (list []value) {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "The nesting is too deep.")
	}
	defer func() { p.depth-- }()
	for p.peek().Type != hclsyntax.TokenCBrack {
		v, ok := p.value()
		if !ok {
			return list
		}
		list = append(list, v)
		if p.peek().Type == hclsyntax.TokenComma {
			p.next()
		}
	}
	p.next()
	return list
}

// quoted reads the rest of a string after its opening quote, and returns its text; false after an error. HCL
// 2's template sequences are plain text here.
func (p *parser) quoted(open hclsyntax.Token) (string, bool) {
	for depth := 1; ; {
		t := p.next()
		switch t.Type {
		case hclsyntax.TokenOQuote:
			depth++
		case hclsyntax.TokenCQuote:
			depth--
		case hclsyntax.TokenEOF:
			p.fail(open, "This string has no end.")
			return "", false
		}
		if depth == 0 {
			s, ok := unquote(string(p.src[open.Range.End.Byte:t.Range.Start.Byte]))
			if !ok {
				p.fail(open, "This string has an escape sequence that does not exist.")
			}
			return s, ok
		}
	}
}

// unquote replaces the escape sequences of HCL 1 outside of `${...}`. The result is false if an escape
// sequence is not valid.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for s != "" {
		if strings.HasPrefix(s, "${") {
			end := strings.IndexByte(s, '}') + 1
			if end == 0 {
				end = len(s)
			}
			b.WriteString(s[:end])
			s = s[end:]
			continue
		}
		if s[0] != '\\' {
			_, size := utf8.DecodeRuneInString(s)
			b.WriteString(s[:size])
			s = s[size:]
			continue
		}
		r, _, rest, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			return "", false
		}
		b.WriteRune(r)
		s = rest
	}
	return b.String(), true
}

// plain returns v in the form to which encoding/json decodes.
func (v value) plain() any {
	switch v.kind {
	case numberKind:
		n, _ := strconv.ParseFloat(v.text, 64)
		return n
	case flagKind:
		return v.flag
	case listKind:
		list := []any{}
		for _, element := range v.list {
			list = append(list, element.plain())
		}
		return list
	case bodyKind:
		object := map[string]any{}
		for _, it := range v.body {
			object[it.key] = it.value.plain()
		}
		return object
	}
	return v.text
}
