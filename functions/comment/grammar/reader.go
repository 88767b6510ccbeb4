package grammar

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A reader reads the words of a command. After a problem it continues to read, and the command that results is
// the suggestion. There is no such suggestion if the reader has dropped a word that may have limited the
// command.
type reader struct {
	to      string // the program that the line is for
	words   []word
	at      int
	command Command
	row     row
	problem Problem
	lost    bool
	// close is set if the first word is a verb, or is similar to one. prose is set if the words after it look
	// like a sentence rather than like a command.
	close, prose bool
	// after is the index of the word after an unknown option. That word may be the option's value.
	after int
}

// say records the problem p, unless a problem was recorded before.
func (r *reader) say(p Problem) {
	if r.problem.IsZero() {
		p.Word = shorten(p.Word, maxWord)
		r.problem = p
	}
}

// lose records a problem with a word that cannot be repaired. The only suggestion is then "lockstep help".
func (r *reader) lose(p Problem) {
	r.say(p)
	r.lost = true
}

// helping is the suggestion "lockstep help", for lines without a better suggestion.
const helping = keyword + " " + string(Help)

// line returns the line that was read: the command, or the problem with a suggestion.
func (r *reader) line() Line {
	switch {
	case r.problem.IsZero():
		return Line{Command: r.command}
	case r.lost || r.command.Verb == Help:
		return Line{Problem: r.problem, Suggestion: helping}
	}
	return Line{Problem: r.problem, Suggestion: r.command.String()}
}

func (r *reader) read() {
	if !r.verb() {
		return
	}
	dashes := false
	for ; r.at < len(r.words); r.at++ {
		w := r.words[r.at]
		switch name, value, hasValue, isFlag := cutFlag(w); {
		case w.text == "--" && !w.quoted && !dashes:
			dashes = true // Atlantis has it before Terraform's options
		case isFlag:
			r.option(name, value, hasValue)
		default:
			r.plain(w)
		}
	}
	r.complete()
}

// end returns the text of the word w. If w is the last word of the line, end removes a punctuation mark at its
// end.
func (r *reader) end(w word) string {
	if r.at != len(r.words)-1 || w.quoted || w.text == "." {
		return w.text
	}
	return withoutEnd(w.text)
}

// verb reads a verb of one or two words. It returns false if there is none.
func (r *reader) verb() bool {
	if len(r.words) == 0 {
		r.lose(Problem{Kind: NoVerb})
		return false
	}
	if r.hoist(0); beginsVerb(r.words[0].text) {
		r.hoist(1)
	}
	typed := r.end(r.words[0])
	known, n := verbOf(typed, r.words)
	found := n > 0
	r.close = found
	if !found {
		n = 1
		if known, r.close = nearestVerb(typed); len(r.words) > 1 && beginsVerb(typed) && !strings.HasPrefix(r.words[1].text, "-") {
			typed = strings.TrimSpace(typed + " " + withoutEnd(r.words[1].text))
			known, r.close = nearestVerb(typed)
			n = 2
		}
		r.close = r.close && spelt(typed)
		r.say(Problem{Kind: UnknownVerb, Word: typed})
		if c, ok := theirs[r.to+" "+strings.ToLower(typed)]; ok {
			known, r.command, r.close = c.Verb, c, true
			if c.Verb == Unlock && len(r.words) > 1 && strings.ContainsAny(r.words[1].text, "0123456789") {
				n++ // the ID of the lock
			}
		}
	}
	r.at, r.command.Verb = n, known
	r.row, _ = rowOf(known)
	if found && n == 2 {
		r.at--
		if last := r.end(r.words[1]); !strings.EqualFold(typed+" "+last, string(known)) {
			r.lose(Problem{Kind: UnknownVerb, Word: typed + " " + last})
		}
		r.at++
	}
	return true
}

// hoist moves a verb that a person has typed after options to the front. Examples: "-p net apply", and "state
// -p net rm" as in Atlantis.
func (r *reader) hoist(at int) {
	n := at
	for n < len(r.words) {
		name, _, hasValue, ok := cutFlag(r.words[n])
		o := optionOf(strings.ToLower(name))
		if !ok || o == nil {
			break
		}
		if n++; o.stands != "" && !hasValue {
			n++
		}
	}
	if n == at || n >= len(r.words) {
		return
	}
	if _, known := verbOf(strings.TrimSpace(joined(r.words[:at])+" "+withoutEnd(r.words[n].text)), r.words[n:]); known == 0 {
		return
	}
	verb := r.words[n]
	r.words = slices.Concat(r.words[:at], []word{verb}, r.words[at:n], r.words[n+1:])
}

// joined returns the texts of words with spaces between them.
func joined(words []word) string {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}

// verbOf finds the verb that typed and words begin with. n is the number of the verb's words; 0 if there is no
// verb.
func verbOf(typed string, words []word) (v Verb, n int) {
	two := ""
	if len(words) > 1 {
		two = typed + " " + withoutEnd(words[1].text)
	}
	for _, v := range Verbs() { // "drift accept" comes before "drift"
		if strings.EqualFold(string(v), two) {
			return v, 2
		}
	}
	for _, v := range Verbs() {
		if strings.EqualFold(string(v), typed) {
			return v, 1
		}
	}
	return "", 0
}

// spelt reports whether a word can be a misspelt verb. A word in the plural, or with a punctuation mark at its
// end ("Terraform plan:"), belongs to a sentence instead.
func spelt(typed string) bool {
	return !strings.HasSuffix(typed, "s") && !strings.ContainsFunc(typed, func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) })
}

// beginsVerb reports whether a word is the first of a verb with two words, such as "state".
func beginsVerb(typed string) bool {
	return slices.ContainsFunc(Verbs(), func(v Verb) bool {
		return len(v) > len(typed) && strings.EqualFold(string(v[:len(typed)]), typed) && v[len(typed)] == ' '
	})
}

// plain reads a word that is not an option: the hash of a plan, or an argument.
func (r *reader) plain(w word) {
	text := r.end(w)
	switch n := len(r.command.Arguments); {
	case n < len(r.row.arguments):
		a := r.row.arguments[n]
		if a.stands != "ID" {
			text = unescaped(text)
		}
		if kind := a.check(text); kind != "" {
			r.prose = r.prose || isAddress(text) != ""
			r.lose(Problem{Kind: kind, Word: text, Want: a.stands})
		}
		r.command.Arguments = append(r.command.Arguments, text)
	case r.row.repeats && r.row.arguments[len(r.row.arguments)-1].check(unescaped(text)) == "":
		text = unescaped(text)
		switch {
		case slices.Contains(r.command.Arguments, text):
		case n == maxValues:
			r.lose(Problem{Kind: ManyValues, Most: maxValues})
		default:
			r.command.Arguments = append(r.command.Arguments, text)
		}
	case r.row.hash && hashPattern.MatchString(text): // A hash counts in quotes, too, because Lockstep's own texts show hashes as code.
		r.plan(text)
	case r.row.commit && r.command.Commit == "" && commitPattern.MatchString(text):
		r.command.Commit = strings.ToLower(text)
	default:
		r.say(Problem{Kind: UnknownWord, Word: text})
		value := r.at == r.after
		r.prose = r.prose || !value && (len(r.row.arguments) == 0 || isAddress(text) != "")
		if !r.row.acts || len(r.row.arguments) > 0 || value || isPattern(text) != "" || unnamed(text) || !inProject.set(&r.command, text) {
			r.lost = true
		}
	}
}

// wonts are words that people often write after a command, such as "please". They are probably not meant as
// names of projects. But projects can have such names. So a command with such a word gets no suggestion except
// "lockstep help".
var wonts = []string{"please", "pls", "now", "again", "asap", "all", "everything", "it", "this", "and", "then", "thanks"}

// unnamed reports whether a word is never suggested as the name of a project: it is a verb or one of [wonts].
func unnamed(text string) bool {
	return slices.Contains(wonts, strings.ToLower(text)) || slices.ContainsFunc(Verbs(), func(v Verb) bool { return strings.EqualFold(string(v), text) })
}

func (r *reader) plan(text string) {
	switch {
	case len(text) < shortestPlan:
		r.lose(Problem{Kind: ShortPlan, Word: text, Most: shortestPlan})
	case r.command.Plan != "":
		r.say(Problem{Kind: TwoPlans})
	default:
		r.command.Plan = strings.ToLower(text)
	}
}

// option reads an option. If the option has no value after "=" and needs one, option also reads the next word.
func (r *reader) option(name, value string, hasValue bool) {
	typed := r.words[r.at].text
	if name = strings.ToLower(name); !hasValue {
		name = r.end(word{text: name})
	}
	o := optionOf(name)
	r.prose = r.prose || !optionPattern.MatchString(name)
	if o == nil && !hasValue {
		r.after = r.at + 1
	}
	if r.command.Verb == Help {
		r.say(Problem{Kind: NoOptions})
		return
	}
	if o == nil {
		if o = r.unknown(name, typed); o == nil {
			return
		}
	}
	if !r.row.accepts(o) {
		r.lose(Problem{Kind: NotTaken, Flag: o.flag(), Verb: r.command.Verb})
		if o.stands != "" && !hasValue {
			r.value(o)
		}
		return
	}
	switch {
	case o.stands == "":
		if hasValue && value != "true" {
			r.lose(Problem{Kind: NeedlessValue, Flag: o.flag()})
			return
		}
		o.set(&r.command, "")
		return
	case !hasValue:
		var ok bool
		if value, ok = r.value(o); !ok {
			r.lose(Problem{Kind: NoValue, Flag: o.flag(), Want: o.stands})
			return
		}
	case slices.Contains(choosing, o):
		value = r.end(word{text: value})
	case o == because && !r.words[r.at].enclosed:
		if more, ok := r.value(o); ok {
			value = strings.TrimSpace(value + " " + more)
		}
	}
	r.set(o, value)
}

// unknown reports an option that does not exist. It returns the option that was probably meant, or nil.
func (r *reader) unknown(name, typed string) *option {
	if slices.Contains(needless, name) {
		if r.to == keyword { // in a command for another program, the option has no meaning: ignore it
			r.say(Problem{Kind: NotNeeded, Flag: "-" + name})
		}
		return nil
	}
	r.say(Problem{Kind: UnknownOption, Word: typed})
	o := nearestOption(name)
	r.lost = r.lost || o == nil
	return o
}

// value returns the value of an option: the next word, unless that word is an option itself. A reason without
// quotes continues up to the next option. value returns false if there is no value.
func (r *reader) value(o *option) (string, bool) {
	var text []string
	for r.at+1 < len(r.words) {
		w := r.words[r.at+1]
		if strings.HasPrefix(w.text, "-") && !w.quoted {
			break
		}
		r.at++
		if slices.Contains(choosing, o) {
			w.text = r.end(w)
		}
		if text = append(text, w.text); o != because || w.quoted || w.enclosed {
			break
		}
	}
	return strings.Join(text, " "), len(text) > 0
}

// set sets the value of the option o in the command, if the value passes the option's check.
func (r *reader) set(o *option, value string) {
	if o == inDir {
		value = cmp.Or(strings.TrimSuffix(strings.TrimPrefix(value, "./"), "/"), ".")
	}
	if slices.Contains(addressed, o) {
		value = unescaped(value)
	}
	switch kind := o.check(value); {
	case kind == BadReason:
		r.lose(Problem{Kind: kind, Most: maxReason})
	case kind != "":
		r.lose(Problem{Kind: kind, Word: value, Flag: o.flag(), Want: o.stands})
	case r.command.Options.count() == maxValues:
		r.lose(Problem{Kind: ManyValues, Most: maxValues})
	case !o.set(&r.command, value):
		r.say(Problem{Kind: Twice, Flag: o.flag()}) // The suggestion uses only the first value, so it selects no more than the line did.
	}
}

// complete checks the command after all of its words are read.
func (r *reader) complete() {
	lost := r.lost
	for _, x := range excluding {
		if x.holds(r.command.Options) {
			r.lose(Problem{Kind: Together, Flag: x.a.flag(), Other: x.b.flag()})
		}
	}
	if n := len(r.command.Arguments); n < len(r.row.arguments) && !r.row.optional {
		r.lose(Problem{Kind: NoArgument, Verb: r.command.Verb, Want: r.row.arguments[n].stands})
	}
	if r.row.reasoned && r.command.Reason == "" {
		r.lose(Problem{Kind: Lacking, Flag: because.flag(), Want: because.stands, Verb: r.command.Verb})
		if r.to != keyword { // other programs need no reason
			r.lost, r.command.Reason = lost, "..."
		}
	}
}
