package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// argsVariable holds options for every command; with an underscore and a command's
// name behind it, for that one.
const argsVariable = "TF_CLI_ARGS"

// withEnvironment puts the options in TF_CLI_ARGS_name and TF_CLI_ARGS before the arguments of a
// command, in that order: the last of several wins, so that typed options do.
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

// words splits a text as a POSIX shell splits a command line, by blanks, quotes and backslashes.
// Nothing is expanded or run: other special characters stand for themselves.
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

// A splitter is in the middle of a text that it splits into words.
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

// escape takes the character after a backslash. In double quotes most backslashes stand for themselves,
// and a newline is taken away.
func (s *splitter) escape(r rune) {
	if s.quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
		s.word.WriteByte('\\')
	}
	if r != '\n' {
		s.word.WriteRune(r)
	}
	s.escaped = false
}

// end ends the word, if there is one.
func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}
