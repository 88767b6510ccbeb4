package clients

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine"
)

// A rewriting puts one text in the place of whatever matches.
type rewriting struct {
	is *regexp.Regexp
	as string
}

// noise is what no two runs of the same tool have in common.
var noise = []rewriting{
	{regexp.MustCompile("\x1b\\[[0-9;]*m"), ""},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9:]{5,6})?`), "TIME"},
	{regexp.MustCompile(`(elapsed_seconds\\?"):[0-9]+`), "${1}:0"},
	{regexp.MustCompile(`(?m)^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} (INFO|WARN|ERROR|DEBUG|STDOUT|STDERR) +`), "$1 "},
	{regexp.MustCompile(`\.terragrunt-cache/[\w-]+/[\w-]+`), ".terragrunt-cache/KEY"},
	{regexp.MustCompile(`after [0-9]+s`), "after 0s"},
	{regexp.MustCompile(`(Duration|Time):? +[0-9.]+(ms|s|m)`), "$1 0s"},
	{regexp.MustCompile(regexp.QuoteMeta(os.TempDir()) + `/(Test\w+/[0-9]+|clients[0-9]+/\w+)`), "TMP"},
	{regexp.MustCompile(`(Run Summary +[0-9]+ units +)[0-9.]+m?s`), "$1 0s"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`(?m)^.*Still (creating|destroying|modifying)\.\.\..*\n`), ""},
}

// meant are the differences between the tools that are on purpose: what is ours becomes
// the stock tool's. Lines are matched one at a time, since those of several units mix.
var meant = []rewriting{
	// Lockstep has a newer language version than 1.11.4: it adds one function, and one member to each object in a state.
	{regexp.MustCompile(regexp.QuoteMeta(engine.LanguageVersion)), "1.11.4"},
	{regexp.MustCompile(`(?m)^\s*"(core::)?convert",\n`), ""},
	{regexp.MustCompile(`(?m)^\s*"identity_schema_version": 0,\n`), ""},
	// Every terraform_data has a block "store" since Terraform 1.16, and the summary counts actions.
	{regexp.MustCompile(`(?m)^\s*"store": null,\n`), ""},
	{regexp.MustCompile(`,?\\?"store\\?":null`), ""},
	{regexp.MustCompile(`(?m)^     "block_types": \{\n      "store": \{\n(?:.*\n)*?     \},\n`), ""},
	{regexp.MustCompile(`\\?"action_(?:fail|invocation)\\?":0,`), ""},
	{regexp.MustCompile(`\\?"ui\\?":\\?"1\.3\\?"`), `"ui":"1.2"`},
	// The tool says its own name to people.
	{regexp.MustCompile(`(?m)^.*\bLockstep v.*, which speaks as Terraform .*\n`), ""},
	{regexp.MustCompile(`\bLockstep\b`), "Terraform"},
	{regexp.MustCompile("([\"` ])lockstep (apply|init|plan|providers)\\b"), "${1}terraform $2"},
	{regexp.MustCompile(`"@message":"Terraform [^"]*",(.*),"lockstep":"[^"]*","terraform":"1.11.4"`), `"@message":"Terraform 1.11.4",$1,"terraform":"1.11.4"`},
	// What introduces a plan, and what to do next after one and after init, is in fewer words.
	line(`Terraform (used the selected providers to generate|has made) the following execution.*`),
	line(`(plan. Resource actions are indicated )?with (these|the following) symbols:`),
	line(`Note: You didn't use the -out option to save this plan.*`),
	line(`guarantee to take exactly these actions if you run .*`),
	line(`You may now begin working.*`),
	line(`any changes that are required for your infrastructure\. All Terraform commands`),
	line(`should now work\.`),
	line(`If you (ever set or )?change modules or (the )?backend.*`),
	line(`rerun this command to reinitialize your working directory\. If you forget, other`),
	line(`commands will detect it and remind you to do so if necessary\.`),
	line(`(The real objects were|Terraform has) compared.*`),
	line(`(and found no differences, so no changes are needed|done)\.`),
	line(`To see the full warning.*`),
	line(`You're now on a new, empty workspace\. .*`),
	line(`(so if you run )?"terraform plan" (Terraform will not see any existing state|does not see the objects of the others\.)`),
	line(`for this configuration\.`),
	line(`(The resources that were imported are|The object) shown above.*`),
	line(`your Terraform state and will henceforth be managed by Terraform\.`),
	line(`Terraform has checked that the real remote objects still match the result of`),
	line(`your most recent changes, and found no differences\.`),
	line(`The real objects match the state\.`),
	line(`Planning failed\. .*`),
	line(`Terraform planned the following actions, but then (encountered a problem:|met an error:)`),
	line(`exceptional situations such as recovering from errors or mistakes.*`),
	line(`Terraform specifically suggests to use it as part of an error message\.`),
	line(`To perform exactly these actions, run(:| the following command to apply:)`),
	{regexp.MustCompile(`(Saved the plan to:)\n(?:.* terraform:)?`), "$1"},
	line(`(You can apply this plan to save these new|Applying this plan saves these) output values .*`),
	line(`(state, without changing any real infrastructure|changes)\.`),
	line(`(lockstep: error: )?No state file was found.*`),
	line(`lockstep: hint: check the directory and the workspace.*`),
	line(`State management commands require a state file\. Run this command`),
	line(`in a directory where Terraform has been run or use the -state flag`),
	line(`to point the command to a specific state location\.`),
	// A mistake in the configuration is told once, and not once in each walk.
	{regexp.MustCompile(`(?m)( on .* line [0-9]+) \(and [0-9]+ more\)$`), "$1"},
	// Diagnostics have a frame on a terminal alone, and not wherever colors are not forbidden.
	{regexp.MustCompile(`(?m)^│ ?`), ""},
	// Paragraphs are set apart a little differently.
	line(``),
}

// line removes lines of these words, with what clients write before them.
func line(words string) rewriting {
	return rewriting{regexp.MustCompile(`(?m)^(?:(?:STDOUT|STDERR|INFO|ERROR) (?:\[\S+\] )?terraform:)?[ \t│╷╵|─-]*` + words + `[ \t]*\n`), ""}
}

// once is a text whose warnings in JSON are told once.
func once(text string) string {
	seen := map[string]bool{}
	var b strings.Builder
	for l := range strings.Lines(text) {
		if strings.Contains(l, `"type":"diagnostic"`) && seen[l] {
			continue
		}
		seen[l] = true
		b.WriteString(l)
	}
	return b.String()
}

// facts is a stream of errors without prose: the summaries of diagnostics, and what the client
// says itself. The details of a diagnostic, and what init tells of its work, are for people and in
// words of our own.
func facts(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		prose := strings.Contains(l, "terraform: ") || strings.HasPrefix(l, "  ")
		if !prose || strings.Contains(l, "Error: ") || strings.Contains(l, "Warning: ") {
			b.WriteString(l)
		}
	}
	return b.String()
}

// A record is what a story left behind with one tool: texts by the step's name.
type record struct {
	names []string
	texts map[string]string
}

// keep adds a text of a play in a directory.
func (r *record) keep(name, text, dir string) {
	if r.texts == nil {
		r.texts = map[string]string{}
	}
	r.names = append(r.names, name)
	r.texts[name] = quiet(text, dir)
}

// quiet is a text without noise and meant differences, and without the name of a directory.
func quiet(text, dir string) string {
	text = strings.ReplaceAll(canonical(text), dir, "$DIR")
	for _, x := range slices.Concat(noise, meant) {
		text = x.is.ReplaceAllString(text, x.as)
	}
	return once(text)
}

// lines makes a text one whose order of lines says nothing.
func lines(text string) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n") + "\n"
}

// canonical is JSON in one form: sorted members, a document indented, and one of several, each
// in a line, in a line. All else stays as it is.
func canonical(text string) string {
	var v any
	if decode(text, &v) {
		return encode(v, " ")
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "{") && decode(l, &v) {
			l = encode(v, "")
		}
		b.WriteString(l)
	}
	return b.String()
}

// decode reports whether a text is a JSON document.
func decode(text string, v *any) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	*v = nil
	return d.Decode(v) == nil && !d.More()
}

func encode(v any, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(plain(v)); err != nil {
		panic(err) // it was decoded
	}
	return b.String()
}

// dated are the members that are of the run and not of its result.
// The serial is of them, too: the stock tool counts the states in between, and ours writes fewer.
var dated = map[string]bool{"timestamp": true, "lineage": true, "serial": true}

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if dated[k] {
				v[k] = "DATED"
				continue
			}
			v[k] = plain(x)
		}
		// They are a set, in no order.
		if list, ok := v["relevant_attributes"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(encode(a, ""), encode(b, "")) })
		}
	case []any:
		for i, x := range v {
			v[i] = plain(x)
		}
	}
	return v
}
