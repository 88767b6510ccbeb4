package policychecks

import (
	"strings"
	"testing"
)

// TestPublic takes sensitive values out of a plan: by its marks, whatever their types, and by value, wherever they are.
func TestPublic(t *testing.T) {
	t.Parallel()
	hide := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "hunter2", "***"), "31337", "***")
	}
	for _, c := range []struct{ plan, want string }{
		{`{"format_version":"1.2"}`, `{"format_version":"1.2"}`},
		{`{"resource_changes":[{"change":{"before":null,"before_sensitive":false,"after":{"id":"a","key":"k","n":5,"list":[{"a":1,"b":true}]},"after_sensitive":{"key":true,"n":true,"list":[{"b":true}]}}}]}`,
			`{"resource_changes":[{"change":{"after":{"id":"a","key":"(sensitive value)","list":[{"a":1,"b":"(sensitive value)"}],"n":"(sensitive value)"},"after_sensitive":{"key":true,"list":[{"b":true}],"n":true},"before":null,"before_sensitive":false}}]}`},
		{`{"resource_changes":[{"change":{"before":{"name":"n","zone":"z"},"before_sensitive":{"name":true},"before_identity":{"name":"n","zone":"z"},"importing":{"identity":{"name":"n"}}}}]}`,
			`{"resource_changes":[{"change":{"before":{"name":"(sensitive value)","zone":"z"},"before_identity":{"name":"(sensitive value)","zone":"z"},"before_sensitive":{"name":true},"importing":{"identity":{"name":"(sensitive value)"}}}}]}`},
		{`{"values":{"name":"n"},"sensitive_values":{"name":true},"identity":{"name":"n"}}`,
			`{"identity":{"name":"(sensitive value)"},"sensitive_values":{"name":true},"values":{"name":"(sensitive value)"}}`},
		{`{"output_changes":{"o":{"before":"x","before_sensitive":true,"after":"y","after_sensitive":true}}}`,
			`{"output_changes":{"o":{"after":"(sensitive value)","after_sensitive":true,"before":"(sensitive value)","before_sensitive":true}}}`},
		{`{"planned_values":{"outputs":{"o":{"sensitive":true,"value":{"a":1}}},"root_module":{"resources":[{"values":{"a":"b","c":"d"},"sensitive_values":{"c":true}}]}}}`,
			`{"planned_values":{"outputs":{"o":{"sensitive":true,"value":"(sensitive value)"}},"root_module":{"resources":[{"sensitive_values":{"c":true},"values":{"a":"b","c":"(sensitive value)"}}]}}}`},
		{`{"variables":{"s":{"value":7},"e":{"value":true},"p":{"value":"shown"}},"configuration":{"root_module":{"variables":{"s":{"sensitive":true,"default":"d"},"e":{"ephemeral":true},"p":{}}}}}`,
			`{"configuration":{"root_module":{"variables":{"e":{"ephemeral":true},"p":{},"s":{"default":"(sensitive value)","sensitive":true}}}},"variables":{"e":{"value":"(sensitive value)"},"p":{"value":"shown"},"s":{"value":"(sensitive value)"}}}`},
		{`{"configuration":{"provider_config":{"x":{"expressions":{"token":{"constant_value":"a hunter2"},"port":{"constant_value":31337},"hunter2":1}}}}}`,
			`{"configuration":{"provider_config":{"x":{"expressions":{"***":1,"port":{"constant_value":"(sensitive value)"},"token":{"constant_value":"a ***"}}}}}}`},
		{`{"big":12345678901234567890.5}`, `{"big":12345678901234567890.5}`},
	} {
		got, err := Public([]byte(c.plan), hide)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s %v\nwant %s", c.plan, got, err, c.want)
		}
	}
	if _, err := Public([]byte(`{"a`), hide); err == nil {
		t.Error("no error")
	}
}
