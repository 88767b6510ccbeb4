package parsing

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// pieceSize is how much source is parsed at a time, in bytes, unless a block is larger. The
// parser first makes a list of all tokens, of about 100 bytes for each 4 bytes of source, in
// a slice that append grows by doubling up to 256 elements and by a quarter from there on:
// pieces that stay just below those 256 throw away the least on the way.
const pieceSize = 880

// maxPiece is the largest piece that is tried, in bytes. A file with larger blocks, or an
// unclosed one, takes hardly longer than as a whole.
const maxPiece = 64 << 10

// inPieces parses a file block after block: the result is that of parsing it as a whole.
// It is here for the memory: of a file of 2,000 resources (0.4 MB) the parser allocates 85 MB
// as a whole, with the tokens of the file all alive at once, and 54 MB in pieces, with the
// tokens of one piece; the time is the same (BenchmarkPieces).
//
// It returns nil for files that it leaves to the parser: one that is hardly more than a
// piece, one with arguments outside of blocks, and every faulty one, for the parser's way
// to recover from an error depends on the text behind it.
//
// A piece ends after a line that begins with a closing brace. That may be inside of
// something, of a here document for example; then the piece is incomplete, which is an
// error, and it is tried again with more of the file, twice as much each time. A complete
// piece is the one that the parser would have found there: it reads from left to right, and
// between two blocks it has nothing to remember.
func inPieces(src []byte, name string) *hcl.File {
	if len(src) < 2*pieceSize {
		return nil
	}
	var file *hcl.File
	var all *hclsyntax.Body
	pos, size := hcl.InitialPos, pieceSize
	for pos.Byte < len(src) {
		end := pieceEnd(src, pos.Byte, size)
		if end-pos.Byte > maxPiece {
			return nil
		}
		f, body, well := piece(src[pos.Byte:end], name, pos)
		switch {
		case !well && end < len(src):
			size = 2 * max(size, end-pos.Byte)
			continue
		case !well || len(body.Attributes) > 0:
			return nil
		case all == nil:
			file, all = f, body
		default:
			all.Blocks = append(all.Blocks, body.Blocks...)
			all.SrcRange = hcl.RangeBetween(all.SrcRange, body.SrcRange)
			all.EndRange = body.EndRange
		}
		pos.Line += bytes.Count(src[pos.Byte:end], []byte("\n"))
		pos.Byte, size = end, pieceSize
	}
	if file != nil {
		file.Bytes = src // its Nav, which finds the block around an offset, looks at the body, now the whole one
	}
	return file
}

// piece parses a piece that begins at pos; it may turn out to be none.
func piece(src []byte, name string, pos hcl.Pos) (*hcl.File, *hclsyntax.Body, bool) {
	if depthOf(src, name, pos, fileText, MaxDepth) != nil {
		return nil, nil, false
	}
	f, ds := hclsyntax.ParseConfig(src, name, pos)
	body, ok := f.Body.(*hclsyntax.Body)
	return f, body, ok && len(ds) == 0
}

// pieceEnd returns where a piece ends that begins at start: after the last block that is
// over within size bytes, or else after the first one.
func pieceEnd(src []byte, start, size int) int {
	end := blockEnd(src, start)
	for end-start < size && end < len(src) {
		next := blockEnd(src, end)
		if next-start > size {
			break
		}
		end = next
	}
	return end
}

// blockEnd returns the end of the first line that begins with a closing brace and has
// nothing else, at or after from; otherwise the end of the source.
func blockEnd(src []byte, from int) int {
	for from < len(src) {
		i := bytes.Index(src[from:], []byte("\n}"))
		if i < 0 {
			break
		}
		from += i + len("\n}")
		rest := bytes.TrimPrefix(src[from:], []byte("\r"))
		// The parser skips a byte order mark where it begins.
		if bytes.HasPrefix(rest, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\n\xef\xbb\xbf")) {
			return len(src) - len(rest) + len("\n")
		}
	}
	return len(src)
}
