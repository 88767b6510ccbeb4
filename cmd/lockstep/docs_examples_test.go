package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v4"

	"github.com/lockstep-iac/lockstep/cmd/docs"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestDocsExamples runs each code block of the documentation, as its info string says:
//
//	hcl lockstep.hcl    `lockstep config check` accepts it, without warnings
//	yaml atlantis.yaml  the same
//	hcl NAME.tf         it is validated, if it needs no provider and no module from elsewhere, and parsed otherwise
//	hcl NAME            it is parsed, and so are yaml NAME and json
//	rego                `lockstep config check` compiles it
//	comment             each line is a command of the grammar
//	console             the commands run, and write what the block says
//	console flags       the commands and their options exist
//	text, diff          are shown as they are
//
// The blocks with a name are files, which later ones of the page see. Projects that a lockstep.hcl names without a wildcard are made for
// it, and so are those of a comment: <!-- projects: network, services/cart -->.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	for _, p := range docs.Read() {
		t.Run(p.Topic, func(t *testing.T) {
			t.Parallel()
			for _, wrong := range wrongExamples(t, p) {
				t.Error(wrong)
			}
		})
	}
}

// wrongExamples returns what is wrong with the blocks of a page, each with its place.
func wrongExamples(t *testing.T, p docs.Page) []string {
	e := example{t: t, files: map[string]string{}}
	for _, b := range e.blocks(p) {
		e.at = fmt.Sprintf("cmd/docs/%s.md:%d", p.Topic, b.line)
		e.run(b)
	}
	return e.wrong
}

// A block is one of code.
type block struct {
	line int
	info string // "hcl lockstep.hcl"
	text string
}

// madeProjects is the comment that names the projects of a page.
var madeProjects = regexp.MustCompile(`<!-- projects: (.*?) -->`)

// blocks returns the blocks of a page.
func (e *example) blocks(p docs.Page) (all []block) {
	var b *block
	for line := range docs.Lines(p.Text) {
		switch {
		case line.Closes:
			all, b = append(all, *b), nil
		case line.Opens:
			b = &block{line: line.Number, info: strings.TrimLeft(strings.TrimSpace(line.Text), "`~")}
		case line.Code:
			b.text += line.Text
		}
	}
	if b != nil {
		e.wrong = append(e.wrong, fmt.Sprintf("cmd/docs/%s.md:%d: the block has no end", p.Topic, b.line))
	}
	for _, m := range madeProjects.FindAllStringSubmatch(p.Text, -1) {
		e.projects = append(e.projects, strings.Split(m[1], ", ")...)
	}
	return all
}

// An example is a page whose blocks are being run.
type example struct {
	t        *testing.T
	at       string            // page and line
	files    map[string]string // of the blocks so far
	projects []string          // directories
	console  *programtest.Dir  // of its commands
	below    string            // where they are in it
	wrong    []string
}

func (e *example) errorf(format string, args ...any) {
	e.wrong = append(e.wrong, e.at+": "+fmt.Sprintf(format, args...))
}

func (e *example) run(b block) {
	kind, name, _ := strings.Cut(b.info, " ")
	switch {
	case b.info == "hcl lockstep.hcl":
		e.repository(map[string]string{"lockstep.hcl": b.text}, true)
	case b.info == "yaml atlantis.yaml":
		e.repository(map[string]string{"atlantis.yaml": b.text}, false)
	case kind == "rego":
		e.repository(map[string]string{"lockstep.hcl": "policy \"example\" {\n  namespaces = [\"*\"]\n}\n", "policy/example.rego": b.text}, false)
	case kind == "hcl" && strings.HasSuffix(name, ".tf"):
		e.configuration(b.text)
	case kind == "hcl" && name != "":
		if _, ds := hclsyntax.ParseConfig([]byte(b.text), name, hcl.InitialPos); ds.HasErrors() {
			e.errorf("%v", ds)
		}
	case kind == "yaml" && name != "":
		var v any
		if err := yaml.Unmarshal([]byte(b.text), &v); err != nil {
			e.errorf("%v", err)
		}
	case kind == "json":
		if !json.Valid([]byte(b.text)) {
			e.errorf("this is no JSON")
		}
	case b.info == "comment":
		for line := range strings.Lines(b.text) {
			if wrong := wrongComment(strings.TrimSpace(line)); wrong != "" && strings.TrimSpace(line) != "" {
				e.errorf("%s", wrong)
			}
		}
	case b.info == "console":
		e.session(b.text)
	case b.info == "console flags":
		for _, line := range commandLines(b.text) {
			if wrong := wrongCommands(line); wrong != "" {
				e.errorf("%s", wrong)
			}
		}
	case b.info == "text" || b.info == "diff":
	default:
		e.errorf("no test is known for a block %q", b.info)
	}
	if name != "" && kind != "console" {
		e.files[name] = b.text
	}
}

// repository checks the settings of a repository.
func (e *example) repository(files map[string]string, strict bool) {
	d := programtest.NewDir(e.t)
	all := maps.Clone(e.files)
	maps.Copy(all, files)
	e.populate(d, all)
	r := inProcess("-chdir="+d.Path, "config", "check")
	// A project of the page may get a part of its backend block from a file that this example does not name.
	said := strings.ReplaceAll(r.Out+r.Stderr, "Warning: Project ", "")
	if r.Code != 0 || strict && strings.Contains(said, "Warning") {
		e.errorf("config check: %s%s", r.Out, r.Stderr)
	}
}

// populate writes files that are not there yet, the projects of the page, and the projects and policies that settings name.
func (e *example) populate(d programtest.Dir, files map[string]string) {
	write := func(pattern, name, text string) {
		if there, _ := filepath.Glob(filepath.Join(d.Path, pattern)); len(there) == 0 {
			d.Write(name, text)
		}
	}
	for name, text := range files {
		write(name, name, text)
	}
	made := named([]byte(files["lockstep.hcl"]), []byte(files["atlantis.yaml"]))
	for i, dir := range slices.Concat(e.projects, made.projects) {
		write(dir+"/*.tf", dir+"/main.tf", fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = \"%d.tfstate\"\n    region = \"eu-central-1\"\n  }\n}\n", i))
	}
	for name, text := range made.policies {
		dir := path.Dir(name) + "/"
		if slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(x string) bool { return strings.HasPrefix(x, dir) }) {
			continue // the page has its own
		}
		write(name, name, text)
	}
}

// made is what settings name without a wildcard.
type made struct {
	projects []string
	policies map[string]string // files
}

// named returns what settings name.
func named(settings, atlantis []byte) made {
	m := made{policies: map[string]string{}}
	var old struct{ Projects []struct{ Dir string } }
	if err := yaml.Unmarshal(atlantis, &old); err == nil {
		for _, p := range old.Projects {
			m.projects = append(m.projects, p.Dir)
		}
	}
	f, ds := hclsyntax.ParseConfig(settings, "lockstep.hcl", hcl.InitialPos)
	if ds.HasErrors() {
		return m
	}
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		texts := func(name string) (all []string) {
			if a := b.Body.Attributes[name]; a != nil {
				v, _ := a.Expr.Value(nil)
				switch {
				case v.Type() == cty.String:
					all = append(all, v.AsString())
				case v.CanIterateElements():
					for _, x := range v.AsValueSlice() {
						all = append(all, x.AsString())
					}
				}
			}
			return all
		}
		dir := strings.Join(texts("dir"), "")
		switch {
		case b.Type == "project" && dir != "" && !strings.ContainsAny(dir, "*{"):
			m.projects = append(m.projects, dir)
		case b.Type == "policy" && b.Body.Attributes["repository"] == nil:
			rule := "warn contains \"x\" if false"
			if slices.Contains(texts("rego"), "v0") {
				rule = "warn[\"x\"] { false }"
			}
			for i, pkg := range append(texts("namespaces"), "main") {
				m.policies[fmt.Sprintf("%s/example%d.rego", cmp.Or(dir, "policy"), i)] = "package " + strings.ReplaceAll(pkg, "*", "main") + "\n\n" + rule + "\n"
			}
			for _, data := range texts("data") {
				m.policies[data+"/example.json"] = "{}"
			}
		}
	}
	return m
}

// foreignCode is a part of a configuration for which something has to be installed.
var foreignCode = regexp.MustCompile(`(?m)^\s*(?:(?:resource|data|ephemeral)\s+"(?:[^t]|t[^e]|te[^r])|provider\s+"|source\s*=)`)

// configuration checks a file of a configuration.
func (e *example) configuration(text string) {
	if _, ds := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos); ds.HasErrors() {
		e.errorf("%v", ds)
		return
	}
	if foreignCode.MatchString(text) {
		return
	}
	d := programtest.NewDir(e.t, "main.tf", text)
	if r := inProcess("-chdir="+d.Path, "validate"); r.Code != 0 {
		e.errorf("validate: %s%s", r.Out, r.Stderr)
	}
}

// placeholders are words of texts about commands, and words that can stand there.
var placeholders = strings.NewReplacer(" ACTION", " action.a.b", "=ACTION", "=action.a.b", " ADDR...", " a.b", " ADDR", " a.b", "=ADDR", "=a.b", " FROM", " a.b", " TO", " a.c", " HASH", " 0123456789ab", " COMMIT", " 0123456789ab")

// wrongComment returns what is wrong with a command in a comment, or "".
func wrongComment(line string) string {
	if slices.Contains(grammar.Verbs(), grammar.Verb(strings.TrimPrefix(line, "lockstep "))) {
		return ""
	}
	all := grammar.Parse(placeholders.Replace(line))
	switch {
	case len(all) != 1:
		return fmt.Sprintf("%q is no command for comments", line)
	case !all[0].Problem.IsZero():
		return fmt.Sprintf("%q is no command for comments: %+v", line, all[0].Problem)
	}
	return ""
}

// commandLines returns the commands of a session, without the output. Lines that end in a backslash go on in the next one.
func commandLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	return lines
}

// session runs commands in a directory that has the files of the page, and compares what they write.
func (e *example) session(text string) {
	if e.console == nil {
		d := programtest.NewDir(e.t)
		d.Env = []string{"NO_COLOR=1"}
		e.console = &d
	}
	e.populate(*e.console, e.files)
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		for strings.Contains(part, "\\\n") {
			part = strings.Replace(part, "\\\n", " ", 1)
		}
		line, want, _ := strings.Cut(part, "\n")
		if dir, ok := strings.CutPrefix(line, "cd "); ok {
			e.below = path.Join(e.below, dir)
			continue
		}
		if first, _, _ := strings.Cut(line, " "); !slices.Contains([]string{"lockstep", "cat", "ls", "mkdir", "echo", "mv", "rm"}, first) {
			e.errorf("%s cannot be run here: use `console flags`", first)
			continue
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = filepath.Join(e.console.Path, e.below), e.console.Environ()
		out, _ := cmd.CombinedOutput()
		got := strings.ReplaceAll(string(out), e.console.Path, "/home/you/infra")
		if !matchesOutput(want, got) {
			e.errorf("$ %s\nwants:\n%s\nand writes:\n%s", line, want, got)
		}
	}
}

// matchesOutput reports whether an output is what a block shows. "..." stands for any text, alone in a line for any lines.
func matchesOutput(want, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for _, line := range strings.Split(strings.Trim(want, "\n"), "\n") {
		if line = strings.TrimRight(line, " "); line == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`) + ` *\n`)
	}
	got = strings.Trim(got, "\n") + "\n"
	return want == "" && got == "\n" || regexp.MustCompile(pattern.String()+`$`).MatchString(got)
}

// wrongCommands returns what is wrong with the commands of lockstep in a line of a shell, or "".
func wrongCommands(line string) string {
	for _, part := range regexp.MustCompile(`\s(?:\||&&|;|\$\()\s`).Split(line, -1) {
		words := strings.Fields(part)
		if i := slices.Index(words, "lockstep"); i >= 0 {
			if wrong := wrongCommand(words[i+1:]); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// wrongCommand returns what is wrong with the words behind lockstep on a command line, or "": there must be such a command, and it must
// have the options.
func wrongCommand(words []string) string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if name, _, _ := strings.Cut(words[0], "="); !slices.Contains([]string{"-chdir", "-help", "-version"}, name) {
			return fmt.Sprintf("lockstep has no global option %s", name)
		}
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "COMMAND" {
		return ""
	}
	for n := min(len(words), 3); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		for _, c := range commands() {
			if c.Name != name {
				continue
			}
			help := inProcess(append(slices.Clone(words[:n]), "-help")...).Out
			for _, w := range words[n:] {
				option, _, _ := strings.Cut(strings.Trim(w, "[]"), "=")
				if strings.HasPrefix(option, "-") && option != "-help" && option != "-no-color" && option != "-compact-warnings" && !strings.Contains(help, "\n  "+option+" ") {
					return fmt.Sprintf("lockstep %s has no option %s", name, option)
				}
			}
			return ""
		}
	}
	return fmt.Sprintf("there is no command lockstep %s", strings.Join(words, " "))
}

// inline is a command of lockstep in running text.
var inline = regexp.MustCompile("`lockstep( [^`(][^`]*)`")

// TestDocsInline holds that each `lockstep ...` in running text is a command of the command line with options that it has, or of comments.
func TestDocsInline(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range docs.Read() {
		for line := range docs.Lines(p.Text) {
			if line.Code || strings.HasPrefix(line.Text, ">") { // a quoted message may be about a mistake
				continue
			}
			for _, m := range inline.FindAllStringSubmatch(line.Text, -1) {
				found++
				comment := wrongComment("lockstep" + m[1])
				if typed := wrongCommand(strings.Fields(m[1])); typed != "" && comment != "" {
					t.Errorf("cmd/docs/%s.md:%d: %s, and %s", p.Topic, line.Number, typed, comment)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no command was found")
	}
}

// TestDocsWrongExamples holds that each kind of block is run.
func TestDocsWrongExamples(t *testing.T) {
	t.Parallel()
	const project = "project \"net\" {\n  dir = \"net\"\n}\n"
	for _, x := range []struct{ info, text, want string }{
		{"hcl lockstep.hcl", project, ""},
		{"hcl lockstep.hcl", project + "require \"apply\" {\n  projects  = [\"nte\"]\n  approvals = 1\n}\n", "nte"},
		{"hcl lockstep.hcl", project + "policy \"p\" {\n  dir = \"rules\"\n}\n", ""},
		{"hcl lockstep.hcl", "project \"net\" {\n  dirr = \"net\"\n}\n", "dirr"},
		{"yaml atlantis.yaml", "version: 3\nprojects:\n- dir: net\n", ""},
		{"yaml atlantis.yaml", "version: 3\nprojects:\n- dri: net\n", "dri"},
		{"yaml .github/workflows/plan.yml", "a: [", "did not find"},
		{"hcl main.tf", "resource \"terraform_data\" \"x\" {\n  input = 1\n}\n", ""},
		{"hcl main.tf", "resource \"terraform_data\" \"x\" {\n  inputt = 1\n}\n", "inputt"},
		{"hcl main.tf", "resource \"aws_vpc\" \"x\" {\n  anything = 1\n}\n", ""},
		{"hcl main.tf", "resource {", "Unclosed"},
		{"hcl terragrunt.hcl", "a = ", "Invalid expression"},
		{"json", "{}", ""}, {"json", "{", "JSON"},
		{"rego", "package a\n\ndeny contains \"x\" if input.a\n", ""}, {"rego", "package a\n\ndeny {", "example.rego"},
		{"comment", "lockstep apply\nlockstep plan -p net", ""}, {"comment", "lockstep aply", "aply"}, {"comment", "terraform plan", "terraform plan"},
		{"console", "$ lockstep projects\nNAME ...\n...\n", ""}, {"console", "$ lockstep config check\nAll is well.\n", "All is well"},
		{"console", "$ mkdir a\n$ cd a\n$ lockstep validate\n...\n", ""}, {"console", "$ curl example.com\n", "curl"},
		{"console flags", "$ lockstep deploy -region x\nDone.\n", ""}, {"console flags", "$ lockstep deploy \\\n  -regino x\n", "-regino"},
		{"text", "x", ""}, {"text", "~~~\nx\n~~~", ""}, {"diff", "+ x", ""}, {"", "x", "no test is known"}, {"hcl", "a = 1", "no test is known"}, {"console shell", "", "no test is known"},
	} {
		p := docs.Page{Topic: "guide/x", Text: "# X\n\n<!-- projects: net -->\n```" + x.info + "\n" + x.text + "\n```\n"}
		switch wrong := wrongExamples(t, p); {
		case x.want == "" && len(wrong) == 0:
		case x.want != "" && len(wrong) == 1 && strings.HasPrefix(wrong[0], "cmd/docs/guide/x.md:4: ") && strings.Contains(wrong[0], x.want):
		default:
			t.Errorf("%s\n%s: %q, want %q", x.info, x.text, wrong, x.want)
		}
	}
	if wrong := wrongExamples(t, docs.Page{Topic: "guide/x", Text: "# X\n\n```text\nx\n"}); len(wrong) != 1 {
		t.Errorf("a block without an end: %q", wrong)
	}
}

// TestDocsChecks holds that the checks above find mistakes.
func TestDocsChecks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"lockstep plan -out=x": "", "lockstep plna": "there is no command", "lockstep plan -outt=x": "has no option -outt", "cat x | lockstep nonsense": "there is no command",
		"aws s3 ls": "", "lockstep -chdir=net state list -id=x": "", "lockstep -frob plan": "no global option", "lockstep deploy doctor -region x": "",
	} {
		if got := wrongCommands(line); want == "" != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{"lockstep apply -p NAME": true, "lockstep aply": false, "terraform plan": false, "lockstep lock": true, "lockstep lock -p x": false, `lockstep lock --reason "..."`: true} {
		if got := wrongComment(line); got == "" != want {
			t.Errorf("%s: %q", line, got)
		}
	}
	for _, x := range []struct {
		want, got string
		is        bool
	}{
		{"", "", true}, {"", "x\n", false}, {"a\n", "a\n", true}, {"a\n...\nd\n", "a\nb\nc\nd\n", true}, {"a\n...\n", "a\n", true}, {"a\n", "a\nb\n", false},
		{"in ... s\n", "in 0.2 s\n", true}, {"in ... s\n", "in 0.2 s\nmore\n", false},
	} {
		if matchesOutput(x.want, x.got) != x.is {
			t.Errorf("%q as %q: not %v", x.got, x.want, x.is)
		}
	}
}
