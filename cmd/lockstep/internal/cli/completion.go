package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shells has, for each shell, the lines for the user's shell configuration that make the shell complete
// lockstep's command lines. To get the candidates, the shell runs lockstep with COMP_LINE and COMP_POINT set.
// Source: https://www.gnu.org/software/bash/manual/bash.html#Programmable-Completion, complete -C.
var shells = map[string]string{
	"bash": "complete -o default -o nospace -C lockstep lockstep\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -o default -o nospace -C lockstep lockstep\n",
	"fish": "complete -c lockstep -a '(env COMP_LINE=(commandline -cp) lockstep)'\n",
}

// Completion is the command completion. It writes the lines for a shell.
var Completion = Command{Name: "completion", Synopsis: "Complete commands and options in bash, zsh or fish", Run: func(a *App, args []string) int {
	f := a.NewFlags("completion", "completion bash|zsh|fish")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	const hint = "run `lockstep completion bash`, `lockstep completion zsh` or `lockstep completion fish`"
	if f.NArg() != 1 {
		return a.Usage(hint, "completion takes the name of one shell")
	}
	lines := shells[f.Arg(0)]
	if lines == "" {
		return a.Usage(hint, "there is no completion for the shell %q", f.Arg(0))
	}
	fmt.Fprint(a.Out, lines)
	return 0
}}

// complete writes the candidates for the last word of a command line, one a line.
func (a *App) complete(line string) {
	if at, err := strconv.Atoi(a.Getenv("COMP_POINT")); err == nil && at >= 0 && at <= len(line) {
		line = line[:at]
	}
	words := strings.Fields(line)
	last := ""
	if len(words) > 0 && !strings.HasSuffix(line, " ") {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	if len(words) > 0 {
		words = words[1:] // the program
	}
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if strings.HasPrefix(last, "-") {
		a.options(words, last)
		return
	}
	before := strings.Join(append(words, ""), " ")
	var all []string
	for _, c := range a.Commands {
		if rest, ok := strings.CutPrefix(c.Name, before); ok && strings.HasPrefix(rest, last) {
			next, _, _ := strings.Cut(rest, " ")
			all = append(all, next)
		}
	}
	slices.Sort(all)
	for _, word := range slices.Compact(all) {
		fmt.Fprintf(a.Out, "%s \n", word)
	}
}

// options writes the options of a command, as the command's help lists them, for the completion of a command
// line. words are the words before the one that is completed. last is the beginning of that word: only options
// that begin with it are written.
func (a *App) options(words []string, last string) {
	for n := min(len(words), 3); n > 0; n-- {
		c := a.Commands.named(strings.Join(words[:n], " "))
		if c.Run == nil {
			continue
		}
		var help bytes.Buffer
		out := a.Out
		a.Out = &help
		c.Run(a, []string{"-help"})
		a.Out = out
		for text := range strings.Lines(help.String()) {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "  "), " ")
			if strings.HasPrefix(text, "  -") && strings.HasPrefix(name, last) {
				fmt.Fprintln(out, name)
			}
		}
		return
	}
}
