package endpoints

import "testing"

func TestPatterns(t *testing.T) {
	t.Parallel()
	const gates = "arn:aws:lambda:*:123456789012:function:gate-*"
	for text, tests := range map[string]map[string]bool{
		"": {"arn:aws:lambda:eu-west-1:123456789012:function:gate-cost": false, "": false},
		gates + ", arn:aws:lambda:eu-west-1:999999999999:function:other": {
			"arn:aws:lambda:eu-west-1:123456789012:function:gate-cost":      true,
			"arn:aws:lambda:us-east-1:123456789012:function:gate-cost:live": true,
			"arn:aws:lambda:eu-west-1:999999999999:function:other":          true,
			"arn:aws:lambda:eu-west-1:999999999999:function:others":         false,
			"arn:aws:lambda:eu-west-1:999999999999:function:gate-cost":      false,
			"arn:aws:lambda:eu-west-1:123456789012:function:a-gate-cost":    false,
			"xarn:aws:lambda:eu-west-1:123456789012:function:gate-cost":     false,
		},
		"arn:aws:lambda:eu-west-1:123456789012:function:a.b+c": {"arn:aws:lambda:eu-west-1:123456789012:function:aXb+c": false},
	} {
		p, err := ParsePatterns("lambda", text)
		if err != nil || p == nil {
			t.Errorf("%q: %v %v", text, p, err)
		}
		for arn, want := range tests {
			if got := p.Match(arn); got != want {
				t.Errorf("%q matches %s: %t", text, arn, got)
			}
		}
	}
	for _, bad := range []string{"gate-*", "*", "arn:aws:iam::123456789012:role/x", "arn:aws:lambda:eu-west-1::function:x", "arn:aws:lambda:*"} {
		if p, err := ParsePatterns("lambda", bad); err == nil {
			t.Errorf("%q: %v", bad, p)
		}
	}
}
