package acceptance

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/lab"
	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

// world prepares a store of objects and returns the providers.
func world(t *testing.T) (*store.Store, map[string]func() (tfprotov6.ProviderServer, error)) {
	t.Setenv("LAB_DIR", t.TempDir())
	return store.FromEnv(), map[string]func() (tfprotov6.ProviderServer, error){
		"lab": providerserver.NewProtocol6WithError(lab.New()),
	}
}

func thing(args string) string { return fmt.Sprintf("resource \"lab_thing\" \"x\" {\n%s\n}\n", args) }

const x = "lab_thing.x"

func at(name string) tfjsonpath.Path { return tfjsonpath.New(name) }

func action(a plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(x, a)}}
}

// TestLife creates, updates, imports, taints, replaces and destroys a thing.
func TestLife(t *testing.T) {
	objects, providers := world(t)
	sameID, newID := statecheck.CompareValue(compare.ValuesSame()), statecheck.CompareValue(compare.ValuesDiffer())
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		CheckDestroy: func(*terraform.State) error {
			if left, err := objects.Get("lab_thing", "b-1"); err != nil || left != nil {
				return fmt.Errorf("b-1 is left: %v, %w", left, err)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{
				Config: thing(`
  name   = "a"
  color  = "red"
  secret = "s3cret"
  tags   = { k = "v" }
  shape  = { width = 3 }
  parts  = [{ label = "p" }, { label = "q" }]
  rule {
    port = 80
  }`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(x, plancheck.ResourceActionCreate),
					plancheck.ExpectUnknownValue(x, at("id")),
					plancheck.ExpectUnknownValue(x, at("shape").AtMapKey("area")),
					plancheck.ExpectKnownValue(x, at("color"), knownvalue.StringExact("red")),
					plancheck.ExpectSensitiveValue(x, at("secret")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(x, at("id"), knownvalue.StringExact("a-1")),
					statecheck.ExpectKnownValue(x, at("tags"), knownvalue.MapExact(map[string]knownvalue.Check{"k": knownvalue.StringExact("v")})),
					statecheck.ExpectKnownValue(x, at("shape").AtMapKey("area"), knownvalue.Int64Exact(9)),
					statecheck.ExpectKnownValue(x, at("parts"), knownvalue.SetSizeExact(2)),
					statecheck.ExpectKnownValue(x, at("rule").AtSliceIndex(0).AtMapKey("host"), knownvalue.StringExact("host of a")),
					statecheck.ExpectKnownValue(x, at("box"), knownvalue.Null()),
					statecheck.ExpectSensitiveValue(x, at("secret")),
					sameID.AddStateValue(x, at("id")), newID.AddStateValue(x, at("id")),
				},
				Check: resource.ComposeAggregateTestCheckFunc(
					resource.TestCheckResourceAttr(x, "tags.k", "v"),
					resource.TestCheckResourceAttr(x, "rule.0.port", "80"),
					resource.TestCheckTypeSetElemNestedAttrs(x, "parts.*", map[string]string{"label": "q"}),
				),
			},
			{
				Config:            thing("  name = \"a\"\n  color = \"blue\""),
				ConfigPlanChecks:  action(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{sameID.AddStateValue(x, at("id"))},
			},
			{
				Config:           thing("  name = \"a\"\n  color = \"blue\""),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{ResourceName: x, ImportState: true, ImportStateVerify: true},
			{
				Taint:            []string{x},
				Config:           thing("  name = \"a\"\n  color = \"blue\""),
				ConfigPlanChecks: action(plancheck.ResourceActionReplace),
			},
			{
				Config:            thing("  name = \"b\""),
				ConfigPlanChecks:  action(plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: []statecheck.StateCheck{newID.AddStateValue(x, at("id"))},
			},
			{RefreshState: true},
		},
	})
}

// TestDrift changes and deletes a thing behind the tool's back.
func TestDrift(t *testing.T) {
	objects, providers := world(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps: []resource.TestStep{
			{Config: thing("  name = \"a\"\n  color = \"red\"")},
			{
				PreConfig: func() {
					o, err := objects.Get("lab_thing", "a-1")
					if err != nil {
						t.Fatal(err)
					}
					o["color"] = "green"
					if err := objects.Put("lab_thing", "a-1", o); err != nil {
						t.Fatal(err)
					}
				},
				RefreshState: true, ExpectNonEmptyPlan: true,
			},
			{Config: thing("  name = \"a\"\n  color = \"red\""), ConfigPlanChecks: action(plancheck.ResourceActionUpdate)},
			{
				PreConfig: func() {
					if err := objects.Delete("lab_thing", "a-1"); err != nil {
						t.Fatal(err)
					}
				},
				Config: thing("  name = \"a\"\n  color = \"red\""), ConfigPlanChecks: action(plancheck.ResourceActionCreate),
			},
		},
	})
}

// TestImportBlock imports by configuration, and plans only.
func TestImportBlock(t *testing.T) {
	_, providers := world(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps: []resource.TestStep{
			{Config: thing("  name = \"a\"")},
			{ResourceName: x, ImportState: true, ImportStateKind: resource.ImportBlockWithID},
			{ResourceName: x, ImportState: true, ImportStateId: "nobody-1", ExpectError: regexp.MustCompile("There is no thing")},
			{Config: thing("  name = \"a\"\n  color = \"red\""), PlanOnly: true, ExpectNonEmptyPlan: true},
			{Config: thing("  name = \"a\""), Destroy: true},
		},
	})
}

// TestErrors expects what providers and the language refuse.
func TestErrors(t *testing.T) {
	_, providers := world(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps: []resource.TestStep{
			{Config: thing("  color = \"red\""), ExpectError: regexp.MustCompile(`(?s)Missing required argument.*"name"`)},
			{Config: thing("  name = \"a\"\n  nosuch = 1"), ExpectError: regexp.MustCompile(`Unsupported argument`)},
			{Config: thing("  name = \"a\"\n  rule {\n    port = -1\n  }"), ExpectError: regexp.MustCompile(`Ports are positive`)},
			{Config: thing("  name = \"a\"\n  trouble = \"create\""), ExpectError: regexp.MustCompile(`Create failed`)},
		},
	})
}

// TestOutputs checks outputs, functions of the provider, and data.
func TestOutputs(t *testing.T) {
	_, providers := world(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps: []resource.TestStep{{
			Config: thing("  name = \"a\"") + "output \"id\" {\n  value = lab_thing.x.id\n}\noutput \"list\" {\n  value = [lab_thing.x.name, 1, true]\n}\n",
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("id", knownvalue.StringExact("a-1")),
				statecheck.ExpectKnownOutputValue("list", knownvalue.TupleExact([]knownvalue.Check{
					knownvalue.StringExact("a"), knownvalue.Int64Exact(1), knownvalue.Bool(true),
				})),
			},
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectUnknownOutputValue("id")}},
		}},
	})
}
