package subprocess

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// Terragrunt runs in a cell, as a step on "generate" does: it may write into the checkout, and has no credentials and no
// network. It never runs Terraform. This program answers in Terraform's place (see [answerTerragrunt]): it records what
// Terragrunt would have planned, and Lockstep's engine plans that. The hooks of a unit, and run_cmd, run in the same cell.

// FindUnits implements jobs.FindUnitsFunc.
func (e *Engine) FindUnits(ctx context.Context, j jobs.Job, t requirements.Terragrunt) (jobs.Units, error) {
	tool, problem, err := e.tool(ctx, j, requirements.TerragruntTool, t.Digest)
	if err != nil || problem != "" {
		return jobs.Units{Problem: problem}, err
	}
	before, err := stamps(j.Checkout)
	if err != nil {
		return jobs.Units{Problem: err.Error()}, nil
	}
	c := e.call(order{Action: units, Job: j, Find: &t, Tool: tool})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return jobs.Units{Problem: c.clean(dead.Why)}, nil
	}
	if err == nil && r.Units == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Units{}, fmt.Errorf("find the units of %s: %w", j.Repo, err)
	}
	out := *r.Units
	after, err := stamps(j.Checkout)
	if err != nil { // Without this check, a process that reads the checkout could wait for ever.
		return jobs.Units{Problem: c.clean(err.Error()) + ". Correct the hooks and run_cmd of the units"}, nil
	}
	if name := meddled(before, after); name != "" {
		return jobs.Units{Problem: c.clean(fmt.Sprintf("a program that a unit runs, such as run_cmd, has written %.*s. While Lockstep looks for units, programs may write only below %s and %s. Write the file elsewhere", maxName, name, terragrunt.StackDir, terragrunt.Cache))}, nil
	}
	out.Problem = c.clean(out.Problem)
	for i, u := range out.Units {
		out.Units[i].Problem = c.clean(u.Problem)
	}
	return out, nil
}

// meddled returns the name of a file that programs of units have changed, or have created in a directory of the commit; ""
// if there is none. Such a file may belong to another project. The pull request does not show the change, so nobody who
// owns that project has approved it. Units that Terragrunt generates from stacks are in directories that the commit does
// not have.
func meddled(before, after map[string]stamp) string {
	dirs := map[string]bool{".": true}
	for name := range before {
		for dir := path.Dir(name); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, name := range changedFiles(before, after) {
		_, was := before[name]
		in := strings.Split(name, "/")
		own := slices.Contains(in, terragrunt.StackDir) || slices.Contains(in, terragrunt.Cache)
		if !own && (was || dirs[path.Dir(name)]) {
			return name
		}
	}
	return ""
}

// PrepareUnit implements jobs.PrepareUnitFunc, for engines without a process of their own.
func (e *Engine) PrepareUnit(ctx context.Context, j jobs.Job, source string, outputs jobs.UnitOutputs) (jobs.PreparedUnit, error) {
	c := e.call(order{Action: prepares, Job: j, Source: source, Outputs: outputs})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return jobs.PreparedUnit{Problem: c.clean(dead.Why)}, nil
	}
	if err == nil && r.Unit == nil {
		err = errShape
	}
	if err != nil {
		return jobs.PreparedUnit{}, fmt.Errorf("prepare the unit %s of %s: %w", j.Dir, j.Repo, err)
	}
	return *r.Unit, nil
}

// These limit what is read of Terragrunt's results.
const (
	maxUnits    = 2000
	maxRendered = 64 << 20 // bytes of all evaluated units
	maxRecord   = 8 << 20  // bytes of a record
	maxRecords  = 64 << 20 // bytes of all records
	maxTrouble  = 4 << 10  // bytes of messages
)

// A terragruntRun is a cell for runs of Terragrunt.
type terragruntRun struct {
	child    *Child
	settings requirements.Terragrunt
	checkout string
	dir      string // for the records of the answering program
	cell     *confine.Cell
}

// terragrunt makes the cell for runs of Terragrunt.
func (c *Child) terragrunt(t requirements.Terragrunt, outputs jobs.UnitOutputs) (*terragruntRun, error) {
	r := &terragruntRun{child: c, settings: t, checkout: c.order.Job.Checkout, dir: filepath.Join(c.Tmp, "terragrunt")}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(r.bin(), 0o700), os.MkdirAll(filepath.Join(r.dir, recordsDir), 0o700), os.MkdirAll(filepath.Join(r.dir, "home"), 0o700), os.MkdirAll(filepath.Join(r.dir, "tmp"), 0o700)); err != nil {
		return nil, err
	}
	for _, name := range []string{terraformName, gitName} {
		if err := os.Symlink(self, filepath.Join(r.bin(), name)); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(outputs)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.dir, outputsFile), data, 0o600); err != nil {
		return nil, err
	}
	v := confine.View{Read: []string{c.order.Tool, self}, Write: []string{r.checkout}, Tmp: r.dir} // the programs of the plan have another cell, with c.Tmp
	r.cell, err = confine.NewCell(confine.CellSpec{View: v, Ports: c.order.Ports, Offline: !t.Network})
	if err != nil {
		return nil, fmt.Errorf("the program cannot be confined on this machine: %w", err)
	}
	_, err = c.ask(question{Kind: isProtection, Protection: r.cell.Protection().Lines()})
	return r, err
}

func (r *terragruntRun) bin() string { return filepath.Join(r.dir, "bin") }

// env returns the environment variables of Terragrunt.
func (r *terragruntRun) env() (env []string) {
	// Terragrunt, and this program in Terraform's place, live for a moment only. To collect garbage takes a third of their
	// time.
	env = append(env, "GOGC=off", "GOMEMLIMIT=512MiB")
	for name, value := range r.settings.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env[2:])
	search := r.bin()
	if own := r.settings.Env["PATH"]; own != "" {
		search += ":" + own
	}
	// The last of two values counts.
	return append(env, "HOME="+filepath.Join(r.dir, "home"), "TMPDIR="+filepath.Join(r.dir, "tmp"), "PATH="+search, recordsVariable+"="+r.dir, checkoutVariable+"="+r.checkout,
		"TG_TF_PATH="+filepath.Join(r.bin(), terraformName), "TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true", "TG_NO_TIPS=true", "TG_NO_AUTO_RETRY=true", "TG_LOG_CUSTOM_FORMAT=%level %msg")
}

// path returns a directory of the checkout, or an absolute path as it is.
func (r *terragruntRun) path(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(r.checkout, filepath.FromSlash(dir))
}

// run runs Terragrunt in a directory of the checkout. problem is the reason, for people, if it has failed.
func (r *terragruntRun) run(ctx context.Context, dir string, args ...string) (out *jobs.StepResult, problem string, err error) {
	limit := time.Duration(r.settings.Timeout) * time.Second
	out, err = program(ctx, r.cell, &exec.Cmd{
		Path: r.child.order.Tool, Args: append([]string{requirements.TerragruntTool}, args...), Dir: r.path(dir), Env: r.env(),
	}, limit)
	if err != nil || out.Outcome == comment.StepPassed {
		return out, "", err
	}
	if out.Outcome == comment.StepTimedOut {
		return out, fmt.Sprintf("Terragrunt did not end within its time limit of %s. Raise timeout in the terragrunt block of lockstep.hcl", limit), nil
	}
	return out, cmp.Or(r.trouble(out.Errors), strings.TrimSpace(out.Failure())), nil
}

// trouble returns the errors among the messages of Terragrunt, with paths relative to the checkout.
func (r *terragruntRun) trouble(messages []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(messages)) {
		level, text, _ := strings.Cut(line, " ")
		switch {
		case slices.Contains([]string{"info", "warn", "debug", "trace", "stdout"}, level):
			continue
		case level == "error" || level == "stderr":
			line = text
		}
		line = strings.ReplaceAll(strings.ReplaceAll(line, r.checkout+"/", ""), r.bin()+"/", "")
		if b.Len()+len(line) > maxTrouble {
			b.WriteString("...")
			break
		}
		b.WriteString(line)
	}
	return strings.ToValidUTF8(strings.TrimSpace(b.String()), "")
}

// findUnits finds the units of the checkout, in a child.
func (c *Child) findUnits(ctx context.Context) (*jobs.Units, error) {
	out := &jobs.Units{}
	dirs, stacks, err := terragrunt.Dirs(c.order.Job.Checkout)
	if err != nil || len(dirs)+stacks == 0 {
		return out, err
	}
	if len(dirs) > maxUnits {
		out.Problem = fmt.Sprintf("there are %d files %s, and at most %d are allowed", len(dirs), terragrunt.FileName, maxUnits)
		return out, nil
	}
	r, err := c.terragrunt(*c.order.Find, nil)
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	if stacks > 0 {
		if _, out.Problem, err = r.run(ctx, ".", "stack", "generate"); err != nil || out.Problem != "" {
			return out, err
		}
		if dirs, _, err = terragrunt.Dirs(c.order.Job.Checkout); err != nil {
			return out, err
		}
		if err := r.removeManifests(dirs); err != nil {
			return out, err
		}
	}
	found, problem, err := r.run(ctx, ".", "find", "--json", "--dependencies", "--reading")
	if err != nil || problem != "" {
		out.Problem = problem
		return out, err
	}
	// No file of a commit can have the name of the results.
	name := "lockstep-" + rand.Text() + ".json"
	shown, problem, err := r.run(ctx, ".", "render", "--all", "--json", "--write", "--out", name, "--no-stack-generate", "--experiment", "optional-dependency-outputs", "--no-dependency-outputs")
	if err != nil {
		return out, err
	}
	if shown.Outcome == comment.StepTimedOut {
		out.Problem = problem
		return out, nil
	}
	all, err := r.rendered(name, found.Output)
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	o := terragrunt.Output{Root: r.checkout, Find: found.Output, Rendered: all, Errors: string(shown.Errors), Dirs: dirs}
	needs, err := o.NeedsOutputs()
	if err == nil && len(needs) > 0 {
		if o.Backends, err = r.backends(ctx, needs); ctx.Err() != nil {
			return out, err
		}
	}
	if err == nil {
		out.Units, err = terragrunt.Read(o)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out, nil
}

// backends returns files with the backends of units, by directory. Terragrunt generates them, without the rest of a unit,
// when it fetches the outputs of a dependency. So the units become dependencies of a unit that is made for this. A unit
// with an error can hide other units. So backends asks once more for each missing unit alone.
func (r *terragruntRun) backends(ctx context.Context, dirs []string) (map[string]string, error) {
	out := map[string]string{}
	if err := r.askFor(ctx, dirs, out); err != nil || len(dirs) == 1 {
		return out, err
	}
	for _, dir := range dirs[:min(len(dirs), maxAlone)] {
		if _, ok := out[dir]; ok {
			continue
		}
		if err := r.askFor(ctx, []string{dir}, out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// maxAlone is the maximum number of units whose backends are asked for one by one.
const maxAlone = 50

// askFor adds files with the backends of units to into.
func (r *terragruntRun) askFor(ctx context.Context, dirs []string, into map[string]string) error {
	var b strings.Builder
	for i, dir := range dirs {
		at, err := json.Marshal(r.path(dir))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "dependency \"x%d\" {\n  config_path = %s\n}\n", i, strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(at)))
	}
	asking, err := os.MkdirTemp(r.dir, "asking-*")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(asking, terragrunt.FileName), []byte(b.String()), 0o600); err != nil {
		return err
	}
	// Errors do not matter: the backends of the other units are known.
	if _, _, err := r.run(ctx, asking, "render", "--json"); err != nil {
		return err
	}
	calls, err := r.calls()
	for _, x := range calls {
		if unit, err := unitOf(r.checkout, x.Dir); err == nil && x.Backend != "" {
			into[unit] = x.Backend
		}
	}
	return err
}

// removeManifests removes the lists of the files that Terragrunt has generated for stacks. They have absolute paths, which
// differ in each checkout.
func (r *terragruntRun) removeManifests(dirs []string) error {
	root, err := os.OpenRoot(r.checkout)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range dirs {
		if err := root.Remove(path.Join(dir, stackManifest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stackManifest is the name of a list of the files that Terragrunt has generated for a unit of a stack.
const stackManifest = ".terragrunt-stack-manifest"

// rendered reads and removes the files of evaluated units, by the units' directories.
func (r *terragruntRun) rendered(name string, found []byte) (map[string][]byte, error) {
	root, err := os.OpenRoot(r.checkout)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dirs, _, err := terragrunt.Dirs(r.checkout)
	if err != nil {
		return nil, err
	}
	out, left := map[string][]byte{}, int64(maxRendered)
	for _, dir := range dirs {
		at := path.Join(dir, name)
		data, err := readLimited(root, at, left)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		if err := root.Remove(at); err != nil {
			return nil, err
		}
		out[dir] = data
	}
	return out, nil
}

// readLimited reads a file of at most limit bytes. If the file is a named pipe, readLimited does not
// wait for a writer.
func readLimited(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file", name))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is too long: at most %d bytes are read", name, limit)
	}
	return data, err
}

// PrepareUnit has Terragrunt prepare the unit of the job. It is a jobs.PrepareUnitFunc.
func (c *Child) PrepareUnit(ctx context.Context, j jobs.Job, source string, outputs jobs.UnitOutputs) (out jobs.PreparedUnit, err error) {
	if c.order.NoTool != "" {
		out.Problem = c.order.NoTool
		return out, nil
	}
	r, err := c.terragrunt(j.Unit.Terragrunt, outputs)
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	args := []string{"run"}
	if source != "" {
		args = append(args, "--source", source)
	}
	if _, out.Problem, err = r.run(ctx, j.Dir, append(args, "--", "plan")...); err != nil || out.Problem != "" {
		return out, err
	}
	if _, err := stamps(r.checkout); err != nil {
		out.Problem = err.Error() + ". Correct the hooks and run_cmd of the unit"
		return out, nil
	}
	calls, err := r.calls()
	if err != nil {
		out.Problem = "what Terragrunt has asked Terraform for cannot be read: " + err.Error()
		return out, nil
	}
	cache := path.Join(j.Dir, terragrunt.Cache)
	for _, x := range calls {
		dir, err := filepath.Rel(r.checkout, x.Dir)
		if dir = filepath.ToSlash(dir); err != nil || len(x.Args) == 0 || dir != j.Dir && !strings.HasPrefix(dir, cache+"/") {
			continue
		}
		switch x.Args[0] {
		case "init":
			out.Init = x.Args[1:]
		case "plan":
			out.Dir, out.Arguments, out.Variables = dir, x.Args[1:], x.Variables
		}
	}
	if out.Dir == "" {
		out.Problem = "Terragrunt has planned nothing for it. If the unit has an exclude block, or sets download_dir, remove that, or exclude the directory in lockstep.hcl"
	}
	return out, nil
}

// calls returns what was recorded, in the order of time.
func (r *terragruntRun) calls() (out []terraformCall, err error) {
	own, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	root, err := own.OpenRoot(recordsDir) // Programs of the unit may have put a link in the place of the directory.
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	left := int64(maxRecords)
	for _, n := range names[max(0, len(names)-maxCalls):] {
		data, err := readLimited(root, n.Name(), min(left, maxRecord))
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		var x terraformCall
		if err := json.Unmarshal(data, &x); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
