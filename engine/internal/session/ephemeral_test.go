package session

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestRenew keeps an ephemeral resource good until it is closed.
func TestRenew(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		rule  string
		open  time.Duration // for how long
		want  []string
		found string
	}{
		{"it need not be", 0, "", time.Hour, []string{"open t_token.k", "close t_token.k"}, ""},
		{"it is closed in time", 20 * time.Minute, "", 19 * time.Minute, []string{"open t_token.k", "close t_token.k"}, ""},
		{"twice", 20 * time.Minute, "", 59 * time.Minute, []string{"open t_token.k", "renew t_token.k", "renew t_token.k", "close t_token.k"}, ""},
		{"always too late", -time.Minute, "", 2500 * time.Millisecond,
			[]string{"open t_token.k", "renew t_token.k", "renew t_token.k", "renew t_token.k", "close t_token.k"}, ""},
		{"it fails", 20 * time.Minute, `renew t_token fail "expired"`, 2 * time.Hour,
			[]string{"open t_token.k", "renew t_token.k", "close t_token.k"}, "expired"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := open(t, "ephemeral \"t_token\" \"k\" {\n  name = \"k\"\n}\n", "ephemeral t_token\n  name string required\n  token string computed", nil)
				p.RenewAfter = c.after
				if c.rule != "" {
					p.On(c.rule)
				}
				r := s.Config.Root.Resources[addrs.Resource{Mode: addrs.Ephemeral, Type: "t_token", Name: "k"}]
				pc := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}
				client, ds := s.Client(t.Context(), pc)
				rs, _, more := s.Schema(t.Context(), pc.Provider, r.Addr, nil)
				if ds = append(ds, more...); ds.HasErrors() {
					t.Fatal(ds)
				}
				_, ds = s.OpenEphemeral(t.Context(), Ephemeral{
					Addr: addrs.AbsResource{Resource: r.Addr}.Instance(addrs.NoKey), Client: client, Resource: r, Schema: rs, Scope: eval.Scope{},
				})
				if ds.HasErrors() {
					t.Fatal(ds)
				}
				time.Sleep(c.open)
				ds = s.CloseEphemerals(t.Context())
				if !strings.Contains(ds.Error(), c.found) || ds.HasErrors() != (c.found != "") {
					t.Errorf("%v, want %q", ds, c.found)
				}
				var calls []string
				for _, call := range p.Calls() {
					if strings.Contains(call, "token.k") {
						calls = append(calls, call)
					}
				}
				if diff := cmp.Diff(c.want, calls); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}
