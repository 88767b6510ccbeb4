package parsing

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
)

// pointer is the beginning of a pointer file, which Git LFS puts in place of a file.
// Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
const pointer = "version https://git-lfs.github.com/spec/v1"

// PointerSize is the largest size of a pointer file, in bytes.
const PointerSize = 1024

// IsPointer reports whether a text is a pointer file of Git LFS.
func IsPointer(src []byte) bool {
	return len(src) < PointerSize && bytes.HasPrefix(src, []byte(pointer))
}

// PointerAdvice says what to do about a pointer file.
const PointerAdvice = "Commit the file without Git LFS, run \"git lfs pull\", or, for pull requests, include Git LFS objects in archives in the repository's settings on GitHub"

// pointed returns the error about a pointer file; nil for other files.
func pointed(src []byte, name string) *hcl.Diagnostic {
	if !IsPointer(src) {
		return nil
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Git LFS pointer", Subject: &hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos},
		Detail: "The file " + name + " is a pointer of Git LFS, and not the file itself. " + PointerAdvice + ".",
	}
}
