package parsing

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A textKind says which of HCL's scanners reads a text.
type textKind byte

const (
	fileText       textKind = 'f'
	expressionText textKind = 'e'
	templateText   textKind = 't'
)

// level is the weight of one level of nesting. A binary operator weighs only 1: the parser handles a chain of
// them in a loop. But their tree is as deep as the chain is long, and code that visits the tree is recursive.
const level = 10

// depthOf returns an error at the place where a text is nested too deep; nil if it is not.
func depthOf(src []byte, name string, start hcl.Pos, kind textKind, limit int) *hcl.Diagnostic {
	if atMost(src) <= limit*level {
		return nil
	}
	// Scan the first part of the text before larger parts: a text made to exhaust the machine is mostly
	// refused early, with little work and memory.
	for n := firstPiece; ; n *= 4 {
		tokens := lex(src[:min(n, len(src))], name, start, kind)
		if n < len(src) {
			tokens = tokens[:max(len(tokens)-3, 0)] // cut off in the middle of something, perhaps
		}
		if at, deep := nativeDepth(tokens, kind, limit*level); deep {
			return tooDeep(at, limit)
		}
		if n >= len(src) {
			return nil
		}
	}
}

// firstPiece is the size in bytes of the part that is scanned first.
const firstPiece = 64 << 10

func lex(src []byte, name string, start hcl.Pos, kind textKind) hclsyntax.Tokens {
	var tokens hclsyntax.Tokens
	switch kind {
	case fileText:
		tokens, _ = hclsyntax.LexConfig(src, name, start)
	case expressionText:
		tokens, _ = hclsyntax.LexExpression(src, name, start)
	case templateText:
		tokens, _ = hclsyntax.LexTemplate(src, name, start)
	}
	return tokens
}

func tooDeep(at hcl.Range, limit int) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Nested too deep", Subject: &at,
		Detail: fmt.Sprintf("Here blocks, brackets, templates or operators are nested in each other more than %d levels deep, which is the limit. Move inner parts to local values, or check the generator of this file.", limit),
	}
}

// atMost returns a weight that no nesting in src exceeds. It only sums up the weights of bytes, which is fast:
// most texts are too small to be nested too deep. A quote has no weight of its own: a nested template is always
// inside a "${...}", so the weight of a brace includes the quote. A square bracket has the weight of two levels,
// since an index is a level, too.
func atMost(src []byte) int {
	n := 2 * level
	for _, b := range src {
		n += int(weights[b])
	}
	return n
}

var weights = [256]byte{
	'{': 3 * level, '[': 2 * level, '(': level, '?': level, '!': level, '-': level,
	'+': 1, '*': 1, '/': 1, '%': 1, '&': 1, '|': 1, '<': 1, '>': 1, '=': 1,
}

// A frame is an open bracket, block or template.
type frame struct {
	closer   hclsyntax.TokenType
	newlines bool // newlines end an expression, as commas do
	fresh    bool // the frame is still empty
	chain    int  // weight of the conditionals, binary operators and directives of the present expression
	term     int  // weight of the unary operators and indices of the last operand
}

// nativeDepth scans the tokens of a text. It keeps a stack of open brackets, and for each bracket the
// operators of its present expression. A comma ends an expression, and so does a newline where the parser
// obeys newlines. A closing bracket of the wrong kind closes nothing here, so a text with mistakes may count
// as deeper than it is.
func nativeDepth(tokens hclsyntax.Tokens, kind textKind, limit int) (hcl.Range, bool) {
	s := depthScan{stack: []frame{{newlines: kind == fileText}}}
	for i, t := range tokens {
		s.token(tokens, i)
		if s.depth > limit {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

type depthScan struct {
	stack   []frame
	depth   int  // weight of all frames and what is in them
	operand bool // the last token may end an operand
}

func (s *depthScan) token(tokens hclsyntax.Tokens, i int) {
	t := tokens[i]
	top := &s.stack[len(s.stack)-1]
	operand := false
	switch t.Type {
	case hclsyntax.TokenComment, hclsyntax.TokenNewline:
		if top.endsWith(t) {
			s.reset(top)
		}
		return
	case hclsyntax.TokenComma:
		s.reset(top)
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
		s.open(t.Type)
	case hclsyntax.TokenTemplateControl:
		s.directive(top, tokens[i+1:])
		s.open(t.Type)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		s.close(t.Type)
		operand = true
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit:
		if top.isLoop(t) {
			top.newlines = false
		}
		operand = true
	case hclsyntax.TokenQuestion:
		s.operator(top, level)
	case hclsyntax.TokenMinus, hclsyntax.TokenBang:
		if s.operand && t.Type == hclsyntax.TokenMinus {
			s.operator(top, 1)
		} else {
			s.add(&top.term, level)
		}
	case hclsyntax.TokenStar, hclsyntax.TokenPlus, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr:
		s.operator(top, 1)
	}
	s.operand = operand
	s.stack[len(s.stack)-1].fresh = t.Type == hclsyntax.TokenOBrace
}

// endsWith reports whether the end of a line ends an expression in the frame.
func (f *frame) endsWith(line hclsyntax.Token) bool {
	return line.Bytes[len(line.Bytes)-1] == '\n' && f.newlines && !f.fresh
}

// isLoop reports whether the first word in the frame begins a for expression.
func (f *frame) isLoop(first hclsyntax.Token) bool {
	return f.fresh && f.closer == hclsyntax.TokenCBrace && string(first.Bytes) == "for"
}

// closers are the closing brackets, by opening bracket.
var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOBrace: hclsyntax.TokenCBrace, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack,
	hclsyntax.TokenOParen: hclsyntax.TokenCParen, hclsyntax.TokenOQuote: hclsyntax.TokenCQuote,
	hclsyntax.TokenOHeredoc:        hclsyntax.TokenCHeredoc,
	hclsyntax.TokenTemplateInterp:  hclsyntax.TokenTemplateSeqEnd,
	hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

func (s *depthScan) open(ty hclsyntax.TokenType) {
	s.stack[len(s.stack)-1].fresh = false
	s.stack = append(s.stack, frame{closer: closers[ty], newlines: ty == hclsyntax.TokenOBrace})
	s.depth += level
}

func (s *depthScan) close(ty hclsyntax.TokenType) {
	top := &s.stack[len(s.stack)-1]
	if len(s.stack) == 1 || top.closer != ty {
		return
	}
	s.reset(top)
	s.depth -= level
	s.stack = s.stack[:len(s.stack)-1]
	if ty == hclsyntax.TokenCBrack { // perhaps an index
		s.add(&s.stack[len(s.stack)-1].term, level)
	}
}

// directive counts the template directives that nest. An end directive ends the last open directive, even one
// of another kind.
func (s *depthScan) directive(top *frame, next hclsyntax.Tokens) {
	if len(next) == 0 || next[0].Type != hclsyntax.TokenIdent {
		return
	}
	switch string(next[0].Bytes) {
	case "if", "for":
		s.add(&top.chain, level)
	case "endif", "endfor":
		if top.chain >= level {
			s.add(&top.chain, -level)
		}
	}
}

// operator counts an operator that follows an operand.
func (s *depthScan) operator(top *frame, weight int) {
	s.add(&top.term, -top.term)
	s.add(&top.chain, weight)
}

func (s *depthScan) reset(f *frame) {
	s.depth -= f.chain + f.term
	f.chain, f.term = 0, 0
}

func (s *depthScan) add(to *int, weight int) {
	*to += weight
	s.depth += weight
}
