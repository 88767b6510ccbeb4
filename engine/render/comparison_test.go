package render

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans/comparing"
)

func compared() []comparing.Difference {
	s := cty.StringVal
	return []comparing.Difference{
		{Object: "mode", Aspect: comparing.Request, Approved: s("N"), Now: s("D")},
		{Object: "var.zone", Aspect: comparing.Variable, Approved: s("a"), Now: s("b"), Sensitive: true},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.Action, Approved: s("update"), Now: s("replace, destroyed first")},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.Provider, Approved: s(`provider["registry.terraform.io/hashicorp/aws"]`), Now: s(`provider["registry.terraform.io/hashicorp/aws"].east`)},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.Moved, Approved: s("aws_instance.old")},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.Before, Path: cty.GetAttrPath("size"), Approved: cty.NumberIntVal(1), Now: cty.NumberIntVal(2)},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.After, Path: cty.GetAttrPath("tags").IndexString("te\x1bam"), Approved: s("net"), Now: cty.UnknownVal(cty.String)},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.After, Path: cty.GetAttrPath("disks").IndexInt(1).GetAttr("key"), Approved: s("s3cr3t"), Now: s("s3cr4t"), Sensitive: true},
		{Object: "module.net.aws_instance.web[0]", Aspect: comparing.After, Path: cty.GetAttrPath("script"), Approved: s("a\nb\n"), Now: s("a\n```\nc\n")},
		{Object: "aws_vpc.main", Aspect: comparing.Import, Approved: s("vpc-1"), Now: cty.UnknownVal(cty.String)},
		{Object: "aws_vpc.new", Aspect: comparing.Action, Now: s("create")},
		{Object: "output.url", Aspect: comparing.After, Approved: cty.ObjectVal(map[string]cty.Value{"a": s("b")}), Now: cty.EmptyObjectVal},
		{Object: "output.url", Aspect: comparing.Sensitivity, Approved: s("sensitive"), Now: s("shown")},
	}
}

// TestComparison holds the text and the Markdown of the differences of two plans, and that they
// have no sensitive value in them.
func TestComparison(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	(&Printer{}).Comparison(&b, compared())
	compare(t, "comparison.txt", b.String())
	whole := ComparisonMarkdown(compared())
	compare(t, "comparison.md", whole)
	for _, text := range []string{b.String(), whole} {
		for _, secret := range []string{"s3cr3t", "s3cr4t", "\x1b"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is shown:\n%s", secret, text)
			}
		}
	}
	if text := ComparisonMarkdown(nil); text != "" {
		t.Errorf("equal plans have differences: %s", text)
	}
}
