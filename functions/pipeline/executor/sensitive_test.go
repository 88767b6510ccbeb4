package executor

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// TestSecretsOfTheSchema holds that what a schema says is sensitive is hidden though the
// state, which an older tool may have written, does not say so; and that of a state
// whose schema nobody knows all is that it says itself, keys and numbers too.
func TestSecretsOfTheSchema(t *testing.T) {
	t.Parallel()
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"name":     {Type: cty.String, Optional: true},
		"password": {Type: cty.String, Optional: true, Sensitive: true},
		"logins":   {Type: cty.Map(cty.Number), Optional: true, Sensitive: true},
	}}
	attrs := []byte(`{"name": "a-public-name", "password": "hunter2hunter2", "logins": {"the-key-of-it": 47110815}}`)
	const text = "a-public-name hunter2hunter2 the-key-of-it 47,110,815 logins"
	want := strings.NewReplacer("§", redacting.Hidden).Replace("a-public-name § § § logins")
	var old secrets
	old.names(block.ImpliedType())
	old.object(&states.Object{AttrsJSON: attrs}, block)
	if got := old.From(text); got != want {
		t.Errorf("by the schema: %q", got)
	}
	var unknown secrets
	unknown.object(&states.Object{AttrsJSON: attrs, Sensitive: []cty.Path{cty.GetAttrPath("password"), cty.GetAttrPath("logins")}}, nil)
	if got := unknown.From(text); got != want {
		t.Errorf("by the state: %q", got)
	}
	var none secrets
	none.object(&states.Object{AttrsJSON: attrs}, nil)
	if got := none.From(text); got != text {
		t.Errorf("by nothing: %q", got)
	}
}
