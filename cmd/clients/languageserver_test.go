package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const editedText = `terraform {
  required_providers {
    lab = {
      source  = "lockstep/lab"
      version = "1.0.0"
    }
  }
}

variable "color" {
  default = "red"
}

resource "lab_thing" "a" {
  name   = "a"
  color = var.color
` + "  " + `
}

resource "terraform_data" "b" {
  input = lab_thing.a.id
}
`

// object saves a few words.
type object = map[string]any

// TestLanguageServer has an editor's session with terraform-ls, which gets the version, the
// providers' schemas, the format and the installation of a configuration from the command.
func TestLanguageServer(t *testing.T) {
	t.Parallel()
	server := client(t, "bin", "terraform-ls")
	both(t, func(t *testing.T, l tool) *record {
		dir, home := t.TempDir(), t.TempDir()
		file := filepath.Join(dir, "main.tf")
		if err := os.WriteFile(file, []byte(editedText), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(server, "serve", "-log-file="+filepath.Join(home, "log"))
		cmd.Dir, cmd.Env, cmd.Stderr = dir, environ(t, l, home), os.Stderr
		s := &session{editor: edits(t, cmd), root: "file://" + dir, document: object{"uri": "file://" + file}}
		s.open()
		s.install()
		s.look()
		s.change()
		s.ask("shutdown", nil)
		s.tell("exit", nil)
		return s.tidied(dir)
	})
}

// A session is a record of one with an editor.
type session struct {
	*editor
	record
	root     string
	document object
	kept     []string // names and texts, to be kept once the directory is known
}

func (s *session) note(name string, data json.RawMessage) {
	s.kept = append(s.kept, name, string(data))
}

func (s *session) tidied(dir string) *record {
	for i := 0; i < len(s.kept); i += 2 {
		s.keep(s.kept[i], s.kept[i+1], dir)
	}
	return &s.record
}

// open says hello, and opens the file.
func (s *session) open() {
	s.t.Helper()
	s.note("initialize", s.ask("initialize", object{
		"processId": os.Getpid(), "rootUri": s.root, "workspaceFolders": []any{object{"uri": s.root, "name": "root"}},
		"capabilities": object{
			"workspace":    object{"workspaceFolders": true},
			"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": true}}},
		},
	}))
	s.tell("initialized", object{})
	s.opened()
}

func (s *session) opened() {
	s.t.Helper()
	s.tell("textDocument/didOpen", object{"textDocument": object{
		"uri": s.document["uri"], "languageId": "terraform", "version": 1, "text": editedText,
	}})
}

func (s *session) execute(command string) json.RawMessage {
	s.t.Helper()
	return s.ask("workspace/executeCommand", object{"command": "terraform-ls." + command, "arguments": []any{"uri=" + s.root}})
}

// install has the server run init, and waits for what the server then learns from the command.
func (s *session) install() {
	s.t.Helper()
	s.execute("terraform.init")
	s.tell("workspace/didChangeWatchedFiles", object{"changes": []any{
		object{"uri": s.root + "/.terraform.lock.hcl", "type": 1},
	}})
	s.until("the provider's schema", func() bool {
		return strings.Contains(string(s.at("textDocument/completion", 16, 2)), `"label":"secret"`)
	})
	// It asks for the version where it opens a directory that was initialised.
	s.tell("textDocument/didClose", object{"textDocument": s.document})
	s.opened()
	s.until("the version", func() bool { return knownVersion.Match(s.execute("module.terraform")) })
	s.note("module.terraform", s.execute("module.terraform"))
	s.note("module.providers", s.execute("module.providers"))
}

// knownVersion matches an answer about a module in which the server knows the version of the command, ours or Terraform's.
var knownVersion = regexp.MustCompile(`"discovered_version":"[0-9]`)

// until repeats a question whose answer the server works on behind our back: it has no signal
// for the end of that.
func (s *session) until(what string, there func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the server does not learn of %s", what)
		}
	}
}

// at asks about a place in the document, from 0.
func (s *session) at(method string, line, character int) json.RawMessage {
	s.t.Helper()
	return s.ask(method, s.place(line, character))
}

func (s *session) place(line, character int) object {
	return object{"textDocument": s.document, "position": object{"line": line, "character": character}}
}

// without returns a list of completions without the items that have one of these labels.
func (s *session) without(completion json.RawMessage, labels ...string) json.RawMessage {
	s.t.Helper()
	var list map[string]any
	if err := json.Unmarshal(completion, &list); err != nil {
		s.t.Fatal(err)
	}
	items, _ := list["items"].([]any)
	list["items"] = slices.DeleteFunc(items, func(x any) bool {
		item, _ := x.(map[string]any)
		label, _ := item["label"].(string)
		return slices.Contains(labels, label)
	})
	out, err := json.Marshal(list)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// look asks what an editor shows.
func (s *session) look() {
	s.t.Helper()
	completion := s.at("textDocument/completion", 16, 2)
	for _, want := range []string{"anything", "color", "parts", "password_wo", "rule", "shape", "trouble"} {
		if !strings.Contains(string(completion), `"label":"`+want+`"`) && want != "color" {
			s.t.Errorf("%s is not completed: %s", want, completion)
		}
	}
	s.note("completion", completion)
	hover := s.at("textDocument/hover", 15, 4)
	if !strings.Contains(string(hover), "color") || !strings.Contains(string(hover), "optional, string") {
		s.t.Errorf("hover: %s", hover)
	}
	s.note("hover", hover)
	s.note("hover over a reference", s.at("textDocument/hover", 20, 18))
	// Terraform has the block "store" of terraform_data since 1.16, and a type with a block has "dynamic" blocks, too.
	s.note("completion of a built-in resource", s.without(s.at("textDocument/completion", 20, 2), "store", "dynamic"))
	// References are read anew where something was typed.
	s.tell("textDocument/didChange", object{
		"textDocument": object{"uri": s.document["uri"], "version": 2}, "contentChanges": []any{object{"text": editedText + "\n"}},
	})
	s.until("the references", func() bool {
		_, err := s.try("textDocument/definition", s.place(15, 14))
		return err == nil
	})
	s.note("definition", s.at("textDocument/definition", 15, 14))
	s.note("symbols", s.ask("textDocument/documentSymbol", object{"textDocument": s.document}))
	edits := s.ask("textDocument/formatting", object{"textDocument": s.document, "options": object{"tabSize": 2, "insertSpaces": true}})
	if !strings.Contains(string(edits), "  color = var.color") && !strings.Contains(string(edits), "newText") {
		s.t.Errorf("formatting: %s", edits)
	}
	s.note("formatting", edits)
}

// change writes mistakes, of which diagnostics tell.
func (s *session) change() {
	s.t.Helper()
	text := strings.Replace(editedText, "name   = \"a\"", "nome = \"a\"", 1)
	text = strings.Replace(text, "var.color", "var.colour", 1)
	s.tell("textDocument/didChange", object{
		"textDocument": object{"uri": s.document["uri"], "version": 3}, "contentChanges": []any{object{"text": text}},
	})
	uri, _ := s.document["uri"].(string)
	for !strings.Contains(string(s.diagnostics[uri]), "colour") || !strings.Contains(string(s.diagnostics[uri]), "nome") {
		s.receive()
	}
	s.execute("terraform.validate")
	var all []object
	if err := json.Unmarshal(s.diagnostics[uri], &all); err != nil {
		s.t.Fatal(err)
	}
	told := make([]string, 0, len(all))
	for _, d := range all {
		told = append(told, string(s.encode(d)))
	}
	slices.Sort(told)
	s.note("diagnostics", s.encode(told))
}
