package steps

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// outputs returns what a program wrote, as text without secrets. Its standard error follows its standard output.
func outputs(got jobs.StepResult, redact func(string) string) string {
	out, cut := toolresults.Readable(got.Output, redact)
	if got.Total > int64(len(got.Output)) {
		out += fmt.Sprintf("\n(Lockstep has dropped the rest: the program wrote %d MB.)\n", got.Total>>20)
	}
	if cut {
		out = "(The beginning is left out.)\n" + out
	}
	errs, cut := toolresults.Readable(got.Errors, redact)
	if cut {
		errs = "(The beginning is left out.)\n" + errs
	}
	if out != "" && errs != "" {
		out = strings.TrimRight(out, "\n") + "\n\n(standard error)\n"
	}
	return out + errs
}

// Outputs returns all that the programs wrote, without secrets, as one text for people; nil if they wrote nothing. The
// differences of generated files follow. The lines
// of a program are indented, so no line of a program looks like the title of another one.
func (all Results) Outputs() []byte {
	var b strings.Builder
	for _, r := range all {
		if r.output == "" && r.difference == "" {
			continue
		}
		how := string(r.Outcome)
		if why := r.Failure(); why != "" {
			how += ", because " + strings.ReplaceAll(why, "\n", " ")
		}
		fmt.Fprintf(&b, "%s (%s): %s\n\n", r.Name, r.On, how)
		for _, text := range []string{r.output, r.difference} {
			if text = strings.Trim(text, "\n"); text == "" {
				continue
			}
			for line := range strings.Lines(text) {
				b.WriteString("    " + line)
			}
			b.WriteString("\n\n")
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return []byte(b.String())
}
