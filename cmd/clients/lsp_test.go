package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// An editor speaks the language server protocol with a server: it asks one thing at a time, and
// answers what the server asks.
// Source: the Language Server Protocol, version 3.17, "Base Protocol".
type editor struct {
	t       *testing.T
	in      io.WriteCloser
	out     *textproto.Reader
	writing sync.Mutex
	id      int
	// diagnostics are the last ones published, by document.
	diagnostics map[string]json.RawMessage
}

// message is a request, a notification or an answer.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// edits starts a server, which ends with the test.
func edits(t *testing.T, cmd *exec.Cmd) *editor {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &editor{t: t, in: in, out: textproto.NewReader(bufio.NewReader(out)), diagnostics: map[string]json.RawMessage{}}
}

// ask sends a request, which has to succeed, and returns the result.
func (e *editor) ask(method string, params any) json.RawMessage {
	e.t.Helper()
	result, err := e.try(method, params)
	if err != nil {
		e.t.Fatal(err)
	}
	return result
}

// try sends a request, and returns the result or the server's refusal.
func (e *editor) try(method string, params any) (json.RawMessage, error) {
	e.t.Helper()
	e.id++
	id := e.id
	e.send(message{ID: &id, Method: method, Params: e.encode(params)})
	for {
		m := e.receive()
		if m.Method != "" || m.ID == nil || *m.ID != id {
			continue
		}
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		return m.Result, nil
	}
}

// tell sends a notification.
func (e *editor) tell(method string, params any) {
	e.t.Helper()
	e.send(message{Method: method, Params: e.encode(params)})
}

// receive reads a message, and answers it if the server asks.
func (e *editor) receive() message {
	e.t.Helper()
	header, err := e.out.ReadMIMEHeader()
	if err != nil {
		e.t.Fatalf("the server ended: %v", err)
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		e.t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(e.out.R, body); err != nil {
		e.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		e.t.Fatalf("%v: %s", err, body)
	}
	switch {
	case m.Method == "textDocument/publishDiagnostics":
		var p struct {
			URI         string          `json:"uri"`
			Diagnostics json.RawMessage `json:"diagnostics"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			e.t.Fatal(err)
		}
		e.diagnostics[p.URI] = p.Diagnostics
	case m.Method != "" && m.ID != nil:
		e.send(message{ID: m.ID, Result: json.RawMessage("null")})
	}
	return m
}

func (e *editor) send(m message) {
	e.t.Helper()
	m.Version = "2.0"
	body := e.encode(m)
	e.writing.Lock()
	defer e.writing.Unlock()
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) encode(v any) json.RawMessage {
	e.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		e.t.Fatal(err)
	}
	return data
}
