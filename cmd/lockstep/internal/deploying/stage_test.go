package deploying

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/infra/awstest"
)

// hookURL is the address of the function in the account.
const hookURL = "https://abc.lambda-url.eu-central-1.on.aws/"

// A stage has an AWS account, a GitHub, a build in a directory, and a person with a browser.
type stage struct {
	t       *testing.T
	account *awstest.Account
	hub     *githubtest.Hub
	site    string
	others  []*githubtest.Hub // of GitHub Enterprise Servers
	dir     string
	github  func(w http.ResponseWriter, r *http.Request) bool // may answer in GitHub's place
	arrived int                                               // webhooks
	answer  int                                               // of the function
	offline bool                                              // nobody opens the page
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, account: awstest.Start(t), dir: t.TempDir(), answer: http.StatusOK}
	s.account.HookURL = hookURL
	s.hub, s.site = s.server("lockstep-acme")
	text, err := os.ReadFile("../../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.write("template.yaml", string(text))
	for _, name := range []string{"webhook", "plan", "apply", "janitor", "web"} {
		s.write(name+".zip", "the code of "+name)
	}
	return s
}

// server starts a GitHub.
func (s *stage) server(app string) (hub *githubtest.Hub, site string) {
	hub = githubtest.New(githubtest.Options{AppName: app, Transport: s, Now: time.Now})
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v3/", func(w http.ResponseWriter, r *http.Request) {
		if s.github == nil || !s.github(w, r) {
			http.StripPrefix("/api/v3", hub).ServeHTTP(w, r)
		}
	})
	mux.Handle("/", hub)
	x := httptest.NewServer(mux)
	s.t.Cleanup(x.Close)
	return hub, x.URL
}

// deliver has all GitHubs deliver their webhooks.
func (s *stage) deliver(ctx context.Context) {
	for _, hub := range append([]*githubtest.Hub{s.hub}, s.others...) {
		hub.Deliver(ctx) // to nobody at first, which is an error
	}
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// RoundTrip delivers GitHub's webhooks: to the function, or to nobody.
func (s *stage) RoundTrip(r *http.Request) (*http.Response, error) {
	name := "lockstep/webhook-secret"
	if app, ok := strings.CutPrefix(r.URL.String(), hookURL+"webhook/"); ok {
		name = "lockstep/apps/" + app + "/webhook-secret"
	} else if r.URL.String() != hookURL {
		return nil, errors.New("there is no such host")
	}
	body, err := github.ReadPayload(r.Body)
	if err == nil {
		_, err = github.ReadDelivery(r.Header, body, github.NewSecret(s.account.Secret(name)))
	}
	if err != nil {
		s.t.Errorf("a webhook is not genuine: %v", err)
	}
	s.arrived++
	return &http.Response{StatusCode: s.answer, Body: io.NopCloser(strings.NewReader("")), Header: http.Header{}, Request: r}, nil
}

var formFields = regexp.MustCompile(`action="([^"]+)".*value="([^"]+)"`)

// browse plays the browser of a person who agrees, up to GitHub's answer. GitHub sends the ping.
func (s *stage) browse(address string) error {
	if s.offline {
		return errors.New("there is no browser")
	}
	page, err := http.Get(address)
	if err != nil {
		return err
	}
	defer page.Body.Close()
	text, err := io.ReadAll(page.Body)
	if err != nil {
		return err
	}
	m := formFields.FindStringSubmatch(string(text))
	if m == nil {
		s.t.Fatalf("the page has no form: %s", text)
	}
	answer, err := http.PostForm(html.UnescapeString(m[1]), url.Values{"manifest": {html.UnescapeString(m[2])}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		s.t.Errorf("GitHub's page: %s", answer.Status)
	}
	s.deliver(s.t.Context())
	return nil
}

// agree plays the browser of another machine with a page: the person agrees at GitHub, and copies the code from the address.
func (s *stage) agree(page string) (code string) {
	m := formFields.FindStringSubmatch(page)
	if m == nil {
		s.t.Fatalf("the page has no form: %s", page)
	}
	there := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if code = r.URL.Query().Get("code"); code != "" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	answer, err := there.PostForm(html.UnescapeString(m[1]), url.Values{"manifest": {html.UnescapeString(m[2])}})
	if err != nil {
		s.t.Fatal(err)
	}
	answer.Body.Close()
	return code
}

// A result is what a run has left.
type result struct {
	code     int
	out, err string
}

// run runs deploy with what a person types; "-" is nobody who could be asked.
func (s *stage) run(typed string, args ...string) result {
	s.t.Helper()
	return s.runWith(deploy, typed, args...)
}

func (s *stage) runWith(command func(*cli.App, []string, surroundings) int, typed string, args ...string) result {
	s.t.Helper()
	var out, err bytes.Buffer
	a := cli.New(s.t.Context(), cli.Streams{In: strings.NewReader(typed), Out: &out, Err: &err}, nil)
	code := command(a, append([]string{"-no-color", "-artifacts=" + s.dir}, args...), s.outside())
	r := result{code, out.String(), err.String()}
	s.hides(r)
	return r
}

func (s *stage) outside() surroundings {
	return surroundings{
		aws: func(_ context.Context, region string) (aws.Config, error) {
			cfg := s.account.Config()
			if region != "" {
				cfg.Region = region
			}
			return cfg, nil
		},
		browse: s.browse, github: http.DefaultTransport,
		pause: func(ctx context.Context) error { s.deliver(ctx); return nil },
	}
}

// hides holds that no secret is in an output.
func (s *stage) hides(r result) {
	s.t.Helper()
	secrets := append(s.hub.Given(), s.account.Secret("lockstep/webhook-secret"), s.account.Secret("lockstep/apps/ghes/webhook-secret"), strings.Split(s.hub.AppKey(), "\n")[1])
	for _, hub := range s.others {
		secrets = append(secrets, hub.Given()...)
	}
	for _, secret := range secrets {
		if secret != "" && (strings.Contains(r.out, secret) || strings.Contains(r.err, secret)) {
			s.t.Errorf("a secret is in the output:\n%s%s", r.out, r.err)
		}
	}
}

// options of a first run, without questions.
func (s *stage) options(more ...string) []string {
	return append([]string{"-github=" + s.site, "-organization=acme", "-auto-approve", "-parameter=StateBucket=acme-states", "-parameter=Serves=acme"}, more...)
}

// complete holds that everything is there, and once.
func (s *stage) complete() {
	s.t.Helper()
	status, parameters := s.account.Stack("lockstep")
	if !strings.HasSuffix(status, "_COMPLETE") || strings.Contains(status, "ROLLBACK") {
		s.t.Errorf("the stack is %s", status)
	}
	if parameters["AppId"] != "4711" || parameters["StateBucket"] != "acme-states" || parameters["GitHubUrl"] != s.site+"/api/v3/" {
		s.t.Errorf("parameters: %v", parameters)
	}
	manifests, owners := s.hub.Registered()
	if len(manifests) != 1 || owners[0] != "acme" || manifests[0].Name != "lockstep-acme" || manifests[0].Public {
		s.t.Errorf("registered: %v %v", manifests, owners)
	}
	if got, want := fmt.Sprint(manifests[0].Permissions), fmt.Sprint(map[string]any(apps.New(1, "lockstep").Permissions())); got != want {
		s.t.Errorf("the App asks for %s, and needs %s", got, want)
	}
	if got, want := slices.Sorted(slices.Values(manifests[0].Events)), slices.Sorted(slices.Values(apps.Events)); !slices.Equal(got, want) {
		s.t.Errorf("the App asks for the events %s, and needs %s", got, want)
	}
	if s.account.Secret("lockstep/github-app-key") != s.hub.AppKey() {
		s.t.Error("the key is not stored")
	}
	if n := s.account.Values("lockstep/github-app-key") + s.account.Values("lockstep/webhook-secret"); n != 2 {
		s.t.Errorf("%d values of two secrets", n)
	}
	objects := s.account.Objects("lockstep-" + awstest.ID + "-" + awstest.Region)
	if len(objects) != 6 {
		s.t.Errorf("objects: %q", objects)
	}
	if s.arrived == 0 {
		s.t.Error("no webhook arrived")
	}
}

// want holds a result to a code and texts in its output.
func (s *stage) want(r result, code int, texts ...string) {
	s.t.Helper()
	if r.code != code {
		s.t.Errorf("code %d, want %d", r.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			s.t.Errorf("the output lacks %q", text)
		}
	}
	if s.t.Failed() {
		s.t.Fatalf("%s%s", r.out, r.err)
	}
}
