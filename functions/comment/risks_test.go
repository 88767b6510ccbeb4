package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// manyRisks are n risks of different kinds.
func manyRisks(n int) (out []Risk) {
	for i := range n {
		switch i % 3 {
		case 0:
			out = append(out, Risk{Name: "stateful-destroy", Object: fmt.Sprintf("module.db[%d].aws_db_instance.main", i), Text: "destroys a database"})
		case 1:
			out = append(out, Risk{Name: "public-ingress", Object: fmt.Sprintf("aws_security_group.web%d", i), Text: fmt.Sprintf("opens %d/tcp to 0.0.0.0/0 and ::/0", i)})
		default:
			out = append(out, Risk{Name: "iam-widened", Object: fmt.Sprintf("aws_iam_policy.p%d", i), Text: "may allow every action: the plan does not show the policy", May: true})
		}
	}
	return out
}

// TestRiskLines shows the lines about 1, 30 and 300 risks, and about risks whose texts try to break Markdown.
func TestRiskLines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, c := range []struct {
		title string
		risks []Risk
	}{
		{"none", nil}, {"1", manyRisks(1)}, {"30", manyRisks(30)}, {"300", manyRisks(300)},
		{"hostile", []Risk{
			{Name: "public-access", Object: "aws_s3_bucket_policy.a[\"`|<b>\"]", Text: "lets everybody do `s3:<img src=x>|**b**` on `[x](http://y)`"},
			{Name: "public-access", Object: "a.b", Text: "lets everybody do `a` on b` @alice"},
			{Name: "iam-widened`", Object: "a.\u202eb", Text: "<!-- lockstep --> **gives**"},
			{Name: "iam-widened", Object: strings.Repeat("a", 1000), Text: "allows `" + strings.Repeat("b", 1000) + "`"},
		}},
	} {
		text := RiskLines(c.risks)
		if len(text) > 8000 || (text == "") != (c.risks == nil) {
			t.Errorf("%s: %d bytes", c.title, len(text))
		}
		fmt.Fprintf(&b, "### %s\n\n%s", c.title, text)
	}
	golden.File(t, "testdata/risks.md", b.String())
}
