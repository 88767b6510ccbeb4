package markdown

import "strings"

// Plainly returns a sentence in which the quoted part is written as code, because another person or program
// wrote it.
func Plainly(problem string) string {
	from, to := strings.Index(problem, `"`), strings.LastIndex(problem, `"`)
	if from < 0 || from == to {
		return problem
	}
	return problem[:from] + Code(problem[from+1:to]) + problem[to+1:]
}
