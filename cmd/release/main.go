// Release makes all files of a release, in a directory:
//
//	go run ./cmd/release [-version V] [-platforms linux/amd64,...] [-functions plan,...] DIRECTORY
//
//	lockstep_V_OS_ARCH.tar.gz    the command line tool, with README and licence; it carries the functions
//	FUNCTION.zip                 the functions that template.yaml deploys
//	template.yaml                their deployment
//	lockstep_V.cdx.json          the modules in all of it: a CycloneDX bill of materials
//	lockstep_V.provenance.json   the origin of all of it: an in-toto statement, SLSA provenance
//	SHA256SUMS                   the checksums of all of these
//
// The same commit, version and Go version give the same bytes, on every machine. Only the provenance differs,
// because it names the builder. Release signs nothing, publishes nothing and has no keys: the workflow that
// runs it does that. Start at run.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var r release
	functions := flag.String("functions", "webhook,plan,apply,janitor,web", "the functions that template.yaml deploys")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "what the command line tool is built for")
	flag.StringVar(&r.version, "version", "0.1.0-dev", "the version, without a v")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: release [-version V] [-platforms OS/ARCH,...] [-functions NAME,...] DIRECTORY")
		os.Exit(2)
	}
	r.dir, r.platforms, r.functions = flag.Arg(0), strings.Split(*platforms, ","), strings.Split(*functions, ",")
	if err := r.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release has the parameters of a release, and the directory for its files.
type release struct {
	version   string
	dir       string
	platforms []string
	functions []string
}

func (r release) run(out io.Writer) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	made, err := r.programs()
	if err != nil {
		return err
	}
	if err := r.copy("template.yaml"); err != nil {
		return err
	}
	source, err := sourceOf(".")
	if err != nil {
		return err
	}
	files := []string{"template.yaml"}
	for _, p := range made {
		files = append(files, p.file)
	}
	bill := "lockstep_" + r.version + ".cdx.json"
	if err := r.writeJSON(bill, billOf(r.version, made)); err != nil {
		return err
	}
	files = append(files, bill)
	slices.Sort(files)
	subjects, err := r.digests(files)
	if err != nil {
		return err
	}
	provenance := "lockstep_" + r.version + ".provenance.json"
	if err := r.writeJSON(provenance, provenanceOf(statement{r.version, r.platforms, source, subjects, made}, os.Getenv)); err != nil {
		return err
	}
	all, err := r.digests(append(files, provenance))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, d := range all {
		fmt.Fprintf(&sums, "%s  %s\n", d.sha256, d.file)
	}
	fmt.Fprint(out, sums.String())
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func (r release) copy(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, filepath.Base(file)), data, 0o644)
}

// A source is the commit from which all files are built.
type source struct {
	revision, time string
	modified       bool
}

// sourceOf asks git for the commit of a checkout.
func sourceOf(dir string) (source, error) {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	s := source{
		revision: git("rev-parse", "HEAD"), time: git("show", "-s", "--format=%cI", "HEAD"),
		modified: git("status", "--porcelain") != "",
	}
	if s.revision == "" {
		return s, fmt.Errorf("%s is no git checkout: a release is made from a commit", dir)
	}
	return s, nil
}
