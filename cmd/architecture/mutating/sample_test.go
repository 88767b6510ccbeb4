package mutating

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// repository is the repository's directory, from this package's.
const repository = "../../.."

// A subject is a package with its mutants.
type subject struct {
	*packages.Package
	mutants []mutant
	sources map[string][]byte
}

// A chosen mutant knows its package.
type chosen struct {
	*subject
	mutant
}

// load reads the packages that match the patterns and have tests. If only is not "", load makes mutants of files with
// this name only.
func load(patterns []string, only string) ([]*subject, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedTypesSizes | packages.NeedImports | packages.NeedExportFile | packages.NeedModule,
		Dir: repository,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var all []*subject
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		s := &subject{Package: p, sources: map[string][]byte{}}
		for _, syntax := range p.Syntax {
			file := p.Fset.File(syntax.FileStart)
			if ast.IsGenerated(syntax) || only != "" && filepath.Base(file.Name()) != only {
				continue
			}
			source, err := os.ReadFile(file.Name())
			if err != nil {
				return nil, err
			}
			s.sources[file.Name()] = source
			s.mutants = append(s.mutants, mutantsOf(file, syntax, source, p.TypesInfo)...)
		}
		if tests, _ := filepath.Glob(filepath.Join(p.Dir, "*_test.go")); len(tests) == 0 {
			fmt.Printf("%s has no tests, and %d mutants\n", p.PkgPath, len(s.mutants))
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

// sample returns up to n mutants that compile; which ones is decided by the seed.
func sample(subjects []*subject, n int, seed uint64) []chosen {
	var all []chosen
	for _, s := range subjects {
		for _, m := range s.mutants {
			all = append(all, chosen{s, m})
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var out []chosen
	for _, c := range all {
		if len(out) == n {
			break
		}
		if c.compiles() {
			out = append(out, c)
		}
	}
	return out
}

// compiles reports whether the package passes the type checker with the mutant.
func (c chosen) compiles() bool {
	var files []*ast.File
	for i, syntax := range c.Syntax {
		if c.CompiledGoFiles[i] == c.file {
			changed, err := parser.ParseFile(c.Fset, c.file, c.apply(c.sources[c.file]), parser.SkipObjectResolution)
			if err != nil {
				return false
			}
			syntax = changed
		}
		files = append(files, syntax)
	}
	config := types.Config{Importer: imported(c.Imports), Sizes: c.TypesSizes, GoVersion: "go" + c.Module.GoVersion}
	_, err := config.Check(c.PkgPath, c.Fset, files, nil)
	return err == nil
}

// imported finds the packages that were loaded with a subject.
type imported map[string]*packages.Package

func (i imported) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[path]; p != nil && p.Types != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("%s was not loaded", path)
}

// diff shows the lines of the change.
func (c chosen) diff() string {
	source := string(c.sources[c.file])
	from := strings.LastIndexByte(source[:c.start], '\n') + 1
	to := c.end + strings.IndexByte(source[c.end:]+"\n", '\n')
	var b strings.Builder
	for line := range strings.Lines(source[from:to]) {
		b.WriteString("    - " + strings.TrimSuffix(line, "\n") + "\n")
	}
	for line := range strings.Lines(source[from:c.start] + c.mutant.text + source[c.end:to]) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    + " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// at names the place of the change: DIRECTORY/FILE:LINE.
func (c chosen) at() string {
	name, err := filepath.Rel(c.Module.Dir, c.file)
	if err != nil {
		name = c.file
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(name), strings.Count(string(c.sources[c.file][:c.start]), "\n")+1)
}
