package executor

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// logs has the plugin write lines to its standard error before it serves. command is one of the shell.
func (p *plugins) logs(command string) {
	p.t.Helper()
	script, err := os.ReadFile(p.program)
	if err == nil {
		err = os.WriteFile(p.program, []byte(strings.Replace(string(script), "\nexec ", "\n"+command+"\nexec ", 1)), 0o755)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestLogsOfProviders has a real plugin log in a plan and in an apply: its messages at INFO and above are in the reports, without their fields,
// without the secrets of the job, and the last report has them without those that only the plan knows.
func TestLogsOfProviders(t *testing.T) {
	t.Parallel()
	p := newPlugins(t, false)
	p.logs(`cat >&2 <<'END'
{"@level":"info","@message":"creating the bucket","@module":"provider.lab","@timestamp":"2026-03-02T14:02:03.000000Z","secret":"in a field"}
{"@level":"debug","@message":"request body","@module":"provider.lab"}
{"@level":"warn","@message":"key lent by somebody is old","@module":"provider.lab"}
{"@level":"error","@message":"the password is hunter2-swordfish","@module":"provider.lab"}
{"@level":"info","@message":"half of it: hunter2-","@module":"provider.lab"}
2026/03/02 14:02:03 [INFO] a line of another format
not JSON
{"@level":"info","@message":7}
{"@level":"info",
END`)
	b := p.bench(map[string]string{"net/main.tf": thing + `
variable "password" {
  type      = string
  sensitive = true
  default   = "hunter2-swordfish"
}

output "password" {
  value     = var.password
  sensitive = true
}
`})
	b.job.Grants = grants(t, allowLab, "")
	var told []comment.Ongoing
	b.job.Progress = func(o comment.Ongoing) { told = append(told, o) }
	log := func() string {
		t.Helper()
		o := told[len(told)-1]
		if told = nil; !o.Last {
			t.Error("the last report is not the last one")
		}
		var out []string
		for _, l := range o.Log {
			out = append(out, l.Level+" "+l.From+": "+l.Text)
		}
		return strings.Join(out, "\n")
	}
	want := "info provider.lab: creating the bucket\nwarn provider.lab: key (sensitive value) is old\nerror provider.lab: the password is (sensitive value)\ninfo provider.lab: half of it: hunter2-"
	plan := b.plan()
	if got := log(); got != want {
		t.Errorf("the plan:\n%s\nwant\n%s", got, want)
	}
	if o := b.apply(plan.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	if got := log(); got != want {
		t.Errorf("the apply:\n%s\nwant\n%s", got, want)
	}
	ended := false
	b.job.Ended = func(jobs.Outcome) error {
		if ended = true; len(told) == 0 || !told[len(told)-1].Last {
			t.Error("the last report comes after the result")
		}
		return nil
	}
	b.write(map[string]string{"net/main.tf": thing + "\nresource \"terraform_data\" \"more\" {\n}\n"})
	b.apply(b.plan().Plan, true)
	if !ended {
		t.Error("no result")
	}
	for _, env := range p.started() {
		if !strings.Contains(strings.Join(env, "\n"), logLevel) {
			t.Errorf("a plugin has no level: %q", env)
		}
	}
}

// TestFloodOfLogs holds that a plugin that logs without end takes little memory and few lines, and that its plan is made.
func TestFloodOfLogs(t *testing.T) {
	t.Parallel()
	var l providerLog
	line := []byte(`{"@level":"info","@module":"x","@message":"` + strings.Repeat("x", 990) + "\"}\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := l.process()
	for range 1 << 20 { // 1 GB
		if n, err := w.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	runtime.ReadMemStats(&after)
	lines, left := l.latest()
	if len(lines) > comment.MaxLogLines || len(lines)+left != 1<<20 || after.HeapAlloc > before.HeapAlloc+50<<20 {
		t.Errorf("%d lines are kept, %d left out, %d bytes in use", len(lines), left, after.HeapAlloc)
	}
	for range 1 << 10 { // one line of 64 MB
		w.Write([]byte(strings.Repeat("x", 1<<16)))
	}
	if n := cap(w.(*logWriter).partial); n > 4*longestLine {
		t.Errorf("a line takes %d bytes", n)
	}

	p := newPlugins(t, false)
	p.logs(`i=0; while [ $i -lt 20000 ]; do echo "{\"@level\":\"info\",\"@module\":\"lab\",\"@message\":\"line $i\"}"; i=$((i+1)); done >&2`)
	b := p.bench(map[string]string{"net/main.tf": thing})
	b.job.Grants = grants(t, allowLab, "")
	var last comment.Ongoing
	b.job.Progress = func(o comment.Ongoing) { last = o }
	if got := b.plan(); got.Plan == nil || len(last.Log) > comment.MaxLogLines || last.Unlogged == 0 {
		t.Errorf("%d lines, %d left out: %s", len(last.Log), last.Unlogged, got.Report)
	}
}

// TestSplitSecretInLogs holds that a log in which a secret extended over two lines stays hidden, also when one of the lines is out of sight.
func TestSplitSecretInLogs(t *testing.T) {
	t.Parallel()
	tl := &teller{tell: func(comment.Ongoing) {}, log: &providerLog{}, hide: func(s string) string { return strings.ReplaceAll(s, "hunter\n2", "(sensitive value)") }}
	add := func(text string) comment.Ongoing {
		tl.log.looked = 0
		fmt.Fprintf(tl.log.process(), "{\"@level\":\"info\",\"@module\":\"x\",\"@message\":%q}\n", text)
		return tl.now()
	}
	if o := add("is hunter"); o.Log[0].Text != "is hunter" {
		t.Errorf("%q", o.Log)
	}
	if o := add("2 is"); o.Log[0].Text != comment.SplitSecret || o.Log[1].Text != comment.SplitSecret {
		t.Errorf("%q", o.Log)
	}
	for i := range 2 * comment.MaxLogLines {
		for _, l := range add(fmt.Sprint("line ", i)).Log {
			if l.Text != comment.SplitSecret {
				t.Fatalf("%q", l.Text)
			}
		}
	}
}
