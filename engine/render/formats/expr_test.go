package formats

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TestExpression describes expressions as Terraform 1.11.4 does.
func TestExpression(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`1`:                    `{"constant_value":1}`,
		`[1, "a"]`:             `{"constant_value":[1,"a"]}`,
		`local.a`:              `{"references":["local.a"]}`,
		`[1, local.a]`:         `{"references":["local.a"]}`,
		`"x-${local.a}"`:       `{"references":["local.a"]}`,
		`local.a ? 1e3 : 1000`: `{"constant_value":1000,"references":["local.a"]}`,
		`local.a ? 1 : 2`:      `{"references":["local.a"]}`,
		`upper("a")`:           `{}`,
	} {
		x, ds := hclsyntax.ParseExpression([]byte(src), "main.tf", hcl.InitialPos)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		got, err := json.Marshal(expression(x))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}
