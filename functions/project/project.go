// Package project knows the projects of a repository: directories with a root module of their own,
// each planned and applied by itself; the files that matter to each; and the permissions for one,
// to run programs of others and to get modules from elsewhere.
//
// A repository describes its projects in lockstep.hcl ([Parse]), where that is absent in atlantis.yaml
// ([Read]), or leaves it to its directories
// ([Discover]). The author of a pull request writes these files too: so its discoveries tell only
// where to look, and the caller must read permissions ([Settings.ApplyOn], [Settings.Grant],
// [GrantsOf], [Allow.States]) at the base commit, and on the default branch where the base is another branch
// ([Settings.Names]).
//
// The package reads files and nothing else. It refuses to know pull requests, plans, and the
// content of states. Start at [Discover].
package project

import (
	"encoding/json"
	"regexp"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// A Project is a root module together with a workspace, so it has one state.
type Project struct {
	// Name is unique in the repository.
	Name string
	// Dir is its directory, slash-separated, from the repository's own, which is ".".
	Dir       string
	Workspace string
	// Modules are the directories of the local modules that it calls, directly or not, sorted.
	// [Discover] fills it in.
	Modules []string
	// Reads are the paths that its configuration names for its functions and providers to read; Guesses are those of which it
	// tells the beginning only, so that a plan alone knows them: see [Compare]. "DIR/**" stands for all files below a directory.
	// [Discover] fills them in.
	Reads, Guesses []string `json:",omitempty"`
	// WhenChanged are patterns, in doublestar's notation and from the repository's directory: a
	// change of such a file makes Lockstep plan the project. One with a ! before it takes files out
	// again, and later ones win; files that its plan reads stay in. nil: the files of Dir and Modules. Without any pattern no
	// change does.
	WhenChanged []string
	// VarFiles are files with values of variables, as -var-file takes them, by paths
	// from the repository's directory. Later ones win.
	VarFiles []string
	// DependsOn are the projects that are applied before it, where a pull request changes both.
	// [Discover] leaves names and patterns here, sorted, that are for some project: see [EdgesOf]. Those of the
	// head alone do not decide: see [order.Union].
	DependsOn []string `json:",omitempty"`
	// Group is its group of atlantis.yaml: it is applied after those of lower numbers.
	Group int `json:",omitempty"`
	// Environment is the label of its environment, "" for none. It grants nothing by itself: see
	// [Settings.Grant].
	Environment string `json:",omitempty"`
	// Variables are values of variables as JSON, by name: those of its environment, and its own.
	Variables map[string]json.RawMessage `json:",omitempty"`
	// Inputs are values of variables that are made of the outputs of other projects, which are among DependsOn. They
	// win over Variables, which the environment may have.
	Inputs []projectinputs.Link `json:",omitempty"`
	// BackendConfig are the arguments of its backend beside those in the block, as JSON, by name:
	// [Discover] adds those in BackendFiles, which are paths from the repository's directory.
	BackendConfig map[string]json.RawMessage `json:",omitempty"`
	BackendFiles  []string                   `json:",omitempty"`
	// ProviderParallelism is how many calls of a provider may run at a time: see [ProviderLimits].
	ProviderParallelism map[string]int `json:",omitempty"`
	// At is the line of its block, "lockstep.hcl:3", or of its entry; "" if it has none.
	At string `json:",omitempty"`
	// Apply is the occasion of its apply. Only the base branch decides it: see [Settings.ApplyOn].
	Apply ApplyOn
	// Backend is the type of its configuration's backend, "" if there is none. [Discover] fills it
	// in.
	Backend string
	// Encrypts is set if its configuration has an encryption block, or cannot be read: nobody can tell
	// then. [Discover] fills it in.
	Encrypts bool `json:",omitempty"`
	// Place is the address of the state by its configuration; if there is none, Nowhere is the
	// reason, for people. [Discover] fills them in. Whether the state may be there is for the base
	// commit to decide.
	Place   places.Place
	Nowhere string
}

// ApplyOn is the occasion on which a plan is applied.
type ApplyOn string

const (
	OnComment ApplyOn = "comment" // a user comments "lockstep apply" before the merge
	OnMerge   ApplyOn = "merge"   // the pull request is merged
)

// FileName is the file, in the repository's directory, that describes its projects.
const FileName = "lockstep.hcl"

// DefaultWorkspace is the workspace of a project without another one.
const DefaultWorkspace = "default"

// MaxProjects is the limit of projects in a repository, so that no pull request can cause more
// plans than people would read.
const MaxProjects = 2000

// namePattern matches the names that the grammar of commands allows; package comment has the same
// pattern, and a test compares them.
var namePattern = regexp.MustCompile(`^(\.|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*)$`)

// maxName is the limit of a name's length in bytes.
const maxName = 200

func validName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }
