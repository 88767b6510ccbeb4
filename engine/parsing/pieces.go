package parsing

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// pieceSize is the size of a piece of source that is parsed at a time, in bytes; a piece with a larger block
// is larger. The parser first makes a slice of all tokens, with about 100 bytes for each 4 bytes of source.
// append doubles the slice up to 256 elements, and then adds a quarter each time. Pieces of slightly less
// than 256 tokens waste the least memory.
const pieceSize = 880

// maxPiece is the largest piece that is tried, in bytes. A file with a larger block, or an unclosed one, is
// then parsed as a whole, at hardly any extra cost.
const maxPiece = 64 << 10

// inPieces parses a file block after block. The result is the same as for the whole file. It saves memory.
// Take a file of 2,000 resources (0.4 MB): to parse it at once, the parser allocates 85 MB, with all tokens
// of the file alive at the same time. In pieces it allocates 54 MB, with the tokens of one piece at a time.
// The time is the same (BenchmarkPieces).
//
// It returns nil for files that must be parsed at once: a file that is hardly larger than a piece, a file
// with arguments outside of blocks, and a file with errors. The parser's recovery from an error depends on
// the text after the error.
//
// A piece ends after a line that begins with a closing brace. That line may be inside a block or a here
// document, for example. Then the piece is incomplete, which is an error, and inPieces tries a piece of twice
// the size. A complete piece has the same blocks as in the whole file: the parser reads from left to right,
// and keeps no state between two blocks.
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
		file.Bytes = src // its Nav finds the block around an offset in the body, which is now the whole one
	}
	return file
}

// piece parses a piece that begins at pos. The result is false if the piece is incomplete or has errors.
func piece(src []byte, name string, pos hcl.Pos) (*hcl.File, *hclsyntax.Body, bool) {
	if depthOf(src, name, pos, fileText, MaxDepth) != nil {
		return nil, nil, false
	}
	f, ds := hclsyntax.ParseConfig(src, name, pos)
	body, ok := f.Body.(*hclsyntax.Body)
	return f, body, ok && len(ds) == 0
}

// pieceEnd returns the end of the piece that begins at start: after the last block that ends within size
// bytes, otherwise after the first block.
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

// blockEnd returns the end of the first line that begins with a closing brace and has nothing else. It
// searches from the given offset on. If there is no such line, it returns the end of the source.
func blockEnd(src []byte, from int) int {
	for from < len(src) {
		i := bytes.Index(src[from:], []byte("\n}"))
		if i < 0 {
			break
		}
		from += i + len("\n}")
		rest := bytes.TrimPrefix(src[from:], []byte("\r"))
		// A piece must not begin with a byte order mark: the parser would skip it.
		if bytes.HasPrefix(rest, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\n\xef\xbb\xbf")) {
			return len(src) - len(rest) + len("\n")
		}
	}
	return len(src)
}
