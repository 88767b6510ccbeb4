package project

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxDepth is how deep brackets, quotes and operators may be nested in lockstep.hcl.
// HCL's parser takes about 13 KB of stack a level (measured), and a stack that
// overflows ends the process; the scanner does not recurse.
const maxDepth = 250

// tooDeep returns the place where a file is nested too deep, if it is.
func tooDeep(src []byte, name string) (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	brackets, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			brackets++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			brackets--
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
			operators++ // perhaps one within the other; there is no use for more here
		}
		if brackets+operators > maxDepth {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}
