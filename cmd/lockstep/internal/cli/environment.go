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
	var out []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			if r != '\n' { // which a backslash takes away
				word.WriteRune(r)
			}
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if inWord {
				out = append(out, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quotation mark (%c) is not closed", quote)
	case escaped:
		return nil, errors.New("a backslash stands at the end")
	case inWord:
		out = append(out, word.String())
	}
	return out, nil
}
