package redacting

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestForms carries out an attack: a pull request has a secret shown in a form that functions of the configuration make of it.
func TestForms(t *testing.T) {
	t.Parallel()
	const secret = "tok-Pa55word-for-the-database"
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	var wide, zipped bytes.Buffer
	for _, r := range utf16.Encode([]rune("x=" + secret)) {
		wide.Write([]byte{byte(r), byte(r >> 8)})
	}
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, "password: "+secret+"\n")
	w.Close()
	colons := strings.TrimSuffix(regexp.MustCompile("..").ReplaceAllString(hex.EncodeToString([]byte(secret)), "$0:"), ":")
	for name, text := range map[string]string{
		"upper": strings.ToUpper(secret), "lower": strings.ToLower(secret), "title": "Tok-Pa55word-For-The-Database",
		"hexadecimal with colons": colons, "and capitals": strings.ToUpper(colons),
		"base64 of base64": b64(b64(secret)), "of three layers": b64(b64(b64("user:" + secret))), "UTF-16 in base64": b64(wide.String()),
		"and without an end": strings.TrimRight(b64(wide.String()), "="), "for URLs": base64.URLEncoding.EncodeToString([]byte(b64(secret + "???"))),
		"base64gzip": b64(zipped.String()), "base64gzip in base64": b64(b64(zipped.String())),
	} {
		var s Secrets
		s.Text(secret)
		if got := s.From("a = \"" + text + "\""); !strings.Contains(got, Hidden) || strings.Contains(got, text[4:len(text)-4]) {
			t.Errorf("%s: %s", name, got)
		}
		if got := s.From("a = \"" + b64("a harmless text of some length") + "\" terraform_data.harmless_name"); strings.Contains(got, Hidden) {
			t.Errorf("%s: harmless text is hidden: %s", name, got)
		}
	}
}

// TestFrom is a table of secrets, texts and what is left of them.
func TestFrom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		secrets    []string
		text, want string
	}{
		{[]string{"hunter2"}, "a hunter2 b", "a § b"},
		{[]string{"abc"}, "abc stays, it is too short", "abc stays, it is too short"},
		{[]string{"prefix", "prefix-and-more"}, "x prefix-and-more prefix y", "x § § y"},
		{[]string{"line one\nline two\n"}, "+ line two\n  line one", "+ §\n  §"},
		{[]string{"line one\nline two\n"}, "x = <<-EOT\n   +  line one\n   +  line two\n  EOT", "x = <<-EOT\n   +  §\n  EOT"},
		{[]string{"ab\ncd\nef\n"}, "  on main.tf line 1:\n   1: ab\n   2: cd\n   3: ef\n", "  on main.tf line 1:\n   1: §\n"},
		{[]string{"correct horse battery"}, "It is correct horse\nbattery, really.", "It is §, really."},
		{[]string{`a"b\c"d`}, `"a\"b\\c\"d" a"b\c"d`, `"§" §`},
		{[]string{`a"b\c"d`}, `"{\"x\":\"a\\\"b\\\\c\\\"d\"}"`, `"{\"x\":\"§\"}"`},
		{[]string{"a<b>&c"}, `a\u003cb\u003e\u0026c a&lt;b&gt;&amp;c a&#60;b&#x3e;&c`, "§ § §"},
		{[]string{"a${b}c%{d}"}, `"a$${b}c%%{d}"`, `"§"`},
		{[]string{"a b&c=d"}, "?q=a+b%26c%3Dd /a%20b&c=d", "?q=§ /§"},
		{[]string{"a+b/c%d"}, "/a+b%2fc%25d ?q=a%2Bb%2Fc%25d", "/§ ?q=§"},
		{[]string{"hun\u200bter2"}, "hunter2 hun\\u200bter2 hun\u200bter2", "§ § §"},
		{[]string{"hunter2"}, "hun\u200bter2 h\u00adu\ufeffnter2 hunt\x1b\x00er2", "§ § §"},
		{[]string{"hun\x1bter2"}, `hun\u001bter2 hun\x1bter2`, "§ §"},
		{[]string{"😀😀 smile"}, `\ud83d\ude00\ud83d\ude00 smile \U0001f600\U0001F600 smile`, "§ §"},
		{[]string{"sitis"}, "a sit is", "a sit is"},
		{[]string{"hunter2"}, base64.StdEncoding.EncodeToString([]byte("hunter2")), "§"},
		{[]string{"hunter2hunter2"}, base64.StdEncoding.EncodeToString([]byte("user:hunter2hunter2")), "§=="},
		{[]string{"hunter2"}, hex.EncodeToString([]byte("hunter2")) + " " + strings.ToUpper(hex.EncodeToString([]byte("hunter2"))), "§ §"},
		{[]string{strings.Repeat("0123456789abcdef", 9)}, "… 6789abcdef0123456789abcdef0123456789ab …", "… § …"},
		{[]string{"471100"}, "471100 471,100 471_100 4711e2 4.711E+05 471100.0 4711000 x471100y 47110", "§ § § § § § 4711000 x§y 47110"},
		{[]string{"0.12345"}, "0.12345 1.2345e-01 0.123450", "§ § §"},
		{[]string{"1e30"}, "1000000000000000000000000000000 1e+30", "§ §"},
		{[]string{"999", "true", "443"}, "999 true 443", "999 true 443"},
		{[]string{"[4711]"}, "[4711,4712]", "[4711,4712]"},
		{[]string{"4711"}, "[4711,4712] -4711", "[§,4712] -§"},
		{[]string{"destroy", "will be destroyed", "to add", "-----", "``````", "</details>"}, "x will be destroyed\n**Plan:** 1 to add\n``````\n</details>\n", "x will be destroyed\n**Plan:** 1 to add\n``````\n</details>\n"},
		{[]string{"2 to add, 0 to change, 1 to destroy", "1toadd,0", "12345"}, "**Plan:** 2 to add, 0 to change, 1 to destroy.\n", "**Plan:** 2 to add, 0 to change, 1 to destroy.\n"},
		{nil, "as it is", "as it is"},
	} {
		var s Secrets
		for _, x := range test.secrets {
			s.Text(x)
		}
		want := strings.ReplaceAll(test.want, "§", Hidden)
		if got := s.From(test.text); got != want {
			t.Errorf("%q without %q:\n got %q\nwant %q", test.text, test.secrets, got, want)
		}
	}
}

// TestKeys is a table of names in maps, and texts.
func TestKeys(t *testing.T) {
	t.Parallel()
	var s Secrets
	for _, k := range []string{"hunter2", "username", "471100", "key", "a rather long name of a key, longer than a window is"} {
		s.Key(k)
	}
	s.Known("username")
	for text, want := range map[string]string{
		`"hunter2" = 1`:  `"§" = 1`,
		"hunter23":       "hunter23",
		"db_hunter2":     "db_hunter2",
		"username = key": "username = key",
		"471,100":        "§",
		"a rather long name of a key, longer than a window is": "§",
	} {
		if got := s.From(text); got != strings.ReplaceAll(want, "§", Hidden) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := fmt.Sprint(len(s.Keys())); got != "3" {
		t.Error(s.Keys())
	}
}

// forms are ways to write a text; each can be applied to what another one made.
var forms = []struct {
	name string
	of   func(string) string
}{
	{"as it is", func(s string) string { return s }},
	{"%q", strconv.Quote},
	{"%+q", strconv.QuoteToASCII},
	{"JSON", func(s string) string { b, _ := json.Marshal(s); return string(b) }},
	{"JSON in JSON", func(s string) string { b, _ := json.Marshal(s); b, _ = json.Marshal(string(b)); return string(b) }},
	{"HTML", html.EscapeString},
	{"a URL's path", url.PathEscape},
	{"a URL's query", url.QueryEscape},
	{"a query in JSON", func(s string) string { b, _ := json.Marshal("?a=1&b=" + url.QueryEscape(s)); return string(b) }},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 without an end", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
	{"base64 of URLs", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }},
	{"base64 in a query", func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }},
	{"hexadecimal", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"hexadecimal, great", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	{"indented", func(s string) string { return "  + " + strings.ReplaceAll(s, "\n", "\n  + ") }},
	{"wrapped", func(s string) string { return strings.ReplaceAll(s, " ", "\n") }},
	{"spaced by nothing", func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") }},
}

// seen returns what one sees of a text, to look for what must not be there.
func seen(s string) string { return reduceAll(s) }

// FuzzFrom holds that a secret in any form, between anything, is not found after; and that
// a text without it stays as it is.
func FuzzFrom(f *testing.F) {
	f.Add("hunter2", "before ", " after")
	f.Add("a\"b\\c<d>&e f\n\tg\u200bh%20i+j${k}", `"`, `"`)
	f.Add(strings.Repeat("long and longer ", 20), "x = ", "\n")
	f.Add("\\u003c\\n\\\\", "\\", "\\")
	f.Add("1000000", "", "")
	f.Add("ünïcödé\u0301 😀", "<", ">")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		secret, before, after = strings.ToValidUTF8(secret, ""), strings.ToValidUTF8(before, ""), strings.ToValidUTF8(after, "")
		if len(seen(secret)) < 8 || isNumber(secret) || isVocabulary(seen(secret)) || !usable(secret) {
			return
		}
		var s Secrets
		s.Text(secret)
		for _, form := range forms {
			written := form.of(secret)
			if strings.Contains(seen(before+after), seen(written)) {
				continue
			}
			text := before + "\n" + written + "\n" + after
			if got := s.From(text); strings.Contains(seen(got), seen(written)) {
				t.Errorf("%s: %q is still in %q", form.name, secret, got)
			}
		}
	})
}
