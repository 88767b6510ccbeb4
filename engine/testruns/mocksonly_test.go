package testruns

import (
	"slices"
	"strings"
	"testing"
)

// TestMocksOnly holds that no provider without a mock is configured if the input allows mocks only, that the error is at the
// run, and that mocks and built-in providers work.
func TestMocksOnly(t *testing.T) {
	t.Parallel()
	const module = "terraform {\n  required_providers {\n    lab = {\n      source = \"hashicorp/lab\"\n    }\n  }\n}\n"
	const thing = module + "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\n"
	const data = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n"
	const mocked = "mock_provider \"lab\" {}\n"
	const overridden = "override_resource {\n  target = lab_thing.a\n}\n"
	const refused = "Provider is not mocked"
	for _, test := range []struct {
		name, main, tests, want string
		never                   string
	}{
		{"a mock", thing, mocked + "run \"a\" {}\n", "a: pass", refused},
		{"a built-in provider", data, "run \"a\" {}\n", "a: pass", refused},
		{"none", thing, "\n\nrun \"a\" {}\n", "a.tftest.hcl:3: Provider is not mocked: This run needs the provider registry.terraform.io/hashicorp/lab.", "a: pass"},
		{"only planned", thing, "run \"a\" {\n  command = plan\n}\n", refused, "a: pass"},
		{"configured in the test", thing, "provider \"lab\" {}\nrun \"a\" {}\n", refused, "a: pass"},
		{"another alias is mocked", thing, "mock_provider \"lab\" {\n  alias = \"other\"\n}\nrun \"a\" {}\n", refused, "a: pass"},
		{"overridden resources only", thing, overridden + "run \"a\" {}\n", refused, "a: pass"},
		{"a module of the test", "output \"x\" {\n  value = 1\n}\n", "run \"a\" {\n  module {\n    source = \"./m\"\n  }\n}\nrun \"b\" {}\n", refused, "b: pass"},
	} {
		s := newStage(t, text("main.tf", test.main, "m/main.tf", thing, "a.tftest.hcl", test.tests))
		s.input.MocksOnly = true
		got := s.run(t.Context())
		if !strings.Contains(got, test.want) || strings.Contains(got, test.never) {
			t.Errorf("%s:\n%s", test.name, got)
		}
		if calls := s.lab.Calls(); slices.ContainsFunc(calls, func(c string) bool { return !strings.HasPrefix(c, "validate") }) {
			t.Errorf("%s: the provider was called: %q", test.name, calls)
		}
	}
}
