// Package project finds the projects of a repository, the files that affect each project, and each project's
// permissions. A project is a directory with a separate root module, which is planned and applied by itself.
// Permissions allow a project to run programs of others and to use modules from elsewhere.
//
// A repository describes its projects in lockstep.hcl ([Parse]). If it has no lockstep.hcl, atlantis.yaml
// describes them ([Read]). Without a description, the directories decide ([Discover]).
//
// The author of a pull request writes these files, too. So the files of the head only say which projects exist.
// The caller must read permissions at the base commit ([Settings.ApplyOn], [Settings.Tests], [Settings.Grant],
// [GrantsOf], [Allow.States]). If the base is not the default branch, the caller must also use the settings of
// the default branch ([Settings.Names]).
//
// This package reads files and nothing else. It does not know pull requests, plans, and the content of states.
// Start reading at [Discover].
package project

import (
	"encoding/json"
	"regexp"

	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A Project is a root module with a workspace, so it has one state.
type Project struct {
	// Name is the project's name, which is unique in the repository.
	Name string
	// Dir is the project's directory, slash-separated and relative to the repository's root. The root itself is
	// ".".
	Dir       string
	Workspace string
	// Modules are the directories of the local modules that the project calls, directly or not, sorted.
	// [Discover] sets it.
	Modules []string
	// Reads are the paths that functions and providers in the project's configuration read. Guesses are the
	// known beginnings of other paths. Only a plan finds out the rest of these paths: see [Touched]. "DIR/**"
	// means all files below a directory. [Discover] sets both.
	Reads, Guesses []string `json:",omitempty"`
	// States are the addresses, by places.Place.String, of the states of others that the project's data sources
	// read, as far as they are known: see [Readers]. [Discover] sets it.
	States []string `json:",omitempty"`
	// WhenChanged are patterns, in doublestar's notation and relative to the repository's root. Lockstep plans
	// the project when a matching file changes. A pattern with a leading ! excludes files again, and later
	// patterns have precedence. Files that the plan reads always count. nil means the files of Dir and Modules.
	// An empty list means that no change counts.
	WhenChanged []string
	// VarFiles are files with variable values, as for -var-file. They are paths relative to the repository's
	// root. Later files have precedence.
	VarFiles []string
	// DependsOn are the projects that are applied before this one, if a pull request changes both. [Discover]
	// keeps the names and patterns that select some project, sorted: see [EdgesOf]. The head alone does not
	// decide about the order: see [order.Union].
	DependsOn []string `json:",omitempty"`
	// Group is the project's group in atlantis.yaml. The project is applied after groups with lower numbers.
	Group int `json:",omitempty"`
	// Environment is the label of the project's environment; "" for none. It grants nothing by itself: see
	// [Settings.Grant].
	Environment string `json:",omitempty"`
	// Variables are variable values as JSON, by name: those of the project's environment, and the project's
	// own.
	Variables map[string]json.RawMessage `json:",omitempty"`
	// Inputs are variable values that are made from outputs of other projects. These projects are among
	// DependsOn. Inputs have precedence over Variables, which the environment may set.
	Inputs []projectinputs.Link `json:",omitempty"`
	// BackendConfig are backend arguments in addition to those in the configuration's backend block, as JSON,
	// by name. BackendFiles are paths of files with additional arguments, relative to the repository's root.
	// [Discover] adds the arguments in these files to BackendConfig.
	BackendConfig map[string]json.RawMessage `json:",omitempty"`
	BackendFiles  []string                   `json:",omitempty"`
	// ProviderParallelism is how many calls of a provider may run at a time: see [ProviderLimits].
	ProviderParallelism map[string]int `json:",omitempty"`
	// Language is the version of the language that the configuration is written in. The head decides about it, as
	// about the configuration itself.
	Language language.Version `json:",omitempty"`
	// Refresh says what plans of the project read. Only the base branch decides that: see [Settings.RefreshOf].
	Refresh Refresh `json:",omitzero"`
	// Test is set if the project's tests are run. Only the base branch decides that: see [Settings.Tests].
	Test bool `json:",omitempty"`
	// Mode says whether Lockstep applies the project, or only plans beside another tool. Only the base branch decides
	// that: see [Settings.Shadows].
	Mode Mode `json:",omitempty"`
	// Unit is the unit of Terragrunt in Dir; nil if there is none. [Discover] sets it.
	Unit *terragrunt.Unit `json:",omitempty"`
	// At is the line of the project's block, such as "lockstep.hcl:3", or of its entry in atlantis.yaml; "" if
	// the project has none.
	At string `json:",omitempty"`
	// Apply says when the project is applied. Only the base branch decides about that: see [Settings.ApplyOn].
	Apply ApplyOn
	// Backend is the type of backend in the project's configuration; "" for none. [Discover] sets it.
	Backend string
	// Encrypts is set if the project's configuration has an encryption block, or cannot be read. [Discover]
	// sets it.
	Encrypts bool `json:",omitempty"`
	// Place is the address of the state according to the project's configuration. If the configuration has no
	// valid address, Nowhere is the reason, for users. [Discover] sets both. The base commit decides whether
	// the state may be there.
	Place   places.Place
	Nowhere string
}

// ApplyOn says when a plan is applied: after a comment, or by the merge.
type ApplyOn string

const (
	OnComment ApplyOn = "comment" // after a user comments "lockstep apply", before the merge
	OnMerge   ApplyOn = "merge"   // when the pull request is merged
)

// FileName is the file in the repository's root that describes its projects.
const FileName = "lockstep.hcl"

// DefaultWorkspace is the workspace of a project that does not name one.
const DefaultWorkspace = "default"

// MaxProjects is the maximum number of projects in a repository. It limits how many plans a pull request can
// cause.
const MaxProjects = 2000

// namePattern matches the names that the grammar of commands allows. Package comment has the same pattern, and
// a test compares them.
var namePattern = regexp.MustCompile(`^(\.|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*)$`)

// maxName is the maximum length of a name in bytes.
const maxName = 200

func validName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }
