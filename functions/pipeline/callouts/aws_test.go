package callouts

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// TestAccess holds that AWS is asked for matching functions, secrets and topics only, each in its own region.
func TestAccess(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=test/")
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.Split(scope, "/")[1]+" "+r.URL.Path+" "+string(body))
		if strings.HasSuffix(r.URL.Path, "/invocations") {
			io.WriteString(w, "an answer")
			return
		}
		if strings.HasPrefix(string(body), "Action=Publish") {
			io.WriteString(w, `<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>`)
			return
		}
		io.WriteString(w, `{"SecretString":"whsec_x"}`)
	}))
	defer s.Close()
	must := func(service, text string) endpoints.Patterns {
		p, err := endpoints.ParsePatterns(service, text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	x := AWS{
		Config:           aws.Config{Region: "eu-west-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")},
		Functions:        must("lambda", "arn:aws:lambda:*:123456789012:function:gate-*"),
		Secrets:          must("secretsmanager", "arn:aws:secretsmanager:*:123456789012:secret:gate/*"),
		Topics:           must("sns", "arn:aws:sns:*:123456789012:gate-*"),
		FunctionsSetting: "the setting of functions", SecretsSetting: "the setting of secrets", TopicsSetting: "the setting of topics",
	}
	const function, secret = "arn:aws:lambda:us-east-1:123456789012:function:gate-cost", "arn:aws:secretsmanager:us-east-2:123456789012:secret:gate/cost"
	for arn, want := range map[string]string{function: "an answer", strings.Replace(function, "gate-", "pay-", 1): "the setting of functions must match its ARN"} {
		got, err := x.Caller().Invoke(t.Context(), arn, []byte("{}"))
		if err == nil && string(got) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s %v", arn, got, err)
		}
	}
	for arn, want := range map[string]string{secret: "whsec_x", strings.Replace(secret, "gate/", "pay/", 1): "the setting of secrets must match its ARN"} {
		got, err := x.Caller().Secret(t.Context(), arn)
		if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s %v", arn, got, err)
		}
	}
	const topic = "arn:aws:sns:eu-west-3:123456789012:gate-x"
	for arn, want := range map[string]string{topic: "", strings.Replace(topic, "gate-", "pay-", 1): "the setting of topics must match its ARN"} {
		if err := x.Caller().Publish(t.Context(), arn, []byte("{}")); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", arn, err)
		}
	}
	want := []string{"us-east-1 /2015-03-31/functions/" + function + "/invocations {}", `us-east-2 / {"SecretId":"` + secret + `"}`,
		"eu-west-3 / Action=Publish&Message=%7B%7D&TopicArn=" + url.QueryEscape(topic) + "&Version=2010-03-31"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// TestBusyAWS holds that an endpoint is asked again where AWS is busy, and that the error names a setting only where that may be wrong.
func TestBusyAWS(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"TooManyRequestsException": "it cannot be invoked, after 3 attempts: https response error StatusCode: 429, RequestID: , TooManyRequestsException: no",
		"AccessDeniedException":    "it cannot be invoked, for which the setting of functions must match its name: operation error",
	} {
		times := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			times++
			w.Header().Set("X-Amzn-Errortype", code)
			w.WriteHeader(map[string]int{"AccessDeniedException": http.StatusForbidden, "TooManyRequestsException": http.StatusTooManyRequests}[code])
			io.WriteString(w, `{"message":"no"}`)
		}))
		defer s.Close()
		x := AWS{
			Config: aws.Config{
				Region: "eu-west-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
				Retryer: func() aws.Retryer {
					return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
				},
			},
			FunctionsSetting: "the setting of functions",
		}
		_, err := x.Caller().Invoke(t.Context(), "arn:aws:lambda:us-east-1:123456789012:function:gate-cost", []byte("{}"))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "attempts") != (times == 3) {
			t.Errorf("%s: asked %d times: %v", code, times, err)
		}
	}
}
