//go:build linux

package lambdatest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

var buildProbe = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "probe", "bootstrap")
	_, err = exec.Command("go", "build", "-tags", "lambda.norpc", "-o", program, "./testdata/probe").CombinedOutput()
	return program, err
})

func probe(t *testing.T, spec lambdatest.FunctionSpec) *lambdatest.Function {
	t.Helper()
	program, err := buildProbe()
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Bootstrap = "probe", program
	if spec.Timeout == 0 {
		spec.Timeout = time.Minute
	}
	return lambdatest.NewFunction(t, spec)
}

type told struct {
	Count, Background int
	ARN, ID           string
	Seconds           float64
	Env               []string
}

func invoke(t *testing.T, f *lambdatest.Function, do string) (lambdatest.Invocation, told) {
	t.Helper()
	got, err := f.Invoke(map[string]string{"do": do})
	if err != nil {
		t.Fatal(err)
	}
	var x told
	if got.Error == nil {
		if err := json.Unmarshal(got.Payload, &x); err != nil {
			t.Fatalf("%s: %v", got.Payload, err)
		}
	}
	return got, x
}

func TestInvoke(t *testing.T) {
	t.Setenv("SECRET_OF_THE_TEST", "s3cr3t")
	f := probe(t, lambdatest.FunctionSpec{Env: map[string]string{"A": "1"}})
	first, x := invoke(t, f, "tell")
	if first.Init == 0 || x.Count != 1 || x.ARN != lambdatest.FunctionARN("probe") || x.ID == "" {
		t.Errorf("the first: %+v, %+v", first, x)
	}
	if x.Seconds <= 0 || x.Seconds > 60 {
		t.Errorf("it has %v s left of 60", x.Seconds)
	}
	if !slices.Contains(x.Env, "A=1") || slices.ContainsFunc(x.Env, func(s string) bool { return strings.Contains(s, "s3cr3t") }) {
		t.Errorf("environment %q", x.Env)
	}
	again, y := invoke(t, f, "tell")
	if again.Init != 0 || y.Count != 2 || y.ID == x.ID {
		t.Errorf("the second is no warm start: %+v, %+v", again, y)
	}
}

func TestInvocationsThatFail(t *testing.T) {
	f := probe(t, lambdatest.FunctionSpec{})
	for _, test := range []struct {
		do, kind, message string
		count             int // of invocations of the environment, in the next one
	}{
		{"fail", "errorString", "it went wrong", 2},
		{"panic", "string", "it went very wrong", 1},
		{"exit", "Runtime.ExitError", "exit status 7", 1},
		{"large", "Function.ResponseSizeTooLarge", "6 MB", 0},
	} {
		t.Run(test.do, func(t *testing.T) {
			f.Kill()
			got, _ := invoke(t, f, test.do)
			if got.Error == nil || got.Error.Type != test.kind || !strings.Contains(got.Error.Message, test.message) {
				t.Fatalf("%+v, error %v", got, got.Error)
			}
			if _, x := invoke(t, f, "tell"); test.count != 0 && x.Count != test.count {
				t.Errorf("the next invocation is its environment's number %d, want %d", x.Count, test.count)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	f := probe(t, lambdatest.FunctionSpec{Timeout: 300 * time.Millisecond})
	if got, _ := invoke(t, f, "hang"); got.Error == nil || got.Error.Type != "Sandbox.Timedout" {
		t.Errorf("%+v", got)
	}
	if got, x := invoke(t, f, "tell"); got.Init == 0 || x.Count != 1 {
		t.Errorf("what timed out was used again: %+v", x)
	}
}

func TestBroken(t *testing.T) {
	f := probe(t, lambdatest.FunctionSpec{Env: map[string]string{"PROBE": "broken"}})
	if got, _ := invoke(t, f, "tell"); got.Error == nil || !strings.Contains(got.Error.Message, "exit status 3") {
		t.Errorf("%+v", got)
	}
}

func TestKill(t *testing.T) {
	hanging, log := io.Pipe()
	f := probe(t, lambdatest.FunctionSpec{Log: log})
	done := make(chan lambdatest.Invocation)
	go func() {
		got, err := f.Invoke(map[string]string{"do": "hang"})
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	if _, err := hanging.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	f.Kill()
	if got := <-done; got.Error == nil || got.Error.Type != "Runtime.ExitError" {
		t.Errorf("%+v", got)
	}
	if got, x := invoke(t, f, "tell"); got.Init == 0 || x.Count != 1 {
		t.Errorf("what was killed was used again: %+v", x)
	}
}

// TestFrozen holds that nothing goes on in an environment between invocations.
func TestFrozen(t *testing.T) {
	f := probe(t, lambdatest.FunctionSpec{})
	_, first := invoke(t, f, "background")
	time.Sleep(200 * time.Millisecond) // in which it would count on
	_, second := invoke(t, f, "tell")
	if n := second.Background - first.Background; n > 100 {
		t.Errorf("it went on %d times", n)
	}
}

func TestURL(t *testing.T) {
	s := httptest.NewServer(probe(t, lambdatest.FunctionSpec{}).URL())
	defer s.Close()
	post := func(kind, body string) (*http.Response, string) {
		res, err := http.Post(s.URL+"/hook?a=b", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res, string(text)
	}
	for kind, encoded := range map[string]bool{"application/json; charset=utf-8": false, "application/x-www-form-urlencoded": true} {
		res, text := post(kind, `{"x":1}`)
		var e events.LambdaFunctionURLRequest
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 202 || res.Header.Get("X-Probe") != "yes" || e.Version != "2.0" || e.RawPath != "/hook" ||
			e.RawQueryString != "a=b" || e.RequestContext.HTTP.Method != "POST" || e.Headers["content-type"] != kind || e.IsBase64Encoded != encoded {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	if res, _ := post("application/json", strings.Repeat(" ", lambdatest.MaxPayload)); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("6 MB and more: %s", res.Status)
	}
	if res, _ := post("application/json", `{"do":"fail"}`); res.StatusCode != http.StatusAccepted {
		t.Errorf("a body is no event: %s", res.Status)
	}
}
