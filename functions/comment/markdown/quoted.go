package markdown

import "strings"

// Plainly returns a sentence in which a quotation of another person or program is written as code.
func Plainly(problem string) string {
	from, to := strings.Index(problem, `"`), strings.LastIndex(problem, `"`)
	if from < 0 || from == to {
		return problem
	}
	return problem[:from] + Code(problem[from+1:to]) + problem[to+1:]
}
