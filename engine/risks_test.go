package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/risks"
)

const risksLab = `
resource aws_security_group
  id      string computed keep
  name    string optional
  ingress set(object({protocol=string,from_port=number,to_port=number,cidr_blocks=list(string)})) optional computed
resource aws_kms_key
  id     string computed keep
  arn    string computed keep
  policy string optional computed
resource google_sql_database_instance
  id       string computed keep
  settings block(list) {
    tier             string optional
    ip_configuration list(object({authorized_networks=list(object({value=string}))})) optional computed
  }
data aws_iam_policy_document
  source_policy_documents list(string) optional
  json                    string computed
  statement block(list) {
    effect     string optional
    actions    set(string) optional
    resources  set(string) optional
    principals block(set) {
      type        string required
      identifiers set(string) required
    }
    condition block(set) {
      test     string required
      variable string required
      values   list(string) required
    }
  }
resource aws_s3_bucket_policy
  id     string computed keep
  policy string required
resource aws_iam_policy
  id     string computed keep
  arn    string computed keep
  policy string optional
resource aws_iam_role_policy_attachment
  id         string computed keep
  policy_arn string required
resource azurerm_role_definition
  id string computed keep
resource azurerm_role_assignment
  id                 string computed keep
  role_definition_id string optional
resource aws_db_instance
  id                  string computed keep
  name                string optional replace
  publicly_accessible bool optional
`

// TestRisksOfAConfiguration holds that values that only the provider chooses are no risks, and that values of the
// configuration that the plan does not show are.
func TestRisksOfAConfiguration(t *testing.T) {
	t.Parallel()
	const group = "public-ingress aws_security_group.a: "
	const mayAllow = "iam-widened aws_iam_policy.a: may allow every action: the plan does not show the policy"
	const mayIn = "public-access aws_s3_bucket_policy.a: may let everybody in: the plan does not show the policy"
	const key = "resource \"aws_kms_key\" \"k\" {}\nlocals {\n  actions = aws_kms_key.k.id\n}\n"
	rights := func(policy string) string {
		return key + "resource \"aws_iam_policy\" \"a\" {\n  policy = " + policy + "\n}\n"
	}
	public := func(statement string) string {
		return key + "resource \"aws_s3_bucket_policy\" \"a\" {\n  policy = jsonencode({ Statement = [" + statement + "] })\n}\n"
	}
	document := func(statement string) string {
		return key + "data \"aws_iam_policy_document\" \"d\" {\n  statement {\n" + statement + "  }\n}\nresource \"aws_iam_policy\" \"a\" {\n  policy = data.aws_iam_policy_document.d.json\n}\n"
	}
	for name, c := range map[string]struct{ config, want string }{
		"a group with rules elsewhere": {`resource "aws_security_group" "a" {}`, ""},
		"a rule": {`resource "aws_security_group" "a" {
  ingress = [{ protocol = "tcp", from_port = 22, to_port = 22, cidr_blocks = ["0.0.0.0/0"] }]
}`, group + "opens 22/tcp to 0.0.0.0/0"},
		"a rule with an unknown source": {`resource "aws_kms_key" "k" {}
resource "aws_security_group" "a" {
  ingress = [{ protocol = "tcp", from_port = 22, to_port = 22, cidr_blocks = [aws_kms_key.k.id] }, { protocol = "tcp", from_port = 80, to_port = 80, cidr_blocks = ["0.0.0.0/0"] }]
}`, group + "opens 80/tcp to 0.0.0.0/0\n" + group + "may open 22/tcp to everybody: the plan does not show its sources"},
		"unknown rules": {`resource "aws_kms_key" "k" {}
resource "aws_security_group" "a" {
  ingress = [for x in split(",", aws_kms_key.k.id) : { protocol = "tcp", from_port = 22, to_port = 22, cidr_blocks = [x] }]
}`, group + "may open ports to everybody: the plan does not show its rules"},
		"unknown rules in a module": {`module "m" {
  source = "./m"
}`, "public-ingress module.m.aws_security_group.a[0]: may open ports to everybody: the plan does not show its rules"},
		"a sensitive rule": {`resource "aws_security_group" "a" {
  ingress = [{ protocol = "tcp", from_port = 22, to_port = 22, cidr_blocks = [sensitive("0.0.0.0/0")] }]
}`, group + "may open ports to everybody: the plan does not show its rules"},
		"a policy that is not set": {`resource "aws_kms_key" "k" {}`, ""},
		"a policy that is unknown": {`resource "aws_kms_key" "a" {}
resource "aws_kms_key" "k" {
  policy = "${aws_kms_key.a.id}"
}`, "public-access aws_kms_key.k: may let everybody in: the plan does not show the policy"},
		"a policy with an unknown resource": {rights(`jsonencode({ Statement = [{ Effect = "Allow", Action = ["s3:GetObject"], Resource = "${aws_kms_key.k.arn}/*" }] })`), ""},
		"a wide policy with an unknown resource": {rights(`jsonencode({ "Statement" = { Effect = "Allow", Action = "s3:*", Resource = aws_kms_key.k.arn } })`),
			"iam-widened aws_iam_policy.a: allows `s3:*` on what the plan does not show"},
		"a policy with an unknown action":    {rights(`jsonencode({ Statement = [{ Effect = "Allow", Action = local.actions, Resource = aws_kms_key.k.arn }] })`), mayAllow},
		"a policy with an unknown effect":    {rights(`jsonencode({ Statement = [{ Effect = local.actions, Action = "*", Resource = aws_kms_key.k.arn }] })`), mayAllow},
		"a policy with an unknown statement": {rights(`jsonencode({ Statement = [for x in [1] : { Effect = "Allow", Action = "*", Resource = aws_kms_key.k.arn }] })`), mayAllow},
		"a policy with an unknown key":       {rights(`jsonencode({ (local.actions) = [], Id = aws_kms_key.k.arn })`), mayAllow},
		"a policy with a loop":               {rights(`jsonencode({ Statement = [{ Effect = "Allow", Action = "%{for x in ["s3"]}${x}:*%{endfor}", Resource = aws_kms_key.k.arn }] })`), mayAllow},
		"a policy with a text in a text":     {rights(`jsonencode({ Statement = [{ Effect = ("Allow"), Action = "s3:Get", Resource = aws_kms_key.k.arn }] })`), ""},
		"a policy that is sensitive":         {rights(`jsonencode({ Statement = [], Id = sensitive(aws_kms_key.k.arn) })`), mayAllow},
		"one of two policies":                {rights(`true ? jsonencode({ Statement = [], Id = aws_kms_key.k.arn }) : ""`), mayAllow},
		"a document": {document(`    actions   = ["s3:GetObject"]
    resources = [aws_kms_key.k.arn]
`), ""},
		"a wide document": {document(`    actions   = ["iam:*"]
    resources = [aws_kms_key.k.arn]
`), "iam-widened aws_iam_policy.a: allows `iam:*` on what the plan does not show"},
		"a document that denies": {document(`    effect    = "Deny"
    actions   = ["iam:*"]
    resources = [aws_kms_key.k.arn]
`), ""},
		"a document with unknown actions": {document(`    actions   = [aws_kms_key.k.arn]
    resources = ["*"]
`), mayAllow},
		"a document with others inside": {strings.Replace(document(`    actions   = ["s3:GetObject"]
    resources = [aws_kms_key.k.arn]
`), "  statement", "  source_policy_documents = [aws_kms_key.k.arn]\n  statement", 1), mayAllow},
		"a bucket for everybody": {public(`{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = aws_kms_key.k.arn }`),
			"public-access aws_s3_bucket_policy.a: lets everybody do `s3:GetObject` on what the plan does not show"},
		"a bucket for everybody, with an unknown action": {public(`{ Effect = "Allow", Principal = "*", Action = [local.actions], Resource = "*" }`), mayIn},
		"a bucket for one, with an unknown action":       {public(`{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::1:root" }, Action = [local.actions], Resource = "*" }`), ""},
		"a bucket for whom it has an unknown effect":     {public(`{ Effect = local.actions, Principal = "*", Action = "s3:GetObject", Resource = "*" }`), mayIn},
		"a bucket that refuses everybody":                {public(`{ Effect = "Deny", Principal = "*", Action = local.actions, Resource = "*" }`), ""},
		"a bucket for one":                               {public(`{ Effect = "Allow", Principal = { Service = "s3.amazonaws.com" }, Action = "s3:GetObject", Resource = aws_kms_key.k.arn }`), ""},
		"a bucket for somebody unknown":                  {public(`{ Effect = "Allow", Principal = { AWS = aws_kms_key.k.arn }, Action = "s3:GetObject", Resource = "*" }`), mayIn},
		"a bucket on unknown conditions":                 {public(`{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "*", Condition = { StringEquals = { "aws:SourceArn" = aws_kms_key.k.arn } } }`), mayIn},
		"a bucket on known and unknown conditions":       {public(`{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = aws_kms_key.k.arn, Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-1" } } }`), ""},
		"a document of a bucket": {strings.NewReplacer("aws_iam_policy\"", "aws_s3_bucket_policy\"").Replace(document(`    actions   = ["s3:GetObject"]
    resources = [aws_kms_key.k.arn]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "StringEquals"
      variable = "aws:SourceArn"
      values   = [aws_kms_key.k.arn]
    }
`)), mayIn},
		"a policy of its own": {`resource "aws_iam_policy" "p" {
  policy = "{}"
}
resource "aws_iam_role_policy_attachment" "a" {
  policy_arn = aws_iam_policy.p.arn
}`, ""},
		"policies of its own": {`resource "aws_iam_policy" "p" {
  for_each = toset(["a", "b"])
  policy = "{}"
}
resource "aws_iam_role_policy_attachment" "a" {
  for_each   = aws_iam_policy.p
  policy_arn = aws_iam_policy.p[each.key].arn
}`, ""},
		"the text of a policy": {`resource "aws_kms_key" "k" {}
resource "aws_iam_policy" "p" {
  policy = aws_kms_key.k.arn
}
resource "aws_iam_role_policy_attachment" "a" {
  policy_arn = aws_iam_policy.p.policy
}`, "iam-widened aws_iam_policy.p: may allow every action: the plan does not show the policy\n" +
			"iam-widened aws_iam_role_policy_attachment.a: may give a policy with all rights: the plan does not show policy_arn"},
		"another policy, perhaps": {`resource "aws_iam_policy" "p" {
  policy = "{}"
}
resource "aws_iam_role_policy_attachment" "a" {
  policy_arn = aws_iam_policy.p.arn == "" ? aws_iam_policy.p.arn : "arn:aws:iam::aws:policy/AdministratorAccess"
}`, "iam-widened aws_iam_role_policy_attachment.a: may give a policy with all rights: the plan does not show policy_arn"},
		"a policy through another object": {`resource "aws_kms_key" "k" {}
resource "aws_iam_role_policy_attachment" "a" {
  policy_arn = aws_kms_key.k.arn
}`, "iam-widened aws_iam_role_policy_attachment.a: may give a policy with all rights: the plan does not show policy_arn"},
		"a role of its own": {`resource "azurerm_role_definition" "r" {}
resource "azurerm_role_assignment" "a" {
  role_definition_id = azurerm_role_definition.r.id
}`, ""},
		"no networks": {`resource "google_sql_database_instance" "a" {
  settings {
    tier = "t"
  }
}`, ""},
		"a network": {`resource "google_sql_database_instance" "a" {
  settings {
    ip_configuration = [{ authorized_networks = [{ value = "0.0.0.0/0" }] }]
  }
}`, "public-ingress google_sql_database_instance.a: opens all ports to 0.0.0.0/0"},
		"unknown networks": {`resource "aws_kms_key" "k" {}
resource "google_sql_database_instance" "a" {
  dynamic "settings" {
    for_each = [1]
    content {
      ip_configuration = [for x in split(",", aws_kms_key.k.id) : { authorized_networks = [{ value = x }] }]
    }
  }
}`, "public-ingress google_sql_database_instance.a: may open ports to everybody: the plan does not show its rules"},
		"a database": {`resource "aws_db_instance" "a" {
  publicly_accessible = true
}`, "public-access aws_db_instance.a: gives it an address on the internet"},
	} {
		s := (&scenario{providers: map[string]string{"aws": risksLab, "google": risksLab, "azurerm": risksLab}}).stage(t)
		s.files = map[string][]byte{"main.tf": []byte(c.config), "m/main.tf": []byte(`resource "aws_kms_key" "k" {}
resource "aws_security_group" "a" {
  count   = 1
  ingress = [for x in split(",", aws_kms_key.k.id) : { protocol = "tcp", from_port = 22, to_port = 22, cidr_blocks = [x] }]
}
`)}
		p, ds := s.plan(t.Context(), &order{verb: "plan"})
		s.fatal(ds)
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
		s.fatal(ds)
		var got []string
		for _, r := range risks.Find(risks.Input{Plan: p, Config: cfg}) {
			got = append(got, fmt.Sprintf("%s %s: %s", r.Name, r.Object, r.Text))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, "\n"), c.want)
		}
	}
}
