package authoring

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// normalizeBody replaces outdated syntax in the body of a block:
//   - `"${a}"`, where the whole string is one interpolation, becomes `a`.
//   - In variables, outdated types such as "list" get their present form.
//   - Labels get quotes.
//
// within are the types of the blocks around the body, outermost first.
func normalizeBody(body *hclwrite.Body, within []string) {
	for name, attr := range body.Attributes() {
		was := attr.Expr().BuildTokens(nil)
		is := unwrapped(was)
		if name == "type" && len(within) == 1 && within[0] == "variable" {
			is = typeExpression(was)
		}
		if !slices.Equal(was, is) {
			body.SetAttributeRaw(name, is)
		}
	}
	for _, b := range body.Blocks() {
		if labels := b.Labels(); len(labels) > 0 {
			b.SetLabels(labels)
		}
		normalizeBody(b.Body(), append(slices.Clip(within), b.Type()))
	}
}

// unwrapped returns the expression inside `"${...}"`, if the tokens are a string with only this interpolation.
// Otherwise it returns the tokens unchanged. An expression of several lines gets parentheses. The tokens also
// stay unchanged if the expression contains a comment that ends with its line.
func unwrapped(tokens hclwrite.Tokens) hclwrite.Tokens {
	inner, ok := interpolated(tokens)
	inner = trimNewlines(inner)
	switch {
	case !ok || len(inner) == 0:
		return tokens
	case !slices.ContainsFunc(inner, isNewline) || enclosed(inner):
		return slices.Clone(inner)
	}
	out := hclwrite.Tokens{{Type: hclsyntax.TokenOParen, Bytes: []byte("(")}}
	out = append(out, inner...)
	return append(out, &hclwrite.Token{Type: hclsyntax.TokenCParen, Bytes: []byte(")")})
}

// interpolated returns the tokens between `"${` and `}"` of a quoted template. ok is false if the template is
// more than one interpolation, or if the tokens contain a comment that ends with its line.
func interpolated(tokens hclwrite.Tokens) (inner hclwrite.Tokens, ok bool) {
	n := len(tokens)
	if n < 5 || tokens[0].Type != hclsyntax.TokenOQuote || tokens[1].Type != hclsyntax.TokenTemplateInterp ||
		tokens[n-2].Type != hclsyntax.TokenTemplateSeqEnd || tokens[n-1].Type != hclsyntax.TokenCQuote {
		return nil, false
	}
	depth := 0
	for i, t := range tokens[1 : n-2] {
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
		case hclsyntax.TokenComment:
			if bytes.HasSuffix(t.Bytes, []byte("\n")) {
				return nil, false
			}
		}
		if depth == 0 && i < n-3 {
			return nil, false // the template has more parts
		}
	}
	return tokens[2 : n-2], true
}

func isNewline(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline }

func trimNewlines(tokens hclwrite.Tokens) hclwrite.Tokens {
	for len(tokens) > 0 && isNewline(tokens[0]) {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && isNewline(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// enclosed reports whether one pair of parentheses encloses all tokens.
func enclosed(tokens hclwrite.Tokens) bool {
	depth := 0
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOParen:
			depth++
		case hclsyntax.TokenCParen:
			depth--
		}
		if depth == 0 {
			return i > 0 && i == len(tokens)-1
		}
	}
	return false
}

// quotedTypes and shortTypes are the type constraints of Terraform 0.11. quotedTypes maps a type in quotes to
// its present form: "list" to list(string). shortTypes are the types without an element type: list becomes
// list(any).
var (
	quotedTypes = map[string][]string{"string": {"string"}, "list": {"list", "string"}, "map": {"map", "string"}}
	shortTypes  = map[string]bool{"list": true, "map": true, "set": true}
)

// typeExpression reads an outdated type constraint from the tokens, and returns the tokens of its present
// form.
func typeExpression(tokens hclwrite.Tokens) hclwrite.Tokens {
	if len(tokens) == 3 && tokens[0].Type == hclsyntax.TokenOQuote && tokens[1].Type == hclsyntax.TokenQuotedLit && tokens[2].Type == hclsyntax.TokenCQuote {
		if words := quotedTypes[string(tokens[1].Bytes)]; words != nil {
			return typeCall(words...)
		}
		return tokens
	}
	at := -1
	for i, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenComment:
		case t.Type == hclsyntax.TokenIdent && at < 0 && shortTypes[string(t.Bytes)]:
			at = i
		default:
			return tokens
		}
	}
	if at < 0 {
		return tokens
	}
	return slices.Concat(tokens[:at], typeCall(string(tokens[at].Bytes), "any"), tokens[at+1:])
}

// typeCall returns the tokens of a type constraint: `a` for one word, `a(b)` for two words.
func typeCall(words ...string) hclwrite.Tokens {
	ident := func(s string) *hclwrite.Token {
		return &hclwrite.Token{Type: hclsyntax.TokenIdent, Bytes: []byte(s)}
	}
	out := hclwrite.Tokens{ident(words[0])}
	if len(words) > 1 {
		out = append(out, &hclwrite.Token{Type: hclsyntax.TokenOParen, Bytes: []byte("(")}, ident(words[1]),
			&hclwrite.Token{Type: hclsyntax.TokenCParen, Bytes: []byte(")")})
	}
	return out
}
