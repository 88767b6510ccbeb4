package risks

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// valueOf makes a value of JSON. "?" is unknown, "?x" is unknown and begins with x, and "!x" is sensitive.
func valueOf(v any) cty.Value {
	switch v := v.(type) {
	case string:
		switch {
		case v == "?":
			return cty.UnknownVal(cty.String)
		case strings.HasPrefix(v, "?"):
			return cty.UnknownVal(cty.String).Refine().StringPrefixFull(v[1:]).NewValue()
		case strings.HasPrefix(v, "!"):
			return cty.StringVal(v[1:]).Mark(marks.Sensitive)
		}
		return cty.StringVal(v)
	case bool:
		return cty.BoolVal(v)
	case float64:
		return cty.NumberFloatVal(v)
	case []any:
		list := []cty.Value{}
		for _, x := range v {
			list = append(list, valueOf(x))
		}
		return cty.TupleVal(list)
	case map[string]any:
		if _, is := v["policy!"]; is { // a policy, which is easier to read as JSON
			text, _ := json.Marshal(v["policy!"])
			return cty.StringVal(string(text))
		}
		object := map[string]cty.Value{}
		for k, x := range v {
			object[k] = valueOf(x)
		}
		return cty.ObjectVal(object)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

func parsed(t *testing.T, text string) cty.Value {
	t.Helper()
	if text == "-" {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return valueOf(v)
}

// changeOf is the change of an object from one value to another.
func changeOf(address string, before, after cty.Value) *plans.ResourceChange {
	kind, name, _ := strings.Cut(address, ".")
	c := &plans.ResourceChange{}
	c.Addr.Instance = addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: kind, Name: name}}.Instance(addrs.NoKey)
	c.Before, c.After, c.Action = before, after, plans.Update
	switch {
	case before.IsNull():
		c.Action = plans.Create
	case after.IsNull():
		c.Action = plans.Delete
	}
	return c
}

func shown(all []Risk) string {
	var out []string
	for _, r := range all {
		if strings.HasPrefix(r.Text, "may ") != r.May || strings.Contains(r.Text, "may") != strings.Contains(r.Text, "may ") {
			return fmt.Sprintf("%+v is not certain of its certainty", r)
		}
		out = append(out, fmt.Sprintf("%s %s", r.Name, r.Text))
	}
	return strings.Join(out, " | ")
}

// TestTable plays the tables in testdata. A line at the margin is a resource type. Each indented line below has the
// values before and after a change as JSON, and the risks. A / separates the values, and => the risks.
func TestTable(t *testing.T) {
	files, _ := os.ReadDir("testdata")
	if len(files) == 0 {
		t.Fatal("there are no tables")
	}
	for _, f := range files {
		src, err := os.ReadFile("testdata/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		kind := ""
		for line := range strings.Lines(string(src)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !strings.HasPrefix(line, " ") {
				kind = line
				continue
			}
			values, want, ok := strings.Cut(line, " =>")
			before, after, ok2 := strings.Cut(strings.TrimSpace(values), " / ")
			if !ok || !ok2 {
				t.Fatalf("%s: %s: this is no row", f.Name(), line)
			}
			p := &plans.Plan{Changes: []*plans.ResourceChange{changeOf(kind+".a", parsed(t, before), parsed(t, after))}}
			if got := shown(Find(Input{Plan: p})); got != strings.TrimSpace(want) {
				t.Errorf("%s\n %s\n got %s\nwant %s", kind, line, got, strings.TrimSpace(want))
			}
		}
	}
}

// TestEveryCheckHasARow holds that the tables have a certain risk of each type with checks of its own.
func TestEveryCheckHasARow(t *testing.T) {
	var all strings.Builder
	files, _ := os.ReadDir("testdata")
	for _, f := range files {
		src, _ := os.ReadFile("testdata/" + f.Name())
		all.Write(src)
	}
	for _, kind := range slices.Sorted(maps.Keys(checks)) {
		if !strings.Contains("\n"+all.String(), "\n"+kind+"\n") {
			t.Errorf("%s has no row in testdata", kind)
		}
	}
}

// TestStateful holds which actions on objects that keep data are risks.
func TestStateful(t *testing.T) {
	o := cty.EmptyObjectVal
	for _, c := range []struct {
		address string
		change  func(*plans.ResourceChange)
		want    string
	}{
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action = plans.Delete }, "stateful-destroy destroys a database"},
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action = plans.DeleteThenCreate }, "stateful-replace replaces a database"},
		{"google_storage_bucket.a", func(c *plans.ResourceChange) { c.Action = plans.CreateThenDelete }, "stateful-replace replaces a bucket"},
		{"azurerm_key_vault.a", func(c *plans.ResourceChange) { c.Action, c.Addr.Deposed = plans.Delete, "00000001" }, "stateful-destroy destroys a vault of keys"},
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action, c.KeepsOld = plans.CreateThenDelete, true }, ""},
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action = plans.Forget }, ""},
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action = plans.NoOp }, ""},
		{"aws_db_instance.a", func(c *plans.ResourceChange) { c.Action = plans.Update }, ""},
		{"aws_db_instance.a", func(c *plans.ResourceChange) {
			c.Action, c.Addr.Instance.Resource.Resource.Mode = plans.Delete, addrs.Data
		}, ""},
		{"null_resource.a", func(c *plans.ResourceChange) { c.Action = plans.Delete }, ""},
		{"acme_ledger.a", func(c *plans.ResourceChange) { c.Action = plans.Delete }, "stateful-destroy destroys an object of the type `acme_ledger`"},
		{"acme_ledger.a", func(c *plans.ResourceChange) { c.Action = plans.DeleteThenCreate }, "stateful-replace replaces an object of the type `acme_ledger`"},
	} {
		x := changeOf(c.address, o, o)
		c.change(x)
		got := shown(Find(Input{Plan: &plans.Plan{Changes: []*plans.ResourceChange{x}}, Stateful: func(kind string) bool { return kind == "acme_ledger" }}))
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.address, x.Action, got, c.want)
		}
	}
}

// TestOrder holds that the worst risks come first, and certain ones before others.
func TestOrder(t *testing.T) {
	open := func(cidr string) cty.Value {
		return parsed(t, `{"ip_protocol":"tcp","from_port":22,"to_port":22,"cidr_ipv4":"`+cidr+`"}`)
	}
	none := cty.NullVal(cty.DynamicPseudoType)
	p := &plans.Plan{Changes: []*plans.ResourceChange{
		changeOf("aws_vpc_security_group_ingress_rule.a", none, open("?")),
		changeOf("aws_vpc_security_group_ingress_rule.b", none, open("0.0.0.0/0")),
		changeOf("aws_db_instance.c", parsed(t, `{"publicly_accessible":false}`), parsed(t, `{"publicly_accessible":true}`)),
		changeOf("aws_sqs_queue.d", parsed(t, `{}`), none),
	}}
	p.Changes[2].Action = plans.DeleteThenCreate
	var got []string
	for _, r := range Find(Input{Plan: p}) {
		got = append(got, string(r.Name)+" "+r.Object.String())
	}
	want := "stateful-destroy aws_sqs_queue.d, stateful-replace aws_db_instance.c, public-access aws_db_instance.c, " +
		"public-ingress aws_vpc_security_group_ingress_rule.b, public-ingress aws_vpc_security_group_ingress_rule.a"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestBucketThatGoes holds that the block of public access may go together with its bucket, and not alone.
func TestBucketThatGoes(t *testing.T) {
	none := cty.NullVal(cty.DynamicPseudoType)
	block := changeOf("aws_s3_bucket_public_access_block.a", parsed(t, `{"bucket":"b","block_public_acls":true,"block_public_policy":true,"ignore_public_acls":true,"restrict_public_buckets":true}`), none)
	bucket := changeOf("aws_s3_bucket.a", parsed(t, `{"bucket":"b","id":"b"}`), none)
	alone, both := Find(Input{Plan: &plans.Plan{Changes: []*plans.ResourceChange{block}}}), Find(Input{Plan: &plans.Plan{Changes: []*plans.ResourceChange{block, bucket}}})
	if len(alone) != 1 || alone[0].Name != publicAccess {
		t.Errorf("alone: %+v", alone)
	}
	if len(both) != 1 || both[0].Name != statefulDestroy {
		t.Errorf("with the bucket: %+v", both)
	}
}

// TestHostile holds that large and strange input ends in a short text, soon.
func TestHostile(t *testing.T) {
	rule := func(i int, cidr string) string {
		return fmt.Sprintf(`{"protocol":"tcp","from_port":%d,"to_port":%d,"cidr_blocks":["%s"]}`, 2*i, 2*i, cidr)
	}
	var many, closed, wide []string
	for i := range 10_000 {
		many, closed = append(many, rule(i, "0.0.0.0/0")), append(closed, rule(i, "10.0.0.0/8"))
		wide = append(wide, fmt.Sprintf(`{"protocol":"%d","from_port":0,"to_port":0,"ipv6_cidr_blocks":["2%03x::/16"]}`, 200+i%40, i%4096))
	}
	group := func(rules []string) string { return `{"ingress":[` + strings.Join(rules, ",") + `]}` }
	policy := func(text string) string {
		data, _ := json.Marshal(map[string]string{"policy": text})
		return string(data)
	}
	var statements []string
	for i := range 990 {
		statements = append(statements, fmt.Sprintf(`{"Effect":"Allow","Action":"s%d:*","Resource":"%s*%d"}`, i, strings.Repeat("a", 900), i))
	}
	doc := `{"Statement":[` + strings.Join(statements, ",") + `]}`
	for name, c := range map[string]struct{ kind, before, after, want string }{
		"10,000 rules are opened": {"aws_security_group", group(closed), group(many),
			"public-ingress opens 0/tcp, 2/tcp, 4/tcp, 6/tcp, 8/tcp and 9995 more to 0.0.0.0/0"},
		"10,000 rules stay":       {"aws_security_group", group(many), group(many[1:]), ""},
		"10,000 groups":           {"aws_security_group", group(wide[1:]), group(wide), "public-ingress opens"},
		"one of 10,000 is opened": {"aws_security_group", group(many[1:]), group(many), "public-ingress opens 0/tcp to 0.0.0.0/0"},
		"deep JSON":               {"aws_iam_policy", "-", policy(strings.Repeat("[", 100_000)), "iam-widened may allow every action: Lockstep cannot read the policy"},
		"deep JSON that ends": {"aws_iam_policy", "-", policy(`{"Id":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"),
			"iam-widened may allow every action: Lockstep cannot read the policy"},
		"huge JSON": {"aws_iam_policy", "-", policy(`{"Id":"` + strings.Repeat("a", 2<<20) + `"}`), "iam-widened may allow every action: Lockstep cannot read the policy"},
		"too many statements": {"aws_iam_policy", "-", policy(`{"Statement":[` + strings.Repeat(`{"Effect":"Allow","Action":"a:b","Resource":"c"},`, 2000) + `{}]}`),
			"iam-widened may allow every action: Lockstep cannot read the policy"},
		"many statements":      {"aws_iam_policy", policy(doc), policy(strings.ReplaceAll(doc, "aaa*", "aab*")), "iam-widened allows `s0:*` on `aaaa"},
		"many statements stay": {"aws_iam_policy", policy(doc), policy(doc + " "), ""},
		"Markdown": {"aws_iam_policy", "-", policy("{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"`<img src=x>`\\n\\u202e:*\"}}"),
			"iam-widened allows `?<img src=x>???:*` on everything"},
		"a strange protocol": {"aws_vpc_security_group_ingress_rule", "-", "{\"ip_protocol\":\"`<b>\",\"cidr_ipv4\":\"0.0.0.0/0\"}", "public-ingress opens `?<b>` to 0.0.0.0/0"},
	} {
		begun := time.Now()
		got := shown(Find(Input{Plan: &plans.Plan{Changes: []*plans.ResourceChange{changeOf(c.kind+".a", parsed(t, c.before), parsed(t, c.after))}}}))
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || len(got) > 2000 {
			t.Errorf("%s: %.300s, want %s", name, got, c.want)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestManyObjects holds that a plan of 20,000 objects takes no time.
func TestManyObjects(t *testing.T) {
	none := cty.NullVal(cty.DynamicPseudoType)
	group := parsed(t, `{"ingress":[{"protocol":"tcp","from_port":22,"to_port":22,"cidr_blocks":["0.0.0.0/0"]}]}`)
	policy := parsed(t, `{"policy":{"policy!":{"Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:*"],"Resource":"*"}]}}}`)
	p := &plans.Plan{}
	for i := range 10_000 {
		p.Changes = append(p.Changes, changeOf(fmt.Sprintf("aws_security_group.a%d", i), none, group), changeOf(fmt.Sprintf("aws_iam_policy.a%d", i), none, policy))
	}
	begun := time.Now()
	found := Find(Input{Plan: p})
	if took := time.Since(begun); len(found) != 20_000 || took > 10*time.Second {
		t.Errorf("%d risks after %v", len(found), took)
	} else {
		t.Log(took)
	}
}

// FuzzPolicy holds that no policy breaks the search or its text, and that a policy is never worse than itself.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{
		`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":["s3:*"],"Resource":"*","Condition":{"StringEquals":{"aws:SourceArn":["a"]}}}]}`,
		`{"Statement":{"Effect":"Allow","NotPrincipal":"*","NotAction":"iam:*"}}`, `{"Statement":"\u0000hidden"}`, `{"Statement":[{"Effect":"\u0000hidden"}]}`, `[]`, `{`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []string{"rights", "trust", "resource"} {
			var first, same finding
			first.policies(kind, nil, []string{text})
			for _, s := range []string{first.text(false), first.text(true)} {
				if strings.Count(s, "`")%2 != 0 || len(s) > 4000 || strings.ContainsAny(s, "\n\r\x00") {
					t.Errorf("%q: %q", text, s)
				}
			}
			if same.policies(kind, []string{text}, []string{text}); len(same.certain) > 0 && len(first.may) == 0 {
				t.Errorf("%q is worse than itself: %v", text, same.certain)
			}
		}
	})
}
