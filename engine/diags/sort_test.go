package diags

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// People are shown warnings first, and each kind by place.
func TestSorted(t *testing.T) {
	t.Parallel()
	at := func(file string, start, end int) *hcl.Range {
		return &hcl.Range{Filename: file, Start: hcl.Pos{Byte: start}, End: hcl.Pos{Byte: end}}
	}
	var ds Diagnostics
	ds = append(ds, Errorf(at("m/a.tf", 1, 2), "6", "")...)
	ds = append(ds, Errorf(at("b.tf", 9, 10), "5", "")...)
	ds = append(ds, Warningf(at("z.tf", 0, 1), "1", "")...)
	ds = append(ds, Errorf(at("b.tf", 2, 5), "4", "")...)
	ds = append(ds, Diagnostics{{Severity: Error, Summary: "3", Detail: "b", Subject: at("b.tf", 2, 3), Address: "t.a[1]"}, {Severity: Error, Summary: "3", Detail: "a", Subject: at("b.tf", 2, 3), Address: "t.a[0]"}}...)
	ds = append(ds, Errorf(nil, "2", "one")...)
	ds = append(ds, Errorf(nil, "2", "two")...)
	ds = append(ds, Warningf(nil, "0", "")...)
	var order strings.Builder
	for _, d := range ds.Sorted() {
		order.WriteString(d.Summary + d.Detail)
	}
	if got := order.String(); got != "012one2two3a3b456" {
		t.Errorf("sorted: %s", got)
	}
	if ds[0].Summary != "6" {
		t.Error("the list itself was sorted")
	}
}
