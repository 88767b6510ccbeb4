package executor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVarFiles holds which of several values counts, as on a command line with
// -var-file, and what is said of files that are not as they should be.
func TestVarFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"net/main.tf": `variable "a" {
  default = "default"
}

variable "b" {
}

variable "c" {
}

variable "d" {
}

resource "terraform_data" "x" {
  input = "${var.a} ${var.b} ${var.c} ${var.d}"
}
`,
		"net/terraform.tfvars": "b = \"plain\"\nc = \"plain\"\nd = \"plain\"\n",
		"net/z.auto.tfvars":    "c = \"auto\"\nd = \"auto\"\n",
		"vars/prod.tfvars":     "d = \"named\"\n",
		"vars/last.json":       "not read",
		"vars/last.tfvars":     "c = \"last\"\n",
		"vars/odd.tfvars":      "c = [\n",
		"vars/link.tfvars":     "-> ../../victim",
	}
	for want, list := range map[string][]string{
		`"default plain auto auto"`:                       nil,
		`"default plain auto named"`:                      {"vars/prod.tfvars"},
		`"default plain last named"`:                      {"vars/prod.tfvars", "vars/last.tfvars"},
		"name the file vars/none.tfvars, which is not":    {"vars/none.tfvars"},
		"on vars/odd.tfvars line 2":                       {"vars/odd.tfvars"},
		"escapes":                                         {"vars/link.tfvars"},
		"../victim: readfile ../victim: invalid argument": {"../victim"},
		"on words.txt line 1":                             {"vars/prod.tfvars", "words.txt"},
	} {
		b := newBench(t, files)
		b.write(map[string]string{"../victim": "a = \"s3cr3t\"\n", "words.txt": "many words\n"})
		b.job.VarFiles = list
		p := b.plan()
		if !strings.Contains(flat(p.Report), want) || strings.Contains(p.Report, "s3cr3t") {
			t.Errorf("%q: want %s\n%s", list, want, p.Report)
		}
		if (p.Plan != nil) != strings.HasPrefix(want, `"`) {
			t.Errorf("%q: planned %v", list, p.Plan != nil)
		}
		if p.Plan != nil {
			if o := b.apply(p.Plan, true); o.Failed {
				t.Errorf("%q: %s", list, o.Report)
			}
		}
	}
}

// TestRead holds that a plan knows what its file functions looked at, what is not there
// included.
func TestRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"net/main.tf": `module "m" {
  source = "../shared"
}

locals {
  words  = file("${path.module}/../data/words.txt")
  names  = fileset("${path.module}/../data/many", "*.json")
  none   = fileexists("../data/none.txt")
  hidden = try(file("/etc/hostname"), "")
}

resource "terraform_data" "x" {
  input = [local.words, local.names, local.none, local.hidden, module.m.own]
}
`,
		"shared/main.tf":   "output \"own\" {\n  value = file(\"${path.module}/own.txt\")\n}\n",
		"shared/own.txt":   "own",
		"data/words.txt":   "words",
		"data/many/a.json": "{}",
		"data/unread.txt":  "",
	})
	p := b.plan()
	if p.Plan == nil {
		t.Fatal(p.Report)
	}
	want := []string{"data/many", "data/none.txt", "data/words.txt", "shared/own.txt"}
	got := []string{}
	for _, name := range p.Read {
		if name != "data/many/a.json" { // looked at by its name, to know what it is
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
