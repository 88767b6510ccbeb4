package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Tool is a program with Terraform's command line.
type Tool struct {
	Name string // name in messages
	Path string
	Env  []string
	// Providers is a directory that was initialized with the lab provider, for cases with things.
	Providers string

	chdir bool
}

// A Result is a tool's result for one round of a case.
type Result struct {
	// Errors are the summaries of the errors, sorted. Their details may differ between the tools and are left
	// out.
	Errors []string
	// Changes reports that the plan has changes.
	Changes bool
	Plan    any // from `show -json`; nil if there is none
	State   any // the state file after the apply; nil if there is none
	// Output is the text on stdout and stderr, for reporting a difference.
	Output string
}

// run plans and applies the configuration in dir, which is one round of a case.
func (t Tool) run(ctx context.Context, dir string, round Round) (Result, error) {
	t.chdir = round.Chdir
	if !round.Elsewhere {
		return t.planAndApply(ctx, dir, round)
	}
	if err := t.moveTo(ctx, dir, plannedPath); err != nil {
		return Result{}, err
	}
	r, err := t.planAndApply(ctx, dir, round)
	return r, errors.Join(err, comeBack(dir, &r))
}

func (t Tool) planAndApply(ctx context.Context, dir string, round Round) (Result, error) {
	var r Result
	path := stateName
	ok, err := t.step(ctx, dir, &r, append([]string{"plan", "-no-color", "-input=false", "-lock=false", "-detailed-exitcode", "-out=saved"}, round.Options...)...)
	if err != nil || !ok {
		return r, err
	}
	if round.Elsewhere {
		if err := t.moveTo(ctx, dir, otherPath); err != nil {
			return r, err
		}
		path = plannedPath
	}
	shown, err := t.output(ctx, dir, "show", "-json", "saved")
	if err != nil {
		return r, err
	}
	if err := decode(shown, &r.Plan); err != nil {
		return r, fmt.Errorf("%s show -json: %w", t.Name, err)
	}
	if _, err = t.step(ctx, dir, &r, "apply", "-no-color", "-input=false", "-lock=false", "saved"); err != nil {
		return r, err
	}
	state, err := os.ReadFile(filepath.Join(dir, path))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, decode(state, &r.State)
}

// decode decodes JSON, and keeps the spelling of numbers.
func decode(data []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}

// step runs a command. ok is false if the command failed, which may be because of the configuration.
func (t Tool) step(ctx context.Context, dir string, r *Result, args ...string) (ok bool, err error) {
	cmd := t.command(ctx, dir, args...)
	out, err := cmd.CombinedOutput()
	r.Output += "$ " + t.Name + " " + strings.Join(args, " ") + "\n" + string(out)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		r.Changes = true
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		r.Errors = append(r.Errors, summaries(string(out))...)
		slices.Sort(r.Errors)
		return false, nil
	case errors.As(err, &exit) && exit.ExitCode() == 11:
		r.Errors = []string{crashed}
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s %s: %w\n%s", t.Name, args[0], err, out)
	}
	return true, nil
}

func (t Tool) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := t.command(ctx, dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", t.Name, strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}

func (t Tool) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Path, args...)
	cmd.Dir = dir
	if t.chdir {
		cmd = exec.CommandContext(ctx, t.Path, append([]string{"-chdir=" + filepath.Base(dir)}, args...)...)
		cmd.Dir = filepath.Dir(dir)
	}
	cmd.Env = append([]string{"LAB_DIR=" + filepath.Join(dir, labDir), "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TF_CLI_CONFIG_FILE=" + os.DevNull, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1"}, t.Env...)
	return cmd
}

var errorLine = regexp.MustCompile(`(?m)^(?:[│╷╵] *)?Error: (.*)$`)

// summaries returns the headings of the errors in an output.
func summaries(out string) []string {
	var all []string
	for _, m := range errorLine.FindAllStringSubmatch(out, -1) {
		all = append(all, strings.TrimSpace(m[1]))
	}
	if len(all) == 0 {
		all = []string{"an error without a heading"}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// lay replaces the configuration in a directory, and writes where its modules are, as init does.
func lay(dir string, blocks []Block) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		return err
	}
	mods, err := filepath.Glob(filepath.Join(dir, "mod-*"))
	if err != nil {
		return err
	}
	for _, p := range append(old, mods...) {
		if err := os.RemoveAll(p); err != nil {
			return err
		}
	}
	files := filesOf(blocks)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), []byte(files[name])); err != nil {
			return err
		}
	}
	entries := modules("", "", files)
	for _, e := range entries {
		// When a case was made smaller, a whole module may have been removed.
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(e.Dir)), 0o755); err != nil {
			return err
		}
	}
	manifest, err := json.Marshal(map[string]any{"Modules": entries})
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, ".terraform", "modules", "modules.json"), manifest)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// filesOf returns the contents of the files that the blocks are in, by file name.
func filesOf(blocks []Block) map[string]string {
	files := map[string]string{}
	for _, b := range blocks {
		files[b.File] += b.Text
	}
	return files
}

// An entry is an entry of modules.json.
type entry struct{ Key, Source, Dir string }

var callPattern = regexp.MustCompile(`(?m)^module "(\w+)" \{\n  source = "\./([^"]+)"`)

// modules returns the entries of modules.json for the module in dir, whose key is key, and for all modules that
// it calls, directly or indirectly. files are the texts of all files, by path.
func modules(key, dir string, files map[string]string) []entry {
	e := entry{Key: key, Dir: strings.TrimSuffix(dir, "/")}
	if key == "" {
		e.Dir = "."
	} else {
		e.Source = "./" + e.Dir[strings.LastIndexByte(e.Dir, '/')+1:]
	}
	out := []entry{e}
	for _, m := range callPattern.FindAllStringSubmatch(files[dir+"main.tf"], -1) {
		child := m[1]
		if key != "" {
			child = key + "." + child
		}
		out = append(out, modules(child, dir+m[2]+"/", files)...)
	}
	return out
}
