package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// A program is a file of the release that contains a Go program.
type program struct {
	name, file string
	info       *debug.BuildInfo
}

// carried is the directory for the files that the command line tool contains. `lockstep deploy` uploads them.
const carried = "cmd/lockstep/internal/deploying/carried"

// programs builds the functions, and then the command line tool, which contains them, for each platform.
func (r release) programs() ([]program, error) {
	cmd := exec.Command("go", append([]string{"run", "./functions/internal/wiring/pack", r.dir}, r.functions...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pack functions: %w\n%s", err, text)
	}
	if err := r.carry(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(carried)
	var out []program
	for _, platform := range r.platforms {
		p, err := r.tool(platform)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
		out = append(out, p)
	}
	for _, f := range r.functions {
		info, err := packedInfo(filepath.Join(r.dir, f+".zip"))
		if err != nil {
			return nil, fmt.Errorf("%s.zip: %w", f, err)
		}
		out = append(out, program{f, f + ".zip", info})
	}
	return out, nil
}

// carry copies the template and the functions to the directory [carried], from which the build embeds them in
// the command line tool. Git ignores that directory. So the build information of the tool reports no modified
// files.
func (r release) carry() error {
	if err := os.MkdirAll(carried, 0o755); err != nil {
		return err
	}
	files := map[string]string{"template.yaml": "template.yaml"}
	for _, f := range r.functions {
		files[f+".zip"] = filepath.Join(r.dir, f+".zip")
	}
	for name, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(carried, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tool builds the command line tool for a platform, and packs it into an archive.
func (r release) tool(platform string) (program, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return program{}, fmt.Errorf("a platform is OS/ARCH")
	}
	dir, err := os.MkdirTemp("", "lockstep-release-*")
	if err != nil {
		return program{}, err
	}
	defer os.RemoveAll(dir)
	name := "lockstep"
	if system == "windows" {
		name += ".exe"
	}
	file := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-tags", "carried", "-ldflags", "-s -w -X main.version="+r.version, "-o", file, "./cmd/lockstep")
	// These values override environment variables of this process. Such variables would be recorded in the
	// program, or change the program.
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("go build: %w\n%s", err, text)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return program{}, err
	}
	packed, err := archive([]string{file, "LICENSE", "README.md"})
	if err != nil {
		return program{}, err
	}
	p := program{name, fmt.Sprintf("lockstep_%s_%s_%s.tar.gz", r.version, system, arch), info}
	return p, os.WriteFile(filepath.Join(r.dir, p.file), packed, 0o644)
}

// archive returns a compressed tar file. Files are stored under their base names. It contains no times, owners
// or machine names, so that the same files give the same bytes.
func archive(files []string) ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zw)
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		h := &tar.Header{Name: filepath.Base(file), Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if i == 0 {
			h.Mode = 0o755 // the program
		}
		if err := tw.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := tw.Write(data); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// packedInfo reads the build information of the program in a function's zip file.
func packedInfo(file string) (*debug.BuildInfo, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("bootstrap")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return buildinfo.Read(bytes.NewReader(data))
}
