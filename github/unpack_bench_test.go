package github

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"
)

// BenchmarkUnpack unpacks the archive of a repository with many small files, as each plan does.
func BenchmarkUnpack(b *testing.B) {
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	for i := range 1000 {
		text := fmt.Sprintf("resource \"x\" \"a%d\" {}\n", i)
		h := &tar.Header{Name: fmt.Sprintf("root/services/s%d/f%d.tf", i/4, i), Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := unpack(bytes.NewReader(archive.Bytes()), b.TempDir(), "", checkoutLimits); err != nil {
			b.Fatal(err)
		}
	}
}
