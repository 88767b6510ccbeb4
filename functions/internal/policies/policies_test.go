package policies

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// somePlan is the plan of archives without one.
const somePlan = `{
  "format_version": "1.2",
  "terraform_version": "1.13.0",
  "resource_changes": [
    {"address": "aws_s3_bucket.logs", "type": "aws_s3_bucket", "change": {"actions": ["create"], "before": null, "after": {"acl": "public-read", "bucket": null, "tags": {"team": "core"}}}},
    {"address": "aws_db_instance.main", "type": "aws_db_instance", "change": {"actions": ["delete"], "before": {"port": 5432}, "after": null}}
  ]
}`

// TestFiles judges the archives of testdata: each has the files of a policy directory, a plan.json
// if not [somePlan], options, and the verdict or the error that is wanted.
func TestFiles(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := caseOf(t, a)
			got := outcome(t, c)
			if golden.Updating() {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
				a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
				golden.Update(t, name, string(txtar.Format(a)))
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got, -update writes it anew:\n%s", diff)
			}
		})
	}
}

// A testCase is an archive's.
type testCase struct {
	files map[string][]byte
	opts  Options
	plan  string
	want  string
}

func caseOf(t *testing.T, a *txtar.Archive) testCase {
	c := testCase{files: map[string][]byte{}, plan: somePlan}
	for _, f := range a.Files {
		switch f.Name {
		case "want":
			c.want = string(f.Data)
		case "plan.json":
			c.plan = string(f.Data)
		case "options":
			for _, word := range strings.Fields(string(f.Data)) {
				switch word {
				case "v0":
					c.opts.RegoV0 = true
				case "all":
					c.opts.AllNamespaces = true
				default:
					c.opts.Namespaces = append(c.opts.Namespaces, word)
				}
			}
		default:
			c.files[f.Name] = f.Data
		}
	}
	if len(c.files) == 0 {
		t.Fatal("there are no policies")
	}
	return c
}

// outcome is a verdict or an error as text.
func outcome(t *testing.T, c testCase) string {
	s, err := Compile(c.files, c.opts)
	var v Verdict
	during := "compile"
	if err == nil {
		during = "judge"
		v, err = s.Judge(t.Context(), []byte(c.plan))
	}
	if err != nil {
		kind := "error"
		if _, ok := errors.AsType[*Error](err); ok {
			kind = "mistakes"
		}
		return fmt.Sprintf("%s %s: %v\n", during, kind, err)
	}
	return text(v)
}

func text(v Verdict) string {
	var b strings.Builder
	for _, f := range v.Failures {
		fmt.Fprintf(&b, "fail %s %s %q\n", f.Namespace, f.Rule, f.Message)
	}
	if v.MoreFailures > 0 {
		fmt.Fprintf(&b, "and %d more\n", v.MoreFailures)
	}
	for _, f := range v.Warnings {
		fmt.Fprintf(&b, "warn %s %s %q\n", f.Namespace, f.Rule, f.Message)
	}
	if v.MoreWarnings > 0 {
		fmt.Fprintf(&b, "and %d more\n", v.MoreWarnings)
	}
	if b.Len() == 0 {
		return "pass\n"
	}
	return b.String()
}
