package diags

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// HCLError returns one error as an HCL diagnostic, for code that also collects diagnostics of HCL's own
// functions. [FromHCL] converts HCL diagnostics to diagnostics of this package. detail is a format only if
// there are args.
func HCLError(at *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: at}
}

// HCLWarning returns a warning. Its arguments are those of [HCLError].
func HCLWarning(at *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	d := HCLError(at, summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}

// Capital returns s with a capital letter at the beginning.
func Capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
