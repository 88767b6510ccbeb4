package project

import (
	"strings"
	"testing"
)

// TestPlaces is a table of configurations, and of where their states are, or why that is
// nowhere.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const block = "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n"
	variable := block + "    key = \"${var.stage}/net\"\n  }\n}\nvariable \"stage\" {\n  type = string\n}\n"
	for _, test := range []struct {
		what  string
		files map[string]string
		want  string // the place, and the lock table
		no    string // or why there is none
	}{
		{"literal", map[string]string{"a/main.tf": block + "    key = \"net\"\n    dynamodb_table = \"locks\"\n  }\n}\n"}, "s3://states/net locks", ""},
		{"an expression", map[string]string{"a/main.tf": block + "    key = \"${\"n\"}et\"\n  }\n}\n"}, "s3://states/net ", ""},
		{"a function", map[string]string{"a/main.tf": block + "    key = lower(\"NET\")\n  }\n}\n"}, "s3://states/net ", ""},
		{"a workspace", map[string]string{"a/main.tf": block + "    key = \"net\"\n  }\n}\n", FileName: "project \"a\" {\n  dir = \"a\"\n  workspace = \"blue\"\n}\n"}, "s3://states/env:/blue/net ", ""},
		{"the workspace's name", map[string]string{"a/main.tf": block + "    key = terraform.workspace\n  }\n}\n", FileName: "project \"a\" {\n  dir = \"a\"\n}\n"}, "s3://states/default ", ""},
		{"a variable", map[string]string{"a/main.tf": variable, "a/terraform.tfvars": "stage = \"prod\"\n"}, "s3://states/prod/net ", ""},
		{"a variable of the settings' files", map[string]string{"a/main.tf": variable, "a/terraform.tfvars": "stage = \"dev\"\n", "vars": "stage = \"prod\"\n", FileName: "project \"a\" {\n  dir = \"a\"\n  var_files = [\"vars\"]\n}\n"}, "s3://states/prod/net ", ""},
		{"a file that overrides", map[string]string{"a/main.tf": block + "    key = \"net\"\n  }\n}\n", "a/override.tf": block + "    key = \"prod\"\n  }\n}\n"}, "s3://states/prod ", ""},
		{"a local one", map[string]string{"a/main.tf": "terraform {\n  backend \"local\" {\n    path = var.nope\n  }\n}\n"}, "local ", ""},
		{"a variable without a value", map[string]string{"a/main.tf": variable}, "", "the argument key of its backend is not known"},
		{"a file function", map[string]string{"a/main.tf": block + "    key = file(\"key\")\n  }\n}\n", "a/key": "net"}, "", "the argument key of its backend is not known"},
		{"a resource", map[string]string{"a/main.tf": block + "    key = terraform_data.x.id\n  }\n}\n"}, "", "the argument key of its backend is not known"},
		{"another server", map[string]string{"a/main.tf": block + "    key = \"net\"\n    endpoints = { s3 = \"http://127.0.0.1:1\" }\n  }\n}\n"}, "", "another server"},
		{"another server, as it was once said", map[string]string{"a/main.tf": block + "    key = \"net\"\n    endpoint = \"http://127.0.0.1:1\"\n  }\n}\n"}, "", "another server"},
		{"climbing", map[string]string{"a/main.tf": block + "    key = \"../net\"\n  }\n}\n"}, "", "can be empty"},
		{"nothing said", map[string]string{"a/main.tf": backend}, "", "it names no bucket"},
		{"broken", map[string]string{"a/main.tf": "resource {"}, "", "cannot be read"},
		{"another backend", map[string]string{"a/main.tf": "terraform {\n  backend \"gcs\" {\n  }\n}\n"}, "", "pull requests need states in S3"},
	} {
		all, _ := discovered(tree(test.files))
		if len(all) != 1 {
			t.Errorf("%s: %v", test.what, all)
			continue
		}
		p := all[0]
		got := ""
		if p.Place.Backend != "" {
			got = p.Place.String() + " " + p.Place.Table()
		}
		if got != test.want || (p.Nowhere == "") != (test.no == "") || !strings.Contains(p.Nowhere, test.no) {
			t.Errorf("%s: %q %s, want %q %s", test.what, got, p.Nowhere, test.want, test.no)
		}
	}
}
