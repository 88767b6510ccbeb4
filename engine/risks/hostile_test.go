package risks

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// strange returns a random value of any type. Its attributes have names that checks read.
func strange(r *rand.Rand, names []string, depth int) cty.Value {
	var v cty.Value
	n := 12
	if depth > 0 {
		n = 20
	}
	texts := []string{"", "*", "ingress", "Allow", "tcp", "-1", "0.0.0.0/0", "::/0", "22", "1-", "allUsers", "roles/owner", "public-read", "{}", "[]", "null", "/", ":", "arn:aws:iam::aws:policy/AdministratorAccess",
		`{"bindings":[null,{"members":[1]}]}`, `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"*"}]}`, hidden, "\xff\x00"}
	switch r.IntN(n) {
	case 0:
		v = cty.NullVal([]cty.Type{cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType, cty.List(cty.String), cty.Map(cty.Number), cty.EmptyObject}[r.IntN(7)])
	case 1:
		v = cty.UnknownVal([]cty.Type{cty.String, cty.Number, cty.Bool, cty.List(cty.String), cty.Map(cty.Number), cty.EmptyObject, cty.Set(cty.EmptyObject)}[r.IntN(7)])
	case 2:
		v = cty.DynamicVal
	case 3:
		v = cty.BoolVal(r.IntN(2) == 0)
	case 4, 5:
		v = []cty.Value{cty.NumberIntVal(-5), cty.NumberIntVal(22), cty.MustParseNumberVal("1e300"), cty.MustParseNumberVal("1e-300"), cty.PositiveInfinity, cty.NegativeInfinity, cty.NumberFloatVal(0.5)}[r.IntN(7)]
	case 6:
		v = cty.UnknownVal(cty.String).Refine().StringPrefixFull("user:x").NewValue()
	case 7, 8, 9, 10, 11:
		v = cty.StringVal(texts[r.IntN(len(texts))])
	case 12:
		v = []cty.Value{cty.EmptyTupleVal, cty.EmptyObjectVal, cty.ListValEmpty(cty.String), cty.MapValEmpty(cty.Number), cty.SetValEmpty(cty.EmptyObject)}[r.IntN(5)]
	case 13:
		e := cty.StringVal(texts[r.IntN(len(texts))])
		v = []cty.Value{cty.ListVal([]cty.Value{e}), cty.SetVal([]cty.Value{e, cty.UnknownVal(cty.String)}), cty.MapVal(map[string]cty.Value{names[0]: e.Mark(marks.Sensitive)}), cty.ListVal([]cty.Value{cty.NumberIntVal(1), cty.NullVal(cty.Number)})}[r.IntN(4)]
	case 14, 15:
		v = cty.TupleVal([]cty.Value{strange(r, names, depth-1), strange(r, names, depth-1)})
	default:
		m := map[string]cty.Value{}
		for range r.IntN(8) {
			m[names[r.IntN(len(names))]] = strange(r, names, depth-1)
		}
		v = cty.ObjectVal(m)
	}
	if r.IntN(6) == 0 {
		v = v.Mark(marks.Sensitive)
	}
	return v
}

// TestStrangeValues holds that no values of an object break the search: a provider may have a known resource type with
// another schema.
func TestStrangeValues(t *testing.T) {
	names := []string{"ingress", "settings", "ip_configuration", "authorized_networks", "value", "grant", "grantee", "uri", "permission", "permissions", "access_control_policy", "inline_policy", "policy",
		"actions", "security_rule", "allow", "protocol", "ports", "from_port", "to_port", "cidr_blocks", "ipv6_cidr_blocks"}
	kinds := []string{"google_project_iam_member", "google_project_iam_binding", "google_project_iam_policy", "aws_db_instance", "azurerm_redis_cache"}
	kinds = slices.Concat(slices.Sorted(maps.Keys(checks)), slices.Sorted(maps.Keys(documents())), kinds)
	for seed := range uint64(300) {
		for _, kind := range kinds {
			r := rand.New(rand.NewPCG(seed, 1))
			var reads []string
			for _, c := range checksOf(kind) {
				reads = append(reads, c.reads...)
			}
			object := func() cty.Value {
				if r.IntN(8) == 0 {
					return strange(r, append(reads, names...), 2)
				}
				m := map[string]cty.Value{}
				for _, n := range reads {
					m[n] = strange(r, append(reads, names...), 4)
				}
				return cty.ObjectVal(m)
			}
			c := changeOf(kind+".a", cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.DynamicPseudoType))
			c.Before, c.After, c.Action = object(), object(), []plans.Action{plans.Create, plans.Update, plans.Delete, plans.DeleteThenCreate}[r.IntN(4)]
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s, seed %d: %v", kind, seed, p)
					}
				}()
				_ = shown(Find(Input{Plan: &plans.Plan{Changes: []*plans.ResourceChange{c}}}))
			}()
		}
	}
}

// TestStrangeDocument holds the same for the data source whose policy another object gets.
func TestStrangeDocument(t *testing.T) {
	names := []string{"statement", "effect", "actions", "resources", "principals", "type", "identifiers", "condition", "test", "variable", "values", "source_policy_documents", "source_json", "override_json", "override_policy_documents"}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		source := object{}
		for _, n := range []string{"statement", "source_policy_documents", "override_policy_documents", "source_json", "override_json"} {
			source[n] = cty.NullVal(cty.DynamicPseudoType)
			if n == "statement" || r.IntN(5) == 0 {
				source[n] = concealed(strange(r, names, 5))
			}
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("seed %d: %v", seed, p)
				}
			}()
			_ = statements(source)
		}()
	}
}

// TestHugeNumber holds that a number with very many digits takes no time.
func TestHugeNumber(t *testing.T) {
	huge := cty.MustParseNumberVal("1e9000000")
	begun := time.Now()
	text := fmt.Sprint(plain(huge))
	if took := time.Since(begun); took > time.Second || len(text) > 1000 {
		t.Errorf("%d bytes after %v", len(text), took)
	}
}
