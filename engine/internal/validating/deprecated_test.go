package validating

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// The warning about a deprecated attribute has the provider's own words, and not without end.
func TestDeprecatedAttribute(t *testing.T) {
	t.Parallel()
	for instead, want := range map[string]string{
		"":                          "the provider's documentation names a replacement.",
		" \n":                       "the provider's documentation names a replacement.",
		"Use size.":                 "The provider says:\n\nUse size.",
		strings.Repeat("ü", 10_000): strings.Repeat("ü", 1000) + "...",
	} {
		ds := deprecatedAttribute(&hcl.Range{}, "old", instead)
		if len(ds) != 1 || !strings.HasSuffix(ds[0].Detail, want) || len(ds[0].Detail) > 2*mostWords {
			t.Errorf("%.20q: %v", instead, ds)
		}
	}
}
