package markdown

import "strings"

// Plainly turns the quoted part of a sentence, which somebody else wrote, into code.
func Plainly(problem string) string {
	from, to := strings.Index(problem, `"`), strings.LastIndex(problem, `"`)
	if from < 0 || from == to {
		return problem
	}
	return problem[:from] + Code(problem[from+1:to]) + problem[to+1:]
}
