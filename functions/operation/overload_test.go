package operation

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestOverload holds that a person is told how to make one change at a time after several errors of one provider's server, and
// after nothing else.
func TestOverload(t *testing.T) {
	t.Parallel()
	const a, b, other = "dns_record.a", "dns_record.b", "queue_queue.c"
	for name, test := range map[string]struct {
		errors      [][2]string // address and text
		parallelism int
		want        bool
	}{
		"two of one provider":      {[][2]string{{a, "unexpected status code 500"}, {b, "Error: 503 Service Unavailable"}}, 10, true},
		"other forms":              {[][2]string{{a, "PUT https://x/y: HTTP 502"}, {b, `server replied: Internal Server Error`}}, 10, true},
		"an API's form":            {[][2]string{{a, "https response error StatusCode: 500, RequestID: x"}, {b, "got HTTP/1.1 504"}}, 10, true},
		"one":                      {[][2]string{{a, "status 500"}}, 10, false},
		"one object twice":         {[][2]string{{a, "status 500"}, {a, "status 500"}}, 10, false},
		"of two providers":         {[][2]string{{a, "status 500"}, {other, "status 500"}}, 10, false},
		"another status":           {[][2]string{{a, "status 404"}, {b, "status 409 after 500 ms"}}, 10, false},
		"numbers":                  {[][2]string{{a, "port 5432: 512 bytes"}, {b, "500 objects at most"}}, 10, false},
		"side by side no more":     {[][2]string{{a, "status 500"}, {b, "status 500"}}, 1, false},
		"of something not planned": {[][2]string{{"x.y", "status 500"}, {"x.z", "status 500"}}, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := new(plans.Plan)
			for _, address := range []string{a, b, other} {
				r, err := addrs.ParseAbsResourceInstance(address)
				if err != nil {
					t.Fatal(err)
				}
				kind, _, _ := strings.Cut(address, "_")
				p.Changes = append(p.Changes, &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: r}, Provider: addrs.AbsProviderConfig{Provider: addrs.Provider{Type: kind}}})
			}
			var ds diags.Diagnostics
			for _, e := range test.errors {
				ds = append(ds, diags.Errorf(nil, "Request failed", "%s", e[1]).At(e[0])...)
			}
			got := Overload(ds, p, func(addrs.Provider) int { return test.parallelism }, func(p addrs.Provider) string { return "Limit " + p.Type + "." })
			if (len(got) == 1) != test.want || test.want && (!strings.Contains(got[0].Detail, "2 calls of the provider") || !strings.HasSuffix(got[0].Detail, " Limit dns.")) {
				t.Errorf("%v", got)
			}
		})
	}
}
