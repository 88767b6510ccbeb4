package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// argsVariable is the environment variable with additional options for every command. The variable for one
// command is this name, "_" and the name of the command, such as TF_CLI_ARGS_plan.
const argsVariable = "TF_CLI_ARGS"

// Language returns the version of the language that the environment sets.
func (a *App) Language() language.Version {
	v, _ := language.Parse(a.Getenv(language.Variable)) // Run has refused other values
	return v
}

// withEnvironment puts the options from environment variables before the arguments of a command: first those in
// TF_CLI_ARGS_name, then those in TF_CLI_ARGS. If an option occurs several times, the last one is used. So
// options on the command line override those in the environment.
func (a *App) withEnvironment(name string, args []string) ([]string, error) {
	own := argsVariable + "_" + strings.NewReplacer(" ", "_", "-", "_").Replace(name)
	var all []string
	for _, variable := range []string{own, argsVariable} {
		more, err := words(a.Getenv(variable))
		if err != nil {
			return nil, fmt.Errorf("the environment variable %s cannot be split into words: %w", variable, err)
		}
		all = append(all, more...)
	}
	return slices.Concat(all, args), nil
}

// words splits a text into words as a POSIX shell does, by blanks, quotes and backslashes. It expands and runs
// nothing: other special characters are ordinary characters.
func words(text string) ([]string, error) {
	var s splitter
	for _, r := range text {
		s.next(r)
	}
	switch {
	case s.quote != 0:
		return nil, fmt.Errorf("a quotation mark (%c) is not closed", s.quote)
	case s.escaped:
		return nil, errors.New("a backslash is at the end")
	}
	s.end()
	return s.words, nil
}

// A splitter splits a text into words. It contains the complete words so far, and the unfinished one.
type splitter struct {
	words   []string
	word    strings.Builder
	inWord  bool // also in one that is empty so far: ''
	quote   rune // the quotation mark that is open, or 0
	escaped bool // the last character was a backslash
}

func (s *splitter) next(r rune) {
	switch {
	case s.escaped:
		s.escape(r)
	case r == '\\' && s.quote != '\'':
		s.escaped, s.inWord = true, true
	case s.quote != 0 && r == s.quote:
		s.quote = 0
	case s.quote == 0 && (r == '\'' || r == '"'):
		s.quote, s.inWord = r, true
	case s.quote == 0 && strings.ContainsRune(" \t\r\n", r):
		s.end()
	default:
		s.word.WriteRune(r)
		s.inWord = true
	}
}

// escape handles the character after a backslash. In double quotes, most backslashes are ordinary characters,
// and a backslash before a newline removes both.
func (s *splitter) escape(r rune) {
	if s.quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
		s.word.WriteByte('\\')
	}
	if r != '\n' {
		s.word.WriteRune(r)
	}
	s.escaped = false
}

// end adds the unfinished word to the complete ones, if there is an unfinished word.
func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}
