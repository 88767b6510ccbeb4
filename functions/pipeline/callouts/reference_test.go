package callouts

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the documentation's page of requests from the structs that are sent, and from the comments of their fields.
func TestReference(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 9, 14, 5, 0, 0, time.UTC)
	const sha, hash = "4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e", "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
	w := writer{t: t, fields: fieldsOf(t)}
	w.WriteString(strings.ReplaceAll(`# Requests: gates, hooks and notifications

This page lists the requests that Lockstep sends to your functions, webhooks and programs, and the answers that it reads.

A Lambda function receives the request as its event. A program reads it from standard input. A webhook receives it as the body of a POST, with the headers §webhook-id§, §webhook-timestamp§ and §webhook-signature§.
Verify the signature with a library of [Standard Webhooks](https://www.standardwebhooks.com): the key is the secret that your block names.
No field is ever removed. Ignore fields that you do not know.
`, "§", "`"))
	w.request("Gate", "Lockstep asks a gate about each plan. The apply is blocked without an answer that allows it.", request{"gate", at, gateData{
		Gate: "budget", Repository: "acme/infra", PullRequest: 7, SHA: sha, Actor: "alice", Project: "network", Dir: "network", Workspace: "default", Environment: "production",
		Plan: json.RawMessage(`{"format_version":"1.2","resource_changes":[]}`),
	}})
	w.request("Hook", "A hook before a plan or an apply can refuse it. A hook after one cannot.", step{"hook", at, stepData{
		ID: hash[:32], Hook: "ticket", Event: "after_apply", Repository: "acme/infra", PullRequest: 7, SHA: sha, Actor: "alice", Project: "network", Dir: "network", Workspace: "default",
		Plan: hash, Options: []string{"-target=aws_vpc.main"}, Outcome: "success", Changes: &changes{Add: 2, Change: 1},
	}})
	w.request("Answer of a gate or a hook", "A gate answers with a verdict. A hook may answer with nothing, which allows.", verdict{"deny", []string{"The plan costs 400 $ more a month."}, []string{"The budget is for 2026 only."}})
	w.request("Notification", "Lockstep reads no answer to a notification. Slack receives a text instead, and a topic of Amazon SNS receives this JSON as its message.", notice{"notification", at, noticeData{
		ID: hash[:32], Notification: "team", Repository: "acme/infra", PullRequest: 7, URL: "https://github.com/acme/infra/pull/7",
		Outcomes: []outcome{{"applied", "network", "network", "default", sha, "alice", &changes{Add: 2, Change: 1}}},
	}})
	golden.File(t, "../../../cmd/docs/reference/requests.md", w.String())
}

// A writer writes the page.
type writer struct {
	strings.Builder
	t      *testing.T
	fields map[string]string // comments, by TYPE.FIELD
}

// request writes the section of a value that is sent or read.
func (w *writer) request(title, about string, v any) {
	example, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n```json\n%s\n```\n\n| field | type | meaning |\n|---|---|---|\n", title, about, example)
	w.table("", reflect.TypeOf(v))
}

// quoted are values in a comment.
var quotedValue = regexp.MustCompile(`"[a-z_]+"`)

// table writes the fields of a struct, and of those in it.
func (w *writer) table(path string, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner, below := f.Type, path+name+"."
		switch inner.Kind() {
		case reflect.Pointer:
			inner = inner.Elem()
		case reflect.Slice:
			if inner.Elem().Kind() == reflect.Struct {
				inner, below = inner.Elem(), path+name+"[]."
			}
		}
		object := inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]()
		comment := w.fields[of.Name()+"."+f.Name]
		if comment == "" && !object {
			w.t.Errorf("%s.%s has no comment", of.Name(), f.Name)
		}
		if comment != "" {
			_, meaning, _ := strings.Cut(comment, " ")
			if verb, rest, _ := strings.Cut(meaning, " "); verb == "is" || verb == "are" {
				meaning = strings.ToUpper(rest[:1]) + rest[1:]
			}
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", path+name, typeName(f.Type), quotedValue.ReplaceAllString(meaning, "`$0`"))
		}
		if object {
			w.table(below, inner)
		}
	}
}

// typeName is the name of a type of JSON.
func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time](), t.Kind() == reflect.String:
		return "string"
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Pointer:
		return "object"
	case t.Kind() == reflect.Int:
		return "number"
	case t.Kind() == reflect.Bool:
		return "boolean"
	}
	return "list"
}

// fieldsOf returns the comments of all fields of this package.
func fieldsOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"gate.go", "hook.go", "notify.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := s.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					out[s.Name.Name+"."+field.Names[0].Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
			return false
		})
	}
	return out
}
