package schema_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/schema"
)

// TestTypesAreDecodedWhenAskedFor counts the decodings of each declaration.
func TestTypesAreDecodedWhenAskedFor(t *testing.T) {
	t.Parallel()
	times := map[string]int{}
	p := &schema.Provider{
		Managed: map[string]*schema.Schema{"now": {Version: 1}},
		Later: schema.NewLater(map[string]map[string][]byte{
			"managed": {"a": []byte("a"), "b": []byte("b")}, "data": {"bad": []byte("bad")},
		}, func(_, _ string, raw []byte) (*schema.Schema, error) {
			times[string(raw)]++
			if string(raw) == "bad" {
				return nil, errors.New("bad")
			}
			return &schema.Schema{Version: 7}, nil
		}),
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if s := p.Resource("managed", "a"); s == nil || s.Version != 7 || p.Broken("managed", "a") != nil {
				t.Errorf("got %v", s)
			}
		})
	}
	wg.Wait()
	if len(times) != 1 || times["a"] != 1 {
		t.Errorf("decoded: %v", times)
	}
	for range 2 {
		if s := p.Resource("data", "bad"); s != nil || p.Broken("data", "bad") == nil {
			t.Errorf("got %v of what cannot be understood", s)
		}
	}
	if p.Resource("ephemeral", "a") != nil || p.Resource("data", "a") != nil || p.Broken("data", "a") != nil || p.Resource("managed", "now").Version != 1 {
		t.Error("wrong about types that there are not")
	}
	all, err := p.Types("managed")
	if err != nil || len(all) != 3 || all["b"].Version != 7 || len(p.Managed) != 1 {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := p.Types("data"); err == nil || times["bad"] != 1 || times["a"] != 1 {
		t.Errorf("error %v, decoded: %v", err, times)
	}
}
