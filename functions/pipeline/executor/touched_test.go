package executor

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// The pairs of commits that TestUntouchedPlansAreEqual tries.
var (
	touchedPairs = flag.Int("pairs", 200, "the number of pairs of commits of TestUntouchedPlansAreEqual")
	touchedFrom  = flag.Int("from", 0, "the first of them")
)

// A checked is a commit: texts by name, "-> TARGET" for a symbolic link.
type checked map[string]string

func (c checked) fs() fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range c {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if target, is := strings.CutPrefix(text, "-> "); is {
			out[name] = &fstest.MapFile{Data: []byte(target), Mode: 0o777 | fs.ModeSymlink}
		}
	}
	return out
}

// seeing are the files of a commit for functions, below /r. It notes which are looked at.
type seeing struct {
	files fs.FS
	mu    *sync.Mutex
	seen  map[string]bool
}

func (s seeing) name(name string) (string, error) {
	rel := strings.TrimPrefix(strings.TrimPrefix(name, "/r"), "/")
	if rel == "" {
		rel = "."
	}
	if !strings.HasPrefix(name, "/r") || !fs.ValidPath(rel) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[rel] = true
	return rel, nil
}

func (s seeing) Open(name string) (fs.File, error) {
	rel, err := s.name(name)
	if err != nil {
		return nil, err
	}
	return s.files.Open(rel)
}

func (s seeing) Stat(name string) (fs.FileInfo, error) {
	rel, err := s.name(name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(s.files, rel)
}

func (s seeing) Lstat(name string) (fs.FileInfo, error) {
	rel, err := s.name(name)
	if err != nil {
		return nil, err
	}
	return fs.Lstat(s.files, rel)
}

// planned is the plan of a project as text, or its errors, and what it has read.
func planned(t *testing.T, c checked, p project.Project) (text string, read []string) {
	t.Helper()
	files := c.fs()
	cfg, ds := loading.Load(loading.Input{Tree: source.FS(files, p.Dir)})
	if ds.HasErrors() {
		return ds.Err().Error(), nil
	}
	var sources []inputs.Source
	add := func(origin inputs.Origin, name string) {
		if src, err := fs.ReadFile(files, name); err == nil {
			s, _ := inputs.File(origin, path.Base(name), src)
			sources = append(sources, s)
		}
	}
	add(inputs.FromAutoFile, path.Join(p.Dir, "terraform.tfvars"))
	for _, name := range p.VarFiles {
		add(inputs.FromNamedFile, name)
	}
	values, ds := inputs.Values(cfg.Root.Content, sources)
	if ds.HasErrors() {
		return ds.Err().Error(), nil
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	defer pool.Close()
	look := seeing{files, &sync.Mutex{}, map[string]bool{}}
	plan, ds := engine.Plan(t.Context(), engine.Run{Config: cfg, Providers: pool, Variables: values, WorkingDir: path.Join("/r", p.Dir), Files: look}, states.Empty(), engine.PlanOptions{})
	out := ""
	if plan != nil {
		for _, x := range plan.Changes {
			out += fmt.Sprintf("%s %v %#v\n", x.Addr, x.Action, x.After)
		}
		for _, x := range plan.Outputs {
			out += fmt.Sprintf("%s %#v\n", x.Name, x.After)
		}
	}
	for _, d := range ds {
		out += d.Summary + d.Detail + "\n"
	}
	return out, slices.Sorted(maps.Keys(look.seen))
}

// A repository of chance.
type chance struct{ *rand.Rand }

func (c chance) of(all ...string) string { return all[c.IntN(len(all))] }

// main is the configuration of a project.
func (c chance) main() string {
	b := "terraform {\n  backend \"s3\" {}\n}\nvariable \"n\" {\n  default = \"0\"\n}\nlocals {\n  root = \"${path.module}/..\"\n  data = \"${local.root}/data\"\n}\n"
	for i := range 1 + c.IntN(3) {
		x := c.of(`file("../data/0")`, `file("${path.module}/../data/1")`, `try(file("${local.data}/2"), "none")`, `fileexists("../data/3")`, `fileset("../data", "*")`, `[for f in fileset("../data", "*"): filesha256("../data/${f}")]`,
			`try(file("../data/${var.n}"), "none")`, `try(templatefile("../lib/t.tpl", { x = var.n }), "none")`, `var.n`, `try(file("../lnk/0"), "none")`, `try(file("own.txt"), "none")`, `try(file(var.n), "none")`,
			`fileset(path.module, "**")`, `var.n == "0" ? try(file("../data/0"), "a") : try(file("../data/1"), "b")`, `path.module`, `try(jsondecode(file("../data/j.json")), {})`)
		b += fmt.Sprintf("output \"o%d\" {\n  value = %s\n}\nresource \"terraform_data\" \"r%d\" {\n  input = %s\n}\n", i, x, i, c.of(`"1"`, x))
	}
	for _, m := range []string{"a", "b"} {
		if c.IntN(3) == 0 {
			b += fmt.Sprintf("module %q {\n  source = %q\n  at     = %s\n}\noutput \"m%s\" {\n  value = module.%s.x\n}\n", m, c.of("../mods/"+m, "../current"), c.of(`"${path.module}/../data/0"`, `"${path.root}/own.txt"`, `local.data`, `"x"`), m, m)
		}
	}
	return b
}

func (c chance) module() string {
	return "variable \"at\" {\n  default = \"\"\n}\noutput \"x\" {\n  value = " + c.of(`try(file(var.at), "none")`, `try(fileset(var.at, "*"), [])`, `try(file("${path.module}/own.txt"), "none")`, `try(file("${path.module}/../../data/1"), "none")`, `"1"`, `"2"`) + "\n}\n"
}

// repository makes a commit.
func (c chance) repository() checked {
	r := checked{"README.md": "1", "mods/a/main.tf": c.module(), "mods/b/main.tf": c.module(), "current": "-> mods/a", "lnk": "-> data", "lib/t.tpl": c.of("t ${x}", `${file("../data/0")}`)}
	for i := range 4 {
		if c.IntN(4) > 0 {
			r[fmt.Sprint("data/", i)] = c.of("1", "2", "../data/1")
		}
	}
	settings := ""
	for _, dir := range []string{"p0", "p1"} {
		r[dir+"/main.tf"] = c.main()
		if c.IntN(3) == 0 {
			r[dir+"/terraform.tfvars"] = fmt.Sprintf("n = %q\n", c.of("0", "1", "own.txt"))
		}
		if c.IntN(4) == 0 {
			r[dir+"/shared.tf"] = "-> ../lib/shared.tf"
			r["lib/shared.tf"] = "output \"shared\" {\n  value = \"1\"\n}\n"
		}
		settings += fmt.Sprintf("project %q {\n  dir = %q\n%s%s}\n", dir, dir, c.of("", "  when_changed = [\"{dir}/*.tf\"]\n", "  when_changed = [\"README.md\", \"!{dir}/**\"]\n"), c.of("", "  var_files = [\"lib/v.tfvars\"]\n"))
	}
	r["lib/v.tfvars"] = "n = \"1\"\n"
	if c.IntN(2) == 0 {
		r["lockstep.hcl"] = settings
	}
	return r
}

// change makes another commit.
func (c chance) change(r checked) checked {
	out := maps.Clone(r)
	for range 1 + c.IntN(2) {
		names := slices.Sorted(maps.Keys(out))
		name := names[c.IntN(len(names))]
		switch c.IntN(12) {
		case 0, 1, 2:
			out["data/"+c.of("0", "1", "2", "3", "j.json")] = c.of("1", "2", "3", "[1]")
		case 3:
			delete(out, "data/"+c.of("0", "1", "2", "3"))
		case 4:
			out["mods/"+c.of("a", "b")+"/"+c.of("main.tf", "own.txt")] = c.module()
		case 5:
			out["current"] = c.of("-> mods/a", "-> mods/b")
		case 6:
			out["lib/"+c.of("t.tpl", "v.tfvars")] = c.of("n = \"2\"\n", "n = \"0\"\n")
		case 7:
			out[c.of("p0", "p1")+"/"+c.of("own.txt", "x.md", "deep/x.txt", "0")] = c.of("1", "2")
		case 8:
			out["lnk"] = c.of("-> data", "-> lib", "-> nowhere")
		case 9:
			if strings.HasPrefix(name, "data/") { // a file moves
				out["data/moved"] = out[name]
				delete(out, name)
			}
		case 10:
			out[c.of("README.md", "docs/x", "1", "p0/0")] = c.of("1", "2", "3")
		case 11:
			if _, linked := out["lib/shared.tf"]; linked {
				out["lib/shared.tf"] = "output \"shared\" {\n  value = \"2\"\n}\n"
			}
		}
	}
	return out
}

// TestUntouchedPlansAreEqual is a property: in a random repository, a project that a random change does not touch has the same plan
// before and after it. What a plan has read is known, or not, or of another commit.
func TestUntouchedPlansAreEqual(t *testing.T) {
	t.Parallel()
	start, equal, differ, spared := time.Now(), 0, 0, 0
	for i := range *touchedPairs {
		seed := *touchedFrom + i
		c := chance{rand.New(rand.NewPCG(uint64(seed), 7))}
		was := c.repository()
		now := c.change(was)
		had, _ := project.Discover(was.fs())
		has, _ := project.Discover(now.fs())
		former := c.change(was)
		knows := c.IntN(3)
		seen := func(p project.Project) (out []project.FilesRead) {
			for _, of := range []checked{former, was}[:knows] {
				_, read := planned(t, of, p)
				in, err := project.Inputs(of.fs(), p, read...)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, project.FilesRead{Read: read, Hash: in.Hash()})
			}
			return out
		}
		d, err := project.Touched(t.Context(), was.fs(), now.fs(), had.Projects, has.Projects, seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range has.Projects {
			touched := slices.ContainsFunc(d.Projects, func(x project.Project) bool { return x.Name == p.Name })
			k := slices.IndexFunc(had.Projects, func(x project.Project) bool { return x.Name == p.Name })
			if k < 0 || touched && i%10 > 0 { // of those that are touched some are enough
				continue
			}
			before, _ := planned(t, was, had.Projects[k])
			after, _ := planned(t, now, p)
			switch {
			case before != after && !touched:
				t.Fatalf("seed %d: %s is not touched, and its plan was\n%s\nand is\n%s\nof\n%q\nand\n%q", seed, p.Name, before, after, was, now)
			case before != after:
				differ++
			case touched:
				equal++
			default:
				spared++
			}
		}
	}
	t.Logf("%d pairs in %s: %d are not touched and the same; of every tenth pair, plans of %d touched projects differ, and of %d are the same", *touchedPairs, time.Since(start).Round(time.Second), spared, differ, equal)
	if differ == 0 || spared == 0 {
		t.Error("this proves nothing")
	}
}
