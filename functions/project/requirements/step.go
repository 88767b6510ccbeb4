package requirements

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// A Step is a step block of lockstep.hcl: a program that runs in the checkout of each plan or apply.
//
//	tools = { tflint = "sha256:..." }
//
//	step "lint" {
//	  on      = "before_plan"
//	  program = ["tflint", "--format=sarif", "--config={files}/.tflint.hcl"]
//	  files   = [".tflint.hcl"]
//	}
//
// A required step before or after the plan is a requirement for applies, like a policy block: the plan can be applied
// only if the step has succeeded.
type Step struct {
	Name string
	On   Moment
	// Program is the name of a tool or the absolute path of a program in the image of a build, followed by its
	// arguments. The arguments may contain placeholders. No shell sees them.
	Program []string
	// Digest is the SHA-256 checksum of the tool's file, in hexadecimal digits; "" for a program of an image.
	Digest string
	// Env are environment variables of the program. The program gets no other variables, except a few
	// of the system's.
	Env map[string]string `json:",omitempty"`
	// Files are files and directories of the base branch that the program gets, as paths from the root of the
	// repository. A pull request cannot change them.
	Files []string `json:",omitempty"`
	// Network allows the program to use the network.
	Network bool `json:",omitempty"`
	// PlanRole gives the program the credentials that providers have for plans.
	PlanRole bool `json:",omitempty"`
	// Timeout is the program's time limit in seconds.
	Timeout int
	// Required is set if a failure of the step blocks applies.
	Required bool
}

// OfImage reports whether the program is a file of the image in which the project is planned and applied.
func (s Step) OfImage() bool { return strings.HasPrefix(s.Program[0], "/") }

// A Moment is when a step runs.
type Moment string

// These are the moments, in the order of a pull request.
const (
	// Generate is after each checkout. The program may write files into the checkout.
	Generate    Moment = "generate"
	BeforePlan  Moment = "before_plan"
	AfterPlan   Moment = "after_plan"
	BeforeApply Moment = "before_apply"
	AfterApply  Moment = "after_apply"
)

// moments are all moments, in the order of a pull request.
var moments = []Moment{Generate, BeforePlan, AfterPlan, BeforeApply, AfterApply}

// Judges reports whether the step decides about applies as a policy does: it is required, and it runs when the plan is
// made.
func (s Step) Judges() bool { return s.Required && (s.On == BeforePlan || s.On == AfterPlan) }

// allPlaceholders are the texts in a step's arguments that Lockstep replaces: paths, all of them absolute, and names. The
// placeholder for the plan exists only in steps after the plan.
var allPlaceholders = []string{"{dir}", "{checkout}", "{files}", "{workspace}", "{head_sha}", "{base_sha}", planJSON}

const planJSON = "{plan_json}"

// These are the limits of step blocks.
const (
	maxSteps     = 20
	maxArguments = 100
	// DefaultStepTimeout and maxStepTimeout are in seconds. A function has 15 minutes for a whole plan.
	DefaultStepTimeout = 60
	maxStepTimeout     = 600
)

var (
	digestPattern      = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	placeholderPattern = lazyregexp.New(`\{[a-z_]*\}`)
	variablePattern    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
)

// parseDigest reads the digest of a tool: "sha256:" and 64 hexadecimal digits. It returns the digits.
func parseDigest(s string) (string, error) {
	if !digestPattern.MatchString(s) {
		return "", fmt.Errorf("the digest of a tool is \"sha256:\" and 64 hexadecimal digits, as `lockstep toolbox add` prints it")
	}
	return strings.TrimPrefix(s, "sha256:"), nil
}

// ParseSteps returns a function that parses step blocks as requirements. tools are the digests of tools by name. If
// there are errors, some blocks are missing, and the result must not be used to allow anything.
func ParseSteps(tools map[string]string) func(hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
	return func(list hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
		return blocks.Named(list, maxSteps, "people wait for each", func(r *blocks.Reader, b *hcl.Block) Requirement { return step(r, b, tools) })
	}
}

// step reads one block.
func step(r *blocks.Reader, b *hcl.Block, tools map[string]string) Requirement {
	s := &Step{Name: b.Labels[0], Required: true, Timeout: DefaultStepTimeout}
	x := Requirement{Command: "apply", At: blocks.Place(b), Rules: Rules{Step: s}}
	r.Content(b.Body, blocks.Schema([]string{"on", "program", "projects", "env", "files", "network", "timeout", "role", "required", "override"}))
	s.On = Moment(r.Text("on"))
	if !slices.Contains(moments, s.On) && !r.Diags.HasErrors() {
		at := b.DefRange
		if r.Has("on") {
			at = r.At("on")
		}
		r.Errorf(at, "Invalid moment", "A step runs on \"generate\", \"before_plan\", \"after_plan\", \"before_apply\" or \"after_apply\".")
	}
	s.program(r, b, tools)
	s.Env = r.Texts("env")
	s.checkEnv(r)
	s.Files = blocks.Each(r, "files", func(p string) (string, error) {
		name, ok := inRepository(p)
		if !ok || name == "." {
			return "", fmt.Errorf("a file of the base branch is a path from the root of the repository: \".tflint.hcl\"")
		}
		return name, nil
	})
	s.Network = r.Flag("network")
	switch role := r.Text("role"); role {
	case "", "none":
	case "plan":
		s.PlanRole = true
	default:
		r.Errorf(r.At("role"), "Invalid role", "The role of a step is \"plan\" for the credentials that providers have for plans, or \"none\".")
	}
	if s.On == Generate && s.PlanRole {
		r.Errorf(r.At("role"), "Role of a generator", "A step on \"generate\" gets no credentials: its files are a part of what people review. Remove the argument.")
	}
	if r.Has("timeout") {
		s.timeout(r)
	}
	if r.Has("required") {
		s.Required = r.Flag("required")
	}
	if s.On == Generate && !s.Required {
		r.Errorf(r.At("required"), "Step that is required", "The plan depends on the files that a step on \"generate\" writes, so the plan fails if the step fails. Remove the argument.")
	}
	x.Projects, x.Override = r.Projects(), lifters(r)
	r.NotEmpty(map[string]bool{"projects": x.Projects == nil, "override": x.Override == nil, "files": s.Files == nil})
	if x.Override != nil && !s.Judges() && !r.Diags.HasErrors() {
		r.Errorf(r.At("override"), "Nothing to override", "People can override only the result of a required step on \"before_plan\" or \"after_plan\", because they have seen it.")
	}
	return x
}

// checkEnv checks the names of environment variables.
func (s *Step) checkEnv(r *blocks.Reader) {
	for name := range s.Env {
		if !variablePattern.MatchString(name) || strings.HasPrefix(name, "LD_") {
			r.Errorf(r.At("env"), "Invalid environment variable", "%q cannot be the name of an environment variable of a program.", name)
		}
	}
}

// program reads the argument program.
func (s *Step) program(r *blocks.Reader, b *hcl.Block, tools map[string]string) {
	if !r.Has("program") {
		r.Errorf(b.DefRange, "Missing program", "The step %q needs the argument program: a list with the name of a tool and its arguments, [\"tflint\", \"--format=sarif\"].", s.Name)
		return
	}
	s.Program = blocks.Each(r, "program", func(arg string) (string, error) {
		if strings.ContainsRune(arg, 0) {
			return "", fmt.Errorf("an argument cannot contain a NUL character")
		}
		for _, p := range placeholderPattern.FindAllString(arg, -1) {
			if !s.mayUse(p) {
				return "", fmt.Errorf("%q is not replaced here. A step can use %s", p, strings.Join(placeholders(s.On), ", "))
			}
		}
		return arg, nil
	})
	if len(s.Program) == 0 {
		if !r.Diags.HasErrors() {
			r.Errorf(r.At("program"), "Missing program", "The list is empty. Write the name of a tool and its arguments: [\"tflint\", \"--format=sarif\"].")
		}
		return
	}
	if s.OfImage() {
		if path.Clean(s.Program[0]) != s.Program[0] || placeholderPattern.MatchString(s.Program[0]) {
			r.Errorf(r.At("program"), "Invalid program", "The path of a program in an image is absolute, and has no \"..\" and no placeholder: \"/usr/bin/node\".")
		}
		return
	}
	digest, ok := tools[s.Program[0]]
	if !ok {
		r.Errorf(r.At("program"), "Unknown tool", "The argument tools has no tool %q. Run `lockstep toolbox add %[1]s FILE`, which adds it.", s.Program[0])
	}
	s.Digest = digest
}

func (s *Step) mayUse(placeholder string) bool {
	return slices.Contains(placeholders(s.On), placeholder)
}

// placeholders are the placeholders that a step can use at a moment.
func placeholders(m Moment) []string {
	if m == Generate || m == BeforePlan {
		return slices.DeleteFunc(slices.Clone(allPlaceholders), func(p string) bool { return p == planJSON })
	}
	return allPlaceholders
}

// timeout reads the argument timeout.
func (s *Step) timeout(r *blocks.Reader) {
	d, err := time.ParseDuration(r.Text("timeout"))
	if s.Timeout = int(d / time.Second); err != nil || d < time.Second || d > maxStepTimeout*time.Second || d%time.Second != 0 {
		r.Errorf(r.At("timeout"), "Invalid timeout", "A timeout is from \"1s\" to \"%ds\", in whole seconds.", maxStepTimeout)
	}
}

// Tools returns the tools that an attribute names, with their digests.
func Tools(a *hcl.Attribute, names map[string]string) (map[string]string, hcl.Diagnostics) {
	if a == nil {
		return nil, nil
	}
	out := map[string]string{}
	var ds hcl.Diagnostics
	at := a.Expr.Range()
	for name, digest := range names {
		sum, err := parseDigest(digest)
		switch {
		case !blocks.SlugPattern.MatchString(name) || name != path.Base(name):
			ds = append(ds, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid name of a tool", Subject: &at,
				Detail: fmt.Sprintf("The name %q of a tool consists of small letters, digits and the characters _ . - and has at most 100.", name)})
		case err != nil:
			ds = append(ds, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid digest", Subject: &at,
				Detail: fmt.Sprintf("%q: %s.", name, err)})
		default:
			out[name] = sum
		}
	}
	return out, ds
}
