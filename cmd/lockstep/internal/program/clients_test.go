package program

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// What is wrong with a bucket or with credentials is said in the words that programs look for,
// in lines that are not broken.
func TestBackendTexts(t *testing.T) {
	t.Parallel()
	const unlisted = `Error: Failed to get existing workspaces: Unable to list objects in S3 bucket "states" with prefix "env:/": `
	denied := func(method, key string) bool { return method == "LIST" || key == "forbidden" }
	c := cloud{(&statebackendtest.S3{Deny: denied}).Start(t), new(statebackendtest.DynamoDB).Start(t)}
	for _, x := range []struct{ name, option, want string }{
		{"a bucket that is not there", "bucket=missing", `Error: Failed to get existing workspaces: S3 bucket does not exist: S3 bucket "missing" does not exist`},
		{"nothing allowed", "key=forbidden", unlisted},
		{"no listing", "key=allowed", ""},
	} {
		d := programtest.NewDir(t, "main.tf", strings.Replace(c.configuration(), `"app/terraform.tfstate"`, `"app"`, 1), "keys.hcl", c.keys())
		r := d.Run("init", "-no-color", "-input=false", "-backend-config=bucket=states", "-backend-config=keys.hcl", "-backend-config="+x.option)
		if x.want == "" && r.Code != 0 || x.want != "" && (r.Code != 1 || !strings.Contains(r.Stderr, x.want)) {
			t.Errorf("%s: exit code %d, want %q\n%s", x.name, r.Code, x.want, r.Stderr)
		}
	}
	d := programtest.NewDir(t, "main.tf", c.configuration())
	d.Env = []string{"AWS_EC2_METADATA_DISABLED=true"}
	if r := d.Run("init", "-no-color", "-input=false", "-backend-config=bucket=states"); r.Code != 1 || !strings.Contains(r.Stderr, "Error: No valid credential sources found\n") {
		t.Errorf("no credentials: exit code %d\n%s", r.Code, r.Stderr)
	}
}
