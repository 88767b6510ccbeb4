package parsing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// BenchmarkPieces compares parsing a file of 2,000 resources as a whole and in pieces.
func BenchmarkPieces(b *testing.B) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "resource \"lab_server\" \"server_%d\" {\n  name  = \"server-${var.name}-%d\"\n  image = data.lab_image.main.id\n  tags  = { environment = var.environment, number = %d }\n  disk {\n    size = %d\n  }\n}\n\n", i, i, i, i)
	}
	src := []byte(text.String())
	for name, parse := range map[string]func(){
		"whole":  func() { hclsyntax.ParseConfig(src, "main.tf", hcl.InitialPos) },
		"pieces": func() { inPieces(src, "main.tf") },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				parse()
			}
		})
	}
}
