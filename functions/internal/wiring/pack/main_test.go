package main

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

func TestPack(t *testing.T) {
	program := bytes.Repeat([]byte("program "), 1000)
	packed, err := pack(program)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := pack(program); err != nil || !bytes.Equal(packed, again) {
		t.Errorf("the same program makes other bytes, %v", err)
	}
	zr, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if len(zr.File) != 1 || zr.File[0].Name != "bootstrap" || zr.File[0].Mode() != 0o755 {
		t.Fatalf("it holds %v", zr.File)
	}
	if got := zr.File[0].Modified; !got.Equal(epoch) {
		t.Errorf("it says that it was made at %s", got)
	}
	r, err := zr.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, program) {
		t.Errorf("it holds something else, %v", err)
	}
}
