package atlantis

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// FileName is the name of Atlantis' file, in the root of the repository.
const FileName = "atlantis.yaml"

// A Document is the content of atlantis.yaml, in the terms of lockstep.hcl. Names and paths are as in the file,
// and are not checked.
type Document struct {
	Projects []Project
	// Discover is set if directories without an entry are also projects. Only directories whose configuration
	// has a backend count.
	Discover bool
	// Exclude are patterns of directories that are not projects.
	Exclude []Text
	// Require are the requirements, in the order of their first lines.
	Require []requirements.Requirement
	// Steps replace run steps of workflows, in the order of the file. They are read only with [Options.Steps].
	Steps []Step
	// Automerge is set if Lockstep merges a pull request once all projects of the pull request are applied.
	// DeleteBranch is set if Lockstep then deletes the branch.
	Automerge    bool
	DeleteBranch bool
	// Unreadable is set if the file has errors that may hide a requirement.
	Unreadable bool
	// Notices are the parts that have no effect in Lockstep, in the order of the file.
	Notices []Notice
}

// A Text is a text in the file, together with its place in the file.
type Text struct {
	Value string
	At    hcl.Range
}

// A Project is an entry in the list of projects. Paths are relative to the repository.
type Project struct {
	At        hcl.Range
	Name      Text
	Dir       Text
	Workspace Text // empty: the default one
	// WhenChanged are patterns in doublestar's notation. A pattern with a leading ! excludes files again. nil
	// means the project's own files.
	WhenChanged   []Text
	VarFiles      []Text
	Variables     map[string]json.RawMessage
	BackendFiles  []Text
	BackendConfig map[string]json.RawMessage
	// Language is the version of the language by terraform_version; the newest if Lockstep does not speak that version.
	Language language.Version
	// DependsOn are the names of projects that are applied before this one. Group is the project's
	// execution_order_group. Projects with a lower number are also applied before this one.
	DependsOn []Text
	Group     int
	// Broken is set if the project has errors.
	Broken bool
}

// A Notice says that a part of the file has no effect in Lockstep, or that lockstep.hcl has another form for
// it.
type Notice struct {
	File  string
	Lines []int
	// Key is the part: a key of the file, a step, or an argument of a command. The author of a pull request may
	// have written it. It has at most 60 bytes and no control characters.
	Key string
	// Instead is a sentence that says what to do in Lockstep.
	Instead string
	// Carried is set if lockstep.hcl has the part in another form.
	Carried bool
}

// Where returns the place of the notice for people: the part, the file and the lines.
func (n Notice) Where() string {
	var lines []string
	for _, x := range n.Lines {
		lines = append(lines, strconv.Itoa(x))
	}
	return n.Key + " (" + n.File + ":" + strings.Join(lines, ", ") + ")"
}

// notices collects notices. The same notice about several projects becomes one notice with several lines.
type notices struct {
	file string
	all  []Notice
}

// These are limits of a report: the number of notices, and the number of lines in one notice. People read no
// more.
const (
	maxNotices = 100
	maxLines   = 200
)

// add adds a notice about the part of the file with this key. name is the key in the table of the sentence that
// explains the notice.
func (n *notices) add(line int, key, name string) {
	n.say(n.file, line, key, instead[name], slices.Contains(carried, name))
}

// say is like add, but the caller chooses the file and the sentence.
func (n *notices) say(file string, line int, key, sentence string, carried bool) {
	key = visible(key)
	new := Notice{File: file, Key: key, Instead: sentence, Carried: carried}
	i := slices.IndexFunc(n.all, func(x Notice) bool { return x.File == file && x.Key == key && x.Instead == new.Instead })
	switch {
	case i < 0 && len(n.all) > maxNotices:
		return
	case i < 0 && len(n.all) == maxNotices:
		new.Key, new.Instead = "...", "There are more problems of this kind. They are not listed."
		fallthrough
	case i < 0:
		n.all = append(n.all, new)
		i = len(n.all) - 1
	}
	if x := &n.all[i]; len(x.Lines) < maxLines && !slices.Contains(x.Lines, line) {
		x.Lines = append(x.Lines, line)
	}
}

// sorted returns the notices, sorted by the first line of each.
func (n *notices) sorted() []Notice {
	for _, x := range n.all {
		slices.Sort(x.Lines)
	}
	slices.SortStableFunc(n.all, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Lines[0], b.Lines[0]))
	})
	return n.all
}

// maxKey is the maximum length of a notice's Key in bytes.
const maxKey = 60

// visible returns a text of the file, cut to maxKey bytes and without characters that could change the look of
// a report.
func visible(s string) string {
	out := []byte{}
	for _, r := range s {
		if len(out) > maxKey-len("...") {
			return string(out) + "..."
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return string(out)
}
