package labv5

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

func item() *schema.Resource {
	return &schema.Resource{
		SchemaVersion: 1,
		StateUpgraders: []schema.StateUpgrader{{
			Version: 0,
			Type:    cty.Object(map[string]cty.Type{"id": cty.String, "name": cty.String, "heading": cty.String}),
			Upgrade: func(_ context.Context, old map[string]any, _ any) (map[string]any, error) {
				old["title"] = old["heading"]
				delete(old, "heading")
				return old, nil
			},
		}},
		CreateContext: create,
		ReadContext:   read,
		UpdateContext: update,
		DeleteContext: remove,
		CustomizeDiff: customizeDiff,
		Importer:      &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
		Schema: map[string]*schema.Schema{
			"name":  {Type: schema.TypeString, Required: true, ForceNew: true},
			"title": {Type: schema.TypeString, Optional: true},
			"level": {Type: schema.TypeInt, Optional: true, Default: 3, ValidateFunc: func(v any, key string) ([]string, []error) {
				if v.(int) > 9 {
					return nil, []error{fmt.Errorf("%s must not be above 9", key)}
				}
				return nil, nil
			}},
			"note": {Type: schema.TypeString, Optional: true, DiffSuppressFunc: func(_, old, new string, _ *schema.ResourceData) bool {
				return strings.EqualFold(old, new)
			}},
			"secret": {Type: schema.TypeString, Optional: true, Sensitive: true},
			"tags":   {Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"rule": {Type: schema.TypeSet, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"port": {Type: schema.TypeInt, Required: true},
				"cidr": {Type: schema.TypeString, Optional: true, Default: "0.0.0.0/0"},
			}}},
			"disk": {Type: schema.TypeList, Optional: true, MaxItems: 1, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"gb":   {Type: schema.TypeInt, Required: true},
				"path": {Type: schema.TypeString, Computed: true},
			}}},
			"checksum": {Type: schema.TypeString, Computed: true},
			"trouble":  {Type: schema.TypeString, Optional: true, Deprecated: "Trouble is never a good idea."},
		},
	}
}

// customizeDiff: another title gives another checksum.
func customizeDiff(ctx context.Context, d *schema.ResourceDiff, _ any) error {
	if err := store.Trouble(d.Get("trouble").(string)).Before(ctx, "plan"); err != nil {
		return err
	}
	if d.Id() != "" && d.HasChange("title") {
		return d.SetNewComputed("checksum")
	}
	return nil
}

func trouble(d *schema.ResourceData) store.Trouble { return store.Trouble(d.Get("trouble").(string)) }

func create(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := trouble(d).Before(ctx, "create"); err != nil {
		return diag.Errorf("create failed: %s", err)
	}
	id, err := meta.(*store.Store).NewID(kind, d.Get("name").(string))
	if err != nil {
		return diag.FromErr(err)
	}
	d.SetId(id)
	if err := write(d, meta.(*store.Store)); err != nil {
		return diag.FromErr(err)
	}
	if err := trouble(d).After("create"); err != nil {
		return diag.Errorf("create failed half way: %s", err)
	}
	return read(ctx, d, meta)
}

func update(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := trouble(d).Before(ctx, "update"); err != nil {
		d.Partial(true)
		return diag.Errorf("update failed: %s", err)
	}
	if err := write(d, meta.(*store.Store)); err != nil {
		return diag.FromErr(err)
	}
	return read(ctx, d, meta)
}

func write(d *schema.ResourceData, s *store.Store) error {
	var disks []any
	for _, raw := range d.Get("disk").([]any) {
		disk := raw.(map[string]any)
		disks = append(disks, map[string]any{"gb": float64(disk["gb"].(int)), "path": "/dev/" + d.Id()})
	}
	return s.Put(kind, d.Id(), store.Object{
		"id": d.Id(), "name": d.Get("name"), "title": d.Get("title"), "note": d.Get("note"), "disk": disks,
		"checksum": fmt.Sprintf("sum of %s", d.Get("title")),
	})
}

// read takes over what the store has; the rest stays as it is.
func read(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := trouble(d).Before(ctx, "read"); err != nil {
		return diag.Errorf("read failed: %s", err)
	}
	obj, err := meta.(*store.Store).Get(kind, d.Id())
	if err != nil {
		return diag.FromErr(err)
	}
	if obj == nil {
		d.SetId("")
		return nil
	}
	var disks []any
	stored, _ := obj["disk"].([]any)
	for _, raw := range stored {
		disk := raw.(map[string]any)
		disks = append(disks, map[string]any{"gb": int(disk["gb"].(float64)), "path": disk["path"]})
	}
	for name, v := range map[string]any{
		"name": obj["name"], "title": obj["title"], "note": obj["note"], "checksum": obj["checksum"], "disk": disks,
	} {
		if err := d.Set(name, v); err != nil {
			return diag.FromErr(err)
		}
	}
	return nil
}

func remove(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := trouble(d).Before(ctx, "delete"); err != nil {
		return diag.Errorf("delete failed: %s", err)
	}
	return diag.FromErr(meta.(*store.Store).Delete(kind, d.Id()))
}
