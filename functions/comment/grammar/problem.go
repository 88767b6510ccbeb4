package grammar

// A Kind is the kind of a problem. Package comment has a text for each kind.
type Kind string

const (
	TooMany     Kind = "too many"     // too many commands in one comment; Most is the limit
	TooLong     Kind = "too long"     // the line is too long; Most is the limit in bytes
	Invisible   Kind = "invisible"    // the line has invisible characters
	OpenQuote   Kind = "open quote"   // the quote that begins before Word is not closed
	NoVerb      Kind = "no verb"      // no verb follows the keyword
	UnknownVerb Kind = "unknown verb" // Word
	Foreign     Kind = "foreign"      // the line is for the program Word
	Marked      Kind = "marked"       // the command is marked as code, a list item, bold or quoted, and the comment has no other words

	UnknownOption Kind = "unknown option" // Word
	UnknownWord   Kind = "unknown word"   // Word
	NotNeeded     Kind = "not needed"     // the option Flag has no effect in Lockstep
	NotTaken      Kind = "not taken"      // Verb does not accept the option Flag
	NoValue       Kind = "no value"       // Flag needs a value, Want
	NeedlessValue Kind = "needless value" // Flag takes no value
	Twice         Kind = "twice"          // Flag is given twice
	Together      Kind = "together"       // Flag and Other exclude each other
	Lacking       Kind = "lacking"        // Verb needs Flag with the value Want
	NoArgument    Kind = "no argument"    // Verb needs Want
	NoOptions     Kind = "no options"     // help takes no options

	BadName     Kind = "bad name"     // Word cannot be a Want
	BadAddress  Kind = "bad address"  // Word
	BadAction   Kind = "bad action"   // Word
	BadVariable Kind = "bad variable" // Word
	BadSwitch   Kind = "bad switch"   // Word is no value of Flag
	BadReason   Kind = "bad reason"   // empty, or longer than Most
	BadID       Kind = "bad id"       // Word
	ShortPlan   Kind = "short plan"   // Word; a hash needs at least Most characters
	TwoPlans    Kind = "two plans"    // the line names two plans
	ManyValues  Kind = "many values"  // too many values; Most is the limit
)

// Kinds returns all kinds of problems.
func Kinds() []Kind {
	return []Kind{
		TooMany, TooLong, Invisible, OpenQuote, NoVerb, UnknownVerb, Foreign, Marked,
		UnknownOption, UnknownWord, NotNeeded, NotTaken, NoValue, NeedlessValue, Twice, Together, Lacking, NoArgument, NoOptions,
		BadName, BadAddress, BadAction, BadVariable, BadSwitch, BadReason, BadID, ShortPlan, TwoPlans, ManyValues,
	}
}

// A Problem is the reason why a line is not a command. The zero value means that there is no problem.
type Problem struct {
	Kind Kind
	// Word is the word that the author typed, shortened. The other fields contain only Lockstep's own texts.
	Word  string `json:",omitempty"`
	Flag  string `json:",omitempty"`
	Other string `json:",omitempty"`
	Want  string `json:",omitempty"`
	Verb  Verb   `json:",omitempty"`
	Most  int    `json:",omitempty"`
}

// IsZero reports whether there is no problem.
func (p Problem) IsZero() bool { return p == Problem{} }

// shorten cuts a text that a person wrote to n characters, and adds "..." if the text was longer.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
