package grammar

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// An option is an option of a command. People may type it with one dash or two, and with a space or = before
// its value.
type option struct {
	names  []string // without dashes; Lockstep writes the first one
	stands string   // the word for the value in texts: "NAME"; "" for an option without a value
	check  check
	// set sets the option's value in c. The value has passed the check. set returns false if the option already
	// had a value.
	set func(c *Command, value string) bool
	// about explains the option to people.
	about string
}

// flag returns the option as Lockstep writes it: "-p".
func (o *option) flag() string {
	if slices.Contains([]*option{failed, because}, o) {
		return "--" + o.names[0]
	}
	return "-" + o.names[0]
}

// A check returns the kind of problem that a value has; "" if the value is valid.
type check func(value string) Kind

var (
	inProject   = &option{[]string{"p", "project"}, "NAME", isPattern, once(func(c *Command) *string { return &c.Project }), "Only the projects of this name. `*` matches any part of a name, and `**` also matches `/`."}
	inDir       = &option{[]string{"d", "dir"}, "DIR", isPattern, once(func(c *Command) *string { return &c.Dir }), "Only the projects in this directory, as a path from the root of the repository, with the same patterns."}
	inWorkspace = &option{[]string{"w", "workspace"}, "WORKSPACE", isPattern, once(func(c *Command) *string { return &c.Workspace }), "Only the projects with this workspace, with the same patterns."}
	failed      = &option{[]string{"failed"}, "", nil, said(func(c *Command) *bool { return &c.Failed }), "Only the projects whose last plan or apply failed."}

	target      = &option{[]string{"target"}, "ADDR", isAddress, more(func(c *Command) *[]string { return &c.Options.Targets }), "Plans only this module, resource or instance, and what it depends on. You may give it several times."}
	exclude     = &option{[]string{"exclude"}, "ADDR", isAddress, more(func(c *Command) *[]string { return &c.Options.Excludes }), "Plans everything except this module, resource or instance, and what depends on it. You may give it several times."}
	replace     = &option{[]string{"replace"}, "ADDR", isResource, more(func(c *Command) *[]string { return &c.Options.Replaces }), "Plans to replace this object, even if nothing in it changes. You may give it several times."}
	imported    = &option{[]string{"import"}, "\"ADDR ID\"", isImport, more(func(c *Command) *[]string { return &c.Options.Imports }), "Plans to import the object with this ID under this address."}
	moved       = &option{[]string{"move"}, "\"FROM TO\"", isMove, more(func(c *Command) *[]string { return &c.Options.Moves }), "Plans to move an object of the state to another address."}
	forgotten   = &option{[]string{"forget"}, "ADDR", isAddress, more(func(c *Command) *[]string { return &c.Options.Forgets }), "Plans to remove this object from the state. The object itself stays as it is."}
	untainted   = &option{[]string{"untaint"}, "ADDR", isResource, more(func(c *Command) *[]string { return &c.Options.Untaints }), "Plans to keep this object, which a failed apply has marked as tainted."}
	invoked     = &option{[]string{"invoke"}, "ACTION", isAction, once(func(c *Command) *string { return &c.Options.Invoke }), "Plans to invoke this action, or this instance of it, and changes no object."}
	variable    = &option{[]string{"var"}, "NAME=VALUE", isVariable, more(func(c *Command) *[]string { return &c.Options.Variables }), "Sets a variable of the root module. You may give it several times."}
	destroy     = &option{[]string{"destroy"}, "", nil, said(func(c *Command) *bool { return &c.Options.Destroy }), "Plans to destroy all objects of the project."}
	refreshOnly = &option{[]string{"refresh-only"}, "", nil, said(func(c *Command) *bool { return &c.Options.RefreshOnly }), "Plans only to write changes made outside of Terraform into the state."}
	refresh     = &option{[]string{"refresh"}, "VALUE", isRefresh, refreshing, "Which objects the plan reads: all (`true`), none (`false`), or only what its changes can affect (`affected`)."}

	generate = &option{[]string{"generate"}, "", nil, said(func(c *Command) *bool { return &c.Generate }), "Shows the configuration of what is found, with the blocks that import it."}

	asPullRequest = &option{[]string{"pull-request"}, "", nil, said(func(c *Command) *bool { return &c.PullRequest }), "Opens a pull request with the configuration of what is found, and the blocks that import it."}

	because = &option{[]string{"reason"}, "\"...\"", isReason, once(func(c *Command) *string { return &c.Reason }), "Your reason, which Lockstep shows and records."}
)

var (
	choosing = []*option{inProject, inDir, inWorkspace, failed}
	// addressed are the options whose values are addresses of resources or other objects.
	addressed = []*option{target, exclude, replace, imported, moved, forgotten, untainted, invoked}
	planning  = []*option{target, exclude, replace, variable, destroy, refreshOnly, refresh, imported, moved, forgotten, untainted, invoked}
	changing  = []*option{target, exclude, variable, refresh} // of a plan that changes the state
	all       = slices.Concat(choosing, planning, []*option{generate, asPullRequest, because})
)

func once(field func(*Command) *string) func(*Command, string) bool {
	return func(c *Command, value string) bool {
		if *field(c) != "" {
			return false
		}
		*field(c) = value
		return true
	}
}

func more(field func(*Command) *[]string) func(*Command, string) bool {
	return func(c *Command, value string) bool {
		if f := field(c); !slices.Contains(*f, value) {
			*f = append(*f, value)
		}
		return true
	}
}

// refreshing sets the option -refresh, which may be given once.
func refreshing(c *Command, value string) bool {
	o := &c.Options
	if o.NoRefresh && value != "false" || o.Refresh != "" && o.Refresh != value {
		return false
	}
	if value == "false" {
		o.NoRefresh = true
	} else {
		o.Refresh = value
	}
	return true
}

func said(field func(*Command) *bool) func(*Command, string) bool {
	return func(c *Command, _ string) bool { *field(c) = true; return true }
}

// optionOf returns the option with the given name; nil if there is none.
func optionOf(name string) *option {
	i := slices.IndexFunc(all, func(o *option) bool { return slices.Contains(o.names, name) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// needless are options of the command lines of Terraform and Atlantis that have no effect in Lockstep. A plan
// asks no questions, takes no lock, and is never applied by itself. So a command without these options means
// the same.
//
// -auto-merge-disabled is not in the list. Without this option the command could do more: merge the pull
// request, if the settings on the base branch say so.
var needless = []string{
	"auto-approve", "input", "lock", "lock-timeout", "no-color", "compact-warnings", "concise", "json", "out",
	"detailed-exitcode", "parallelism", "verbose",
}

// excluding are pairs of options that contradict each other. Terraform and lockstep's command line refuse the
// same pairs. Only here, -invoke also excludes each change of the state, because a plan with -invoke changes no
// object.
var excluding = []struct {
	a, b  *option
	holds func(Options) bool
}{
	{target, exclude, func(o Options) bool { return len(o.Targets) > 0 && len(o.Excludes) > 0 }},
	{destroy, refreshOnly, func(o Options) bool { return o.Destroy && o.RefreshOnly }},
	{refreshOnly, refresh, func(o Options) bool { return o.RefreshOnly && o.NoRefresh }},
	{replace, destroy, func(o Options) bool { return len(o.Replaces) > 0 && o.Destroy }},
	{imported, destroy, func(o Options) bool { return len(o.Imports) > 0 && o.Destroy }},
	{imported, refreshOnly, func(o Options) bool { return len(o.Imports) > 0 && o.RefreshOnly }},
	{forgotten, destroy, func(o Options) bool { return len(o.Forgets) > 0 && o.Destroy }},
	{forgotten, refreshOnly, func(o Options) bool { return len(o.Forgets) > 0 && o.RefreshOnly }},
	{untainted, replace, func(o Options) bool { return len(o.Untaints) > 0 && len(o.Replaces) > 0 }},
	{untainted, destroy, func(o Options) bool { return len(o.Untaints) > 0 && o.Destroy }},
	{replace, refreshOnly, func(o Options) bool { return len(o.Replaces) > 0 && o.RefreshOnly }},
	{invoked, destroy, func(o Options) bool { return o.Invoke != "" && o.Destroy }},
	{invoked, refreshOnly, func(o Options) bool { return o.Invoke != "" && o.RefreshOnly }},
	{invoked, target, func(o Options) bool { return o.Invoke != "" && len(o.Targets) > 0 }},
	{invoked, exclude, func(o Options) bool { return o.Invoke != "" && len(o.Excludes) > 0 }},
	{invoked, replace, func(o Options) bool { return o.Invoke != "" && len(o.Replaces) > 0 }},
	{invoked, imported, func(o Options) bool { return o.Invoke != "" && len(o.Imports) > 0 }},
	{invoked, moved, func(o Options) bool { return o.Invoke != "" && len(o.Moves) > 0 }},
	{invoked, forgotten, func(o Options) bool { return o.Invoke != "" && len(o.Forgets) > 0 }},
	{invoked, untainted, func(o Options) bool { return o.Invoke != "" && len(o.Untaints) > 0 }},
}

// dashed replaces one long dash at the beginning of an option by two dashes, because phones turn two typed
// dashes into a long one. It returns any other word unchanged.
func dashed(text string) string {
	rest := strings.TrimLeft(text, "—–")
	name, _, _ := strings.Cut(strings.ToLower(rest), "=")
	if rest == text || optionOf(strings.TrimRight(name, sentenceEnds)) == nil {
		return text
	}
	return "--" + rest
}

// optionPattern matches a word that a person may have meant as the name of an option.
var optionPattern = lazyregexp.New(`^[a-z][a-z0-9_-]*$`)

// cutFlag splits a word such as "-target=a" into the option's name and the value. hasValue is false if there is
// no "=". ok is false if the word is no option.
func cutFlag(w word) (name, value string, hasValue, ok bool) {
	if w.quoted || !strings.HasPrefix(w.text, "-") {
		return "", "", false, false
	}
	name = strings.TrimPrefix(strings.TrimPrefix(w.text, "-"), "-")
	name, value, hasValue = strings.Cut(name, "=")
	return name, value, hasValue, true
}
