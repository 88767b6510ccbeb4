// Pack builds Lambda functions and makes the zip files that template.yaml names.
//
//	go run ./functions/internal/wiring/pack DIRECTORY FUNCTION...
//
// For each function, DIRECTORY/FUNCTION.zip contains the one file `bootstrap`, built from functions/FUNCTION
// for Linux on ARM. The same source and the same Go version give the same bytes, so that a deployment updates
// only changed functions. Pack prints the files with their sizes.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pack DIRECTORY FUNCTION...")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string, functions []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range functions {
		program, err := build(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		packed, err := pack(program)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		file := filepath.Join(dir, name+".zip")
		if err := os.WriteFile(file, packed, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-20s %5.1f MB, unpacked %5.1f MB\n", file, megabytes(packed), megabytes(program))
	}
	return nil
}

func megabytes(b []byte) float64 { return float64(len(b)) / 1e6 }

// build builds the program of a function. Two build tags keep the program small. lambda.norpc leaves out the
// protocol of runtimes before provided.al2023, and grpcnotrace a debugging page of gRPC. Each of these two
// parts would force the linker to keep all methods.
func build(name string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "lockstep-pack-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "bootstrap")
	// Without -buildvcs=false, the program would contain the commit, and each commit would change its bytes.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc,grpcnotrace", "-ldflags", "-s -w", "-o", file, "./functions/"+name)
	// These values override environment variables of this process. Such variables would be recorded in the
	// program, or change the program.
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=", "GOARM64=v8.0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return os.ReadFile(file)
}

// epoch is the modification time of every file in the zip file: the earliest time that is possible there.
var epoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// pack returns a zip file that contains a program.
func pack(program []byte) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: epoch}
	h.SetMode(0o755) // or Lambda cannot start it
	w, err := zw.CreateHeader(h)
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil {
		err = zw.Close()
	}
	return out.Bytes(), err
}
