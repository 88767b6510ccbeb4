package notices

import "testing"

// TestForeseen holds the note on a plan that was made with planned outputs, or with stored ones since a plan failed.
func TestForeseen(t *testing.T) {
	t.Parallel()
	var all []string
	for _, f := range []Foreseen{{}, {Plans: []string{"net"}}, {Plans: []string{"net", "dns`x"}}, {Failed: []string{"net"}}, {Plans: []string{"net"}, Failed: []string{"dns", "vpn"}}} {
		all = append(all, f.Above("The plan.\n"))
	}
	compareTexts(t, "foreseen", all...)
}
