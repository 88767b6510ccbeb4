// Package labv5 is a provider for tests, built on terraform-plugin-sdk, whose type
// system is the legacy one. Objects live in a package store; troubles of all kinds can
// be ordered by an attribute.
package labv5

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

const kind = "labv5_item"

// New returns the provider.
func New() *schema.Provider {
	return &schema.Provider{
		Schema: map[string]*schema.Schema{
			"region":  {Type: schema.TypeString, Optional: true, DefaultFunc: schema.EnvDefaultFunc("LAB_REGION", nil)},
			"trouble": {Type: schema.TypeString, Optional: true},
		},
		ProviderMetaSchema: map[string]*schema.Schema{
			"module": {Type: schema.TypeString, Optional: true},
		},
		ConfigureContextFunc: func(ctx context.Context, d *schema.ResourceData) (any, diag.Diagnostics) {
			trouble, _ := d.Get("trouble").(string)
			return store.FromEnv(), diag.FromErr(store.Trouble(trouble).Before(ctx, "configure"))
		},
		ResourcesMap:   map[string]*schema.Resource{kind: item()},
		DataSourcesMap: map[string]*schema.Resource{kind: itemData()},
	}
}

// itemData finds an item by its name.
func itemData() *schema.Resource {
	return &schema.Resource{
		ReadContext: func(_ context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
			obj, err := meta.(*store.Store).Find(kind, d.Get("name").(string))
			if err != nil || obj == nil {
				return diag.Errorf("there is no item %s (%v)", d.Get("name"), err)
			}
			d.SetId(fmt.Sprint(obj["id"]))
			return diag.FromErr(d.Set("title", obj["title"]))
		},
		Schema: map[string]*schema.Schema{
			"name":  {Type: schema.TypeString, Required: true},
			"title": {Type: schema.TypeString, Computed: true},
		},
	}
}
