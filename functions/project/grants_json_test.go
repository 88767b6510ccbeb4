package project

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestGrantsAreReadAgain holds that grants which were written down grant the same.
func TestGrantsAreReadAgain(t *testing.T) {
	t.Parallel()
	const settings = "allow {\n  provisioners = true\n  external = true\n  providers = [\"hashicorp/*\"]\n  modules = [\"github.com/acme/net\"]\n}\n"
	const lock = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n  hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n"
	for _, x := range []struct{ settings, lock []byte }{{}, {settings: []byte(settings)}, {lock: []byte(lock)}, {[]byte(settings), []byte(lock)}, {settings: []byte("allow {\n  external = true\n  nonsense = 1\n}\n")}} {
		var base *Settings
		if x.settings != nil {
			base, _ = Parse(FileName, x.settings)
		}
		g, err := GrantsOf(base, x.lock)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var again Grants
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(g, again) {
			t.Errorf("%s, %s: %+v, read again %+v", x.settings, x.lock, g, again)
		}
	}
	if json.Unmarshal([]byte(`{"Lock":"cHJvdmlkZXIgew=="}`), new(Grants)) == nil {
		t.Error("a broken lock file is read")
	}
}
