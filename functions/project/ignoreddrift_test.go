package project

import (
	"strings"
	"testing"
)

// TestIgnoredDrift is a table of rules and changed attributes, separated by spaces, of one object.
func TestIgnoredDrift(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		rules, object, changed string
		want                   bool
	}{
		{"aws_asg.web.desired_capacity", "aws_asg.web", "desired_capacity", true},
		{"aws_asg.web.desired_capacity", "aws_asg.web", "desired_capacity max_size", false},
		{"aws_asg.web.desired_capacity aws_asg.*.max_*", "aws_asg.web", "desired_capacity max_size", true},
		{"aws_asg.web.desired_capacity", "aws_asg.webs", "desired_capacity", false},
		{"aws_asg.web.desired_capacity", "aws_asg.web", "", false},
		{"aws_asg.web", "aws_asg.web", "", true},
		{"aws_asg.web", "aws_asg.web", "max_size tags.a", true},
		{"*.*.tags.owner", "aws_vpc.a", "tags.owner", true},
		{"*.*.tags.owner", "aws_vpc.a", "tags.owner tags.cost", false},
		{"*.*.tags.owner", "aws_vpc.a", "tags", false},
		{"*.*.tags.k*", "aws_vpc.a", "tags.kubernetes.io/x", true},
		{"*.*.tags", "aws_vpc.a", "tags.owner tags.cost", true},
		{"aws_vpc.a.tags", "module.net.aws_vpc.a", "tags.owner", false},
		{"module.net.aws_vpc.a.tags", "module.net.aws_vpc.a", "tags.owner", true},
		{"module.*.aws_vpc.a.tags", "module.net.aws_vpc.a", "tags.owner", true},
		{"module.*.aws_vpc.a.tags", "module.net.module.b.aws_vpc.a", "tags.owner", false},
	} {
		var rules []IgnoredDrift
		for text := range strings.FieldsSeq(x.rules) {
			r, err := parseIgnoredDrift(text)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, r)
		}
		at, err := parseIgnoredDrift(x.object)
		if err != nil {
			t.Fatal(err)
		}
		o := DriftedObject{Module: at.Module, Type: at.Type, Name: at.Name}
		for text := range strings.FieldsSeq(x.changed) {
			name, rest, more := strings.Cut(text, ".")
			one := []string{name}
			if more {
				one = append(one, rest)
			}
			o.Changed = append(o.Changed, one)
		}
		if got := IgnoresDrift(rules, o); got != x.want {
			t.Errorf("%q of %s, changed %q: %v", x.rules, x.object, x.changed, got)
		}
	}
	for _, text := range []string{"", "aws_asg", "aws_asg.web[0]", "aws_asg.web.", "module.a", "module.a.b", "data.aws_ami.x", "*.*", "a.b.c\nd", `a."b"`, "a. b"} {
		if x, err := parseIgnoredDrift(text); err == nil {
			t.Errorf("%q is a rule: %+v", text, x)
		}
	}
}
